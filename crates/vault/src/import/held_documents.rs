//! New documents that are held back until all files have been read, because their links lead to
//! headings and blocks of other files. Written before, they would be written and indexed twice.

use std::collections::{HashMap, VecDeque};

use leafbase::bulk::Subtrees;
use leafbase::{BlockId, Edit};

use super::link_resolver::PendingLink;
use super::link_targets::FileIndex;
use crate::link_paths::{linked_block, rewrite_urls};

/// Blocks of documents that are held back at once. Bounds memory: a block takes about 1 kB.
const MAX_HELD_BLOCKS: usize = 20_000;

/// A new document that is not written yet.
#[derive(Debug)]
pub(super) struct NewFile {
    pub(super) file: FileIndex,
    pub(super) edits: Vec<Edit>,
    pub(super) blocks: usize,
    /// Its links that are revisited once all files have been read.
    pub(super) pending: Vec<PendingLink>,
}

impl NewFile {
    /// The content of the document.
    pub(super) fn subtrees(&self) -> Option<&Subtrees> {
        self.edits.iter().find_map(|edit| match edit {
            Edit::CreateDocument { subtrees, .. } => Some(subtrees),
            _ => None,
        })
    }
}

/// The documents that are held back.
#[derive(Debug, Default)]
pub(super) struct HeldDocuments {
    /// In the order in which they were read.
    pub(super) documents: VecDeque<NewFile>,
    blocks: usize,
}

impl HeldDocuments {
    /// Holds a document back if that spares writing it twice. Returns it otherwise, or if too many
    /// are held already.
    pub(super) fn hold(&mut self, new: NewFile) -> Option<NewFile> {
        let leads_out = new.pending.iter().any(|link| link.anchor.is_some());
        if !leads_out || self.blocks + new.blocks > MAX_HELD_BLOCKS {
            return Some(new);
        }
        self.blocks += new.blocks;
        self.documents.push_back(new);
        None
    }
}

/// The new URLs of links, by the index of their block and the ID in their present URL.
pub(super) type NewUrls = HashMap<usize, HashMap<BlockId, String>>;

/// Directs links of the document that `edits` create elsewhere.
pub(super) fn redirect_links(edits: &mut [Edit], urls: &NewUrls) {
    for edit in edits {
        let Edit::CreateDocument { subtrees, .. } = edit else { continue };
        for (block, urls) in urls {
            if let Some(node) = subtrees.0.get_mut(*block) {
                rewrite_urls(&mut node.block.data, &mut |link| {
                    urls.get(&linked_block(link.url)?).cloned()
                });
            }
        }
    }
}
