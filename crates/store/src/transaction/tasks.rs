//! Staged rows of tasks: by document, and by day or in the logbook where tasks are listed.

use std::collections::BTreeMap;

use leafbase_model::{BlockId, DocumentId, Result, TaskInfo};

use super::SpaceTransaction;
use crate::keyspaces;
use crate::kv::Transaction;
use crate::reader::tasks::{tasks_among, tasks_in};
use crate::records;
use crate::tasks::{self, TaskEntry};

/// The document that tasks are in.
#[derive(Clone, Copy, Debug)]
struct TaskHome {
    document: DocumentId,
    is_listed: bool,
}

/// The rows of tasks that a write puts, with their bodies, or deletes.
#[derive(Debug, Default)]
pub(super) struct StagedTasks {
    staged: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl StagedTasks {
    fn put(&mut self, home: TaskHome, block: BlockId, entry: TaskEntry) {
        let key = keyspaces::task(home.document, entry.is_open(), block).to_vec();
        self.staged.insert(key, Some(entry.body().to_vec()));
        if home.is_listed {
            self.list(block, entry, true);
        }
    }

    fn delete(&mut self, home: TaskHome, block: BlockId, entry: TaskEntry) {
        self.staged.insert(keyspaces::task(home.document, entry.is_open(), block).to_vec(), None);
        if home.is_listed {
            self.list(block, entry, false);
        }
    }

    /// The task is by day or in the logbook from now on, or no longer.
    fn list(&mut self, block: BlockId, entry: TaskEntry, is_there: bool) {
        self.staged.extend(entry.listed(block).map(|key| (key, is_there.then(Vec::new))));
    }

    pub(super) fn flush(&mut self, rows: &mut dyn Transaction) -> Result<()> {
        for (key, body) in std::mem::take(&mut self.staged) {
            match body {
                Some(body) => {
                    rows.put(&key, &records::seal(&key, |out| out.extend_from_slice(&body)))?
                }
                None => rows.delete(&key)?,
            }
        }
        Ok(())
    }
}

impl SpaceTransaction<'_> {
    fn home(&self, document: DocumentId) -> TaskHome {
        TaskHome {
            document,
            is_listed: self.documents.location(document).is_some_and(tasks::are_listed),
        }
    }

    /// A block of a document that was touched is the task `after` where it was `before`.
    pub(super) fn track(
        &mut self,
        document: DocumentId,
        block: BlockId,
        before: Option<&TaskInfo>,
        after: Option<&TaskInfo>,
    ) {
        let (before, after) = (before.map(TaskEntry::of), after.map(TaskEntry::of));
        if before == after {
            return;
        }
        let home = self.home(document);
        if let Some(before) = before {
            self.tasks.delete(home, block, before);
        }
        if let Some(after) = after {
            self.tasks.put(home, block, after);
        }
    }

    /// Takes along the tasks among the blocks, which are sorted, that went from one document to
    /// another.
    pub(super) fn rekey_tasks(
        &mut self,
        moved: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        self.tasks.flush(self.rows)?;
        let (from, to) = (self.home(from), self.home(to));
        for (block, entry) in tasks_among(&*self.rows, from.document, moved)? {
            self.tasks.delete(from, block, entry);
            self.tasks.put(to, block, entry);
        }
        Ok(())
    }

    /// The document went to where tasks are listed, or away from there.
    pub(super) fn relist_tasks(&mut self, document: DocumentId, is_listed: bool) -> Result<()> {
        self.tasks.flush(self.rows)?;
        for is_open in [true, false] {
            for (block, entry) in tasks_in(&*self.rows, document, is_open)? {
                self.tasks.list(block, entry, is_listed);
            }
        }
        Ok(())
    }
}
