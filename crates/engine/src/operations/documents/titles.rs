//! Titles of documents.

use leafbase_model::{BlockData, BlockDraft, Document, Error, Limits, Result};
use leafbase_store::StoredDocument;

use crate::operations::drafts;

/// The document of a stored row, which has the title.
pub(crate) fn titled(row: StoredDocument, with_times: bool) -> Document {
    let StoredDocument { record, title, .. } = row;
    Document { record, title, with_times, with_destination: false, clickable_link: None }
}

/// Normalizes a title as for any document. Errors have no path.
pub(crate) fn normalized(title: &str, limits: &Limits) -> Result<String> {
    let page = drafts::validate_root(BlockDraft::new(BlockData::page(title)), limits);
    Ok(page.map_err(Error::without_path)?.into_parts().0.inline)
}
