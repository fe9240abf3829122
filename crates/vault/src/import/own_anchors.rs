//! Links of a new document to its own headings and blocks. They need not wait for the second pass,
//! which would hold the document back.

use leafbase::Edit;

use super::held_documents::{NewUrls, redirect_links};
use super::link_resolver::PendingLink;
use super::link_targets::FileIndex;
use crate::link_paths::{Anchors, block_url};

/// Directs the links among `pending` that lead to anchors of the document that `edits` create.
/// `pending` keeps the others, and those whose anchor the document does not have.
pub(super) fn link(edits: &mut [Edit], file: FileIndex, pending: &mut Vec<PendingLink>) {
    if !pending.iter().any(|link| link.target == file && link.anchor.is_some()) {
        return;
    }
    let mut urls = NewUrls::new();
    for edit in edits.iter() {
        let Edit::CreateDocument { subtrees, .. } = edit else { continue };
        let anchors = Anchors::of_document(subtrees);
        let target = |link: &PendingLink| {
            anchors.find(link.anchor.as_deref().filter(|_| link.target == file)?)
        };
        pending.retain(|link| match target(link) {
            Some(target) => {
                urls.entry(link.block).or_default().insert(link.id, block_url(target));
                false
            }
            None => true,
        });
    }
    redirect_links(edits, &urls);
}
