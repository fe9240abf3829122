//! Vaults of other programs: taken in, written out, and taken in again with the same blocks.

use std::fs;
use std::path::{Path, PathBuf};

use super::transcript::{Desk, package};

/// The files below a directory with what is in them, by path.
fn files(top: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut waiting) = (Vec::new(), vec![top.to_owned()]);
    while let Some(path) = waiting.pop() {
        if path.is_file() {
            found.push((path.strip_prefix(top).unwrap().to_owned(), fs::read(&path).unwrap()));
        } else {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

/// Imports, exports, imports that and exports again. Gives both exports.
fn there_and_back(desk: &mut Desk, vault: &Path) -> [Vec<(PathBuf, Vec<u8>)>; 2] {
    let vault = vault.display();
    for line in [
        &format!("leafbase new one.leafbase && leafbase -s one.leafbase import '{vault}'"),
        "leafbase -s one.leafbase export one && leafbase new two.leafbase && leafbase -s two.leafbase import one",
        "leafbase -s two.leafbase export two && leafbase -s one.leafbase check && leafbase -s two.leafbase check",
    ] {
        let shown = desk.run(line);
        assert!(!shown.contains("[exit"), "{line}\n{shown}");
    }
    ["one", "two"].map(|name| files(&desk.path().join(name)))
}

#[test]
fn the_sample_notes_come_back_as_they_went() {
    let mut desk = Desk::new();
    let notes = desk.path().join("notes");
    let [one, two] = there_and_back(&mut desk, &notes);
    assert_eq!(one.len(), 13);
    assert_eq!(one, two);
}

/// The corpora lie beside a checkout of the project; where they are not, there is nothing to try.
#[test]
fn vaults_come_back_as_they_went() {
    let Some(corpora) = package().ancestors().map(|top| top.join("shared/corpus")).find(|path| path.is_dir()) else {
        return;
    };
    for name in ["obsidian-tasks", "logseq-docs", "foam"] {
        let mut desk = Desk::new();
        let [one, two] = there_and_back(&mut desk, &corpora.join(name));
        assert!(one.len() > 20, "{name}: {} files", one.len());
        assert!(one == two, "{name}: the second export differs from the first");
    }
}
