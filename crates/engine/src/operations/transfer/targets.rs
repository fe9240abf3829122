//! Which of the imported files a link means.

use std::collections::HashMap;

use crate::operations::transfer::{names, urls};

/// A file of the import by its place in the list.
pub(super) type FileIndex = usize;

/// What a wiki link's name leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No file.
    Nothing,
    /// One file.
    One(FileIndex),
    /// This one of several: written in the same case, else in the same directory, else with the
    /// shortest path, else the first by path.
    OneOf(FileIndex, Vec<FileIndex>),
}

/// The files of an import by path and by name.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// As they are, with extension.
    paths: HashMap<String, FileIndex>,
    /// By the last part of the name that it stands for, folded.
    names: HashMap<String, Vec<FileIndex>>,
    keys: Vec<Key>,
}

/// The path that a file stands for, without extension.
#[derive(Debug)]
struct Key {
    /// In its own case.
    exact: String,
    /// As [`names::fold`] has it.
    folded: String,
}

impl Key {
    fn of(path: &str) -> Self {
        let exact =
            names::normal(&path.split('/').map(names::decode).collect::<Vec<_>>().join("/"));
        Self { folded: names::fold(&exact), exact }
    }
}

impl Targets {
    /// The files of these paths, in order.
    pub(super) fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut targets = Self::default();
        for (index, path) in paths.into_iter().enumerate() {
            let key = Key::of(without_extension(path));
            targets.names.entry(last_part(&key.folded).to_owned()).or_default().push(index);
            targets.paths.insert(path.to_owned(), index);
            targets.keys.push(key);
        }
        targets
    }

    /// The file at `path`, with or without its extension.
    pub(super) fn at_path(&self, path: &str) -> Option<FileIndex> {
        let found = self.paths.get(path).or_else(|| self.paths.get(&format!("{path}.md")));
        found.copied()
    }

    /// The file that the wiki link target `name`, in the file `from`, means: a name, or a path's
    /// end, in either case and however its letters are composed.
    pub(super) fn by_name(&self, from: FileIndex, name: &str) -> Found {
        let name = names::normal(without_extension(name));
        let own_directory = self.keys.get(from).map_or("", |key| urls::directory(&key.folded));
        if !name.contains('/') {
            return self.choose(own_directory, &name, |_, _| true).unwrap_or(Found::Nothing);
        }
        let near = name.starts_with('.');
        let base =
            self.keys.get(from).filter(|_| near).map_or("", |key| urls::directory(&key.exact));
        let Some(path) = urls::join(base, &name) else { return Found::Nothing };
        let whole = self.choose(own_directory, &path, |key, path| key == path);
        let end = || self.choose(own_directory, &path, ends_with).filter(|_| !near);
        whole.or_else(end).unwrap_or(Found::Nothing)
    }

    /// The files of the name that `path` ends with whose folded path `fits` the folded one.
    fn choose(
        &self,
        own_directory: &str,
        path: &str,
        fits: impl Fn(&str, &str) -> bool,
    ) -> Option<Found> {
        let folded = names::fold(path);
        let fitting = self.names.get(last_part(&folded))?.iter();
        let fitting = fitting.filter_map(|index| Some((*index, self.keys.get(*index)?)));
        let mut fitting: Vec<_> = fitting.filter(|(_, key)| fits(&key.folded, &folded)).collect();
        fitting.sort_by_key(|(index, key)| {
            let exact = key.exact == path || ends_with(&key.exact, path);
            let elsewhere = urls::directory(&key.folded) != own_directory;
            (!exact, elsewhere, key.folded.matches('/').count(), &key.folded, *index)
        });
        match fitting.as_slice() {
            [] => None,
            [(one, _)] => Some(Found::One(*one)),
            [(first, _), ..] => {
                Some(Found::OneOf(*first, fitting.iter().map(|(index, _)| *index).collect()))
            }
        }
    }
}

/// Whether the path `end` is what `path` ends with, below some directory.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.ends_with('/'))
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The extension of a path, if it is one of markdown files.
pub(super) fn markdown_extension(path: &str) -> Option<&str> {
    let (stem, extension) = path.rsplit_once('.')?;
    let named = !stem.is_empty() && !stem.ends_with('/');
    let known = ["md", "markdown"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    (named && known).then_some(extension)
}

/// The path without the extension of markdown files.
pub(super) fn without_extension(path: &str) -> &str {
    markdown_extension(path)
        .and_then(|extension| path.get(..path.len() - extension.len() - 1))
        .unwrap_or(path)
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
        let targets = Targets::new(FILES);
        let one = |from, name: &str| targets.by_name(from, name);
        assert_eq!(one(1, "index"), Found::One(0));
        assert_eq!(one(1, "INDEX.md"), Found::One(0));
        assert_eq!(one(0, "Other"), Found::One(4));
        assert_eq!(one(0, "v1.2"), Found::One(6));
        assert_eq!(one(0, "Missing"), Found::Nothing);
        assert_eq!(one(0, "x/y"), Found::One(5));
    }

    #[test]
    fn of_several_the_nearest_is_taken() {
        let targets = Targets::new(FILES);
        assert_eq!(targets.by_name(3, "Note"), Found::OneOf(3, vec![3, 1, 2]));
        assert_eq!(targets.by_name(0, "Note"), Found::OneOf(1, vec![1, 2, 3]));
        assert_eq!(targets.by_name(0, "c/Note"), Found::One(3));
        assert_eq!(targets.by_name(0, "b/Note"), Found::One(2));
        assert_eq!(targets.by_name(4, "../Note"), Found::One(2));
        assert_eq!(targets.by_name(4, "./Note"), Found::One(3));
        assert_eq!(targets.by_name(0, "../Note"), Found::Nothing);
        assert_eq!(targets.by_name(0, "./c/Note"), Found::Nothing);
    }

    #[test]
    fn the_exact_case_comes_first_and_composition_is_none() {
        let targets =
            Targets::new(["NOTE.MD", "Note.md", "a/note.md", "cafe\u{301}.md", "Cafe\u{301}/x.md"]);
        assert_eq!(targets.by_name(0, "Note"), Found::OneOf(1, vec![1, 0, 2]));
        assert_eq!(targets.by_name(1, "NOTE"), Found::OneOf(0, vec![0, 1, 2]));
        assert_eq!(targets.by_name(0, "note"), Found::OneOf(2, vec![2, 0, 1]));
        assert_eq!(targets.by_name(2, "nOTE"), Found::OneOf(2, vec![2, 0, 1]));
        assert_eq!(targets.by_name(4, "../Note"), Found::OneOf(1, vec![1, 0]));
        assert_eq!(targets.by_name(0, "caf\u{e9}"), Found::One(3));
        assert_eq!(targets.by_name(0, "cafe\u{301}"), Found::One(3));
        assert_eq!(targets.by_name(0, "caf\u{e9}/X"), Found::One(4));
    }

    #[test]
    fn paths_are_taken_as_they_are() {
        let targets = Targets::new(FILES);
        assert_eq!(targets.at_path("b/Note.md"), Some(2));
        assert_eq!(targets.at_path("b/Note"), Some(2));
        assert_eq!(targets.at_path("b/note.md"), None);
        assert_eq!(targets.at_path("a/x%2Fy.md"), Some(5));
    }

    #[test]
    fn extensions_are_those_of_markdown() {
        assert_eq!(without_extension("a.b/c.MD"), "a.b/c");
        assert_eq!(without_extension("a.md/c"), "a.md/c");
        assert_eq!(markdown_extension(".md"), None);
        assert_eq!(markdown_extension("x/.md"), None);
        assert_eq!(markdown_extension("x.txt"), None);
    }
}
