//! Edits of folders. They are few, so their rows are not staged.

use std::collections::HashSet;
use std::ops::ControlFlow;

use leafbase_model::{FolderId, FolderRecord, Location, Result};

use super::SpaceTransaction;
use super::errors::{conflict, missing};
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::lookup::put_totals;
use crate::records::meta;
use crate::records::{self, folder};

impl SpaceTransaction<'_> {
    pub(super) fn create_folder(&mut self, record: &FolderRecord) -> Result<()> {
        if self.reader()?.folder(record.id)?.is_some() {
            return Err(conflict("the folder already exists"));
        }
        self.check_parent_folder(record.parent)?;
        // 1, or the revision that the removal logged.
        self.put_folder(record)?;
        self.count_folders(|folders| folders.checked_add(1))
    }

    /// Sets the revision of `record` to the one to log: created again, the folder has a higher
    /// revision than it ever had.
    pub(super) fn remove_folder(&mut self, record: &mut FolderRecord) -> Result<()> {
        record.rev = self.next_rev_of_folder(record)?;
        let documents = keyspaces::location(Location::Folder(record.id)).to_vec();
        let folders = keyspaces::folders_in(Some(record.id)).to_vec();
        for prefix in [documents, folders] {
            if self.has_rows(&prefix)? {
                return Err(conflict("the folder is not empty"));
            }
        }
        self.rows.delete(&keyspaces::folder(record.id))?;
        self.rows.delete(&keyspaces::folder_child(record.parent, record.id))?;
        self.count_folders(|folders| folders.checked_sub(1))
    }

    fn count_folders(&mut self, change: impl FnOnce(u64) -> Option<u64>) -> Result<()> {
        self.totals.folders = change(self.totals.folders)
            .ok_or_else(|| records::corrupt(&keyspaces::meta(meta::TOTALS)))?;
        put_totals(self.rows, self.totals)
    }

    pub(super) fn update_folder(
        &mut self,
        before: &FolderRecord,
        after: &mut FolderRecord,
    ) -> Result<()> {
        if before.id != after.id {
            return Err(conflict("an update cannot change the ID of a folder"));
        }
        // Counted here, so that an undo increments it as well.
        after.rev = self.next_rev_of_folder(before)?;
        self.check_parent_folder(after.parent)?;
        self.check_no_cycle(after)?;
        if before.parent != after.parent {
            self.rows.delete(&keyspaces::folder_child(before.parent, before.id))?;
        }
        self.put_folder(after)
    }

    fn put_folder(&mut self, record: &FolderRecord) -> Result<()> {
        let key = keyspaces::folder(record.id);
        self.rows.put(&key, &records::seal(&key, |out| folder::encode(out, record)))?;
        let key = keyspaces::folder_child(record.parent, record.id);
        self.rows.put(&key, &records::seal_empty(&key))
    }

    /// The revision after a change of a folder, which must be as expected in all but its revision.
    fn next_rev_of_folder(&mut self, expected: &FolderRecord) -> Result<u64> {
        match self.reader()?.folder(expected.id)? {
            None => Err(missing("the folder")),
            Some(FolderRecord { name, parent, rev, .. })
                if (&name, parent) == (&expected.name, expected.parent) =>
            {
                Ok(rev.saturating_add(1))
            }
            Some(_) => Err(conflict("the folder has changed")),
        }
    }

    fn check_parent_folder(&mut self, parent: Option<FolderId>) -> Result<()> {
        let Some(parent) = parent else { return Ok(()) };
        self.reader()?.folder(parent)?.map(|_| ()).ok_or_else(|| missing("the parent folder"))
    }

    /// A folder inside itself would be unreachable.
    fn check_no_cycle(&mut self, record: &FolderRecord) -> Result<()> {
        // `visited` ends the walk on a cycle that damage left.
        let reader = self.reader()?;
        let (mut ancestor, mut visited) = (record.parent, HashSet::new());
        while let Some(id) = ancestor.filter(|id| visited.insert(*id)) {
            if id == record.id {
                return Err(conflict("the folder would be inside itself"));
            }
            ancestor = reader.folder(id)?.and_then(|folder| folder.parent);
        }
        Ok(())
    }

    fn has_rows(&self, prefix: &[u8]) -> Result<bool> {
        let mut any = false;
        let end = keyspaces::prefix_end_of(prefix);
        self.rows.scan(KeyRange::half_open(prefix, &end), &mut |_, _| {
            any = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(any)
    }
}
