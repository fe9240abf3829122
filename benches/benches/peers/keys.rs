//! What the keys of an author leave on disk: the change log has each, until it is compacted.

use std::path::Path;
use std::time::Duration;

use leafbase::{CompactOptions, Durability, Space};

use crate::{bytes_below, directory};

/// Name of the row, to be asked for alone.
pub const OP: &str = "log of keys";

const KEYS: usize = 20_000;
/// Keys per block: a paragraph.
const KEYS_PER_BLOCK: usize = 500;
/// Edits of a paragraph are one change.
const SESSION: Duration = Duration::from_secs(10 * 60);

/// Types a text of as many bytes as keys into one document, and tells what the space takes.
pub fn measure(root: &Path) -> String {
    let path = directory(root, "keys").join("notes");
    let space = Space::builder().durability(Durability::Relaxed).create(&path).expect("a space");
    let size = |options: Option<CompactOptions>| {
        match options {
            Some(options) => space.compact_with(options).expect("nobody reads"),
            None => space.flush().expect("flush"),
        }
        bytes_below(&path)
    };
    let empty = size(Some(CompactOptions::new()));
    let notes = space.connect();
    let document = notes.create_document("keys").expect("a document").id();
    let words = "the quick brown fox jumps over the lazy dog and runs far away ".repeat(KEYS);
    for paragraph in 0..KEYS / KEYS_PER_BLOCK {
        let text = &words[paragraph * KEYS_PER_BLOCK..][..KEYS_PER_BLOCK];
        let block = notes.insert_markdown(".", document).expect("a block")[0].id;
        for end in 1..=KEYS_PER_BLOCK {
            notes.update_markdown(block, &text[..end]).expect("an update");
        }
    }
    let typed = size(None);
    let compacted = size(Some(CompactOptions::new()));
    let merged = size(Some(CompactOptions::new().merge_edits_within(SESSION)));
    format!(
        "{OP}: {KEYS} keys; the space takes {empty} bytes empty, {typed} with them, {compacted} \
         compacted and {merged} with the edits of each paragraph merged: {:.1} times the text more \
         than empty",
        (merged.saturating_sub(empty)) as f64 / KEYS as f64
    )
}
