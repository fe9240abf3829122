//! Documents as replies show them: the stored row has the title.

use leafbase_model::Document;
use leafbase_store::StoredDocument;

/// The document of a stored row.
pub(crate) fn titled(row: StoredDocument, with_times: bool) -> Document {
    let StoredDocument { record, title, .. } = row;
    Document { record, title, with_times, with_destination: false, clickable_link: None }
}
