//! The blocks that an edit removes.

use leafbase_model::{DocumentId, Edit, Subtrees};

/// The blocks that `edit` removes, with their document.
pub(super) fn removed(edit: &Edit) -> Option<(DocumentId, &Subtrees)> {
    match edit {
        Edit::Remove { target, subtrees } => Some((target.document, subtrees)),
        Edit::EraseDocument { record, subtrees } => Some((record.id, subtrees)),
        _ => None,
    }
}
