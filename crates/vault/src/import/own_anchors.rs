//! Links of a new document to its own headings and blocks. They need not wait for the second pass,
//! which would write and index the document again.

use std::collections::HashMap;

use leafbase::{BlockId, Edit};

use super::link_resolver::PendingLink;
use super::link_targets::FileIndex;
use crate::link_paths::{Anchors, block_url, linked_block, rewrite_urls};

/// Directs the links among `pending` that lead to anchors of the document that `edits` create.
/// `pending` keeps the others, and those whose anchor the document does not have.
pub(super) fn link(edits: &mut [Edit], file: FileIndex, pending: &mut Vec<PendingLink>) {
    if !pending.iter().any(|link| link.target == file && link.anchor.is_some()) {
        return;
    }
    for edit in edits {
        let Edit::CreateDocument { subtrees, .. } = edit else { continue };
        let anchors = Anchors::of_document(subtrees);
        let target = |link: &PendingLink| {
            anchors.find(link.anchor.as_deref().filter(|_| link.target == file)?)
        };
        let mut urls: HashMap<usize, HashMap<BlockId, String>> = HashMap::new();
        pending.retain(|link| match target(link) {
            Some(target) => {
                urls.entry(link.block).or_default().insert(link.id, block_url(target));
                false
            }
            None => true,
        });
        for (block, urls) in urls {
            if let Some(node) = subtrees.0.get_mut(block) {
                rewrite_urls(&mut node.block.data, &mut |link| {
                    urls.get(&linked_block(link.url)?).cloned()
                });
            }
        }
    }
}
