//! Task rows of blocks, and of documents that move into listings or out of them.

use leafbase_model::{BlockId, DocumentId, Result, TaskInfo};

use super::SpaceTransaction;
use super::staged::task_rows::TaskDocument;
use crate::reader::tasks::{tasks_among, tasks_in};
use crate::tasks::{self, TaskEntry};

impl SpaceTransaction<'_> {
    fn task_document(&self, id: DocumentId) -> TaskDocument {
        TaskDocument { id, is_listed: self.documents.location(id).is_some_and(tasks::are_listed) }
    }

    /// Stages the task rows of a block of a touched document.
    pub(super) fn index_task(
        &mut self,
        document: DocumentId,
        block: BlockId,
        before: Option<&TaskInfo>,
        after: Option<&TaskInfo>,
    ) {
        let (before, after) = (before.map(TaskEntry::of), after.map(TaskEntry::of));
        // Most updates change no task.
        if before == after {
            return;
        }
        let document = self.task_document(document);
        if let Some(before) = before {
            self.tasks.delete(document, block, before);
        }
        if let Some(after) = after {
            self.tasks.put(document, block, after);
        }
    }

    /// Moves the rows of the tasks among `moved`, which are sorted, to another document.
    pub(super) fn rekey_tasks(
        &mut self,
        moved: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        self.tasks.flush(self.rows)?;
        let (from, to) = (self.task_document(from), self.task_document(to));
        for (block, entry) in tasks_among(&*self.rows, from.id, moved)? {
            self.tasks.delete(from, block, entry);
            self.tasks.put(to, block, entry);
        }
        Ok(())
    }

    /// Lists the tasks of a document, or stops listing them.
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
