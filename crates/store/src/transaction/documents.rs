//! Documents: their records, and the indexes that follow from them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use leafbase_model::{DocumentId, DocumentRecord, Forest, Result, Timestamp};

use super::forests::Prepared;
use super::{SpaceTransaction, conflict, missing};
use crate::keyspaces::{self, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_MODIFIED};
use crate::kv::{Read, Transaction};
use crate::reader::memo::Memo;
use crate::records;
use crate::records::document::{self, Counted};

/// A document as it is in the store, and as it is to be.
#[derive(Debug)]
struct Staged {
    stored: Option<Counted>,
    now: Option<Counted>,
}

/// The documents that a write touched.
#[derive(Debug, Default)]
pub(super) struct Documents {
    staged: BTreeMap<DocumentId, Staged>,
}

impl Documents {
    /// All that were touched, sorted.
    pub(super) fn touched(&self) -> Vec<DocumentId> {
        self.staged.keys().copied().collect()
    }

    fn staged(&mut self, source: &dyn Read, memo: &Memo, id: DocumentId) -> Result<&mut Staged> {
        Ok(match self.staged.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let stored = memo.document(source, id)?;
                entry.insert(Staged { now: stored.clone(), stored })
            }
        })
    }

    /// Something of the document changes: it must exist. Its last change never goes back.
    pub(super) fn touch(&mut self, source: &dyn Read, memo: &Memo, id: DocumentId, at: Timestamp) -> Result<()> {
        let staged = self.staged(source, memo, id)?;
        let Counted { record, .. } = staged.now.as_mut().ok_or_else(|| missing("the document"))?;
        record.modified_at = record.modified_at.max(at);
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
        let counted = self.staged.get_mut(&id).and_then(|staged| staged.now.as_mut());
        let counted = counted.ok_or_else(|| missing("the document"))?;
        counted.blocks = change(counted.blocks).ok_or_else(|| records::damaged(&keyspaces::document(id)))?;
        Ok(())
    }

    pub(super) fn flush(&mut self, rows: &mut dyn Transaction, memo: &mut Memo) -> Result<()> {
        for (id, staged) in &mut self.staged {
            if staged.stored == staged.now {
                continue;
            }
            memo.forget_document(*id);
            let key = keyspaces::document(*id);
            match &staged.now {
                Some(counted) => rows.put(&key, &records::seal(&key, |out| document::put_counted(out, counted)))?,
                None => rows.delete(&key)?,
            }
            let keys = |counted: &Option<Counted>| {
                counted.as_ref().map(|counted| index_keys(&counted.record)).unwrap_or_default()
            };
            let (before, after) = (keys(&staged.stored), keys(&staged.now));
            for key in before.iter().filter(|key| !after.contains(key)) {
                rows.delete(key)?;
            }
            for key in after.iter().filter(|key| !before.contains(key)) {
                rows.put(key, &records::seal_empty(key))?;
            }
            staged.stored.clone_from(&staged.now);
        }
        Ok(())
    }
}

/// The row of each index that follows from `record`.
pub(crate) fn index_keys(record: &DocumentRecord) -> Vec<Vec<u8>> {
    let mut keys = vec![
        keyspaces::by_location(record.location, record.id).to_vec(),
        keyspaces::by_time(DOCUMENTS_BY_MODIFIED, record.modified_at, record.id).to_vec(),
        keyspaces::by_time(DOCUMENTS_BY_CREATED, record.created_at, record.id).to_vec(),
    ];
    keys.extend(record.day.map(|day| keyspaces::by_day(day, record.id).to_vec()));
    keys
}

impl SpaceTransaction<'_> {
    pub(super) fn touch(&mut self, document: DocumentId) -> Result<()> {
        self.documents.touch(&*self.rows, &self.memo, document, self.stamp.at)
    }

    /// The new document keeps the times it comes with: they may be those of one that was erased.
    pub(super) fn create_document(&mut self, record: &DocumentRecord, forest: &Forest) -> Result<()> {
        let staged = self.documents.staged(&*self.rows, &self.memo, record.id)?;
        if staged.now.is_some() {
            return Err(conflict("the document exists already"));
        }
        staged.now = Some(Counted { record: record.clone(), blocks: forest.0.len() as u64 });
        let prepared = Prepared::whole(record.id, forest)?;
        self.plant_document(record.id, &prepared)?;
        self.log.create_document(record, forest, &prepared.encoded);
        Ok(())
    }

    pub(super) fn erase_document(&mut self, record: &DocumentRecord, forest: &Forest) -> Result<()> {
        let staged = self.documents.staged(&*self.rows, &self.memo, record.id)?;
        let stored = staged.now.take().ok_or_else(|| missing("the document"))?;
        check_same(&stored.record, record)?;
        let prepared = Prepared::whole(record.id, forest)?;
        self.uproot_document(record.id, &prepared)?;
        if stored.blocks != forest.0.len() as u64 {
            return Err(records::damaged(&keyspaces::document(record.id)));
        }
        self.log.erase_document(&stored.record, forest, &prepared.encoded);
        Ok(())
    }

    pub(super) fn update_document(&mut self, before: &DocumentRecord, after: &DocumentRecord) -> Result<()> {
        if before.id != after.id {
            return Err(conflict("a document cannot become another one"));
        }
        let staged = self.documents.staged(&*self.rows, &self.memo, before.id)?;
        let Counted { record, .. } = staged.now.as_mut().ok_or_else(|| missing("the document"))?;
        check_same(record, before)?;
        let modified_at = record.modified_at.max(self.stamp.at);
        *record = DocumentRecord { modified_at, ..after.clone() };
        self.log.update_document(before, after);
        Ok(())
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
