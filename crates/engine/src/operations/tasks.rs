//! Tasks: blocks of list style `task`, across the space.

use std::collections::HashSet;

use leafbase_model::{
    AddTasks, BlockId, DeleteTasks, Error, Items, ItemsPage, ListTasks, Result, Task, UpdateTasks,
};
use leafbase_tree_ops as ops;

use crate::core::access::FullAccess;
use crate::core::connection::Connection;
use additions::Additions;
pub(crate) use destinations::move_to;
use task_blocks::{find, renamed};
use updates::Updates;

mod additions;
mod cursor;
mod destinations;
mod list;
mod task_blocks;
mod updates;

impl<A: FullAccess> Connection<A> {
    /// The tasks of a scope. The cost depends on the number of tasks returned, not on the size of
    /// the space; the scope `inbox` also reads all its open tasks for each page, `document` all
    /// tasks of the document, since these are stored by ID and listed in reading order.
    ///
    /// Without a limit the reply has all tasks of the scope. A cursor stays valid while tasks are
    /// added and removed between two calls: a returned task is not returned again unless it moved,
    /// and no task that existed throughout is skipped. Tasks in templates appear only in the scope
    /// of their document.
    ///
    /// ```
    /// use leafbase::{AddTasks, DayRef, Space, TaskDraft, TaskScope};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let passport = TaskDraft::new("renew the passport").scheduled(DayRef::Today);
    /// notes.add_tasks(AddTasks::new([passport, TaskDraft::new("buy a guide")]))?;
    /// assert_eq!(notes.tasks(TaskScope::Active)?[0].inline, "renew the passport");
    /// assert_eq!(notes.tasks(TaskScope::Inbox)?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `documentId`; [`crate::ErrorKind::Validation`] at `limit`
    /// for 0, and at `cursor` for one of another listing.
    pub fn tasks(&self, request: impl Into<ListTasks>) -> Result<ItemsPage<Task>> {
        let request = request.into();
        request.paging.check()?;
        self.operation("tasks").read(|tree| list::page(tree, self.space.now(), &request))
    }

    /// Creates tasks, each at the top of its destination; a done or canceled task goes to the end
    /// of the inbox, where open tasks precede closed ones. Tasks for the same destination keep the
    /// order of the request. The inbox and daily notes are created when first needed. Returns the
    /// tasks in the order of the request.
    ///
    /// ```
    /// use leafbase::{AddTasks, DayRef, TaskDestination, TaskDraft, TaskLocation};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let added = notes.add_tasks(AddTasks::new([
    ///     TaskDraft::new("call Ana").due(DayRef::Tomorrow), // into the inbox
    ///     TaskDraft::new("water the plants").at(TaskDestination::DailyNote(DayRef::Today)),
    ///     TaskDraft::new("renew the passport").at(trip.id()),
    /// ]))?;
    /// assert_eq!(added[2].location, TaskLocation::Document(trip.id()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if a document does not exist, and
    /// [`crate::ErrorKind::RuleViolation`] if it is in the trash, at
    /// `tasks[n].location.documentId`; [`crate::ErrorKind::Validation`] at `tasks[n].markdown` for
    /// more than one paragraph; and the errors of block insertion. On an error no task is created.
    pub fn add_tasks(&self, request: AddTasks) -> Result<Items<Task>> {
        let AddTasks { tasks, .. } = request;
        self.prepare(|| self.check_count("tasks", tasks.len()))?;
        let (added, _) = self.operation("add_tasks").write(|transaction| {
            let mut additions = Additions::begin(transaction, self.limits())?;
            for (index, task) in tasks.iter().enumerate() {
                additions
                    .add(index, task)
                    .map_err(|error| error.at(format_args!("tasks[{index}]")))?;
            }
            additions.finish()
        })?;
        Ok(Items(added))
    }

    /// Updates tasks; fields that are not given keep their values. A moved task goes to the top of
    /// its destination with its descendants and keeps its ID; tasks moved to the same destination
    /// keep the order of the request. In the inbox open tasks precede closed ones: a task that
    /// becomes done or canceled goes to the end, a reopened one to the top; tasks below other
    /// blocks stay there. (Block operations put a task exactly where they are asked to.) Returns
    /// the updated tasks.
    ///
    /// ```
    /// use leafbase::{AddTasks, TaskDraft, TaskScope, TaskState, TaskUpdate};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let call = notes.add_tasks(AddTasks::new([TaskDraft::new("call")]))?[0].id;
    /// notes.update_tasks(TaskUpdate::of(call).with_state(TaskState::Done))?;
    /// assert_eq!(notes.tasks(TaskScope::Logbook)?[0].id, call);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `tasksToUpdate[n].id`, or at its `location.documentId`;
    /// [`crate::ErrorKind::RuleViolation`] for a block that is not a task, or a document in the
    /// trash; [`crate::ErrorKind::Validation`] for a task named twice, and for a text of more than
    /// one paragraph; and the errors of block updates. On an error no task is changed.
    pub fn update_tasks(&self, request: impl Into<UpdateTasks>) -> Result<Items<Task>> {
        let UpdateTasks { tasks_to_update: tasks, .. } = request.into();
        self.prepare(|| self.check_count("tasksToUpdate", tasks.len()))?;
        let ids: Vec<_> = tasks.iter().map(|task| task.id).collect();
        let (updated, _) = self.operation("update_tasks").write(|transaction| {
            let mut updates = Updates::begin(transaction, self.limits(), &ids)?;
            for (index, task) in tasks.iter().enumerate() {
                updates
                    .add(task)
                    .map_err(|error| error.at(format_args!("tasksToUpdate[{index}]")))?;
            }
            updates.finish()
        })?;
        Ok(Items(updated))
    }

    /// Deletes tasks with their descendants, in any document, and returns the requested IDs.
    ///
    /// ```
    /// use leafbase::{AddTasks, TaskDraft, TaskScope};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let call = notes.add_tasks(AddTasks::new([TaskDraft::new("call")]))?[0].id;
    /// notes.delete_tasks(call)?;
    /// assert!(notes.tasks(TaskScope::Inbox)?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// At `idsToDelete[n]`: [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::RuleViolation`] for
    /// a block that is not a task, a document's root, or a document in the trash;
    /// [`crate::ErrorKind::Validation`] for a task named twice. On an error no task is deleted.
    pub fn delete_tasks(&self, request: impl Into<DeleteTasks>) -> Result<Items<BlockId>> {
        let DeleteTasks { ids_to_delete: ids, .. } = request.into();
        self.prepare(|| self.check_count("idsToDelete", ids.len()))?;
        self.operation("delete_tasks").write(|transaction| {
            let deleted = transaction.plan(|tree, context| {
                let (mut named, mut valid) = (HashSet::new(), Vec::with_capacity(ids.len()));
                let fault = ids.iter().find_map(|id| match find(tree, &mut named, *id) {
                    Ok(_) => {
                        valid.push(*id);
                        None
                    }
                    Err(error) => Some(error.at(format_args!("idsToDelete[{}]", valid.len()))),
                });
                // The first bad entry is reported: an entry before this one may fail in the
                // deletion itself.
                let deleted = ops::delete(tree, context, valid)
                    .map_err(|error| renamed(&error, "blockIds", "idsToDelete"))?;
                fault.map_or(Ok(deleted), Err)
            })?;
            transaction.apply(deleted.edits)
        })?;
        Ok(Items(ids))
    }

    fn check_count(&self, list: &str, found: usize) -> Result<()> {
        let most = self.limits().blocks_per_request;
        if found > most {
            Err(Error::limit("tasks in one request", most, found).at(list))
        } else {
            Ok(())
        }
    }
}
