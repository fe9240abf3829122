//! The change feeds.

use super::shapes;
use crate::{Author, Change, ChangeToken, DocumentId, Timestamp};

/// An elementary edit: its type, the values it replaced, and the new values.
struct AnyEdit;

shapes! {
    AnyEdit, "An elementary write with what it replaced." => |shape| shape
        .must::<String>("type", "The kind, such as insert, update or createDocument.")
        .with("additionalProperties", true.into())
        .open();
    Change, "One write: a row of the change log." => |shape| shape
        .must::<u64>("sequence", "The sequence number: 1 for the first write.")
        .may::<u64>("firstSequence", "The first write it covers, if compaction merged several.")
        .must::<ChangeToken>("token", "Identifies the write among all that had this number.")
        .must::<Timestamp>("at", "The time.")
        .may::<Author>("by", "The author.")
        .must::<Vec<DocumentId>>("documents", "The documents it touched.")
        .must::<Vec<AnyEdit>>("edits", "What was done, in order.")
        .open();
}
