//! Task rows of blocks, and of documents that move into listings or out of them.

use leafbase_model::{BlockId, DocumentId, DocumentRecord, Result, TaskInfo, TaskLocation};

use super::SpaceTransaction;
use super::staged::task_rows::TaskDocument;
use crate::reader::tasks::{tasks_among, tasks_in};
use crate::records::listed_task::{ListedTask, task_location};
use crate::tasks::{self, TaskEntry};

/// Where lists say that the tasks of a document are; `None` if they leave them out.
fn listed_at(record: &DocumentRecord) -> Option<TaskLocation> {
    tasks::are_listed(record.location).then(|| task_location(record))
}

impl SpaceTransaction<'_> {
    fn task_document(&self, id: DocumentId) -> TaskDocument {
        TaskDocument { id, listed_at: self.documents.record(id).and_then(listed_at) }
    }

    /// Stages the task rows of a block of a touched document, with its record if it remains.
    pub(super) fn index_task(
        &mut self,
        document: DocumentId,
        block: BlockId,
        before: Option<&TaskInfo>,
        after: Option<(&TaskInfo, &[u8])>,
    ) {
        let old = before.map(TaskEntry::of);
        let new = after.map(|(task, record)| (TaskEntry::of(task), record));
        if old.is_none() && new.is_none() {
            return;
        }
        let document = self.task_document(document);
        if let Some(old) = old.filter(|old| new.is_none_or(|(new, _)| new != *old)) {
            self.tasks.delete(document.id, block, old);
            if document.listed_at.is_some() {
                self.tasks.unlist(block, old);
            }
        }
        if let Some((new, record)) = new {
            if old != Some(new) {
                self.tasks.put(document.id, block, new);
            }
            if let Some(location) = document.listed_at {
                self.tasks.list(block, new, ListedTask::new(location, record));
            }
        }
    }

    /// Moves the rows of the tasks among `moved`, which are sorted, to another document.
    pub(super) fn rekey_tasks(
        &mut self,
        moved: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        self.tasks.flush_entries(self.rows)?;
        let to = self.task_document(to);
        for (block, entry) in tasks_among(&*self.rows, from, moved)? {
            self.tasks.delete(from, block, entry);
            self.tasks.put(to.id, block, entry);
            self.relist(to.id, block, entry, to.listed_at);
        }
        Ok(())
    }

    /// Lists the tasks of a document that moves from one location to another.
    pub(super) fn relist_tasks(
        &mut self,
        before: &DocumentRecord,
        after: &DocumentRecord,
    ) -> Result<()> {
        let location = listed_at(after);
        if listed_at(before) == location {
            return Ok(());
        }
        self.tasks.flush_entries(self.rows)?;
        for is_open in [true, false] {
            for (block, entry) in tasks_in(&*self.rows, after.id, is_open)? {
                self.relist(after.id, block, entry, location);
            }
        }
        Ok(())
    }

    fn relist(
        &mut self,
        document: DocumentId,
        block: BlockId,
        entry: TaskEntry,
        location: Option<TaskLocation>,
    ) {
        match location {
            Some(location) => self.tasks.relist(document, block, entry, location),
            None => self.tasks.unlist(block, entry),
        }
    }
}
