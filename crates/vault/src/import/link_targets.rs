//! Link targets of an import: which file a link means, document or attachment candidate.

use std::collections::{BTreeSet, HashMap};

use crate::file_names::{day, decode, fold, journal_title, normalize, without_extension};
use crate::link_paths::{directory, file_name, join};

/// Index of an imported file in the plan.
pub(crate) type FileIndex = usize;

/// The result of resolving the name in a wiki link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NameMatch {
    None,
    One(FileIndex),
    /// Several files match: the first [`MAX_NAMED_FILES`], and how many there are. The first is
    /// preferred: the same case, then the same directory, then the shortest path, then the first
    /// sorted by path.
    Ambiguous(FileIndex, Vec<FileIndex>, usize),
}

/// Maximum number of files that a warning names.
pub(crate) const MAX_NAMED_FILES: usize = 10;

/// The documents of an import by path and by name.
#[derive(Debug, Default)]
pub(crate) struct DocumentTargets {
    /// By path with extension, and by normalized path if no other file has that.
    by_path: HashMap<String, FileIndex>,
    /// By folded file name, decoded, without extension. Files of days also by the title that Logseq
    /// gives a journal, if no file has that name.
    by_name: HashMap<String, NamedFiles>,
    paths: Vec<DecodedPath>,
}

/// The files of a name, each list in the order of preference: shorter paths first.
#[derive(Debug, Default)]
struct NamedFiles {
    all: Vec<FileIndex>,
    /// By file name as it is written, decoded, without extension.
    by_exact_name: HashMap<String, Vec<FileIndex>>,
    /// By folded directory.
    by_directory: HashMap<String, Vec<FileIndex>>,
}

/// The decoded path of a file, without extension.
#[derive(Debug)]
struct DecodedPath {
    exact: String,
    folded: String,
}

impl DecodedPath {
    fn new(path: &str) -> Self {
        let exact = normalize(&path.split('/').map(decode).collect::<Vec<_>>().join("/"));
        Self { folded: fold(&exact), exact }
    }
}

impl DocumentTargets {
    /// The files of these paths, in the order of the plan.
    pub(crate) fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut targets = Self::default();
        let mut composed = Vec::new();
        let mut names: HashMap<String, Vec<FileIndex>> = HashMap::new();
        let mut journals: HashMap<String, Vec<FileIndex>> = HashMap::new();
        for (index, path) in paths.into_iter().enumerate() {
            let decoded = DecodedPath::new(without_extension(path));
            let name = file_name(&decoded.folded).to_owned();
            names.entry(name).or_default().push(index);
            let day = day(without_extension(file_name(path)));
            if let Some(title) = day.and_then(journal_title) {
                journals.entry(fold(&title)).or_default().push(index);
            }
            let normalized = normalize(path);
            if normalized != path {
                composed.push((normalized, index));
            }
            targets.by_path.insert(path.to_owned(), index);
            targets.paths.push(decoded);
        }
        for (path, index) in composed {
            targets.by_path.entry(path).or_insert(index);
        }
        for (title, files) in journals {
            names.entry(title).or_insert(files);
        }
        let named = names.into_iter().map(|(name, files)| (name, targets.named(files)));
        targets.by_name = named.collect();
        targets
    }

    /// Files of one name by exact name and by directory.
    fn named(&self, all: Vec<FileIndex>) -> NamedFiles {
        let mut known: Vec<_> =
            all.into_iter().filter_map(|index| Some((index, self.paths.get(index)?))).collect();
        // The index makes the order total.
        known.sort_by_cached_key(|(index, path)| {
            (path.folded.matches('/').count(), &path.folded, *index)
        });
        let mut named = NamedFiles::default();
        for (index, path) in known {
            let exact = named.by_exact_name.entry(file_name(&path.exact).to_owned());
            exact.or_default().push(index);
            let near = named.by_directory.entry(directory(&path.folded).to_owned());
            near.or_default().push(index);
            named.all.push(index);
        }
        named
    }

    /// The file at `path`, or else in another Unicode composition of it; the extension `.md` may be
    /// omitted.
    pub(crate) fn at_path(&self, path: &str) -> Option<FileIndex> {
        let find = |path: &str| {
            let exact = self.by_path.get(path);
            exact.or_else(|| self.by_path.get(&format!("{path}.md"))).copied()
        };
        find(path).or_else(|| if path.is_ascii() { None } else { find(&normalize(path)) })
    }

    /// Resolves the target of a wiki link in the file `from`: a name or the end of a path, in
    /// either case and Unicode composition.
    pub(crate) fn by_name(&self, from: FileIndex, name: &str) -> NameMatch {
        let own = self.paths.get(from);
        debug_assert!(own.is_some(), "links are resolved in files of the plan");
        let own_directory = own.map_or("", |path| directory(&path.folded));
        let name = normalize(without_extension(name));
        let matched = if name.contains('/') {
            let is_relative = name.starts_with('.');
            let base = own.filter(|_| is_relative).map_or("", |path| directory(&path.exact));
            join(base, &name).and_then(|path| {
                let suffix = || self.choose(own_directory, &path, ends_with);
                self.choose(own_directory, &path, |known, path| known == path)
                    .or_else(|| if is_relative { None } else { suffix() })
            })
        } else {
            self.with_name(own_directory, &name)
        };
        matched.unwrap_or(NameMatch::None)
    }

    /// The files of a name. A link costs the files that a warning names, not all that have it.
    fn with_name(&self, own_directory: &str, name: &str) -> Option<NameMatch> {
        let named = self.by_name.get(&fold(name))?;
        let near = named.by_directory.get(own_directory).map_or(&[][..], Vec::as_slice);
        let exact = named.by_exact_name.get(name).map_or(&[][..], Vec::as_slice);
        let path = |index: FileIndex| self.paths.get(index);
        let is_near =
            |index| path(index).is_some_and(|path| directory(&path.folded) == own_directory);
        let is_exact = |index| path(index).is_some_and(|path| file_name(&path.exact) == name);
        let exact_near = near.iter().copied().filter(|index| is_exact(*index));
        let exact_far = exact.iter().copied().filter(|index| !is_near(*index));
        let other_near = near.iter().copied().filter(|index| !is_exact(*index));
        let is_other_far = |index: &FileIndex| !is_exact(*index) && !is_near(*index);
        let other_far = named.all.iter().copied().filter(is_other_far);
        let preferred = exact_near.chain(exact_far).chain(other_near).chain(other_far);
        name_match(preferred.take(MAX_NAMED_FILES).collect(), named.all.len())
    }

    /// The files named as `path` ends whose folded path satisfies `matches`.
    fn choose(
        &self,
        own_directory: &str,
        path: &str,
        matches: impl Fn(&str, &str) -> bool,
    ) -> Option<NameMatch> {
        let folded = fold(path);
        // The hash map of names bounds the scan to files with the same last component.
        let named = self.by_name.get(file_name(&folded))?.all.iter();
        let named = named.filter_map(|index| Some((*index, self.paths.get(*index)?)));
        let mut found: Vec<_> =
            named.filter(|(_, known)| matches(&known.folded, &folded)).collect();
        // Stable: shorter paths stay first.
        found.sort_by_cached_key(|(_, known)| {
            let is_exact = known.exact == path || ends_with(&known.exact, path);
            let is_elsewhere = directory(&known.folded) != own_directory;
            (!is_exact, is_elsewhere)
        });
        let count = found.len();
        name_match(found.into_iter().map(|(index, _)| index).take(MAX_NAMED_FILES).collect(), count)
    }
}

fn name_match(preferred: Vec<FileIndex>, count: usize) -> Option<NameMatch> {
    match preferred.as_slice() {
        [] => None,
        [one] if count == 1 => Some(NameMatch::One(*one)),
        [first, ..] => Some(NameMatch::Ambiguous(*first, preferred, count)),
    }
}

/// Whether `path` ends with the components of `end`.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.ends_with('/'))
}

/// Attachment candidates: the files that are not markdown.
#[derive(Debug, Default)]
pub(crate) struct AttachmentCandidates {
    paths: BTreeSet<String>,
    /// By folded file name.
    by_name: HashMap<String, Vec<String>>,
}

impl AttachmentCandidates {
    pub(crate) fn new(paths: BTreeSet<String>) -> Self {
        let mut by_name: HashMap<String, Vec<String>> = HashMap::new();
        for path in &paths {
            by_name.entry(fold(file_name(path))).or_default().push(path.clone());
        }
        Self { paths, by_name }
    }

    /// All paths, in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// The file at `path`, or else in another Unicode composition of it.
    pub(crate) fn at_path(&self, path: &str) -> Option<&str> {
        let exact = self.paths.get(path);
        let composed = || {
            let mut named = self.by_name.get(&fold(file_name(path)))?.iter();
            named.find(|known| normalize(known) == normalize(path))
        };
        exact.or_else(|| if path.is_ascii() { None } else { composed() }).map(String::as_str)
    }

    /// Resolves `![[name]]` in a file of `own_directory`: a path from there or from the root,
    /// otherwise any file of that name. Of several, the one in the same directory is preferred,
    /// then the shortest path, then the first.
    pub(crate) fn by_name(&self, own_directory: &str, name: &str) -> Option<&str> {
        // Exact paths first; matching by name alone is the fallback.
        let at = |base: &str| join(base, name).and_then(|path| self.paths.get(&path));
        if let Some(path) = at(own_directory).or_else(|| at("")) {
            return Some(path);
        }
        let named = self.by_name.get(&fold(file_name(name)))?;
        let matching = named.iter().filter(|path| fold(path).ends_with(&fold(name)));
        matching
            .min_by_key(|path| (directory(path) != own_directory, path.len(), *path))
            .map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 7] = [
        "Index.md",
        "a/Note.md",
        "b/Note.md",
        "b/c/Note.md",
        "b/c/Other.markdown",
        "a/x%2Fy.md",
        "b/v1.2.md",
    ];

    #[test]
    fn names_lead_to_files() {
        let targets = DocumentTargets::new(FILES);
        let one = |from, name: &str| targets.by_name(from, name);
        assert_eq!(one(1, "index"), NameMatch::One(0));
        assert_eq!(one(1, "INDEX.md"), NameMatch::One(0));
        assert_eq!(one(0, "Other"), NameMatch::One(4));
        assert_eq!(one(0, "v1.2"), NameMatch::One(6));
        assert_eq!(one(0, "Missing"), NameMatch::None);
        assert_eq!(one(0, "x/y"), NameMatch::One(5));
    }

    #[test]
    fn journals_have_the_titles_of_logseq() {
        let targets = DocumentTargets::new([
            "journals/2026_03_01.md",
            "journals/2026_03_22.md",
            "journals/2026_11_13.md",
            "2026-12-03.md",
            "journals/2026_01_31.md",
            "pages/Jan 31st, 2026.md",
        ]);
        for (title, found) in [
            ("Mar 1st, 2026", Some(0)),
            ("mar 1st, 2026", Some(0)),
            ("2026_03_01", Some(0)),
            ("Mar 22nd, 2026", Some(1)),
            ("Nov 13th, 2026", Some(2)),
            ("Dec 3rd, 2026", Some(3)),
            ("Jan 31st, 2026", Some(5)),
            ("Mar 1th, 2026", None),
            ("journals/Mar 1st, 2026", None),
        ] {
            let expected = found.map_or(NameMatch::None, NameMatch::One);
            assert_eq!(targets.by_name(1, title), expected, "{title}");
        }
    }

    #[test]
    fn of_several_the_nearest_is_taken() {
        let targets = DocumentTargets::new(FILES);
        assert_eq!(targets.by_name(3, "Note"), NameMatch::Ambiguous(3, vec![3, 1, 2], 3));
        assert_eq!(targets.by_name(0, "Note"), NameMatch::Ambiguous(1, vec![1, 2, 3], 3));
        assert_eq!(targets.by_name(0, "c/Note"), NameMatch::One(3));
        assert_eq!(targets.by_name(0, "b/Note"), NameMatch::One(2));
        assert_eq!(targets.by_name(4, "../Note"), NameMatch::One(2));
        assert_eq!(targets.by_name(4, "./Note"), NameMatch::One(3));
        assert_eq!(targets.by_name(0, "../Note"), NameMatch::None);
        assert_eq!(targets.by_name(0, "./c/Note"), NameMatch::None);
    }

    #[test]
    fn the_exact_case_comes_first_and_composition_is_none() {
        let targets = DocumentTargets::new([
            "NOTE.MD",
            "Note.md",
            "a/note.md",
            "cafe\u{301}.md",
            "Cafe\u{301}/x.md",
        ]);
        assert_eq!(targets.by_name(0, "Note"), NameMatch::Ambiguous(1, vec![1, 0, 2], 3));
        assert_eq!(targets.by_name(1, "NOTE"), NameMatch::Ambiguous(0, vec![0, 1, 2], 3));
        assert_eq!(targets.by_name(0, "note"), NameMatch::Ambiguous(2, vec![2, 0, 1], 3));
        assert_eq!(targets.by_name(2, "nOTE"), NameMatch::Ambiguous(2, vec![2, 0, 1], 3));
        assert_eq!(targets.by_name(4, "../Note"), NameMatch::Ambiguous(1, vec![1, 0], 2));
        assert_eq!(targets.by_name(0, "caf\u{e9}"), NameMatch::One(3));
        assert_eq!(targets.by_name(0, "cafe\u{301}"), NameMatch::One(3));
        assert_eq!(targets.by_name(0, "caf\u{e9}/X"), NameMatch::One(4));
    }

    #[test]
    fn a_link_reads_as_many_files_as_it_names() {
        for n in [20, 40, 80] {
            let paths: Vec<String> =
                (0..n).map(|number| format!("{number:03}/README.md")).collect();
            let targets = DocumentTargets::new(paths.iter().map(String::as_str));
            let named = |own: usize| {
                let others = (0..n).filter(move |index| *index != own);
                [own].into_iter().chain(others).take(MAX_NAMED_FILES).collect()
            };
            for own in [0, 15] {
                for name in ["README", "readme"] {
                    let found = targets.by_name(own, name);
                    assert_eq!(found, NameMatch::Ambiguous(own, named(own), n), "{name}");
                }
            }
        }
    }

    #[test]
    fn paths_are_taken_as_they_are() {
        let targets = DocumentTargets::new(FILES);
        assert_eq!(targets.at_path("b/Note.md"), Some(2));
        assert_eq!(targets.at_path("b/Note"), Some(2));
        assert_eq!(targets.at_path("b/note.md"), None);
        assert_eq!(targets.at_path("a/x%2Fy.md"), Some(5));
        let composed = ["e\u{301}.md", "\u{e9}\u{e9}.md", "n/e\u{301}.md", "n/\u{e9}.md"];
        let targets = DocumentTargets::new(composed);
        for (path, found) in [
            ("\u{e9}.md", Some(0)),
            ("\u{e9}", Some(0)),
            ("e\u{301}\u{e9}", Some(1)),
            ("n/\u{e9}", Some(3)),
            ("n/e\u{301}", Some(2)),
            ("\u{c9}.md", None),
        ] {
            assert_eq!(targets.at_path(path), found, "{path}");
        }
    }

    #[test]
    fn attachments_are_found_by_path_and_by_name() {
        let paths = ["a/pic.png", "a/b/Pic.PNG", "c/pic.png", "map.svg", "c/plan b.pdf"];
        let files = AttachmentCandidates::new(paths.into_iter().map(str::to_owned).collect());
        assert_eq!(files.at_path("map.svg"), Some("map.svg"));
        assert_eq!(files.at_path("pic.png"), None);
        let composed = AttachmentCandidates::new(["a/e\u{301}.png".to_owned()].into());
        assert_eq!(composed.at_path("a/\u{e9}.png"), Some("a/e\u{301}.png"));
        assert_eq!(composed.at_path("\u{e9}.png"), None);
        for (directory, name, found) in [
            ("a", "pic.png", Some("a/pic.png")),
            ("a/b", "pic.png", Some("a/b/Pic.PNG")),
            ("", "pic.png", Some("a/pic.png")),
            ("", "c/pic.png", Some("c/pic.png")),
            ("a", "../c/pic.png", Some("c/pic.png")),
            ("a", "b/pic.png", Some("a/b/Pic.PNG")),
            ("x", "plan b.pdf", Some("c/plan b.pdf")),
            ("x", "d/plan b.pdf", None),
            ("x", "nothing.pdf", None),
        ] {
            assert_eq!(files.by_name(directory, name), found, "{name} in {directory:?}");
        }
    }
}
