//! The files of an import that are no markdown: documents may show them.

use std::collections::{BTreeSet, HashMap};

use crate::operations::transfer::{names, urls};

/// The files that documents may show, by path and by name.
#[derive(Debug, Default)]
pub(super) struct Attachable {
    paths: BTreeSet<String>,
    /// By the last part of the path, folded.
    names: HashMap<String, Vec<String>>,
}

impl Attachable {
    pub(super) fn new(paths: BTreeSet<String>) -> Self {
        let mut names: HashMap<String, Vec<String>> = HashMap::new();
        for path in &paths {
            names.entry(names::fold(last_part(path))).or_default().push(path.clone());
        }
        Self { paths, names }
    }

    /// All of them, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// The file at `path`, from the top.
    pub(super) fn at_path(&self, path: &str) -> Option<&str> {
        self.paths.get(path).map(String::as_str)
    }

    /// The file that `![[name]]` shows in a file of `directory`: a path from there or from the top,
    /// else any file of that name; of several the one in the same directory, else the one with the
    /// shortest path, else the first.
    pub(super) fn by_name(&self, directory: &str, name: &str) -> Option<&str> {
        let near = urls::join(directory, name).and_then(|path| self.paths.get(&path));
        let there = || urls::join("", name).and_then(|path| self.paths.get(&path));
        if let Some(path) = near.or_else(there) {
            return Some(path);
        }
        let named = self.names.get(&names::fold(last_part(name)))?;
        let ending = named.iter().filter(|path| names::fold(path).ends_with(&names::fold(name)));
        ending
            .min_by_key(|path| (urls::directory(path) != directory, path.len(), *path))
            .map(String::as_str)
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_path_and_by_name() {
        let paths = ["a/pic.png", "a/b/Pic.PNG", "c/pic.png", "map.svg", "c/plan b.pdf"];
        let files = Attachable::new(paths.into_iter().map(str::to_owned).collect());
        assert_eq!(files.at_path("map.svg"), Some("map.svg"));
        assert_eq!(files.at_path("pic.png"), None);
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
