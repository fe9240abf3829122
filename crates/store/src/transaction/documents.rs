//! StagedDocuments: their records, and the indexes that follow from them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::{Day, DocumentId, DocumentRecord, Location, Result, Subtrees, Timestamp};

use super::subtrees::EncodedSubtrees;
use super::{SpaceTransaction, conflict, missing};
use crate::keyspaces::{
    self, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_LOCATION_CREATED, DOCUMENTS_BY_LOCATION_MODIFIED,
    DOCUMENTS_BY_MODIFIED, Keyspace, time_bytes,
};
use crate::kv::{Read, Transaction, WriteBatch};
use crate::reader::documents::{document_count, first_in};
use crate::reader::transaction_cache::TransactionCache;
use crate::records;
use crate::records::document::{self, StoredDocument};
use crate::tasks;

/// A document as it is in the store, and as it is to be.
#[derive(Debug)]
struct StagedDocument {
    stored: Option<StoredDocument>,
    now: Option<StoredDocument>,
}

impl StagedDocument {
    fn location(&self) -> Option<Location> {
        self.now.as_ref().map(|counted| counted.record.location)
    }

    /// Adds what changes in the numbers of documents in each location.
    fn count(&self, counts: &mut BTreeMap<[u8; 18], i64>) {
        if let (Some(stored), Some(now)) = (&self.stored, &self.now)
            && stored.record.location == now.record.location
        {
            return;
        }
        for (counted, change) in [(&self.stored, -1), (&self.now, 1)] {
            if let Some(counted) = counted {
                *counts.entry(keyspaces::location_count(counted.record.location)).or_default() +=
                    change;
            }
        }
    }
}

/// The documents that a write touched.
#[derive(Debug, Default)]
pub(super) struct StagedDocuments {
    staged: BTreeMap<DocumentId, StagedDocument>,
    /// Those that may have changed since they were written: a write of many documents writes each
    /// when its turn comes.
    unwritten: BTreeSet<DocumentId>,
}

impl StagedDocuments {
    /// All that were touched, sorted.
    pub(super) fn touched(&self) -> Vec<DocumentId> {
        self.staged.keys().copied().collect()
    }

    fn staged(
        &mut self,
        source: &dyn Read,
        cache: &TransactionCache,
        id: DocumentId,
    ) -> Result<&mut StagedDocument> {
        self.unwritten.insert(id);
        Ok(match self.staged.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let stored = cache.document(source, id)?;
                entry.insert(StagedDocument { now: stored.clone(), stored })
            }
        })
    }

    /// Something of the document changes: it must exist. Its last change never goes back; without a
    /// time it stays.
    pub(super) fn touch(
        &mut self,
        source: &dyn Read,
        cache: &TransactionCache,
        id: DocumentId,
        at: Option<Timestamp>,
    ) -> Result<()> {
        let staged = self.staged(source, cache, id)?;
        let StoredDocument { record, .. } =
            staged.now.as_mut().ok_or_else(|| missing("the document"))?;
        record.modified_at = record.modified_at.max(at.unwrap_or(record.modified_at));
        Ok(())
    }

    /// So many blocks come to a document that was touched.
    pub(super) fn add_blocks(&mut self, id: DocumentId, added: usize) -> Result<()> {
        self.count(id, |blocks| blocks.checked_add(added as u64))
    }

    /// So many blocks leave a document that was touched.
    pub(super) fn take_blocks(&mut self, id: DocumentId, taken: usize) -> Result<()> {
        self.count(id, |blocks| blocks.checked_sub(taken as u64).filter(|left| *left > 0))
    }

    fn count(&mut self, id: DocumentId, change: impl FnOnce(u64) -> Option<u64>) -> Result<()> {
        self.unwritten.insert(id);
        let counted = self.staged.get_mut(&id).and_then(|staged| staged.now.as_mut());
        let counted = counted.ok_or_else(|| missing("the document"))?;
        counted.blocks =
            change(counted.blocks).ok_or_else(|| records::damaged(&keyspaces::document(id)))?;
        Ok(())
    }

    /// Where a document is kept that was touched.
    pub(super) fn location(&self, id: DocumentId) -> Option<Location> {
        self.staged.get(&id)?.location()
    }

    /// The document that holds the inbox.
    fn inbox(&self, source: &dyn Read) -> Result<Option<DocumentId>> {
        let mut staged =
            self.staged.iter().filter(|(_, staged)| staged.location() == Some(Location::Inbox));
        if let Some((id, _)) = staged.next() {
            return Ok(Some(*id));
        }
        let stored = first_in(source, &keyspaces::location(Location::Inbox))?;
        Ok(stored.filter(|id| !self.staged.contains_key(id)))
    }

    pub(super) fn flush(
        &mut self,
        rows: &mut dyn Transaction,
        cache: &mut TransactionCache,
    ) -> Result<()> {
        let mut counts: BTreeMap<[u8; 18], i64> = BTreeMap::new();
        let mut written = WriteBatch::with_capacity(6 * self.unwritten.len(), 64);
        for id in std::mem::take(&mut self.unwritten) {
            let Some(staged) =
                self.staged.get_mut(&id).filter(|staged| staged.stored != staged.now)
            else {
                continue;
            };
            staged.count(&mut counts);
            cache.forget_document(id);
            let key = keyspaces::document(id);
            match &staged.now {
                Some(counted) => {
                    records::put(&mut written, &key, |out| document::put_counted(out, counted))
                }
                None => written.delete(&key),
            }
            let [before, after] = unlike_keys(staged.stored.as_ref(), staged.now.as_ref());
            for key in before.iter().filter(|key| !after.contains(key)) {
                written.delete(key);
            }
            for key in after.iter().filter(|key| !before.contains(key)) {
                records::put(&mut written, key, |_| ());
            }
            staged.stored.clone_from(&staged.now);
            if written.is_full() {
                written.write_to(rows)?;
            }
        }
        written.write_to(rows)?;
        counts.into_iter().try_for_each(|(key, change)| add_to_count(rows, &key, change))
    }
}

/// Changes the number of documents in a row of the counts.
fn add_to_count(rows: &mut dyn Transaction, key: &[u8; 18], change: i64) -> Result<()> {
    if change == 0 {
        return Ok(());
    }
    let count = document_count(&*rows, key)?
        .checked_add_signed(change)
        .ok_or_else(|| records::damaged(key))?;
    if count == 0 {
        rows.delete(key)
    } else {
        rows.put(key, &records::seal(key, |out| document::put_count(out, count)))
    }
}

/// The row of each index that follows from `record`. The inbox is in no listing.
pub(crate) fn index_keys(record: &DocumentRecord) -> Vec<Vec<u8>> {
    let mut keys = vec![keyspaces::by_location(record.location, record.id).to_vec()];
    if record.location != Location::Inbox {
        keys.extend(modified_keys(record));
        let created = (DOCUMENTS_BY_CREATED, DOCUMENTS_BY_LOCATION_CREATED);
        keys.extend(time_keys(record, created, record.created_at));
        keys.extend(record.day.map(|day| by_day(record, day)));
    }
    keys
}

/// The rows of a document by its last change, everywhere and where it is kept.
fn modified_keys(record: &DocumentRecord) -> [Vec<u8>; 2] {
    time_keys(record, (DOCUMENTS_BY_MODIFIED, DOCUMENTS_BY_LOCATION_MODIFIED), record.modified_at)
}

fn time_keys(
    record: &DocumentRecord,
    (everywhere, within): (Keyspace, Keyspace),
    time: Timestamp,
) -> [Vec<u8>; 2] {
    let rank = (time_bytes(time), record.id);
    let by_time = keyspaces::by_time(everywhere, time, record.id).to_vec();
    [by_time, keyspaces::by_location_time(within, record.location, rank).to_vec()]
}

/// The rows of a document before and after, without most that are in both. Nearly all writes change
/// nothing of a document but the time of its last change.
fn unlike_keys(
    before: Option<&StoredDocument>,
    after: Option<&StoredDocument>,
) -> [Vec<Vec<u8>>; 2] {
    let all = |counted: Option<&StoredDocument>| {
        counted.map(|counted| index_keys(&counted.record)).unwrap_or_default()
    };
    let (Some(StoredDocument { record: old, .. }), Some(StoredDocument { record: new, .. })) =
        (before, after)
    else {
        return [all(before), all(after)];
    };
    let is_only_modified = *old == (DocumentRecord { modified_at: old.modified_at, ..new.clone() });
    match (is_only_modified, old.modified_at == new.modified_at || old.location == Location::Inbox)
    {
        (true, true) => [Vec::new(), Vec::new()],
        (true, false) => [old, new].map(|record| modified_keys(record).to_vec()),
        (false, _) => [all(before), all(after)],
    }
}

/// The row by day of a daily note.
pub(crate) fn by_day(record: &DocumentRecord, day: Day) -> Vec<u8> {
    keyspaces::by_day(day, record.location == Location::Trash, record.id).to_vec()
}

/// The day that has the document as its note: one in the trash is none for now, and the inbox
/// never.
pub(crate) fn noted_day(record: &DocumentRecord) -> Option<Day> {
    record.day.filter(|_| !matches!(record.location, Location::Trash | Location::Inbox))
}

impl SpaceTransaction<'_> {
    pub(super) fn touch(&mut self, document: DocumentId) -> Result<()> {
        self.documents.touch(&*self.rows, &self.cache, document, Some(self.stamp.at))
    }

    /// The write names the document, whose last change stays what it was.
    pub(super) fn touch_quietly(&mut self, document: DocumentId) -> Result<()> {
        self.documents.touch(&*self.rows, &self.cache, document, None)
    }

    /// The new document keeps the times it comes with: they may be those of one that was erased.
    pub(super) fn create_document(
        &mut self,
        record: &DocumentRecord,
        subtrees: &Subtrees,
    ) -> Result<()> {
        self.check_location(record)?;
        let staged = self.documents.staged(&*self.rows, &self.cache, record.id)?;
        if staged.now.is_some() {
            return Err(conflict("the document exists already"));
        }
        staged.now =
            Some(StoredDocument { record: record.clone(), blocks: subtrees.0.len() as u64 });
        let prepared = EncodedSubtrees::whole(record.id, subtrees)?;
        self.insert_document_tree(record.id, &prepared)?;
        self.log.create_document(record, subtrees, &prepared.encoded);
        Ok(())
    }

    pub(super) fn erase_document(
        &mut self,
        record: &DocumentRecord,
        subtrees: &Subtrees,
    ) -> Result<()> {
        let staged = self.documents.staged(&*self.rows, &self.cache, record.id)?;
        let stored = staged.now.clone().ok_or_else(|| missing("the document"))?;
        check_same(&stored.record, record)?;
        let prepared = EncodedSubtrees::whole(record.id, subtrees)?;
        self.remove_document_tree(record.id, &prepared)?;
        if stored.blocks != subtrees.0.len() as u64 {
            return Err(records::damaged(&keyspaces::document(record.id)));
        }
        self.documents.staged(&*self.rows, &self.cache, record.id)?.now = None;
        self.log.erase_document(&stored.record, subtrees, &prepared.encoded);
        Ok(())
    }

    pub(super) fn update_document(
        &mut self,
        before: &DocumentRecord,
        after: &DocumentRecord,
    ) -> Result<()> {
        if before.id != after.id {
            return Err(conflict("a document cannot become another one"));
        }
        if (before.location, before.day) != (after.location, after.day) {
            self.check_location(after)?;
        }
        let staged = self.documents.staged(&*self.rows, &self.cache, before.id)?;
        let StoredDocument { record, .. } =
            staged.now.as_mut().ok_or_else(|| missing("the document"))?;
        check_same(record, before)?;
        let modified_at = record.kept_at(after.location, self.stamp.at).modified_at;
        *record = DocumentRecord { modified_at, ..after.clone() };
        let is_listed = tasks::are_listed(after.location);
        if tasks::are_listed(before.location) != is_listed {
            self.relist_tasks(after.id, is_listed)?;
        }
        self.log.update_document(before, after);
        Ok(())
    }

    /// A space has one inbox, a day one note out of the trash, and a folder that documents are kept
    /// in exists.
    fn check_location(&mut self, record: &DocumentRecord) -> Result<()> {
        match record.location {
            Location::Inbox
                if self.documents.inbox(&*self.rows)?.is_some_and(|id| id != record.id) =>
            {
                return Err(conflict("the space has an inbox already"));
            }
            // Folders are written at once: what is staged need not be written for this.
            Location::Folder(folder)
                if !self.rows.get(&keyspaces::folder(folder), &mut |_| Ok(()))? =>
            {
                return Err(missing("the folder"));
            }
            _ => {}
        }
        let Some(day) = noted_day(record) else { return Ok(()) };
        match self.reader()?.note_of(day)? {
            Some(note) if note.id != record.id => {
                Err(conflict(format!("{day} has a note already")))
            }
            _ => Ok(()),
        }
    }
}

/// The time of the last change is left out: each write sets it.
fn check_same(stored: &DocumentRecord, told: &DocumentRecord) -> Result<()> {
    if *stored == (DocumentRecord { modified_at: stored.modified_at, ..told.clone() }) {
        Ok(())
    } else {
        Err(conflict("the document has changed"))
    }
}
