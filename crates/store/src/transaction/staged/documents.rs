//! Staged documents: their records, their index rows and the counts of locations.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::{DocumentId, DocumentRecord, Location, Result, Timestamp, invariant};

use crate::document_index::{TimeKeys, index_keys, modified_keys, title_key};
use crate::keyspaces;
use crate::kv::{Read, Transaction, WriteBatch};
use crate::reader::documents::{document_count, first_in};
use crate::reader::transaction_cache::TransactionCache;
use crate::records;
use crate::records::change::TouchedDocument;
use crate::records::document::{self, StoredDocument};
use crate::transaction::errors::missing;

/// Rows of most documents that change: the record, and by each of two indexes the old and the new
/// one, with room for two more.
const ROWS_PER_DOCUMENT: usize = 7;
/// Bytes of most of them.
const ROW_BYTES: usize = 64;

/// A document as stored, and as the transaction leaves it.
#[derive(Debug)]
pub(crate) struct StagedDocument {
    stored: Option<StoredDocument>,
    pub(crate) now: Option<StoredDocument>,
    /// The last change that touched it before this one; 0 if it did not exist.
    previous: u64,
    /// Its revision was incremented, or is that of its creation.
    has_new_rev: bool,
}

impl StagedDocument {
    /// Creates the document. Its revision is the given one: 1, or that of an erasure.
    pub(crate) fn create(&mut self, document: StoredDocument) {
        self.now = Some(document);
        self.has_new_rev = true;
    }

    /// The document changes at the instant `at`. Its modification time never goes back, and its
    /// revision is incremented once in a transaction.
    pub(crate) fn change(&mut self, at: Timestamp) {
        let Some(StoredDocument { record, .. }) = &mut self.now else { return };
        record.modified_at = record.modified_at.max(at);
        record.rev = record.rev.saturating_add(u64::from(!self.has_new_rev));
        self.has_new_rev = true;
    }

    /// Erases the document. Returns the record to log: created again, the document has a higher
    /// revision than it ever had.
    pub(crate) fn erase(&mut self) -> Option<DocumentRecord> {
        let StoredDocument { mut record, .. } = self.now.take()?;
        record.rev = record.rev.saturating_add(u64::from(!self.has_new_rev));
        Some(record)
    }

    fn location(&self) -> Option<Location> {
        self.now.as_ref().map(|document| document.record.location)
    }

    /// Adds the differences in the number of documents of each location.
    fn count(&self, counts: &mut BTreeMap<[u8; 18], i64>) {
        if let (Some(stored), Some(now)) = (&self.stored, &self.now)
            && stored.record.location == now.record.location
        {
            return;
        }
        for (document, difference) in [(&self.stored, -1), (&self.now, 1)] {
            if let Some(StoredDocument { record, .. }) = document {
                *counts.entry(keyspaces::location_count(record.location)).or_default() +=
                    difference;
            }
        }
    }
}

/// The documents that a transaction touches.
#[derive(Debug)]
pub(crate) struct StagedDocuments {
    /// The sequence of the change in progress, which touched documents are stored with.
    sequence: u64,
    staged: BTreeMap<DocumentId, StagedDocument>,
    /// Documents that may have changed since the last flush.
    dirty: BTreeSet<DocumentId>,
}

impl StagedDocuments {
    /// None are touched yet by the change `sequence`.
    pub(crate) fn new(sequence: u64) -> Self {
        Self { sequence, staged: BTreeMap::new(), dirty: BTreeSet::new() }
    }

    /// Sets the sequence of the change in progress, before a document is touched.
    pub(crate) fn begin_change(&mut self, sequence: u64) -> Result<()> {
        invariant!(self.staged.is_empty(), "touched documents have the sequence of their change");
        self.sequence = sequence;
        Ok(())
    }

    /// The sequence of the change in progress.
    pub(crate) const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// All documents touched, sorted.
    pub(crate) fn touched(&self) -> Vec<TouchedDocument> {
        let touched = |(id, staged): (&DocumentId, &StagedDocument)| TouchedDocument {
            id: *id,
            previous: staged.previous,
        };
        self.staged.iter().map(touched).collect()
    }

    /// Loads a document to change it: the change in progress touches it.
    pub(crate) fn load(
        &mut self,
        source: &dyn Read,
        cache: &TransactionCache,
        id: DocumentId,
    ) -> Result<&mut StagedDocument> {
        self.dirty.insert(id);
        Ok(match self.staged.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let stored = cache.document(source, id)?;
                let last_change = self.sequence;
                let now = stored.clone().map(|stored| StoredDocument { last_change, ..stored });
                let previous = stored.as_ref().map_or(0, |stored| stored.last_change);
                invariant!(
                    previous == 0 || previous < last_change,
                    "the change in progress comes after those that touched the document before"
                );
                cache.touch(id, previous);
                entry.insert(StagedDocument { stored, now, previous, has_new_rev: false })
            }
        })
    }

    /// Stages a change of something in a document, which must exist. Without `at` its modification
    /// time and its revision stay.
    pub(crate) fn touch(
        &mut self,
        source: &dyn Read,
        cache: &TransactionCache,
        id: DocumentId,
        at: Option<Timestamp>,
    ) -> Result<()> {
        let staged = self.load(source, cache, id)?;
        if staged.now.is_none() {
            return Err(missing("the document"));
        }
        if let Some(at) = at {
            staged.change(at);
        }
        Ok(())
    }

    /// Increments the revision of a touched document further: a merged change counts as the changes
    /// that it was made of.
    pub(crate) fn skip_revisions(&mut self, id: DocumentId, count: u64) {
        self.dirty.insert(id);
        if let Some(document) = self.staged.get_mut(&id).and_then(|staged| staged.now.as_mut()) {
            document.record.rev = document.record.rev.saturating_add(count);
        }
    }

    /// Stages the title of a touched document: the text of its root block.
    pub(crate) fn set_title(&mut self, id: DocumentId, title: &str) {
        self.dirty.insert(id);
        if let Some(document) = self.staged.get_mut(&id).and_then(|staged| staged.now.as_mut()) {
            title.clone_into(&mut document.title);
        }
    }

    /// Counts `added` blocks that are inserted into a touched document.
    pub(crate) fn add_blocks(&mut self, id: DocumentId, added: usize) -> Result<()> {
        self.count(id, |blocks| blocks.checked_add(added as u64))
    }

    /// Counts `removed` blocks that are removed from a touched document, whose root stays.
    pub(crate) fn remove_blocks(&mut self, id: DocumentId, removed: usize) -> Result<()> {
        self.count(id, |blocks| blocks.checked_sub(removed as u64).filter(|left| *left > 0))
    }

    fn count(&mut self, id: DocumentId, change: impl FnOnce(u64) -> Option<u64>) -> Result<()> {
        self.dirty.insert(id);
        let document = self.staged.get_mut(&id).and_then(|staged| staged.now.as_mut());
        let document = document.ok_or_else(|| missing("the document"))?;
        // A stored count that is too low is damage, not a bug: more blocks were found.
        document.blocks =
            change(document.blocks).ok_or_else(|| records::corrupt(&keyspaces::document(id)))?;
        Ok(())
    }

    /// The location of a touched document.
    pub(crate) fn location(&self, id: DocumentId) -> Option<Location> {
        self.staged.get(&id)?.location()
    }

    /// The record of a touched document.
    pub(crate) fn record(&self, id: DocumentId) -> Option<&DocumentRecord> {
        Some(&self.staged.get(&id)?.now.as_ref()?.record)
    }

    /// The document of the inbox.
    pub(crate) fn inbox(&self, source: &dyn Read) -> Result<Option<DocumentId>> {
        let mut staged =
            self.staged.iter().filter(|(_, staged)| staged.location() == Some(Location::Inbox));
        if let Some((id, _)) = staged.next() {
            return Ok(Some(*id));
        }
        let stored = first_in(source, &keyspaces::location(Location::Inbox))?;
        // The index may be older than what is staged.
        Ok(stored.filter(|id| !self.staged.contains_key(id)))
    }

    /// Adds the rows of what changed to a batch, which is written when it is full.
    pub(crate) fn flush(
        &mut self,
        rows: &mut dyn Transaction,
        batch: &mut WriteBatch,
        mut cache: Option<&mut TransactionCache>,
    ) -> Result<()> {
        let mut counts: BTreeMap<[u8; 18], i64> = BTreeMap::new();
        batch.reserve(ROWS_PER_DOCUMENT * self.dirty.len(), ROW_BYTES);
        // Each document once, however many edits touched it.
        for id in std::mem::take(&mut self.dirty) {
            let Some(staged) = self.staged.get_mut(&id) else {
                invariant!("a dirty document is staged")
            };
            if staged.stored == staged.now {
                continue;
            }
            staged.count(&mut counts);
            if let Some(cache) = &mut cache {
                cache.set_document(id, staged.now.as_ref());
            }
            let documents = [staged.stored.as_ref(), staged.now.as_ref()];
            put_rows(batch, id, documents)?;
            put_index_changes(batch, documents);
            put_title_change(batch, documents);
            staged.stored.clone_from(&staged.now);
            if batch.is_full() {
                batch.write_to(rows)?;
            }
        }
        counts.into_iter().try_for_each(|(key, difference)| add_to_count(rows, &key, difference))
    }
}

/// Adds to a number of documents; where it is 0 there is no row.
pub(super) fn add_to_count(rows: &mut dyn Transaction, key: &[u8], difference: i64) -> Result<()> {
    if difference == 0 {
        return Ok(());
    }
    let count = document_count(&*rows, key)?
        .checked_add_signed(difference)
        .ok_or_else(|| records::corrupt(key))?;
    if count == 0 {
        rows.delete(key)
    } else {
        rows.put(key, &records::seal(key, |out| document::encode_count(out, &count)))
    }
}

/// Adds what becomes of the row by title, where it changes.
fn put_title_change(batch: &mut WriteBatch, documents: [Option<&StoredDocument>; 2]) {
    let shown = |document: &StoredDocument| document.record.location != Location::Inbox;
    let listed = documents.map(|document| document.filter(|found| shown(found)));
    let [before, after] = listed.map(|document| document.map(|found| &found.title));
    if before != after {
        let [old, new] =
            listed.map(|document| document.and_then(|it| title_key(&it.record, &it.title)));
        put_differing(batch, old.as_slice(), new.as_slice());
    }
}

/// Adds what becomes of the rows that hold the document: its own, and those by modification time.
/// They are added in the order of their keys: a batch that is sorted already is sorted in no time.
fn put_rows(
    batch: &mut WriteBatch,
    id: DocumentId,
    [before, after]: [Option<&StoredDocument>; 2],
) -> Result<()> {
    let put = |batch: &mut WriteBatch, key: &[u8], document: &StoredDocument| {
        records::put(batch, key, |out| document::encode(out, document));
    };
    let key = keyspaces::document(id);
    match after {
        Some(document) => {
            invariant!(document.blocks > 0, "a document has a root");
            invariant!(document.record.rev > 0, "revisions begin at 1");
            put(batch, &key, document);
        }
        None => batch.delete(&key),
    }
    let [old, new] = [before, after].map(|it| it.and_then(|it| modified_keys(&it.record)));
    for at in [TimeKeys::among_all, TimeKeys::in_location] {
        let [old, new] = [&old, &new].map(|keys| keys.as_ref().map(at));
        if let Some(key) = old.filter(|_| old != new) {
            batch.delete(key);
        }
        if let (Some(key), Some(document)) = (new, after) {
            put(batch, key, document);
        }
    }
    Ok(())
}

/// Adds what becomes of the other index rows.
fn put_index_changes(batch: &mut WriteBatch, [before, after]: [Option<&StoredDocument>; 2]) {
    let place = |document: &StoredDocument| {
        let DocumentRecord { location, day, created_at, .. } = document.record;
        (location, day, created_at)
    };
    // Fast path: nearly all writes leave a document where it is.
    if before.map(place) == after.map(place) {
        return;
    }
    let [old, new] = [before, after]
        .map(|document| document.map_or_else(Vec::new, |document| index_keys(&document.record)));
    put_differing(batch, &old, &new);
}

/// Deletes the rows that are in `before` alone and puts those that are in `after` alone.
fn put_differing<K: AsRef<[u8]> + PartialEq>(batch: &mut WriteBatch, before: &[K], after: &[K]) {
    for key in before.iter().filter(|key| !after.contains(key)) {
        batch.delete(key.as_ref());
    }
    for key in after.iter().filter(|key| !before.contains(key)) {
        records::put(batch, key.as_ref(), |_| ());
    }
}
