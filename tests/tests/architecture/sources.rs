//! The source files of the workspace, without what is compiled for tests alone.

use std::path::{Path, PathBuf};

use crate::{read, root};

/// A source file and its text.
pub(crate) struct Source {
    /// From the root of the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The production code of the crates: `crates/*/src`, without test crates, test kits and modules
/// under `#[cfg(test)]`, which by convention end a file.
pub(crate) fn production() -> Vec<Source> {
    let mut sources = below("crates");
    sources.retain(|source| is_production(&source.path));
    for source in &mut sources {
        source.text.truncate(tests_begin_at(&source.text));
    }
    assert!(sources.len() > 50, "the files are found");
    sources
}

/// All source files below these folders.
pub(crate) fn below(folder: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = vec![root().join(folder)];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(Source { text: read(&path), path: relative(&path) });
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn relative(path: &Path) -> String {
    let parts = path.strip_prefix(root()).unwrap().iter();
    parts.map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join("/")
}

fn is_production(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let is_test = |part: &&str| {
        matches!(*part, "tests" | "tests.rs" | "test-outline")
            || part.starts_with("testkit")
            || part.ends_with("_tests.rs")
    };
    parts.get(2) == Some(&"src") && !parts.iter().any(is_test)
}

fn tests_begin_at(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("#[cfg(test")
            || line.trim_start().starts_with("#[cfg(all(test")
        {
            return at;
        }
        at += line.len();
    }
    text.len()
}

mod controls {
    use super::*;

    #[test]
    fn tests_are_no_production_code() {
        for (path, expected) in [
            ("crates/store/src/run.rs", true),
            ("crates/store/tests/run.rs", false),
            ("crates/kv/src/testkit/disk.rs", false),
            ("crates/search/src/fold/tests.rs", false),
            ("crates/test-outline/src/lib.rs", false),
        ] {
            assert_eq!(is_production(path), expected, "{path}");
        }
        assert_eq!(tests_begin_at("fn a() {}\n#[cfg(test)]\nmod tests {}\n"), 10);
    }
}
