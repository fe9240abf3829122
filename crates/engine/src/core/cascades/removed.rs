//! The blocks that an edit removes.

use leafbase_model::{DocumentId, Edit, Forest};

/// The blocks that `edit` removes, with their document.
pub(super) fn removed(edit: &Edit) -> Option<(DocumentId, &Forest)> {
    match edit {
        Edit::Remove { slot, forest } => Some((slot.document, forest)),
        Edit::EraseDocument { record, forest } => Some((record.id, forest)),
        _ => None,
    }
}
