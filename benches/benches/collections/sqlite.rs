//! `SQLite` as an expert keeps two related tables: typed columns, an index for each that is asked
//! for, tables for what is many, and what Leafbase keeps of a change: revision, stamps, the
//! document's time, a row of the log with the items as they were and are.

use crate::ask::{Answer, Change, Edit, Mode, Peer, Question, Ready, SECOND};
use crate::plan::{Project, STATES, TAGS, Task};
use benches::baseline::{Database, Sharing, Sync};
use benches::workload::{Id, Rng};
use rusqlite::{Params, Row, ToSql};
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use std::path::Path;

/// Items have keys in their order, which is that of their IDs. Of the projects of a task the order
/// is kept, too.
const SCHEMA: &str = "
    CREATE TABLE documents (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, modified INTEGER NOT NULL);
    CREATE INDEX documents_modified ON documents (modified);
    CREATE TABLE collections (key INTEGER PRIMARY KEY, name TEXT NOT NULL, items INTEGER NOT NULL);
    CREATE TABLE projects (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, rev INTEGER NOT NULL, created INTEGER NOT NULL,
        modified INTEGER NOT NULL, title TEXT NOT NULL, budget REAL);
    CREATE TABLE tasks (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, rev INTEGER NOT NULL, created INTEGER NOT NULL,
        modified INTEGER NOT NULL, title TEXT NOT NULL, notes TEXT, effort REAL, billable INTEGER, due INTEGER, link TEXT,
        contact TEXT, state TEXT);
    CREATE INDEX tasks_title ON tasks (title COLLATE NOCASE);
    CREATE INDEX tasks_effort ON tasks (effort);
    CREATE INDEX tasks_due ON tasks (due);
    CREATE INDEX tasks_state ON tasks (state);
    CREATE TABLE tags (task INTEGER NOT NULL, place INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (task, place)) WITHOUT ROWID;
    CREATE INDEX tags_tag ON tags (tag, task);
    CREATE TABLE relations (task INTEGER NOT NULL, place INTEGER NOT NULL, project INTEGER NOT NULL, PRIMARY KEY (task, place, project))
        WITHOUT ROWID;
    CREATE INDEX relations_project ON relations (project, task);
    CREATE TABLE changes (sequence INTEGER PRIMARY KEY, change BLOB NOT NULL);
    INSERT INTO documents VALUES (1, x'01', 0);
    INSERT INTO collections VALUES (1, 'Projects', 0), (2, 'Tasks', 0);";

/// For one question alone: see `Question::OfStateByBoth`.
const COMPOSITE: &str = "CREATE INDEX IF NOT EXISTS tasks_state_due ON tasks (state, due)";

const DOCUMENT: i64 = 1;
const PROJECTS: i64 = 1;
const TASKS: i64 = 2;

/// As `task` reads them.
/// Tasks of a page.
const PAGE: usize = 20;

macro_rules! tasks {
    ($rest:literal) => {
        concat!(
            "SELECT key, id, rev, created, modified, title, notes, effort, billable, due, link, contact, state FROM tasks ",
            $rest
        )
    };
}

const TAGS_OF: &str = "SELECT tag FROM tags WHERE task = ?1 ORDER BY place";
const PROJECTS_OF: &str = "SELECT id, title FROM relations CROSS JOIN projects ON key = project WHERE task = ?1 ORDER BY place";
const TASKS_OF: &str = "SELECT id, title FROM relations CROSS JOIN tasks ON key = task WHERE project = ?1 ORDER BY task";

pub struct Sqlite {
    db: Database,
    ids: Rng,
    now: i64,
    /// By number; filled when a space is opened, and when items are added.
    projects: Vec<Id>,
    tasks: Vec<Id>,
    /// The day and key of the task before the second page.
    far: (Option<i64>, i64),
}

/// A related item.
#[derive(Clone, Debug, PartialEq)]
struct Related {
    id: Id,
    title: String,
}

impl Serialize for Related {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.id)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct TaskItem {
    #[serde(skip)]
    key: i64,
    #[serde(serialize_with = "bytes")]
    id: Id,
    rev: i64,
    created: i64,
    modified: i64,
    title: String,
    notes: Option<String>,
    effort: Option<f64>,
    is_billable: Option<bool>,
    due: Option<i64>,
    link: Option<String>,
    contact: Option<String>,
    state: Option<String>,
    tags: Vec<String>,
    projects: Vec<Related>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ProjectItem {
    #[serde(skip)]
    key: i64,
    #[serde(serialize_with = "bytes")]
    id: Id,
    rev: i64,
    created: i64,
    modified: i64,
    title: String,
    budget: Option<f64>,
    /// Kept by the tasks, which the log has.
    #[serde(skip)]
    tasks: Vec<Related>,
}

fn bytes<S: Serializer>(id: &Id, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(id)
}

/// How many have each value, and how many there are.
struct Counts(Vec<(Option<String>, i64)>, i64);

pub fn open(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    let sync = if mode == Mode::Durable { Sync::Full } else { Sync::Normal };
    let mut peer = Sqlite {
        db: Database::open(directory, Sharing::Exclusive, sync, SCHEMA),
        ids: Rng::new(1),
        now: 1_800_000_000_000,
        projects: vec![],
        tasks: vec![],
        far: (None, 0),
    };
    peer.projects = peer.db.rows("SELECT id FROM projects ORDER BY key", (), |row| row.get(0));
    peer.tasks = peer.db.rows("SELECT id FROM tasks ORDER BY key", (), |row| row.get(0));
    Box::new(peer)
}

fn task(row: &Row<'_>) -> rusqlite::Result<TaskItem> {
    Ok(TaskItem {
        key: row.get(0)?,
        id: row.get(1)?,
        rev: row.get(2)?,
        created: row.get(3)?,
        modified: row.get(4)?,
        title: row.get(5)?,
        notes: row.get(6)?,
        effort: row.get(7)?,
        is_billable: row.get(8)?,
        due: row.get(9)?,
        link: row.get(10)?,
        contact: row.get(11)?,
        state: row.get(12)?,
        tags: Vec::new(),
        projects: Vec::new(),
    })
}

fn project(row: &Row<'_>) -> rusqlite::Result<ProjectItem> {
    Ok(ProjectItem {
        key: row.get(0)?,
        id: row.get(1)?,
        rev: row.get(2)?,
        created: row.get(3)?,
        modified: row.get(4)?,
        title: row.get(5)?,
        budget: row.get(6)?,
        tasks: Vec::new(),
    })
}

fn related(row: &Row<'_>) -> rusqlite::Result<Related> {
    Ok(Related { id: row.get(0)?, title: row.get(1)? })
}

impl Sqlite {
    /// IDs made later are greater.
    fn new_id(&mut self) -> Id {
        self.now += 1;
        let mut id = [0; 16];
        id[..6].copy_from_slice(&self.now.to_be_bytes()[2..]);
        id[6..14].copy_from_slice(&self.ids.draw().to_be_bytes());
        id
    }

    fn transaction<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        self.now += 1;
        self.db.begin();
        let result = run(self);
        self.db.run("UPDATE documents SET modified = ?2 WHERE key = ?1", (DOCUMENT, self.now));
        self.db.commit();
        result
    }

    fn log(&self, kind: &str, before: impl Serialize, after: impl Serialize) {
        let change = rmp_serde::to_vec(&(self.now, DOCUMENT, kind, before, after))
            .expect("writing to memory");
        self.db.run("INSERT INTO changes (change) VALUES (?1)", [change]);
    }

    /// With its tags and the titles of its projects.
    fn complete(&self, mut task: TaskItem) -> TaskItem {
        task.tags = self.db.rows(TAGS_OF, [task.key], |row| row.get(0));
        task.projects = self.db.rows(PROJECTS_OF, [task.key], related);
        task
    }

    fn task(&self, id: Id) -> TaskItem {
        self.complete(self.db.one(tasks!("WHERE id = ?1"), [id], task))
    }

    fn tasks_by(&self, sql: &str, params: impl Params) -> Vec<TaskItem> {
        let found = self.db.rows(sql, params, task);
        found.into_iter().map(|task| self.complete(task)).collect()
    }

    /// A page that is not full goes on with the tasks of the state that have no day.
    fn with_undated(&self, mut page: Vec<TaskItem>, state: &str, after: i64) -> Vec<TaskItem> {
        let room = PAGE - page.len();
        if room > 0 {
            let sql = tasks!("WHERE due IS NULL AND state = ?1 AND key > ?2 ORDER BY key LIMIT ?3");
            page.extend(self.tasks_by(sql, (state, after, room as i64)));
        }
        page
    }

    fn project_keys(&self, numbers: &[usize]) -> Vec<(i64, Related)> {
        let sql = "SELECT key, id, title FROM projects WHERE id = ?1";
        let read =
            |row: &Row<'_>| Ok((row.get(0)?, Related { id: row.get(1)?, title: row.get(2)? }));
        numbers.iter().map(|at| self.db.one(sql, [self.projects[*at]], read)).collect()
    }

    fn add_projects(&mut self, projects: &[Project]) -> Vec<ProjectItem> {
        let sql = "INSERT INTO projects (id, rev, created, modified, title, budget) VALUES (?1, 1, ?2, ?2, ?3, ?4)";
        let mut added = Vec::with_capacity(projects.len());
        for Project { title, budget } in projects {
            let (id, now) = (self.new_id(), self.now);
            let key = self.db.insert(sql, (id, now, title, budget));
            let (title, budget, tasks) = (title.clone(), Some(*budget), vec![]);
            added.push(ProjectItem {
                key,
                id,
                rev: 1,
                created: now,
                modified: now,
                title,
                budget,
                tasks,
            });
            self.projects.push(id);
        }
        self.db.run(
            "UPDATE collections SET items = items + ?2 WHERE key = ?1",
            (PROJECTS, projects.len() as i64),
        );
        self.log("add", (), &added);
        added
    }

    fn add_tasks(&mut self, tasks: &[Task]) -> Vec<TaskItem> {
        let added: Vec<_> = tasks.iter().map(|task| self.add_task(task)).collect();
        self.db.run(
            "UPDATE collections SET items = items + ?2 WHERE key = ?1",
            (TASKS, tasks.len() as i64),
        );
        self.log("add", (), &added);
        added
    }

    fn add_task(&mut self, task: &Task) -> TaskItem {
        assert!(task.state.is_none_or(|state| STATES.contains(&state)), "no such state");
        assert!(task.tags.iter().all(|tag| TAGS.contains(tag)), "no such tag");
        let mut item = TaskItem {
            key: 0,
            id: self.new_id(),
            rev: 1,
            created: self.now,
            modified: self.now,
            title: task.title.clone(),
            notes: Some(task.notes.clone()),
            effort: task.effort,
            is_billable: Some(task.is_billable),
            due: task.due,
            link: task.link.clone(),
            contact: task.contact.clone(),
            state: task.state.map(str::to_owned),
            tags: task.tags.iter().map(ToString::to_string).collect(),
            projects: Vec::new(),
        };
        item.key = self.insert(&item);
        for (place, tag) in (0i64..).zip(&item.tags) {
            self.db.run(
                "INSERT INTO tags (task, place, tag) VALUES (?1, ?2, ?3)",
                (item.key, place, tag),
            );
        }
        for (place, (project, related)) in (0i64..).zip(self.project_keys(&task.projects)) {
            self.db.run(
                "INSERT INTO relations (task, place, project) VALUES (?1, ?2, ?3)",
                (item.key, place, project),
            );
            item.projects.push(related);
        }
        self.tasks.push(item.id);
        item
    }

    fn insert(&self, item: &TaskItem) -> i64 {
        let sql =
            "INSERT INTO tasks (id, rev, created, modified, title, notes, effort, billable, due, link, contact, state)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let TaskItem { id, rev, created, modified, title, notes, effort, .. } = item;
        let TaskItem { is_billable, due, link, contact, state, .. } = item;
        let values: [&dyn ToSql; 12] = [
            id,
            rev,
            created,
            modified,
            title,
            notes,
            effort,
            is_billable,
            due,
            link,
            contact,
            state,
        ];
        self.db.insert(sql, values.as_slice())
    }

    fn update(&self, at: usize, change: &Change) -> TaskItem {
        let before = self.task(self.tasks[at]);
        let mut after = TaskItem { rev: before.rev + 1, modified: self.now, ..before.clone() };
        let (key, rev, now) = (after.key, after.rev, after.modified);
        match change {
            Change::State(state) => {
                assert!(STATES.contains(state), "no such state");
                after.state = Some((*state).to_owned());
                let sql = "UPDATE tasks SET state = ?2, rev = ?3, modified = ?4 WHERE key = ?1";
                self.db.run(sql, (key, state, rev, now));
            }
            Change::Effort(effort) => {
                after.effort = Some(*effort);
                let sql = "UPDATE tasks SET effort = ?2, rev = ?3, modified = ?4 WHERE key = ?1";
                self.db.run(sql, (key, effort, rev, now));
            }
            Change::Day(day) => {
                after.due = Some(*day);
                self.db.run(
                    "UPDATE tasks SET due = ?2, rev = ?3, modified = ?4 WHERE key = ?1",
                    (key, day, rev, now),
                );
            }
            Change::Title(title) => {
                after.title.clone_from(title);
                let sql = "UPDATE tasks SET title = ?2, rev = ?3, modified = ?4 WHERE key = ?1";
                self.db.run(sql, (key, title, rev, now));
            }
        }
        self.log("update", &before, &after);
        after
    }

    /// The task gets another revision, as its relations are part of it.
    fn stamp(&self, before: &TaskItem) -> TaskItem {
        let after = TaskItem { rev: before.rev + 1, modified: self.now, ..before.clone() };
        self.db.run(
            "UPDATE tasks SET rev = ?2, modified = ?3 WHERE key = ?1",
            (after.key, after.rev, after.modified),
        );
        after
    }

    fn set_projects(&self, at: usize, projects: &[usize]) -> TaskItem {
        let before = self.task(self.tasks[at]);
        let mut after = self.stamp(&before);
        after.projects.clear();
        self.db.run("DELETE FROM relations WHERE task = ?1", [after.key]);
        for (place, (project, related)) in (0i64..).zip(self.project_keys(projects)) {
            self.db.run(
                "INSERT INTO relations (task, place, project) VALUES (?1, ?2, ?3)",
                (after.key, place, project),
            );
            after.projects.push(related);
        }
        self.log("update", &before, &after);
        after
    }

    fn set_tasks(&self, at: usize, tasks: &[usize]) -> ProjectItem {
        let sql =
            "SELECT key, id, rev, created, modified, title, budget FROM projects WHERE id = ?1";
        let mut item = self.db.one(sql, [self.projects[at]], project);
        let wanted: Vec<Id> = tasks.iter().map(|at| self.tasks[*at]).collect();
        let former = self.db.rows(TASKS_OF, [item.key], related);
        let gone =
            former.iter().filter(|task| !wanted.contains(&task.id)).map(|task| (task.id, false));
        let new = wanted
            .iter()
            .filter(|id| former.iter().all(|task| task.id != **id))
            .map(|id| (*id, true));
        let changes = gone.chain(new).map(|(id, joins)| self.relate(self.task(id), &item, joins));
        let (before, after): (Vec<TaskItem>, Vec<TaskItem>) = changes.unzip();
        self.log("update", &before, &after);
        item.tasks = self.db.rows(TASKS_OF, [item.key], related);
        item
    }

    /// Puts the project last among the task's, or takes it out.
    fn relate(&self, task: TaskItem, project: &ProjectItem, joins: bool) -> (TaskItem, TaskItem) {
        let mut after = self.stamp(&task);
        if joins {
            let sql = "INSERT INTO relations (task, place, project)
                SELECT ?1, coalesce(max(place), -1) + 1, ?2 FROM relations WHERE task = ?1";
            self.db.run(sql, (task.key, project.key));
            after.projects.push(Related { id: project.id, title: project.title.clone() });
        } else {
            self.db.run(
                "DELETE FROM relations WHERE task = ?1 AND project = ?2",
                (task.key, project.key),
            );
            after.projects.retain(|other| other.id != project.id);
        }
        (task, after)
    }

    /// The first of all in one go: three scans in the order of the tasks, and the titles of all
    /// projects.
    fn first_tasks(&self, count: Option<usize>) -> Vec<TaskItem> {
        let count = count.map_or(-1, |count| count as i64);
        let mut items = self.db.rows(tasks!("ORDER BY key LIMIT ?1"), [count], task);
        let last = items.last().map_or(0, |item| item.key);
        let titles: HashMap<i64, Related> = self
            .db
            .rows("SELECT key, id, title FROM projects", (), |row| {
                Ok((row.get(0)?, Related { id: row.get(1)?, title: row.get(2)? }))
            })
            .into_iter()
            .collect();
        let mut at = 0;
        self.visit(
            "SELECT task, tag FROM tags WHERE task <= ?1 ORDER BY task, place",
            last,
            |row| {
                let item = find(&mut items, &mut at, row.get(0)?);
                item.tags.push(row.get(1)?);
                Ok(())
            },
        );
        at = 0;
        self.visit(
            "SELECT task, project FROM relations WHERE task <= ?1 ORDER BY task, place",
            last,
            |row| {
                let item = find(&mut items, &mut at, row.get(0)?);
                item.projects.push(titles[&row.get(1)?].clone());
                Ok(())
            },
        );
        items
    }

    fn visit(&self, sql: &str, last: i64, mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>) {
        let mut statement = self.db.statement(sql);
        let mut rows = statement.query([last]).expect("query");
        while let Some(row) = rows.next().expect("row") {
            read(row).expect("read");
        }
    }

    fn all_projects(&self) -> Vec<ProjectItem> {
        let sql =
            "SELECT key, id, rev, created, modified, title, budget FROM projects ORDER BY key";
        let mut items = self.db.rows(sql, (), project);
        for item in &mut items {
            item.tasks = self.db.rows(TASKS_OF, [item.key], related);
        }
        items
    }

    fn tasks(&self, question: Question) -> Vec<TaskItem> {
        match question {
            Question::Tasks(count) => self.first_tasks(count),
            Question::OfState(state) => {
                let sql =
                    tasks!("INDEXED BY tasks_due WHERE due IS NOT NULL AND state = ?1 ORDER BY due, key LIMIT 20");
                self.with_undated(self.tasks_by(sql, [state]), state, 0)
            }
            Question::OfStateByBoth(state) => {
                let sql = tasks!(
                    "INDEXED BY tasks_state_due WHERE state = ?1 AND due IS NOT NULL ORDER BY due, key LIMIT 20"
                );
                self.with_undated(self.tasks_by(sql, [state]), state, 0)
            }
            Question::OfStateNext => {
                let sql = tasks!(
                    "INDEXED BY tasks_due WHERE (due, key) > (?2, ?3) AND due IS NOT NULL AND state = ?1 ORDER BY due, key LIMIT 20"
                );
                let (due, key) = self.far;
                let found = self.tasks_by(sql, (SECOND, due.unwrap_or(i64::MAX), key));
                self.with_undated(found, SECOND, if due.is_none() { key } else { 0 })
            }
            Question::OfEffort(from, to) => self.tasks_by(
                tasks!("WHERE effort >= ?1 AND effort <= ?2 ORDER BY title COLLATE NOCASE, key LIMIT 20"),
                (from, to),
            ),
            Question::OfEffortByTitle(from, to) => self.tasks_by(
                tasks!(
                    "INDEXED BY tasks_title WHERE effort >= ?1 AND effort <= ?2 ORDER BY title COLLATE NOCASE, key LIMIT 20"
                ),
                (from, to),
            ),
            Question::Latest => self.tasks_by(tasks!("ORDER BY due DESC, key DESC LIMIT 20"), ()),
            Question::From(day) => self.tasks_by(tasks!("WHERE due >= ?1 ORDER BY due, key LIMIT 20"), [day]),
            Question::OfTag(tag) => self.tasks_by(
                tasks!(
                    "WHERE EXISTS (SELECT 1 FROM tags WHERE task = key AND tag = ?1) ORDER BY title COLLATE NOCASE, key LIMIT 20"
                ),
                [tag],
            ),
            Question::OfProject(at) => self.tasks_by(
                tasks!(
                    "WHERE key IN (SELECT task FROM relations WHERE project = (SELECT key FROM projects WHERE id = ?1))
                    ORDER BY due IS NULL, due, key LIMIT 20"
                ),
                [self.projects[at]],
            ),
            Question::Mentioning(word) => {
                self.tasks_by(tasks!("WHERE notes LIKE ?1 ORDER BY key LIMIT 20"), [format!("%{word}%")])
            }
            Question::Projects | Question::CountByState | Question::CountOfTagByState(_) => {
                unreachable!("asked elsewhere")
            }
        }
    }

    fn count(&self, tag: Option<&str>) -> Counts {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let groups = match tag {
            None => self.db.rows("SELECT state, count(*) FROM tasks GROUP BY state", (), read),
            Some(tag) => {
                let sql = "SELECT state, count(*) FROM tags CROSS JOIN tasks ON key = task WHERE tag = ?1 GROUP BY state";
                self.db.rows(sql, [tag], read)
            }
        };
        let all = groups.iter().map(|(_, count)| count).sum();
        Counts(groups, all)
    }
}

/// The item of this key, from `at` on.
fn find<'i>(items: &'i mut [TaskItem], at: &mut usize, key: i64) -> &'i mut TaskItem {
    while items[*at].key != key {
        *at += 1;
    }
    &mut items[*at]
}

impl Peer for Sqlite {
    fn apply(&mut self, edit: &Edit, _: Ready) -> Box<dyn Answer> {
        self.transaction(|peer| -> Box<dyn Answer> {
            match edit {
                Edit::AddProjects(projects) => Box::new(peer.add_projects(projects)),
                Edit::Add(tasks) => Box::new(peer.add_tasks(tasks)),
                Edit::Update(at, change) => Box::new(vec![peer.update(*at, change)]),
                Edit::SetProjects(at, projects) => Box::new(vec![peer.set_projects(*at, projects)]),
                Edit::SetTasks(at, tasks) => Box::new(vec![peer.set_tasks(*at, tasks)]),
            }
        })
    }

    fn ask(&mut self, question: Question) -> Box<dyn Answer> {
        match question {
            Question::Projects => Box::new(self.all_projects()),
            Question::CountByState => Box::new(self.count(None)),
            Question::CountOfTagByState(tag) => Box::new(self.count(Some(tag))),
            question => Box::new(self.tasks(question)),
        }
    }

    fn flush(&mut self) {
        self.db.flush();
    }

    fn settle(&mut self) {
        self.db.execute_batch(COMPOSITE);
        self.db.execute_batch("ANALYZE");
        self.flush();
        let last = self.tasks(Question::OfState(SECOND)).pop();
        self.far = last.map_or((None, 0), |task| (task.due, task.key));
    }
}

fn or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

fn titles(related: &[Related]) -> Vec<&str> {
    related.iter().map(|item| item.title.as_str()).collect()
}

impl Answer for Vec<TaskItem> {
    fn lines(&self) -> Vec<String> {
        let line = |item: &TaskItem| {
            let fields = [
                item.title.clone(),
                or_none(item.notes.as_ref()),
                or_none(item.effort),
                or_none(item.is_billable),
                or_none(item.due),
                or_none(item.link.as_ref()),
                or_none(item.contact.as_ref()),
                or_none(item.state.as_ref()),
            ];
            format!("{} {:?} {:?}", fields.join(" | "), item.tags, titles(&item.projects))
        };
        self.iter().map(line).collect()
    }
}

impl Answer for Vec<ProjectItem> {
    fn lines(&self) -> Vec<String> {
        let line = |item: &ProjectItem| {
            format!("{} | {} {:?}", item.title, or_none(item.budget), titles(&item.tasks))
        };
        self.iter().map(line).collect()
    }
}

impl Answer for Counts {
    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<_> = self
            .0
            .iter()
            .map(|(value, count)| format!("{} {count}", or_none(value.as_ref())))
            .collect();
        lines.sort();
        lines.push(format!("all {}", self.1));
        lines
    }
}
