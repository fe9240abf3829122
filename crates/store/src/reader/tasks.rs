//! Reads of tasks: the open ones by day, those that are done or given up, and those of a document.

use leafbase_model::{BlockId, Day, DocumentId, Result, TaskState};

use super::{Cursor, Reader, Span};

/// A part of a listing of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskPage {
    /// The blocks that are the tasks, in the order of the listing.
    pub tasks: Vec<BlockId>,
    /// Where it goes on; none if this was all.
    pub next: Option<Cursor>,
}

impl Reader<'_> {
    /// At most `limit` open tasks outside of the trash whose day, the one they are planned for or else the one they must be
    /// done by, is within `days`; by day, then by ID.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Validation`] at `cursor` if the cursor is not of this listing.
    pub fn open_tasks(&self, days: Span<Day>, after: Option<&Cursor>, limit: usize) -> Result<TaskPage> {
        let _ = (days, after, limit);
        Ok(TaskPage::default())
    }

    /// At most `limit` tasks outside of the trash that are done or given up, the newest first.
    ///
    /// # Errors
    /// As [`Self::open_tasks`].
    pub fn logbook(&self, after: Option<&Cursor>, limit: usize) -> Result<TaskPage> {
        let _ = (after, limit);
        Ok(TaskPage::default())
    }

    /// The tasks of `document` in reading order, or the open ones alone; none if it does not exist.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn tasks_of(&self, document: DocumentId, open_only: bool) -> Result<Vec<BlockId>> {
        let forest = self.subtree(document.root(), None)?;
        let blocks = forest.0.iter().map(|node| &node.block);
        let tasks =
            blocks.filter(|block| block.data.task.is_some_and(|task| !open_only || task.state == TaskState::Todo));
        Ok(tasks.map(|block| block.id).collect())
    }
}
