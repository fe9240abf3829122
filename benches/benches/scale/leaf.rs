//! Leafbase, through its public interface alone.

use crate::ask::{Answer, Field, List, Peer, Question, Scope, Within, Write};
use crate::facts::{Facts, Made, Target};
use crate::plan::{self, BOX, Document, FOLDERS, NOON, Place, Plan, State, TODAY, Task, Text};
use benches::measure::timed;
use benches::workload::Id;
use leafbase::{
    AddComments, AddTasks, BlockData, BlockDraft, BlockId, Clock, CommentDraft, Connection,
    CreateDocuments, CreateFolders, Day, DayRange, DayRef, DeleteDocuments, Destination,
    DocumentId, DocumentOrder, Durability, Fetch, FolderDraft, FolderId, IdSource, InsertBlocks,
    Items, ItemsPage, ListDocuments, ListStyle, ListTasks, Location, MoveDocuments, Position,
    PurgeDocuments, SearchIndexing, Space, TaskDestination, TaskDraft, TaskInfo, TaskPatch,
    TaskScope, TaskState, TaskUpdate, Timestamp,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

pub struct Leafbase {
    connection: Connection,
    present: Present,
    facts: Arc<Facts>,
    /// Where the 20th page begins.
    far: String,
}

/// The time that is set, moving on with each look; IDs in its order.
#[derive(Clone, Default)]
struct Present(Arc<AtomicI64>);

impl Clock for Present {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

impl IdSource for Present {
    fn new_id(&self, now: Timestamp) -> Id {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let mut id = [0; 16];
        id[..6].copy_from_slice(&now.as_millis().to_be_bytes()[2..]);
        id[8..].copy_from_slice(&number.to_be_bytes());
        id
    }
}

impl Present {
    fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::Relaxed);
    }
}

fn day(number: i64) -> Day {
    Day::from_epoch_days(number)
}

fn info(task: Task) -> TaskInfo {
    let closed = task.closed.map(Timestamp::from_millis);
    TaskInfo {
        state: match task.state {
            State::Todo => TaskState::Todo,
            State::Done => TaskState::Done,
            State::Canceled => TaskState::Canceled,
        },
        schedule_date: task.scheduled.map(day),
        deadline_date: task.deadline.map(day),
        completed_at: closed.filter(|_| task.state == State::Done),
        canceled_at: closed.filter(|_| task.state == State::Canceled),
    }
}

fn draft(text: &Text) -> BlockDraft {
    let mut data = BlockData::text(&text.markdown);
    if let Some(task) = text.task {
        data.list_style = ListStyle::Task;
        data.task = Some(info(task));
    }
    BlockDraft::new(data)
}

fn inbox_draft(text: &Text) -> TaskDraft {
    let mut draft = TaskDraft::new(&text.markdown);
    if let Some(task) = text.task {
        let info = info(task);
        let (state, completed_at) = (Some(info.state), info.completed_at.map(Some));
        draft.info = TaskPatch { state, completed_at, ..TaskPatch::default() };
    }
    draft
}

struct Builder<'a> {
    space: Space,
    connection: Connection,
    present: Present,
    plan: &'a Plan,
    folders: Vec<FolderId>,
}

/// Makes the space and closes it.
pub fn build(path: &Path, plan: &Plan) -> Facts {
    let present = Present::default();
    present.set(NOON - 4 * 365 * 86_400_000);
    let options = Space::builder()
        .name("scale")
        .search_indexing(SearchIndexing::OnDemand)
        .durability(Durability::Relaxed);
    let options = options.ids(present.clone()).clock(present.clone());
    let space = options.create(path.join("space.leafbase")).expect("a space");
    let connection = space.connect().acting_as("Ada");
    let mut builder = Builder { space, connection, present, plan, folders: Vec::new() };
    builder.make_folders();
    let made = plan.documents.iter().map(|document| builder.make(document));
    let (ids, blocks): (Vec<DocumentId>, Vec<Vec<BlockId>>) = made.unzip();
    builder.make_inbox();
    builder.change(&ids, &blocks);
    let facts = builder.facts(&ids, &blocks);
    let Builder { space, connection, .. } = builder;
    drop(connection);
    space.close().expect("close");
    facts
}

impl Builder<'_> {
    fn make_folders(&mut self) {
        for at in 0..FOLDERS {
            let mut draft = FolderDraft::new(plan::folder_name(at));
            if let Some(parent) = plan::parent(at) {
                draft = draft.within(self.folders[parent]);
            }
            let made =
                self.connection.create_folders(CreateFolders::new([draft])).expect("a folder");
            self.folders.push(made[0].id);
        }
    }

    /// Makes the document, and gives its blocks, too.
    fn make(&self, document: &Document) -> (DocumentId, Vec<BlockId>) {
        self.present.set(document.created);
        let id = self.create(document);
        let page = self.connection.fetch(Fetch::new(id)).expect("a document");
        let blocks: Vec<BlockId> = page.children().iter().map(|block| block.id).collect();
        if document.has_comment {
            let comment = CommentDraft::new(blocks[0], "a word on this");
            self.connection.add_comments(AddComments::new([comment])).expect("a comment");
        }
        (id, blocks)
    }

    fn create(&self, document: &Document) -> DocumentId {
        let content = document.blocks.iter().map(draft).collect();
        let destination = match document.place {
            Place::Note(number) => {
                let request = InsertBlocks::blocks(content, Position::end_of_day(day(number)));
                self.connection.insert_blocks(request).expect("a note");
                let note = self.connection.fetch(Fetch::day(day(number)).depth(0)).expect("a note");
                return DocumentId::of_root(note.id);
            }
            Place::Unsorted => Destination::Unsorted,
            Place::Templates => Destination::Templates,
            Place::Folder(at) | Place::Trash(at) => Destination::Folder(self.folders[at]),
        };
        let page = BlockDraft::new(BlockData::page(&document.title)).with_content(content);
        let made = self
            .connection
            .create_documents(CreateDocuments::new([page], destination))
            .expect("a document");
        made[0].id()
    }

    fn make_inbox(&self) {
        self.present.set(NOON - 90 * 86_400_000);
        let request = AddTasks::new(self.plan.inbox.iter().map(inbox_draft));
        self.connection.add_tasks(request).expect("tasks");
    }

    /// Changes and deletions, the earliest first.
    fn change(&self, ids: &[DocumentId], blocks: &[Vec<BlockId>]) {
        let changed = |(at, document): (usize, &Document)| document.changed.map(|when| (when, at));
        let mut changes: Vec<_> =
            self.plan.documents.iter().enumerate().filter_map(changed).collect();
        changes.sort_unstable();
        for (when, at) in changes {
            self.present.set(when);
            let document = &self.plan.documents[at];
            if matches!(document.place, Place::Trash(_)) {
                self.connection.delete_documents(ids[at]).expect("delete");
            } else {
                let again = format!("{} again", document.blocks[0].markdown);
                self.connection.update_markdown(blocks[at][0], &again).expect("update");
            }
        }
    }

    fn facts(&self, ids: &[DocumentId], blocks: &[Vec<BlockId>]) -> Facts {
        let document = |id: &DocumentId| {
            let document = self.connection.document(*id).expect("a document");
            let times = (document.created_at().as_millis(), document.modified_at().as_millis());
            Made { id: id.to_bytes(), title: document.title, times }
        };
        let target = |at: usize| Target {
            at,
            first: blocks[at][0].to_bytes(),
            task: blocks[at][2].to_bytes(),
        };
        Facts {
            folders: self.folders.iter().map(|folder| folder.to_bytes()).collect(),
            documents: ids.iter().map(document).collect(),
            blocks: self.plan.blocks(),
            targets: self.plan.targets().into_iter().map(target).collect(),
            busy: self.plan.busy,
        }
    }
}

impl Answer for ItemsPage<leafbase::Document> {
    fn lines(&self) -> Vec<String> {
        self.iter().map(|document| document.title.clone()).collect()
    }
}

impl Answer for ItemsPage<leafbase::Task> {
    fn lines(&self) -> Vec<String> {
        self.iter().map(|task| task.inline.clone()).collect()
    }
}

impl Answer for Items<leafbase::Folder> {
    fn lines(&self) -> Vec<String> {
        let all = self.iter().flat_map(leafbase::Folder::walk);
        all.map(|(depth, folder)| format!("{depth} {} {}", folder.name, folder.document_count))
            .collect()
    }
}

impl Answer for leafbase::Block {
    fn lines(&self) -> Vec<String> {
        let comments = |block: &leafbase::Block| {
            block.metadata.as_ref().map_or(0, |metadata| metadata.comments.len())
        };
        let children = self.children().iter();
        let blocks = children.map(|block| format!("{} {}", block.data.inline, comments(block)));
        std::iter::once(self.data.inline.clone()).chain(blocks).collect()
    }
}

impl Answer for leafbase::ConnectionInfo {
    fn lines(&self) -> Vec<String> {
        vec![self.space.name.clone(), self.space.zone.clone()]
    }
}

impl Leafbase {
    pub fn open(path: &Path, durable: bool, facts: &Arc<Facts>) -> Self {
        let present = Present::default();
        present.set(NOON);
        let durability = if durable { Durability::Durable } else { Durability::Relaxed };
        let options = Space::builder()
            .search_indexing(SearchIndexing::OnDemand)
            .durability(durability)
            .ids(present.clone())
            .clock(present.clone());
        let space = options.open(path.join("space.leafbase")).expect("a space");
        Self {
            connection: space.connect().acting_as("Ada"),
            present,
            facts: facts.clone(),
            far: String::new(),
        }
    }

    /// Finds where the 20th page begins.
    pub fn turn_pages(&mut self) {
        let latest =
            || ListDocuments::new().order_by(DocumentOrder::Modified).descending().limit(50);
        for _ in 0..19 {
            let request = if self.far.is_empty() { latest() } else { latest().after(&self.far) };
            let page = self.connection.list_documents(request).expect("a page");
            self.far = page.next_cursor.expect("more than nineteen pages");
        }
    }

    /// Everything that must hold does.
    pub fn check(&self) {
        let report = self.connection.space().check().expect("check");
        assert!(report.problems.is_empty(), "{:?}", report.problems.first());
    }

    fn request(&self, list: List) -> ListDocuments {
        let mut request = ListDocuments::new().limit(50);
        request = match list.within {
            Within::Everywhere => request,
            Within::Unsorted => request.at(leafbase::BuiltInLocation::Unsorted),
            Within::Templates => request.at(leafbase::BuiltInLocation::Templates),
            Within::DailyNotes => request.at(leafbase::BuiltInLocation::DailyNotes),
            Within::Trash => request.at(leafbase::BuiltInLocation::Trash),
            Within::Tree => request.within(self.folder(0)),
            Within::Box => request.within(self.folder(BOX)),
        };
        if let Some((field, first, last)) = list.days {
            let named = |number| DayRef::from(day(number));
            let days = DayRange { from: Some(named(first)), to: last.map(named) };
            request = match field {
                Field::Created => request.created(days),
                Field::Modified => request.modified(days),
                Field::Note => request.daily_notes(days),
            };
        }
        if list.latest {
            request = request.order_by(DocumentOrder::Modified).descending();
        }
        if list.far { request.after(&self.far) } else { request }
    }

    fn tasks(&self, scope: Scope) -> ItemsPage<leafbase::Task> {
        let request = match scope {
            Scope::Active => ListTasks::new(TaskScope::Active).limit(50),
            Scope::Upcoming => ListTasks::new(TaskScope::Upcoming).limit(50),
            Scope::Inbox => ListTasks::new(TaskScope::Inbox).limit(50),
            Scope::Logbook => ListTasks::new(TaskScope::Logbook).limit(50),
            Scope::Document => ListTasks::new(TaskScope::Document(self.id(self.facts.busy))),
        };
        self.connection.tasks(request).expect("tasks")
    }

    fn id(&self, at: usize) -> DocumentId {
        DocumentId::from_bytes(self.facts.documents[at].id)
    }

    fn folder(&self, at: usize) -> FolderId {
        FolderId::from_bytes(self.facts.folders[at])
    }

    fn add(&self, at: impl Into<TaskDestination>) -> BlockId {
        let draft = TaskDraft::new("a task").at(at).scheduled(DayRef::Today);
        self.connection.add_tasks(AddTasks::new([draft])).expect("a task")[0].id
    }

    fn set_state(&self, task: BlockId, state: TaskState) {
        self.connection.update_tasks(TaskUpdate::of(task).with_state(state)).expect("a task");
    }

    fn folder_of(&self, document: DocumentId) -> FolderId {
        match self.connection.document(document).expect("a document").record.location {
            Location::Folder(folder) => folder,
            other => unreachable!("documents of folders are moved, this one is in {other:?}"),
        }
    }

    /// The folder after this one.
    fn next(&self, folder: FolderId) -> FolderId {
        let at = self
            .facts
            .folders
            .iter()
            .position(|known| *known == folder.to_bytes())
            .expect("a folder");
        self.folder((at + 1) % BOX)
    }

    fn relocate(&self, document: DocumentId, to: FolderId) {
        self.connection.move_documents(MoveDocuments::new([document], to)).expect("a move");
    }

    fn new_days(&self, count: usize) -> Vec<Duration> {
        let days: Vec<Day> = (0..count as i64).map(|at| day(TODAY + 1 + at)).collect();
        let write = |day: &Day| {
            let words = vec![BlockDraft::new(BlockData::text("the first words of a day"))];
            let request = InsertBlocks::blocks(words, Position::end_of_day(*day));
            self.connection.insert_blocks(request).expect("a day");
        };
        let times = each(&days, write);
        let note = |day: &Day| self.connection.fetch(Fetch::day(*day).depth(0)).expect("a note").id;
        let notes: Vec<DocumentId> = days.iter().map(note).map(DocumentId::of_root).collect();
        self.connection.delete_documents(DeleteDocuments::new(notes.clone())).expect("delete");
        self.connection.purge_documents(PurgeDocuments::new(notes)).expect("purge");
        times
    }

    /// Adds a task to each, which go again.
    fn add_each<T: Copy + Into<TaskDestination>>(&self, to: &[T]) -> Vec<Duration> {
        let mut added = Vec::with_capacity(to.len());
        let times = each(to, |to| added.push(self.add(*to)));
        self.connection.delete_tasks(leafbase::DeleteTasks::new(added)).expect("delete");
        times
    }
}

/// How long each took.
fn each<T>(items: &[T], mut run: impl FnMut(&T)) -> Vec<Duration> {
    items.iter().map(|item| timed(|| run(item)).0).collect()
}

impl Peer for Leafbase {
    fn ask(&mut self, question: Question) -> Box<dyn Answer> {
        let fetch = |request: Fetch| Box::new(self.connection.fetch(request).expect("a document"));
        match question {
            Question::List(list) => {
                Box::new(self.connection.list_documents(self.request(list)).expect("documents"))
            }
            Question::Tasks(scope) => Box::new(self.tasks(scope)),
            Question::Folders => Box::new(self.connection.folders().expect("folders")),
            Question::Today => fetch(Fetch::today()),
            Question::Fetch(at) => fetch(Fetch::new(self.id(at)).with_metadata()),
            Question::FetchBusy => fetch(Fetch::new(self.id(self.facts.busy)).with_metadata()),
            Question::Info => Box::new(self.connection.info().expect("info")),
        }
    }

    fn write(&mut self, write: Write, targets: &[Target]) -> Vec<Duration> {
        let ids: Vec<DocumentId> = targets.iter().map(|target| self.id(target.at)).collect();
        let blocks = |of: fn(&Target) -> Id| -> Vec<BlockId> {
            targets.iter().map(|target| BlockId::from_bytes(of(target))).collect()
        };
        let (first, tasks) = (blocks(|target| target.first), blocks(|target| target.task));
        let homes = || -> Vec<(DocumentId, FolderId)> {
            ids.iter().map(|id| (*id, self.folder_of(*id))).collect()
        };
        match write {
            Write::NewDay => self.new_days(targets.len()),
            Write::AddTask => self.add_each(&ids),
            Write::AddInboxTask => self.add_each(&vec![TaskDestination::Inbox; targets.len()]),
            Write::Complete => {
                let times = each(&tasks, |task| self.set_state(*task, TaskState::Done));
                tasks.iter().for_each(|task| self.set_state(*task, TaskState::Todo));
                times
            }
            Write::Move => {
                let moves: Vec<_> =
                    homes().into_iter().map(|(id, home)| (id, home, self.next(home))).collect();
                let times = each(&moves, |(id, _, to)| self.relocate(*id, *to));
                moves.iter().for_each(|(id, home, _)| self.relocate(*id, *home));
                times
            }
            Write::TrashAndRestore => each(&homes(), |(id, home)| {
                self.connection.delete_documents(*id).expect("delete");
                self.relocate(*id, *home);
            }),
            Write::Comment => each(&first, |block| {
                let comment = CommentDraft::new(*block, "a word on this");
                self.connection.add_comments(AddComments::new([comment])).expect("a comment");
            }),
        }
    }

    fn flush(&mut self) {
        self.connection.space().flush().expect("flush");
        self.present.set(NOON);
    }
}
