//! The comparison of the search index with the documents of the space, for a check.

use std::collections::{BTreeMap, HashSet};

use leafbase_model::{DocumentId, ErrorKind, Location, Result};
use leafbase_search::{Attributes, IndexSnapshot};
use leafbase_store::{CheckReport, Invariant, SpaceReader, SpaceStore};

use super::catch_up::DocumentRecords;
use super::dirty_documents::DirtyDocuments;
use super::documents;
use super::indexer::SearchIndexer;

/// The name of the index in a report.
const INDEX: &str = "the search index";

impl SearchIndexer {
    /// Adds to `report` what the index on disk has otherwise than the store: documents that are
    /// missing, extra, or in another version. Documents written since its last update are no
    /// findings, and neither is an index that is missing or of another version of the library.
    /// Reads the records of all documents, not their blocks.
    pub(crate) fn compare(&self, store: &SpaceStore, report: &mut CheckReport) -> Result<()> {
        if let Some((snapshot, dirty)) = self.current_on_disk() {
            let space = store.snapshot()?;
            return compare(space.reader(), &snapshot, dirty, report);
        }
        let Some((index, watermark)) = self.stored_index() else { return Ok(()) };
        let space = store.snapshot()?;
        let Some(position) = Self::indexed_position(space.reader(), watermark)? else {
            report.add(Invariant::SearchIndex, INDEX, "it is of another history of the space");
            return Ok(());
        };
        compare(space.reader(), &index, DirtyDocuments::after(position), report)
    }
}

fn compare(
    reader: SpaceReader<'_>,
    index: &IndexSnapshot,
    mut dirty: DirtyDocuments,
    report: &mut CheckReport,
) -> Result<()> {
    match dirty.read_changes(reader, reader.last_sequence()?) {
        // What the log lacks is a finding of its own.
        Err(error) if matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::HistoryGone) => {
            report.add(Invariant::SearchIndex, INDEX, error.message());
            return Ok(());
        }
        read => read?,
    }
    let dirty: HashSet<DocumentId> = dirty.ids().collect();
    let is_clean = |document: DocumentId| !dirty.contains(&document);
    let mut indexed: BTreeMap<DocumentId, &Attributes> =
        index.attributes().map(|attributes| (attributes.id, attributes)).collect();
    let mut records = DocumentRecords::default();
    while let Some(record) = records.next(reader)? {
        let found = indexed.remove(&record.id);
        if record.location == Location::Inbox || !is_clean(record.id) {
            continue;
        }
        let message = match found {
            None => "it lacks the document",
            Some(found) if *found != documents::attributes(&record) => {
                "it has another version of the document"
            }
            Some(_) => continue,
        };
        report.add(
            Invariant::SearchIndex,
            format_args!("{INDEX}, document {}", record.id),
            message,
        );
    }
    for document in indexed.into_keys().filter(|document| is_clean(*document)) {
        let record = format_args!("{INDEX}, document {document}");
        report.add(Invariant::SearchIndex, record, "there is no such document");
    }
    Ok(())
}
