//! What every candidate does: the same edits and reads, each edit with its document's time and a
//! change-log row.

use benches::workload::{Block, Document, Id, Node, PAGE, Tree};
use std::ops::Range;
use std::path::Path;

/// When a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each write is a commit that survives a loss of power.
    Durable,
    /// Each write is a commit, not synced.
    Own,
    /// Writes share a transaction until `publish`, not synced.
    Shared,
}

#[derive(Clone, Debug)]
pub enum Position {
    After(Id),
    /// Last child of a page, or of the document itself.
    End {
        document: Id,
        parent: Id,
    },
}

pub trait Peer {
    fn set_mode(&mut self, mode: Mode);
    /// What a reader that comes now does first in `Mode::Shared`.
    fn publish(&mut self);
    /// Whether reads share a snapshot until the next write, rather than each taking its own.
    fn keep_snapshot(&mut self, _keep: bool) {}

    /// Whole documents, in one transaction. `empty`: into a new store.
    fn import(&mut self, documents: &[Document], empty: bool, now: u64);
    /// Only what surrounds an edit: the document's time and a change-log row.
    fn note(&mut self, document: Id, now: u64);
    fn insert(&mut self, block: &Block, position: &Position, now: u64);
    fn update(&mut self, id: Id, markdown: &str, now: u64);
    /// Moves siblings, given in their order, with all below them.
    fn relocate(&mut self, ids: &[Id], position: &Position, now: u64);

    fn fetch(&mut self, document: Id) -> Tree;
    fn block(&mut self, id: Id) -> Block;
    fn document_of(&mut self, id: Id) -> Id;
}

pub type Open = fn(&Path) -> Box<dyn Peer>;

/// Reading order from groups of siblings: `groups` are sorted by parent, and each names a range of
/// `blocks`.
pub fn assemble<K: Ord + Copy>(
    top: K,
    groups: &[(K, Range<usize>)],
    key: impl Fn(usize, &Block) -> K,
    blocks: &mut [Block],
) -> Tree {
    let children = |parent: K| {
        let found = groups.binary_search_by(|(known, _)| known.cmp(&parent));
        found.map_or(0..0, |at| groups[at].1.clone())
    };
    let mut tree = Vec::with_capacity(blocks.len());
    let mut path = vec![children(top)];
    while let Some(rest) = path.last_mut() {
        let Some(at) = rest.next() else {
            path.pop();
            continue;
        };
        let depth = path.len() as u32 - 1;
        if blocks[at].kind == PAGE {
            path.push(children(key(at, &blocks[at])));
        }
        tree.push(Node { depth, block: std::mem::take(&mut blocks[at]) });
    }
    tree
}
