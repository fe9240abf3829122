//! Which of the imported files a link means.

use std::collections::HashMap;

use crate::transfer::{names, urls};

/// A file of the import by its place in the list.
pub(super) type FileIndex = usize;

/// What a wiki link's name leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No file.
    Nothing,
    /// One file.
    One(FileIndex),
    /// This one of several: in the same directory, else with the shortest path, else the first by path.
    OneOf(FileIndex, Vec<FileIndex>),
}

/// The files of an import by path and by name.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// As they are, with extension.
    paths: HashMap<String, FileIndex>,
    /// By the last part of the name that it stands for, in lower case.
    names: HashMap<String, Vec<FileIndex>>,
    /// For each file the path that it stands for, in lower case, without extension.
    keys: Vec<String>,
}

impl Targets {
    /// The files of these paths, in order.
    pub(super) fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut targets = Self::default();
        for (index, path) in paths.into_iter().enumerate() {
            let stem = without_extension(path);
            let key = stem.split('/').map(names::decode).collect::<Vec<_>>().join("/").to_lowercase();
            targets.names.entry(last_part(&key).to_owned()).or_default().push(index);
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

    /// The file that the wiki link target `name`, in the file `from`, means: a name, or a path's end, in either case.
    pub(super) fn by_name(&self, from: FileIndex, name: &str) -> Found {
        let name = without_extension(name).to_lowercase();
        let own_directory = self.keys.get(from).map_or("", |key| urls::directory(key));
        if name.contains('/') {
            let base = if name.starts_with('.') { own_directory } else { "" };
            let Some(path) = urls::join(base, &name) else { return Found::Nothing };
            return self.choose(own_directory, &path, |key| key == path).unwrap_or_else(|| {
                let ends_so = |key: &str| key.strip_suffix(path.as_str()).is_some_and(|before| before.ends_with('/'));
                let found = if name.starts_with('.') { None } else { self.choose(own_directory, &path, ends_so) };
                found.unwrap_or(Found::Nothing)
            });
        }
        self.choose(own_directory, &name, |_| true).unwrap_or(Found::Nothing)
    }

    fn choose(&self, own_directory: &str, path: &str, fits: impl Fn(&str) -> bool) -> Option<Found> {
        let same_name = self.names.get(last_part(path))?;
        let key = |index: &FileIndex| self.keys.get(*index).map_or("", String::as_str);
        let mut fitting: Vec<FileIndex> = same_name.iter().copied().filter(|index| fits(key(index))).collect();
        fitting.sort_by_key(|index| {
            let key = key(index);
            (urls::directory(key) != own_directory, key.matches('/').count(), key, *index)
        });
        match fitting.as_slice() {
            [] => None,
            [one] => Some(Found::One(*one)),
            [first, ..] => Some(Found::OneOf(*first, fitting)),
        }
    }
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
    markdown_extension(path).and_then(|extension| path.get(..path.len() - extension.len() - 1)).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 7] =
        ["Index.md", "a/Note.md", "b/Note.md", "b/c/Note.md", "b/c/Other.markdown", "a/x%2Fy.md", "b/v1.2.md"];

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
