//! Folders: their records and the index of what is in them. They are written at once: there are
//! few.

use std::collections::HashSet;
use std::ops::ControlFlow;

use leafbase_model::{FolderId, FolderRecord, Location, Result};

use super::{SpaceTransaction, conflict, missing};
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::reader::totals;
use crate::records::meta::{self, SpaceTotals};
use crate::records::{self, folder};
use crate::space_store::put_totals;

impl SpaceTransaction<'_> {
    pub(super) fn create_folder(&mut self, record: &FolderRecord) -> Result<()> {
        if self.reader()?.folder(record.id)?.is_some() {
            return Err(conflict("the folder exists already"));
        }
        self.check_parent(record.parent)?;
        self.put_folder(record)?;
        self.count_folders(|folders| folders.checked_add(1))?;
        self.log.create_folder(record);
        Ok(())
    }

    pub(super) fn remove_folder(&mut self, record: &FolderRecord) -> Result<()> {
        self.check_folder(record)?;
        let documents = keyspaces::location(Location::Folder(record.id)).to_vec();
        let folders = keyspaces::folders_in(Some(record.id)).to_vec();
        for prefix in [documents, folders] {
            if self.holds_any(&prefix)? {
                return Err(conflict("the folder is not empty"));
            }
        }
        self.rows.delete(&keyspaces::folder(record.id))?;
        self.rows.delete(&keyspaces::folder_child(record.parent, record.id))?;
        self.count_folders(|folders| folders.checked_sub(1))?;
        self.log.remove_folder(record);
        Ok(())
    }

    fn count_folders(&mut self, change: impl FnOnce(u64) -> Option<u64>) -> Result<()> {
        let totals = totals(&*self.rows)?;
        let folders = change(totals.folders)
            .ok_or_else(|| records::damaged(&keyspaces::meta(meta::TOTALS)))?;
        put_totals(self.rows, SpaceTotals { folders, ..totals })
    }

    pub(super) fn update_folder(
        &mut self,
        before: &FolderRecord,
        after: &FolderRecord,
    ) -> Result<()> {
        if before.id != after.id {
            return Err(conflict("a folder cannot become another one"));
        }
        self.check_folder(before)?;
        self.check_parent(after.parent)?;
        self.check_no_ring(after)?;
        if before.parent != after.parent {
            self.rows.delete(&keyspaces::folder_child(before.parent, before.id))?;
        }
        self.put_folder(after)?;
        self.log.update_folder(before, after);
        Ok(())
    }

    fn put_folder(&mut self, record: &FolderRecord) -> Result<()> {
        let key = keyspaces::folder(record.id);
        self.rows.put(&key, &records::seal(&key, |out| folder::put(out, record)))?;
        let key = keyspaces::folder_child(record.parent, record.id);
        self.rows.put(&key, &records::seal_empty(&key))
    }

    fn check_folder(&mut self, told: &FolderRecord) -> Result<()> {
        match self.reader()?.folder(told.id)? {
            None => Err(missing("the folder")),
            Some(stored) if stored == *told => Ok(()),
            Some(_) => Err(conflict("the folder has changed")),
        }
    }

    fn check_parent(&mut self, parent: Option<FolderId>) -> Result<()> {
        let Some(parent) = parent else { return Ok(()) };
        self.reader()?.folder(parent)?.map(|_| ()).ok_or_else(|| missing("the parent folder"))
    }

    /// A folder in itself could be reached from nowhere.
    fn check_no_ring(&mut self, record: &FolderRecord) -> Result<()> {
        let reader = self.reader()?;
        let (mut above, mut met) = (record.parent, HashSet::new());
        while let Some(id) = above.filter(|id| met.insert(*id)) {
            if id == record.id {
                return Err(conflict("the folder would be in itself"));
            }
            above = reader.folder(id)?.and_then(|folder| folder.parent);
        }
        Ok(())
    }

    fn holds_any(&self, prefix: &[u8]) -> Result<bool> {
        let mut any = false;
        self.rows.scan(
            KeyRange::half_open(prefix, &keyspaces::end_of_slice(prefix)),
            &mut |_, _| {
                any = true;
                Ok(ControlFlow::Break(()))
            },
        )?;
        Ok(any)
    }
}
