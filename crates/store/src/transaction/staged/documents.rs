//! Staged documents: their records, their index rows and the counts of locations.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::{DocumentId, DocumentRecord, Location, Result, Timestamp, invariant};

use crate::document_index::{index_keys, modified_keys};
use crate::keyspaces;
use crate::kv::{Read, Transaction, WriteBatch};
use crate::reader::documents::{document_count, first_in};
use crate::reader::transaction_cache::TransactionCache;
use crate::records;
use crate::records::document::{self, StoredDocument};
use crate::transaction::errors::missing;

/// A document as stored, and as the transaction leaves it.
#[derive(Debug)]
pub(crate) struct StagedDocument {
    stored: Option<StoredDocument>,
    pub(crate) now: Option<StoredDocument>,
}

impl StagedDocument {
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
#[derive(Debug, Default)]
pub(crate) struct StagedDocuments {
    staged: BTreeMap<DocumentId, StagedDocument>,
    /// Documents that may have changed since the last flush.
    dirty: BTreeSet<DocumentId>,
}

impl StagedDocuments {
    /// All documents touched, sorted.
    pub(crate) fn touched(&self) -> Vec<DocumentId> {
        self.staged.keys().copied().collect()
    }

    /// Loads a document to change it.
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
                entry.insert(StagedDocument { now: stored.clone(), stored })
            }
        })
    }

    /// Stages a change of something in a document, which must exist. Its modification time never
    /// goes back; without `at` it stays.
    pub(crate) fn touch(
        &mut self,
        source: &dyn Read,
        cache: &TransactionCache,
        id: DocumentId,
        at: Option<Timestamp>,
    ) -> Result<()> {
        let staged = self.load(source, cache, id)?;
        let document = staged.now.as_mut().ok_or_else(|| missing("the document"))?;
        let modified_at = &mut document.record.modified_at;
        *modified_at = at.map_or(*modified_at, |at| at.max(*modified_at));
        Ok(())
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

    pub(crate) fn flush(
        &mut self,
        rows: &mut dyn Transaction,
        cache: &mut TransactionCache,
    ) -> Result<()> {
        let mut counts: BTreeMap<[u8; 18], i64> = BTreeMap::new();
        let mut batch = WriteBatch::with_capacity(6 * self.dirty.len(), 64);
        // Each document once, however many edits touched it.
        for id in std::mem::take(&mut self.dirty) {
            let Some(staged) = self.staged.get_mut(&id) else {
                invariant!("a dirty document is staged")
            };
            if staged.stored == staged.now {
                continue;
            }
            staged.count(&mut counts);
            // The cache holds stored rows only.
            cache.evict_document(id);
            let key = keyspaces::document(id);
            match &staged.now {
                Some(document) => {
                    invariant!(document.blocks > 0, "a document has a root");
                    records::put(&mut batch, &key, |out| document::encode(out, document));
                }
                None => batch.delete(&key),
            }
            let [before, after] = changed_keys(staged.stored.as_ref(), staged.now.as_ref());
            for key in before.iter().filter(|key| !after.contains(key)) {
                batch.delete(key);
            }
            for key in after.iter().filter(|key| !before.contains(key)) {
                records::put(&mut batch, key, |_| ());
            }
            staged.stored.clone_from(&staged.now);
            if batch.is_full() {
                batch.write_to(rows)?;
            }
        }
        batch.write_to(rows)?;
        counts.into_iter().try_for_each(|(key, difference)| add_to_count(rows, &key, difference))
    }
}

/// Adds to the number of documents in a location; a location without documents has no row.
fn add_to_count(rows: &mut dyn Transaction, key: &[u8; 18], difference: i64) -> Result<()> {
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

/// The index keys before and after, without most that are in both.
fn changed_keys(
    before: Option<&StoredDocument>,
    after: Option<&StoredDocument>,
) -> [Vec<Vec<u8>>; 2] {
    let all = |document: Option<&StoredDocument>| {
        document.map_or_else(Vec::new, |document| index_keys(&document.record))
    };
    let (Some(StoredDocument { record: old, .. }), Some(StoredDocument { record: new, .. })) =
        (before, after)
    else {
        return [all(before), all(after)];
    };
    // Fast path: nearly all writes change nothing but the modification time.
    if *old != (DocumentRecord { modified_at: old.modified_at, ..new.clone() }) {
        [all(before), all(after)]
    } else if old.modified_at == new.modified_at || old.location == Location::Inbox {
        [Vec::new(), Vec::new()]
    } else {
        [old, new].map(|record| modified_keys(record).to_vec())
    }
}
