//! The change feeds.

use super::{Shape, shapes};
use crate::{Author, BlockId, Change, DocumentId, ScopedChange, Timestamp};

/// An elementary edit: its type, the values it replaced, and the new values.
struct AnyEdit;

impl Shape<'_> {
    fn written(self) -> Self {
        self.must::<u64>("sequence", "Its number: 1 for the first.")
            .must::<Timestamp>("at", "When.")
            .may::<Author>("by", "By whom.")
    }
}

shapes! {
    AnyEdit, "An elementary write with what it replaced." => |shape| shape
        .must::<String>("type", "The kind, such as insert, update or createDocument.")
        .with("additionalProperties", true.into())
        .open();
    Change, "One write: a row of the change log." => |shape| shape
        .written()
        .must::<Vec<DocumentId>>("documents", "The documents it touched.")
        .must::<Vec<AnyEdit>>("edits", "What was done, in order.")
        .open();
    ScopedChange, "One write to documents of a scope." => |shape| shape
        .written()
        .must::<Vec<DocumentId>>("documentIds", "The documents of the scope that it changed.")
        .must::<Vec<BlockId>>("blockIds", "The blocks in them.")
        .open();
}
