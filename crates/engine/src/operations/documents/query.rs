//! Queries of documents that read page by page.

use leafbase_model::Result;
use leafbase_store::{DocumentQuery, PageCursor, SpaceReader, StoredDocument};

/// Documents that one query of the store returns at most.
const MAX_DOCUMENTS_PER_QUERY: usize = 1_000;

/// At most `limit` documents after `cursor`, and the cursor of the next page.
pub(crate) fn find(
    reader: SpaceReader<'_>,
    query: &DocumentQuery,
    mut cursor: Option<PageCursor>,
    limit: usize,
) -> Result<(Vec<StoredDocument>, Option<PageCursor>)> {
    let mut found = Vec::new();
    loop {
        let page = reader.find_documents(
            query,
            cursor.as_ref(),
            MAX_DOCUMENTS_PER_QUERY.min(limit - found.len()),
        )?;
        if found.is_empty() {
            found = page.documents;
        } else {
            found.extend(page.documents);
        }
        cursor = page.next;
        if cursor.is_none() || found.len() >= limit {
            return Ok((found, cursor));
        }
    }
}
