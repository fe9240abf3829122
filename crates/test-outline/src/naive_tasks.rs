//! Task operations of the naive space, by a scan of all blocks.

use leafbase_model::{
    AddTasks, BlockData, BlockDraft, BlockFields, BlockId, BlockPatch, BlockRecord, Day,
    DeleteTasks, DocumentId, DocumentRecord, Error, ListStyle, Location, Result, Task,
    TaskDestination, TaskDraft, TaskInfo, TaskLocation, TaskScope, TaskState, TaskUpdate,
    Timestamp, UpdateTasks,
};

use crate::naive::By;
use crate::naive_comments::at;
use crate::naive_rules as rules;
use crate::{Broken, NaiveBlock, NaiveDocument, NaiveSpace};

/// Tasks of a request with their target documents and edge, in the order of first mention.
type Groups<T> = Vec<((DocumentId, bool), Vec<T>)>;

fn group<T>(groups: &mut Groups<T>, place: (DocumentId, bool), entry: T) {
    match groups.iter_mut().find(|(known, _)| *known == place) {
        Some((_, entries)) => entries.push(entry),
        None => groups.push((place, vec![entry])),
    }
}

impl NaiveSpace {
    /// The tasks of a scope, on all pages, with stored markdown.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn tasks(&self, scope: TaskScope, now: Timestamp) -> Result<Vec<Task>> {
        let today = self.today(now);
        Ok(match scope {
            TaskScope::Open => {
                let mut tasks = self.open_tasks(|_| true);
                tasks.sort_by_key(|task| self.task_day(task).is_none());
                tasks
            }
            TaskScope::Active => self.open_tasks(|day| day.is_some_and(|day| day <= today)),
            TaskScope::Upcoming => self.open_tasks(|day| day.is_some_and(|day| day > today)),
            TaskScope::Inbox => {
                let inbox =
                    self.documents.iter().filter(|found| found.record.location == Location::Inbox);
                let tasks = inbox.flat_map(tasks_of);
                tasks.filter(|task| task.info.state == TaskState::Todo).collect()
            }
            TaskScope::Logbook => {
                let mut tasks = self.everywhere();
                tasks.retain(|task| task.info.state != TaskState::Todo);
                tasks.sort_by_key(|task| std::cmp::Reverse((ended(&task.info), task.id)));
                tasks
            }
            TaskScope::Document(id) => {
                let document =
                    self.document(id).ok_or_else(|| Error::no_document().at("documentId"))?;
                tasks_of(document)
            }
        })
    }

    /// Tasks in templates and in the trash are not listed.
    fn everywhere(&self) -> Vec<Task> {
        let listed = |location| match location {
            Location::Trash => self.breaks(Broken::TrashedTasksAreListed),
            Location::Templates => self.breaks(Broken::TemplatesAreListed),
            _ => true,
        };
        let documents = self.documents.iter().filter(|document| listed(document.record.location));
        documents.flat_map(tasks_of).collect()
    }

    fn task_day(&self, task: &Task) -> Option<Day> {
        let (planned, due) = (task.info.schedule_date, task.info.deadline_date);
        if self.breaks(Broken::DeadlinesComeFirst) { due.or(planned) } else { planned.or(due) }
    }

    fn open_tasks(&self, wanted: impl Fn(Option<Day>) -> bool) -> Vec<Task> {
        let mut tasks = self.everywhere();
        tasks.retain(|task| task.info.state == TaskState::Todo && wanted(self.task_day(task)));
        tasks.sort_by_key(|task| (self.task_day(task), task.id));
        tasks
    }

    fn task(&self, id: BlockId) -> Option<Task> {
        shown(&self.document_of(id)?.record, self.find(id)?)
    }

    /// The target document of tasks; the inbox or a daily note is created if missing.
    fn place_for(&mut self, by: By<'_>, to: TaskDestination) -> Result<DocumentId> {
        match to {
            TaskDestination::Inbox => self.inbox(by),
            TaskDestination::DailyNote(day) => {
                let day = self.resolve(day, by.0.at);
                self.note(by, day)
            }
            TaskDestination::Document(document) => {
                let found =
                    self.document(document).ok_or_else(|| Error::no_document().at("documentId"))?;
                let checked = rules::check_writable(self, found.record.id.root());
                checked.map(|()| document).map_err(|error| error.at("documentId"))
            }
        }
    }

    fn inbox(&mut self, by: By<'_>) -> Result<DocumentId> {
        if let Some(inbox) =
            self.documents.iter().find(|found| found.record.location == Location::Inbox)
        {
            return Ok(inbox.record.id);
        }
        let page = BlockDraft::new(BlockData::page("Inbox"));
        self.create_document(by, &page, Location::Inbox, None)
    }

    /// Adds tasks.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn add_tasks(&mut self, by: By<'_>, request: &AddTasks) -> Result<Vec<Task>> {
        rules::check_count(request.tasks.len(), &self.limits, "tasks")?;
        self.write(by.0, |space| {
            let mut groups = Groups::new();
            for (index, draft) in request.tasks.iter().enumerate() {
                let (document, draft) =
                    space.drafted_task(by, draft).map_err(|error| at("tasks", index, error))?;
                let place = (document, space.goes_to_the_end(document, &draft.data));
                group(&mut groups, place, (index, draft));
            }
            let mut added = Vec::new();
            for ((document, at_end), drafts) in groups {
                let grown =
                    |(index, draft)| Ok((index, rules::grown(&draft, "", 1, by, &space.limits)?));
                let grown: Vec<_> = drafts.into_iter().map(grown).collect::<Result<_>>()?;
                added.extend(grown.iter().map(|(index, block)| (*index, block.record.id)));
                let at_end = at_end || space.breaks(Broken::TasksGoToTheEnd);
                let children = &mut space.get_mut(document.root()).children;
                let start = if at_end { children.len() } else { 0 };
                children.splice(start..start, grown.into_iter().map(|(_, block)| block));
            }
            added.sort_unstable();
            Ok(added.into_iter().map(|(_, id)| space.task(id).unwrap()).collect())
        })
    }

    fn drafted_task(&mut self, by: By<'_>, draft: &TaskDraft) -> Result<(DocumentId, BlockDraft)> {
        let document = self.place_for(by, draft.location).map_err(|error| error.at("location"))?;
        let mut info = TaskInfo::default();
        self.dated(draft.info, by.0.at).apply(&mut info).map_err(|error| error.at("taskInfo"))?;
        let text = BlockData::text(draft.markdown.clone());
        let draft =
            BlockDraft::new(BlockData { list_style: ListStyle::Task, task: Some(info), ..text });
        rules::drafted(&draft, 1, by.0, &self.limits)?;
        Ok((document, draft))
    }

    /// The task with this ID.
    fn check_task(&self, id: BlockId, once: impl FnOnce() -> Result<()>) -> Result<()> {
        let found = self.find(id).ok_or_else(Error::no_block)?;
        once()?;
        if found.record.data.task.is_none() { Err(Error::rule("no task")) } else { Ok(()) }
    }

    /// Updates tasks.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn update_tasks(&mut self, by: By<'_>, request: &UpdateTasks) -> Result<Vec<Task>> {
        let updates = &request.tasks_to_update;
        rules::check_count(updates.len(), &self.limits, "tasksToUpdate")?;
        self.write(by.0, |space| {
            let (before, mut changed, mut placed) = (space.clone(), Vec::new(), Vec::new());
            for (index, update) in updates.iter().enumerate() {
                let once = || rules::check_once(index, updates, |update| update.id);
                let found = space.check_task(update.id, once).map_err(|error| error.at("id"));
                let data = found.and_then(|()| space.changed_task(by, update, &mut placed));
                changed.push((update.id, data.map_err(|error| at("tasksToUpdate", index, error))?));
            }
            for (id, data) in changed {
                space.revise(id, data, by.0);
            }
            let ids: Vec<_> = updates.iter().map(|update| update.id).collect();
            space.move_tasks(&before, &ids, &placed);
            Ok(updates.iter().map(|update| space.task(update.id).unwrap()).collect())
        })
    }

    /// New data of a task; a new location is added to `placed`.
    fn changed_task(
        &mut self,
        by: By<'_>,
        update: &TaskUpdate,
        placed: &mut Vec<(BlockId, DocumentId)>,
    ) -> Result<BlockData> {
        let (markdown, task_patch) = (update.markdown.clone(), Some(update.info));
        let patch = BlockPatch::new(
            update.id,
            BlockFields { markdown, task_patch, ..BlockFields::default() },
        );
        let data = rules::patched(self, &patch, by.0)?;
        if let Some(to) = update.location {
            let document = self.place_for(by, to).map_err(|error| error.at("location"))?;
            if !self.is_in(update.id, document) {
                rules::not_a_root(self, update.id).map_err(|error| error.at("id"))?;
                rules::movable(self, update.id, document.root())
                    .map_err(|error| error.at("location"))?;
            }
            placed.push((update.id, document));
        }
        Ok(data)
    }

    fn is_in(&self, block: BlockId, document: DocumentId) -> bool {
        self.document_of(block).is_some_and(|found| found.record.id == document)
    }

    /// Open tasks of the inbox precede closed ones.
    fn goes_to_the_end(&self, document: DocumentId, data: &BlockData) -> bool {
        let is_inbox =
            self.document(document).is_some_and(|found| found.record.location == Location::Inbox);
        is_inbox && is_closed(data) && !self.breaks(Broken::ClosedTasksStay)
    }

    /// Moves those of `ids` that change their document to its start or end, and tasks of the inbox
    /// that were opened or closed since `before`, in the order of the request. Tasks in place stay,
    /// and return if an ancestor took them along.
    pub(crate) fn move_tasks(
        &mut self,
        before: &Self,
        ids: &[BlockId],
        placed: &[(BlockId, DocumentId)],
    ) {
        let mut groups = Groups::new();
        for id in ids {
            let elsewhere = self.elsewhere(*id, placed);
            if let Some(document) = elsewhere.or_else(|| self.turned(before, *id)) {
                group(
                    &mut groups,
                    (document, self.goes_to_the_end(document, &self.get(*id).record.data)),
                    *id,
                );
            }
        }
        self.bring_all(groups);
        let mut groups = Groups::new();
        for id in ids {
            if let Some(document) = self.elsewhere(*id, placed) {
                group(
                    &mut groups,
                    (document, self.goes_to_the_end(document, &self.get(*id).record.data)),
                    *id,
                );
            }
        }
        self.bring_all(groups);
    }

    fn bring_all(&mut self, groups: Groups<BlockId>) {
        for ((document, at_end), ids) in groups {
            let root = document.root();
            let index = if at_end { self.get(root).children.len() } else { 0 };
            self.bring(&ids, root, index);
        }
    }

    /// The document that a task has to move to, if any.
    fn elsewhere(&self, id: BlockId, placed: &[(BlockId, DocumentId)]) -> Option<DocumentId> {
        let (_, document) = *placed.iter().find(|(task, _)| *task == id)?;
        (!self.is_in(id, document)).then_some(document)
    }

    /// The inbox, if one of its top-level tasks was opened or closed.
    fn turned(&self, before: &Self, id: BlockId) -> Option<DocumentId> {
        let document = &self.document_of(id)?.record;
        let is_top =
            document.location == Location::Inbox && self.parent(id) == Some(document.id.root());
        let [former, now] = [before, self].map(|space| is_closed(&space.get(id).record.data));
        (is_top && former != now && !self.breaks(Broken::ClosedTasksStay)).then_some(document.id)
    }

    /// Deletes tasks with their descendants. Returns the IDs of the request.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn delete_tasks(&mut self, by: By<'_>, request: &DeleteTasks) -> Result<Vec<BlockId>> {
        let ids = &request.ids_to_delete;
        rules::check_count(ids.len(), &self.limits, "idsToDelete")?;
        for (index, id) in ids.iter().enumerate() {
            let once = || rules::check_once(index, ids, |id| *id);
            let checked = self.check_task(*id, once).and_then(|()| rules::not_a_root(self, *id));
            checked.map_err(|error| at("idsToDelete", index, error))?;
        }
        self.write(by.0, |space| {
            for id in ids {
                space.take(*id);
            }
            Ok(ids.clone())
        })
    }
}

fn tasks_of(document: &NaiveDocument) -> Vec<Task> {
    document.root.walk().into_iter().filter_map(|block| shown(&document.record, block)).collect()
}

/// A block as a task.
fn shown(document: &DocumentRecord, block: &NaiveBlock) -> Option<Task> {
    let location = match (document.location, document.day) {
        (Location::Inbox, _) => TaskLocation::Inbox,
        (Location::DailyNotes, Some(day)) => TaskLocation::DailyNote(day),
        _ => TaskLocation::Document(document.id),
    };
    let BlockRecord { id, rev, data, .. } = &block.record;
    let (id, rev, markdown) = (*id, *rev, data.inline.clone());
    Some(Task { id, inline: markdown, block_form: None, info: data.task?, location, rev })
}

fn is_closed(data: &BlockData) -> bool {
    data.task.is_some_and(|task| task.state != TaskState::Todo)
}

fn ended(info: &TaskInfo) -> Option<Timestamp> {
    info.completed_at.or(info.canceled_at)
}
