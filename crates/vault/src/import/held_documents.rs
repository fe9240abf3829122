//! New documents that are held back until all files have been read, because their links lead to
//! headings and blocks of other files. Otherwise they would be written and indexed twice.

use std::collections::{BTreeSet, HashMap, VecDeque};

use leafbase::bulk::{Subtrees, invariant};
use leafbase::{BlockId, Connection, Edit, Result};

use super::block_references::{
    BlockReference, BlockReferences, LinkedReferences, link_references, unresolved,
};
use super::link_resolver::PendingLink;
use super::link_targets::FileIndex;
use super::plan::ImportPlan;
use crate::link_paths::{linked_block, rewrite_urls};

/// Blocks of documents that are held back at once. Bounds memory.
const MAX_HELD_BLOCKS: usize = 20_000;

/// A new document that is not written yet.
#[derive(Debug)]
pub(super) struct NewFile {
    pub(super) file: FileIndex,
    pub(super) edits: Vec<Edit>,
    pub(super) blocks: usize,
    /// Its links that are revisited once all files have been read.
    pub(super) pending: Vec<PendingLink>,
    /// Its references, which become links then.
    pub(super) references: Vec<BlockReference>,
}

impl NewFile {
    /// The content of the document.
    pub(super) fn content(&self) -> Option<&Subtrees> {
        self.edits.iter().find_map(|edit| match edit {
            Edit::CreateDocument { subtrees, .. } => Some(subtrees),
            _ => None,
        })
    }

    fn content_mut(&mut self) -> Result<&mut Subtrees> {
        let content = self.edits.iter_mut().find_map(|edit| match edit {
            Edit::CreateDocument { subtrees, .. } => Some(subtrees),
            _ => None,
        });
        let Some(content) = content else { invariant!("a new file becomes a document") };
        Ok(content)
    }

    /// Whether its links depend on what other files contain.
    fn is_unlinked(&self) -> bool {
        !self.references.is_empty() || self.pending.iter().any(|link| link.anchor.is_some())
    }
}

/// The documents that are held back.
#[derive(Debug)]
pub(super) struct HeldDocuments {
    /// In the order in which they were read.
    pub(super) documents: VecDeque<NewFile>,
    blocks: usize,
    max_blocks: usize,
}

impl HeldDocuments {
    /// Holds documents of an import back. Where documents of files exist, it holds none: these are
    /// edited after new ones have been written, and get headings and blocks by that.
    pub(super) fn new(has_known_files: bool) -> Self {
        let max_blocks = if has_known_files { 0 } else { MAX_HELD_BLOCKS };
        Self { documents: VecDeque::new(), blocks: 0, max_blocks }
    }

    /// Holds a document back if that spares writing it twice. Returns it otherwise, or if too many
    /// are held already.
    pub(super) fn hold(&mut self, new: NewFile) -> Option<NewFile> {
        if !new.is_unlinked() || self.blocks + new.blocks > self.max_blocks {
            return Some(new);
        }
        self.blocks += new.blocks;
        self.documents.push_back(new);
        None
    }

    /// Whether any of them waits for its links.
    pub(super) fn has_unlinked(&self) -> bool {
        self.documents.iter().any(NewFile::is_unlinked)
    }

    /// Turns the references of the documents into links.
    pub(super) fn link_references(
        &mut self,
        references: &BlockReferences,
        notes: &Connection,
        plan: &ImportPlan,
    ) -> Result<LinkedReferences> {
        let all = self.documents.iter().flat_map(|new| &new.references);
        let found = references.find(notes, plan, all.map(|reference| &*reference.id))?;
        let mut linked = LinkedReferences::default();
        for new in &mut self.documents {
            let mut blocks = BTreeSet::new();
            for reference in std::mem::take(&mut new.references) {
                if found.contains_key(&reference.id) {
                    blocks.insert(reference.block);
                } else {
                    linked.warnings.push(unresolved(plan.path(new.file), &reference));
                }
            }
            let content = new.content_mut()?;
            for block in blocks {
                let Some(node) = content.0.get_mut(block) else {
                    invariant!("a reference is in block {block} of its file")
                };
                let links = link_references(&mut node.block.data, &|id| found.get(id).copied());
                linked.links += links as u64;
            }
        }
        Ok(linked)
    }
}

/// The new URLs of links, by the index of their block and the ID in their present URL.
pub(super) type NewUrls = HashMap<usize, HashMap<BlockId, String>>;

/// Directs links of the document that `edits` create elsewhere.
pub(super) fn redirect_links(edits: &mut [Edit], urls: &NewUrls) {
    for edit in edits {
        if let Edit::CreateDocument { subtrees, .. } = edit {
            for (block, urls) in urls {
                if let Some(node) = subtrees.0.get_mut(*block) {
                    rewrite_urls(&mut node.block.data, &mut |link| {
                        urls.get(&linked_block(link.url)?).cloned()
                    });
                }
            }
        }
    }
}
