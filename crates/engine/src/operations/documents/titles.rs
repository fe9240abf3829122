//! Titles of documents, read from their root blocks.

use leafbase_model::{BlockData, BlockId, Document, DocumentId, DocumentRecord, Error, Result};
use leafbase_store::SpaceReader;

/// Adds the title to a document record. One look-up: the root is the only child of the nil block.
pub(crate) fn titled(
    reader: SpaceReader<'_>,
    record: DocumentRecord,
    with_times: bool,
) -> Result<Document> {
    let title = root(reader, record.id)?.markdown;
    Ok(Document { record, title, with_times, clickable_link: None })
}

/// The content of a document's root.
pub(crate) fn root(reader: SpaceReader<'_>, document: DocumentId) -> Result<BlockData> {
    let root = reader.first_children(document, BlockId::NIL, 1)?.pop();
    let root = root
        .ok_or_else(|| Error::corrupted(format_args!("document {document} has no root block")))?;
    Ok(root.data)
}
