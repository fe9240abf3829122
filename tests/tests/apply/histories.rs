//! Histories of files, applied version by version.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use leafbase::{ApplyMarkdown, Block, BlockId, Space};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::blocks;

fn git(repository: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(repository).args(arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a block says, as lists of blocks are compared.
fn key(block: &Block) -> String {
    let mut value = serde_json::to_value(block).unwrap();
    for field in ["id", "rev", "taskInfo"] {
        value.as_object_mut().unwrap().remove(field);
    }
    value.to_string()
}

/// The blocks of `before` that stay by the difference of the lists, with those in their places.
fn may_stay(before: &[Block], after: &[Block]) -> Vec<(BlockId, BlockId)> {
    let [old, new] = [before, after].map(|list| list.iter().map(key).collect::<Vec<_>>());
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    let equal = operations.into_iter().filter_map(|operation| match operation {
        DiffOp::Equal { old_index, new_index, len } => {
            Some(before[old_index..].iter().zip(&after[new_index..]).take(len))
        }
        _ => None,
    });
    equal.flatten().map(|(old, new)| (old.id, new.id)).collect()
}

/// Replays all versions of the markdown files of the repository that `LEAFBASE_HISTORY` names: 99
/// of 100 blocks that may keep their ID do, and are where the difference has them.
#[test]
fn histories_of_files_keep_blocks() {
    let Some(repository) = std::env::var_os("LEAFBASE_HISTORY") else { return };
    let repository = Path::new(&repository);
    let files = git(repository, &["ls-tree", "-r", "-z", "--name-only", "HEAD"]);
    let (mut versions, mut refused, mut possible, mut kept, mut in_place) = (0, 0, 0, 0, 0);
    for file in files.split('\0').filter(|file| file.ends_with(".md")) {
        let notes = Space::in_memory().unwrap().connect();
        let document = notes.create_document("d").unwrap().id();
        let commits = git(repository, &["log", "--reverse", "--format=%H", "--", file]);
        for commit in commits.lines() {
            let text = git(repository, &["show", &format!("{commit}:{file}")]);
            let before = blocks(&notes, document);
            if notes.apply_markdown(ApplyMarkdown::new(document, text)).is_err() {
                refused += 1;
                continue;
            }
            let after = blocks(&notes, document);
            let present: BTreeSet<BlockId> = after.iter().map(|block| block.id).collect();
            let stay = may_stay(&before, &after);
            versions += 1;
            possible += stay.len();
            kept += stay.iter().filter(|(old, _)| present.contains(old)).count();
            in_place += stay.iter().filter(|(old, new)| old == new).count();
        }
    }
    println!("{versions} versions, {refused} refused");
    println!("{kept} of {possible} blocks keep their ID, {in_place} in place");
    assert!(versions > 0 && kept * 100 >= possible * 99 && in_place * 100 >= possible * 99);
}
