//! Texts from outside: some for each section of the standard, and real files where they are at
//! hand.

use std::path::{Path, PathBuf};

/// Inputs for each section of the standard and of the dialect, written for these tests. In the data
/// file a line `%%%` with the section's name stands before each; `→` is a tab, `␍` a carriage
/// return.
pub(crate) fn sections() -> impl Iterator<Item = (&'static str, String)> {
    let entries = include_str!("../data/sections.txt").split("%%% ").skip(1);
    entries.map(|entry| {
        let (section, input) = entry.split_once('\n').unwrap();
        (section, input.strip_suffix('\n').unwrap().replace('→', "\t").replace('␍', "\r"))
    })
}

/// The markdown files below the folder that `LEAFBASE_CORPUS` names, or of a corpus beside the
/// project; none without.
pub(crate) fn files() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let folder =
        std::env::var_os("LEAFBASE_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    collect(&folder, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read(&path).unwrap();
            found.push((path, String::from_utf8_lossy(&text).into_owned()));
        }
    }
}
