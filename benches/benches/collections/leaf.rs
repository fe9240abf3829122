//! Leafbase, through its public interface alone.

use crate::ask::{Answer, Change, Edit, Mode, Peer, Question, Ready, SECOND};
use crate::plan::{Project, STATES, TAGS, Task};
use benches::workload::Id;
use leafbase::{
    AddItems, BlockId, Clock, Connection, CountItems, CreateCollection, Day, Durability, GetItems,
    GroupValue, IdSource, Item, ItemCounts, ItemDraft, ItemFilter, ItemUpdate, ItemValue, Items,
    ItemsPage, ListCollections, Operator, Position, PropertyDraft, PropertyKind, PropertyValue,
    QueryItems, Relation, SchemaDraft, SearchIndexing, SelectOption, Sort, Space, Timestamp,
    UpdateItems,
};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

struct Leafbase {
    connection: Connection,
    collections: Collections,
    /// By number; filled when a space is opened, and when items are added.
    projects: Vec<BlockId>,
    tasks: Vec<BlockId>,
    /// Where the second page begins.
    far: String,
}

#[derive(Clone, Copy)]
struct Collections {
    projects: BlockId,
    tasks: BlockId,
}

/// A time that moves on with each look, and IDs in its order: nobody pays for chance.
#[derive(Clone)]
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

pub fn open(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    let durability = if mode == Mode::Durable { Durability::Durable } else { Durability::Relaxed };
    let present = Present(Arc::new(AtomicI64::new(1_800_000_000_000)));
    let builder = Space::builder()
        .search_indexing(SearchIndexing::OnDemand)
        .durability(durability)
        .ids(present.clone())
        .clock(present);
    let path = directory.join("space.leafbase");
    let is_new = !path.exists();
    let space = if is_new { builder.create(path) } else { builder.open(path) };
    let connection = space.expect("a space").connect();
    let collections =
        if is_new { Collections::make(&connection) } else { Collections::find(&connection) };
    let ids = |collection| -> Vec<BlockId> {
        let all = connection.items(GetItems::of(collection).depth(0)).expect("items");
        all.iter().map(|item| item.id).collect()
    };
    let (projects, tasks) = (ids(collections.projects), ids(collections.tasks));
    Box::new(Leafbase { connection, collections, projects, tasks, far: String::new() })
}

fn options(names: &[&str]) -> Vec<SelectOption> {
    names.iter().map(|name| SelectOption::new(*name)).collect()
}

impl Collections {
    fn make(connection: &Connection) -> Self {
        let document = connection.create_document("Work").expect("a document").id();
        let make = |name: &str, properties: Vec<(&str, PropertyKind)>| {
            let properties =
                properties.into_iter().map(|(name, kind)| PropertyDraft::new(name, kind));
            let schema = SchemaDraft::new(name, properties);
            let request = CreateCollection::new(schema, Position::end_of(document));
            connection.create_collection(request).expect("a collection").id
        };
        let projects = make("Projects", vec![("Budget", PropertyKind::Number)]);
        let relation = PropertyKind::Relation(Relation::to(projects).with_inverse("tasks"));
        let tasks = make(
            "Tasks",
            vec![
                ("Notes", PropertyKind::Text),
                ("Effort", PropertyKind::Number),
                ("Billable", PropertyKind::Boolean),
                ("Due", PropertyKind::Date),
                ("Link", PropertyKind::Url),
                ("Contact", PropertyKind::Email),
                ("State", PropertyKind::SingleSelect(options(&STATES))),
                ("Tags", PropertyKind::MultiSelect(options(&TAGS))),
                ("Projects", relation),
            ],
        );
        Self { projects, tasks }
    }

    fn find(connection: &Connection) -> Self {
        let all = connection.list_collections(ListCollections::default()).expect("collections");
        let id =
            |name| all.iter().find(|collection| collection.name == name).expect("a collection").id;
        Self { projects: id("Projects"), tasks: id("Tasks") }
    }
}

fn day(number: i64) -> String {
    Day::from_epoch_days(number).to_string()
}

fn related(ids: &[BlockId], numbers: &[usize]) -> Value {
    numbers.iter().map(|at| Value::from(ids[*at].to_string())).collect()
}

fn texts(texts: &[&str]) -> Value {
    texts.iter().map(|text| Value::from(*text)).collect()
}

impl Leafbase {
    fn draft(&self, task: &Task) -> ItemDraft {
        let mut draft = ItemDraft::new(&task.title)
            .with("notes", task.notes.as_str())
            .with("billable", task.is_billable);
        let values = [
            ("effort", task.effort.map(Value::from)),
            ("due", task.due.map(|due| day(due).into())),
            ("link", task.link.as_deref().map(Value::from)),
            ("contact", task.contact.as_deref().map(Value::from)),
            ("state", task.state.map(Value::from)),
            ("tags", (!task.tags.is_empty()).then(|| texts(&task.tags))),
            (
                "projects",
                (!task.projects.is_empty()).then(|| related(&self.projects, &task.projects)),
            ),
        ];
        for (key, value) in values {
            if let Some(value) = value {
                draft = draft.with(key, value);
            }
        }
        draft
    }

    fn update(&self, at: usize, change: &Change) -> UpdateItems {
        let update = ItemUpdate::of(self.tasks[at]);
        let update = match change {
            Change::State(state) => update.with("state", *state),
            Change::Effort(effort) => update.with("effort", *effort),
            Change::Day(due) => update.with("due", day(*due)),
            Change::Title(title) => update.with_title(title),
        };
        UpdateItems::new(self.collections.tasks, [update])
    }

    fn query(&self, question: Question) -> QueryItems {
        let query = QueryItems::of(self.collections.tasks).depth(0).limit(20);
        let on = |key: &str, operator, operand: Value| ItemFilter::on(key, operator, operand);
        match question {
            Question::OfState(state) | Question::OfStateByBoth(state) => query
                .filtered(on("state", Operator::Equals, state.into()))
                .sorted(Sort::ascending("due")),
            Question::OfStateNext => self.query(Question::OfState(SECOND)).after(&self.far),
            Question::OfEffort(from, to) | Question::OfEffortByTitle(from, to) => {
                let range = on("effort", Operator::GreaterThanOrEqual, from.into());
                let range = range.and(on("effort", Operator::LessThanOrEqual, to.into()));
                query.filtered(range).sorted(Sort::ascending("title"))
            }
            Question::Latest => query.sorted(Sort::descending("due")),
            Question::From(first) => query
                .filtered(on("due", Operator::OnOrAfter, day(first).into()))
                .sorted(Sort::ascending("due")),
            Question::OfTag(tag) => query
                .filtered(on("tags", Operator::Contains, tag.into()))
                .sorted(Sort::ascending("title")),
            Question::OfProject(at) => {
                let project = self.projects[at].to_string();
                query
                    .filtered(on("projects", Operator::Contains, project.into()))
                    .sorted(Sort::ascending("due"))
            }
            Question::Mentioning(word) => {
                query.filtered(on("notes", Operator::Contains, word.into()))
            }
            other => unreachable!("{other:?} is not a query"),
        }
    }

    fn items(&self, collection: BlockId, count: Option<usize>) -> ItemsPage<Item> {
        let all = GetItems::of(collection).depth(0);
        self.connection.items(count.map_or(all.clone(), |count| all.limit(count))).expect("items")
    }

    fn add(&mut self, request: AddItems) -> Items<Item> {
        let to_tasks = request.collection_id == self.collections.tasks;
        let added = self.connection.add_items(request).expect("new items");
        let ids = if to_tasks { &mut self.tasks } else { &mut self.projects };
        ids.extend(added.iter().map(|item| item.id));
        added
    }
}

impl Peer for Leafbase {
    fn ready(&self, edit: &Edit) -> Ready {
        let Collections { projects, tasks } = self.collections;
        let one = |collection, id, key: &str, value: Value| {
            Ready::Update(UpdateItems::new(collection, [ItemUpdate::of(id).with(key, value)]))
        };
        match edit {
            Edit::AddProjects(all) => {
                let draft = |project: &Project| {
                    ItemDraft::new(&project.title).with("budget", project.budget)
                };
                Ready::Add(AddItems::new(projects, all.iter().map(draft)))
            }
            Edit::Add(all) => {
                Ready::Add(AddItems::new(tasks, all.iter().map(|task| self.draft(task))))
            }
            Edit::Update(at, change) => Ready::Update(self.update(*at, change)),
            Edit::SetProjects(at, to) => {
                one(tasks, self.tasks[*at], "projects", related(&self.projects, to))
            }
            Edit::SetTasks(at, to) => {
                one(projects, self.projects[*at], "tasks", related(&self.tasks, to))
            }
        }
    }

    fn apply(&mut self, _: &Edit, ready: Ready) -> Box<dyn Answer> {
        match ready {
            Ready::Add(request) => Box::new(self.add(request)),
            Ready::Update(request) => {
                Box::new(self.connection.update_items(request).expect("an update"))
            }
            Ready::Same => unreachable!("every edit is made ready"),
        }
    }

    fn ask(&mut self, question: Question) -> Box<dyn Answer> {
        let count = |count: CountItems| {
            Box::new(self.connection.count_items(count.grouped_by("state")).expect("counts"))
        };
        let all = CountItems::of(self.collections.tasks);
        match question {
            Question::Tasks(count) => Box::new(self.items(self.collections.tasks, count)),
            Question::Projects => Box::new(self.items(self.collections.projects, None)),
            Question::CountByState => count(all),
            Question::CountOfTagByState(tag) => {
                count(all.filtered(ItemFilter::on("tags", Operator::Contains, tag)))
            }
            question => {
                Box::new(self.connection.query_items(self.query(question)).expect("a page"))
            }
        }
    }

    fn flush(&mut self) {
        self.connection.space().flush().expect("flush");
    }

    fn check(&self) {
        let report = self.connection.space().check().expect("check");
        assert!(report.problems.is_empty(), "{:?}", report.problems.first());
    }

    fn settle(&mut self) {
        self.flush();
        let first =
            self.connection.query_items(self.query(Question::OfState(SECOND))).expect("a page");
        self.far = first.next_cursor.unwrap_or_default();
    }
}

fn text(value: &PropertyValue) -> String {
    match value {
        PropertyValue::Text(text) => text.clone(),
        PropertyValue::Number(number) => number.to_string(),
        PropertyValue::Boolean(value) => value.to_string(),
        PropertyValue::Date(day) => day.epoch_days().to_string(),
        other => unreachable!("{other:?} is shown otherwise"),
    }
}

fn shown(item: &Item, key: &str) -> String {
    match item.property(key) {
        Some(ItemValue::Value(value)) => text(value),
        None => "-".to_owned(),
        Some(other) => unreachable!("{key} has {other:?}"),
    }
}

fn line(item: &Item) -> String {
    let titles =
        |key| -> Vec<&str> { item.related(key).iter().map(|item| item.title.as_str()).collect() };
    if item.property("notes").is_none() {
        return format!("{} | {} {:?}", item.title, shown(item, "budget"), titles("tasks"));
    }
    let keys = ["notes", "effort", "billable", "due", "link", "contact", "state"];
    let fields: Vec<_> =
        std::iter::once(item.title.clone()).chain(keys.map(|key| shown(item, key))).collect();
    let tags = match item.property("tags") {
        Some(ItemValue::Value(PropertyValue::Options(tags))) => tags.as_slice(),
        _ => &[],
    };
    format!("{} {tags:?} {:?}", fields.join(" | "), titles("projects"))
}

impl Answer for Items<Item> {
    fn lines(&self) -> Vec<String> {
        self.iter().map(line).collect()
    }
}

impl Answer for ItemsPage<Item> {
    fn lines(&self) -> Vec<String> {
        self.iter().map(line).collect()
    }
}

impl Answer for ItemCounts {
    fn lines(&self) -> Vec<String> {
        let value = |value: &Option<GroupValue>| match value {
            Some(GroupValue::Value(value)) => text(value),
            Some(GroupValue::Related(item)) => item.title.to_string(),
            None => "-".to_owned(),
        };
        let groups = self.groups.iter().flatten();
        let mut lines: Vec<_> =
            groups.map(|group| format!("{} {}", value(&group.value), group.count)).collect();
        lines.sort();
        lines.push(format!("all {}", self.count));
        lines
    }
}
