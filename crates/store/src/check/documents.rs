//! Checks of documents and their indexes.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase_model::{DocumentId, DocumentRecord, FolderId, Location};
use xxhash_rust::xxh3::xxh3_64;

use super::blocks::{CheckedBlocks, title_hash};
use super::{Invariant, SpaceCheck};
use crate::document_index::{index_keys, modified_keys, note_day, title_key};
use crate::keyspaces::{
    self, DOCUMENTS, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_LOCATION,
    DOCUMENTS_BY_LOCATION_CREATED, DOCUMENTS_BY_LOCATION_MODIFIED, DOCUMENTS_BY_MODIFIED,
    DOCUMENTS_BY_TITLE, Keyspace, LOCATION_COUNTS, RowName,
};
use crate::records::{self, document};

/// The indexes of documents.
const INDEXES: [Keyspace; 7] = [
    DOCUMENTS_BY_LOCATION,
    DOCUMENTS_BY_MODIFIED,
    DOCUMENTS_BY_CREATED,
    DOCUMENTS_BY_DAY,
    DOCUMENTS_BY_LOCATION_MODIFIED,
    DOCUMENTS_BY_LOCATION_CREATED,
    DOCUMENTS_BY_TITLE,
];

/// What index rows have of a document besides its record.
struct IndexedParts {
    title_key: Option<Vec<u8>>,
    /// The hash of the body of its row, which the rows by modification time have as well.
    body_hash: u64,
}

impl IndexedParts {
    /// The keys of the document's index rows, those by modification time last.
    fn keys(&self, record: &DocumentRecord) -> impl Iterator<Item = Vec<u8>> {
        let modified = modified_keys(record)
            .map(|keys| [keys.among_all().to_vec(), keys.in_location().to_vec()]);
        let title = self.title_key.clone();
        index_keys(record).into_iter().chain(title).chain(modified.into_iter().flatten())
    }
}

/// The record of each document, and the last change that it names.
type CheckedDocuments = (BTreeMap<DocumentId, DocumentRecord>, HashMap<DocumentId, u64>);

impl SpaceCheck<'_> {
    pub(super) fn documents(&mut self, blocks: &CheckedBlocks) -> CheckedDocuments {
        let (mut documents, mut last_changes) = (BTreeMap::new(), HashMap::new());
        let mut indexed = HashMap::new();
        // Includes documents that do not decode: their roots do have one.
        let mut named = HashSet::new();
        self.rows(DOCUMENTS, &mut |check, key, value| {
            let id = keyspaces::parse_document(key).ok_or_else(|| records::corrupt(key))?;
            // Before decoding: its root is not orphaned even if the record is corrupt.
            named.insert(id);
            if blocks.run_of(id.root()).is_none_or(|(_, parent, _)| !parent.is_nil()) {
                check.found(Invariant::Document, RowName(key), "its root does not exist");
            }
            let document = document::decode_row(key, value)?;
            let found = blocks.of_documents.get(&id).copied().unwrap_or(0);
            if document.blocks != found {
                let message = format_args!("{found} of its {} blocks exist", document.blocks);
                check.found(Invariant::BlockCount, RowName(key), message);
            }
            let title = blocks.titles.get(&id);
            if title.is_some_and(|title| *title != title_hash(&document.title)) {
                check.found(Invariant::Title, RowName(key), "its title is not that of its root");
            }
            let title_key = title_key(&document.record, &document.title);
            let body_hash = xxh3_64(records::body(key, value)?);
            indexed.insert(id, IndexedParts { title_key, body_hash });
            last_changes.insert(id, document.last_change);
            documents.insert(id, document.record);
            Ok(())
        });
        for root in blocks.tops().map(|(_, block)| block) {
            if named.contains(&DocumentId::of_root(root)) {
                continue;
            }
            self.found(
                Invariant::Document,
                format_args!("block {root}"),
                "it is a root without a document",
            );
        }
        let inboxes = documents.values().filter(|record| record.location == Location::Inbox);
        for record in inboxes.clone().skip(1) {
            self.found(
                Invariant::Inbox,
                format_args!("document {}", record.id),
                "it is a second inbox",
            );
        }
        self.report.documents = (named.len() - inboxes.count()) as u64;
        self.document_indexes(&documents, &indexed);
        self.daily_notes(&documents);
        self.location_counts(&documents);
        (documents, last_changes)
    }

    fn location_counts(&mut self, documents: &BTreeMap<DocumentId, DocumentRecord>) {
        let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for record in documents.values() {
            *counts.entry(keyspaces::location_count(record.location).to_vec()).or_default() += 1;
        }
        self.rows(LOCATION_COUNTS, &mut |check, key, value| {
            let counted = records::decode(key, value, document::decode_count)?;
            let found = counts.get(key).copied().unwrap_or(0);
            if counted != found {
                check.found(
                    Invariant::LocationCount,
                    RowName(key),
                    format_args!("the count is {counted}, but {found} exist"),
                );
            }
            Ok(())
        });
        for key in counts.keys() {
            self.expect_index_row(Invariant::LocationCount, key);
        }
    }

    fn daily_notes(&mut self, documents: &BTreeMap<DocumentId, DocumentRecord>) {
        let mut days = HashSet::new();
        for record in documents.values() {
            if note_day(record).is_some_and(|day| !days.insert(day)) {
                self.found(
                    Invariant::DailyNote,
                    format_args!("document {}", record.id),
                    "its day has another daily note",
                );
            }
        }
    }

    fn document_indexes(
        &mut self,
        documents: &BTreeMap<DocumentId, DocumentRecord>,
        indexed: &HashMap<DocumentId, IndexedParts>,
    ) {
        let indexed = |id| Some((documents.get(&id)?, indexed.get(&id)?));
        for keyspace in INDEXES {
            self.rows(keyspace, &mut |check, key, value| {
                let id = keyspaces::parse_document(key).ok_or_else(|| records::corrupt(key))?;
                let found = indexed(id)
                    .filter(|(record, parts)| parts.keys(record).any(|expected| expected == key));
                let holds_document = keyspaces::holds_documents(key);
                let body = records::body(key, value)?;
                let message = match found {
                    None => "it does not follow from the document",
                    Some((_, parts)) if holds_document && xxh3_64(body) != parts.body_hash => {
                        "it does not hold the document as it is"
                    }
                    Some(_) if holds_document => return Ok(()),
                    Some(_) => return records::decode_empty(key, value),
                };
                check.found(Invariant::DocumentIndex, RowName(key), message);
                Ok(())
            });
        }
        for (record, parts) in documents.keys().filter_map(|id| indexed(*id)) {
            for key in parts.keys(record) {
                self.expect_index_row(Invariant::DocumentIndex, &key);
            }
        }
    }

    pub(super) fn document_folders(
        &mut self,
        documents: &BTreeMap<DocumentId, DocumentRecord>,
        folders: &HashSet<FolderId>,
    ) {
        for record in documents.values() {
            if let Location::Folder(folder) = record.location
                && !folders.contains(&folder)
            {
                self.found(
                    Invariant::DocumentFolder,
                    format_args!("document {}", record.id),
                    "its folder does not exist",
                );
            }
        }
    }
}
