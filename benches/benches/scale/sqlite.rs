//! `SQLite` as an expert keeps documents, folders and tasks: an index for each question, counts
//! kept in step.

use crate::ask::{Answer, Field, List, Peer, Question, Scope, Within, Write};
use crate::facts::{Facts, Target};
use crate::plan::{self, BOX, FOLDERS, NOON, Place, Plan, State, TODAY, Task};
use benches::baseline::{Database, Sharing, Sync, id as blob};
use benches::measure::timed;
use benches::order;
use benches::workload::{Id, Rng};
use rusqlite::Row;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Keys of places; folders follow.
const UNSORTED: i64 = 0;
const DAILY_NOTES: i64 = 1;
const TEMPLATES: i64 = 2;
const TRASH: i64 = 3;
const FIRST_FOLDER: i64 = 10;
/// The hidden document of the inbox: its key, and where it is kept.
const INBOX: i64 = 0;
const HIDDEN: i64 = -1;

/// Documents have keys in the order of their IDs, blocks too. A task's day is kept as it is asked
/// for.
const SCHEMA: &str = "
    CREATE TABLE places (key INTEGER PRIMARY KEY, parent INTEGER, name TEXT NOT NULL, documents INTEGER NOT NULL);
    CREATE INDEX places_parent ON places (parent, name);
    CREATE TABLE documents (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, title TEXT NOT NULL, place INTEGER NOT NULL,
        day INTEGER, created INTEGER NOT NULL, modified INTEGER NOT NULL);
    CREATE INDEX documents_place ON documents (place);
    CREATE INDEX documents_place_created ON documents (place, created);
    CREATE INDEX documents_place_modified ON documents (place, modified);
    CREATE INDEX documents_created ON documents (created);
    CREATE INDEX documents_modified ON documents (modified);
    CREATE UNIQUE INDEX documents_day ON documents (day) WHERE day IS NOT NULL AND place <> 3;
    CREATE TABLE blocks (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, document INTEGER NOT NULL, ord BLOB NOT NULL,
        rev INTEGER NOT NULL, kind INTEGER NOT NULL, indentation INTEGER NOT NULL, list_style INTEGER NOT NULL,
        style INTEGER NOT NULL, color INTEGER, created INTEGER NOT NULL, created_by TEXT, modified INTEGER NOT NULL,
        modified_by TEXT, markdown TEXT NOT NULL, state INTEGER, scheduled INTEGER, deadline INTEGER, due INTEGER,
        closed INTEGER);
    CREATE INDEX blocks_order ON blocks (document, ord);
    CREATE INDEX blocks_open ON blocks (document, ord) WHERE state = 0;
    CREATE INDEX blocks_due ON blocks (due) WHERE due IS NOT NULL;
    CREATE INDEX blocks_closed ON blocks (closed) WHERE closed IS NOT NULL;
    CREATE TABLE comments (key INTEGER PRIMARY KEY, id BLOB NOT NULL, block INTEGER NOT NULL, author TEXT,
        content TEXT NOT NULL, created INTEGER NOT NULL);
    CREATE INDEX comments_block ON comments (block);
    CREATE TABLE meta (id BLOB NOT NULL, name TEXT NOT NULL, zone TEXT NOT NULL);
    CREATE TABLE changes (sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, change BLOB NOT NULL);";

const DOCUMENT: &str = "id, title, place, day, created, modified";
const TASK: &str = "blocks.id, blocks.markdown, state, scheduled, deadline, closed, documents.id, documents.place, documents.day";
const BLOCK: &str =
    "key, id, rev, kind, indentation, list_style, style, color, created, created_by, modified, modified_by,
    markdown, state, scheduled, deadline, closed";
/// The first folder at the top and all below it.
const TREE: &str = "WITH RECURSIVE tree (folder) AS (VALUES (10) UNION ALL SELECT places.key FROM places, tree WHERE parent = folder)";

const BY_KEY: &str = "SELECT key, title FROM documents WHERE key = ?1";

pub struct Sqlite {
    db: Database,
    busy: i64,
    /// The last change and key of the document before the 20th page.
    far: (i64, i64),
    now: i64,
    ids: Rng,
}

struct DocumentRow {
    _id: Id,
    title: String,
    _place: i64,
    _day: Option<i64>,
    _times: (i64, i64),
}

struct TaskRow {
    _id: Id,
    markdown: String,
    _state: u8,
    _days: (Option<i64>, Option<i64>),
    _closed: Option<i64>,
    _document: (Id, i64, Option<i64>),
}

struct PlaceRow {
    key: i64,
    parent: Option<i64>,
    name: String,
    documents: i64,
}

struct BlockRow {
    key: i64,
    _id: Id,
    _numbers: (i64, u8, u8, u8, u8, Option<u32>),
    _stamps: (i64, Option<String>, i64, Option<String>),
    markdown: String,
    _task: (Option<u8>, Option<i64>, Option<i64>, Option<i64>),
    comments: Vec<(Id, Option<String>, String, i64)>,
}

struct Tree(String, Vec<BlockRow>);
struct Info {
    _id: Id,
    name: String,
    zone: String,
}

impl Answer for Vec<DocumentRow> {
    fn lines(&self) -> Vec<String> {
        self.iter().map(|row| row.title.clone()).collect()
    }
}

impl Answer for Vec<TaskRow> {
    fn lines(&self) -> Vec<String> {
        self.iter().map(|row| row.markdown.clone()).collect()
    }
}

/// A tree in reading order, each with its depth.
impl Answer for Vec<(usize, PlaceRow)> {
    fn lines(&self) -> Vec<String> {
        self.iter().map(|(depth, row)| format!("{depth} {} {}", row.name, row.documents)).collect()
    }
}

impl Answer for Tree {
    fn lines(&self) -> Vec<String> {
        let blocks =
            self.1.iter().map(|block| format!("{} {}", block.markdown, block.comments.len()));
        std::iter::once(self.0.clone()).chain(blocks).collect()
    }
}

impl Answer for Info {
    fn lines(&self) -> Vec<String> {
        vec![self.name.clone(), self.zone.clone()]
    }
}

fn key_of(place: Place) -> i64 {
    match place {
        Place::Unsorted => UNSORTED,
        Place::Templates => TEMPLATES,
        Place::Folder(at) => FIRST_FOLDER + at as i64,
        Place::Trash(_) => TRASH,
        Place::Note(_) => DAILY_NOTES,
    }
}

fn document(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    Ok(DocumentRow {
        _id: blob(row, 0)?,
        title: row.get(1)?,
        _place: row.get(2)?,
        _day: row.get(3)?,
        _times: (row.get(4)?, row.get(5)?),
    })
}

fn task(row: &Row<'_>) -> rusqlite::Result<TaskRow> {
    Ok(TaskRow {
        _id: blob(row, 0)?,
        markdown: row.get(1)?,
        _state: row.get(2)?,
        _days: (row.get(3)?, row.get(4)?),
        _closed: row.get(5)?,
        _document: (blob(row, 6)?, row.get(7)?, row.get(8)?),
    })
}

fn block(row: &Row<'_>) -> rusqlite::Result<BlockRow> {
    Ok(BlockRow {
        key: row.get(0)?,
        _id: blob(row, 1)?,
        _numbers: (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?),
        _stamps: (row.get(8)?, row.get(9)?, row.get(10)?, row.get(11)?),
        markdown: row.get(12)?,
        _task: (row.get(13)?, row.get(14)?, row.get(15)?, row.get(16)?),
        comments: Vec::new(),
    })
}

/// The statement of a list, whose bounds are ?1 and ?2.
fn list_sql(list: List) -> String {
    let mut filter = match list.within {
        Within::Everywhere => "place >= 0".to_owned(),
        Within::Unsorted => format!("place = {UNSORTED}"),
        Within::Templates => format!("place = {TEMPLATES}"),
        Within::DailyNotes => format!("place = {DAILY_NOTES}"),
        Within::Trash => format!("place = {TRASH}"),
        Within::Box => format!("place = {}", FIRST_FOLDER + BOX as i64),
        Within::Tree => "place = tree.folder".to_owned(),
    };
    if let Some((field, _, last)) = list.days {
        let column = match field {
            Field::Created => "created",
            Field::Modified => "modified",
            Field::Note => "place <> 3 AND day",
        };
        let _ = write!(
            filter,
            " AND {column} {}",
            if last.is_some() { "BETWEEN ?1 AND ?2" } else { ">= ?1" }
        );
    }
    if list.far {
        filter.push_str(" AND (modified, key) < (?1, ?2)");
    }
    let order = match list.days {
        _ if list.latest => "ORDER BY modified DESC, key DESC LIMIT 50",
        Some((Field::Created, ..)) => "ORDER BY created, key LIMIT 50",
        Some((Field::Modified, ..)) => "ORDER BY modified, key LIMIT 50",
        Some((Field::Note, ..)) => "ORDER BY day, key LIMIT 50",
        None => "ORDER BY key LIMIT 50",
    };
    if list.within == Within::Tree {
        // Fifty of each folder are enough: what is sorted does not grow.
        return format!(
            "{TREE} SELECT {DOCUMENT} FROM tree CROSS JOIN documents
             WHERE key IN (SELECT key FROM documents WHERE {filter} {order}) {order}"
        );
    }
    format!("SELECT {DOCUMENT} FROM documents WHERE {filter} {order}")
}

impl Sqlite {
    pub fn build(path: &Path, plan: &Plan, facts: &Facts) {
        assert!(facts.documents.is_sorted_by_key(|made| made.id), "IDs in the order of making");
        let mut peer = Self::over(path, Sync::Normal, plan.busy);
        peer.db.begin();
        peer.db.run("INSERT INTO meta VALUES (?1, 'scale', 'UTC')", [[9u8; 16]]);
        peer.insert_places(plan);
        peer.insert_document(INBOX, [0; 16], "Inbox", (HIDDEN, None), (NOON, NOON));
        for (at, text) in plan.inbox.iter().enumerate() {
            peer.insert_block(INBOX, &order::nth(at), &text.markdown, text.task, NOON);
        }
        for (at, (document, made)) in plan.documents.iter().zip(&facts.documents).enumerate() {
            let key = at as i64 + 1;
            let day = if let Place::Note(day) = document.place { Some(day) } else { None };
            let place = (key_of(document.place), day);
            peer.insert_document(key, made.id, &made.title, place, made.times);
            for (place, text) in document.blocks.iter().enumerate() {
                let is_changed =
                    document.changed.is_some() && !matches!(document.place, Place::Trash(_));
                let again = if place == 0 && is_changed { " again" } else { "" };
                let markdown = format!("{}{again}", text.markdown);
                peer.insert_block(key, &order::nth(place), &markdown, text.task, made.times.0);
                if place == 0 && document.has_comment {
                    peer.insert_comment(peer.db.connection.last_insert_rowid());
                }
            }
        }
        peer.db.commit();
        peer.db.execute_batch("ANALYZE");
        peer.db.checkpoint();
    }

    pub fn open(path: &Path, durable: bool, facts: &Facts) -> Self {
        Self::over(path, if durable { Sync::Full } else { Sync::Normal }, facts.busy)
    }

    /// Finds where the 20th page begins.
    pub fn turn_pages(&mut self) {
        let sql = "SELECT modified, key FROM documents WHERE place >= 0 ORDER BY modified DESC, key DESC LIMIT 1 OFFSET 949";
        self.far = self.db.one(sql, (), |row| Ok((row.get(0)?, row.get(1)?)));
    }

    fn over(path: &Path, sync: Sync, busy: usize) -> Self {
        let db = Database::open(path, Sharing::Exclusive, sync, SCHEMA);
        Self { db, busy: busy as i64 + 1, far: (0, 0), now: NOON, ids: Rng::new(5) }
    }

    fn insert_places(&mut self, plan: &Plan) {
        let counted = |key: i64| {
            plan.documents.iter().filter(|document| key_of(document.place) == key).count() as i64
        };
        let mut places: Vec<(i64, Option<i64>, String)> = Vec::new();
        for (key, name) in [(0, "Unsorted"), (1, "Daily notes"), (2, "Templates"), (3, "Trash")] {
            places.push((key, None, name.to_owned()));
        }
        let folder = |at: usize| FIRST_FOLDER + at as i64;
        places.extend(
            (0..FOLDERS)
                .map(|at| (folder(at), plan::parent(at).map(folder), plan::folder_name(at))),
        );
        for (key, parent, name) in places {
            self.db.run(
                "INSERT INTO places VALUES (?1, ?2, ?3, ?4)",
                (key, parent, name, counted(key)),
            );
        }
    }

    fn insert_document(
        &self,
        key: i64,
        id: Id,
        title: &str,
        place: (i64, Option<i64>),
        times: (i64, i64),
    ) {
        let sql = "INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.db.run(sql, (key, id, title, place.0, place.1, times.0, times.1));
    }

    fn insert_block(
        &mut self,
        document: i64,
        order: &[u8],
        markdown: &str,
        task: Option<Task>,
        now: i64,
    ) -> i64 {
        let id = self.new_id();
        let state = task.map(|task| match task.state {
            State::Todo => 0,
            State::Done => 1,
            State::Canceled => 2,
        });
        let list_style = if task.is_some() { 4 } else { 0 };
        let sql = "INSERT INTO blocks (id, document, ord, rev, kind, indentation, list_style, style, created, modified,
            markdown, state, scheduled, deadline, due, closed) VALUES (?1, ?2, ?3, 1, 0, 0, ?4, 7, ?5, ?5, ?6, ?7, ?8, ?9,
            ?10, ?11)";
        let (scheduled, deadline) =
            task.map_or((None, None), |task| (task.scheduled, task.deadline));
        let (due, closed) = task.map_or((None, None), |task| (task.due(), task.closed));
        let values = (
            id, document, order, list_style, now, markdown, state, scheduled, deadline, due, closed,
        );
        self.db.insert(sql, values)
    }

    fn insert_comment(&mut self, block: i64) {
        let (id, now) = (self.new_id(), self.now);
        let sql = "INSERT INTO comments (id, block, author, content, created) VALUES (?1, ?2, 'Ada', 'a word on this', ?3)";
        self.db.run(sql, (id, block, now));
    }

    fn new_id(&mut self) -> Id {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&self.now.to_be_bytes());
        id[8..].copy_from_slice(&self.ids.draw().to_be_bytes());
        id
    }

    fn list(&self, list: List) -> Vec<DocumentRow> {
        const MILLIS: i64 = 86_400_000;
        let sql = list_sql(list);
        match list.days {
            Some((Field::Note, first, last)) => self.db.rows(&sql, (first, last), document),
            Some((_, first, Some(last))) => {
                self.db.rows(&sql, (first * MILLIS, (last + 1) * MILLIS - 1), document)
            }
            Some((_, first, None)) => self.db.rows(&sql, [first * MILLIS], document),
            None if list.far => self.db.rows(&sql, self.far, document),
            None => self.db.rows(&sql, (), document),
        }
    }

    fn tasks(&self, scope: Scope) -> Vec<TaskRow> {
        let (filter, parameter) = match scope {
            Scope::Active => {
                ("due <= ?1 AND place NOT IN (2, 3) ORDER BY due, blocks.key LIMIT 50", TODAY)
            }
            Scope::Upcoming => {
                ("due > ?1 AND place NOT IN (2, 3) ORDER BY due, blocks.key LIMIT 50", TODAY)
            }
            Scope::Inbox => ("document = ?1 AND state = 0 ORDER BY ord LIMIT 50", INBOX),
            Scope::Logbook => (
                "closed > ?1 AND place NOT IN (2, 3) ORDER BY closed DESC, blocks.key DESC LIMIT 50",
                0,
            ),
            Scope::Document => ("document = ?1 AND state IS NOT NULL ORDER BY ord", self.busy),
        };
        let join = "blocks CROSS JOIN documents ON documents.key = document";
        self.db.rows(&format!("SELECT {TASK} FROM {join} WHERE {filter}"), [parameter], task)
    }

    fn folders(&self) -> Vec<(usize, PlaceRow)> {
        let sql = "SELECT key, parent, name, documents FROM places ORDER BY parent, name";
        let rows = self.db.rows(sql, (), |row| {
            Ok(PlaceRow {
                key: row.get(0)?,
                parent: row.get(1)?,
                name: row.get(2)?,
                documents: row.get(3)?,
            })
        });
        let (mut tree, mut waiting): (Vec<(usize, PlaceRow)>, Vec<_>) = (Vec::new(), Vec::new());
        let (mut top, mut below): (Vec<PlaceRow>, Vec<PlaceRow>) =
            rows.into_iter().partition(|row| row.parent.is_none());
        top.sort_by_key(|row| if row.key < FIRST_FOLDER { row.key } else { FIRST_FOLDER });
        waiting.extend(top.into_iter().rev().map(|row| (0, row)));
        while let Some((depth, row)) = waiting.pop() {
            let first = below.partition_point(|other| other.parent < Some(row.key));
            let end = below.partition_point(|other| other.parent <= Some(row.key));
            waiting.extend(below.drain(first..end).rev().map(|row| (depth + 1, row)));
            tree.push((depth, row));
        }
        tree
    }

    fn tree(&self, sql: &str, parameter: i64) -> Tree {
        let (key, title) =
            self.db.one(sql, [parameter], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)));
        let sql = format!("SELECT {BLOCK} FROM blocks WHERE document = ?1 ORDER BY ord");
        Tree(title, self.db.rows(&sql, [key], block))
    }

    fn with_comments(&self, mut tree: Tree) -> Tree {
        let sql = "SELECT id, author, content, created FROM comments WHERE block = ?1 ORDER BY key";
        for block in &mut tree.1 {
            let read = |row: &Row<'_>| Ok((blob(row, 0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            block.comments = self.db.rows(sql, [block.key], read);
        }
        tree
    }

    fn transaction(&mut self, run: impl FnOnce(&mut Self)) {
        self.now += 1;
        self.db.begin();
        run(self);
        self.db.commit();
    }

    fn log(&self, change: &[u8]) {
        self.db.run("INSERT INTO changes (at, change) VALUES (?1, ?2)", (self.now, change));
    }

    fn touch(&self, document: i64) {
        self.db.run("UPDATE documents SET modified = ?2 WHERE key = ?1", (document, self.now));
    }

    fn count(&self, place: i64, by: i64) {
        self.db.run("UPDATE places SET documents = documents + ?2 WHERE key = ?1", (place, by));
    }

    /// At the top.
    fn add(&mut self, document: i64, markdown: &str, task: Option<Task>) -> i64 {
        let sql = "SELECT ord FROM blocks WHERE document = ?1 ORDER BY ord LIMIT 1";
        let first: Option<Vec<u8>> = self.db.value(sql, [document]);
        let key = self.insert_block(
            document,
            &order::between(None, first.as_deref()),
            markdown,
            task,
            self.now,
        );
        self.touch(document);
        self.log(markdown.as_bytes());
        key
    }

    fn relocate(&self, document: i64, to: i64) {
        let from =
            self.db.one("SELECT place FROM documents WHERE key = ?1", [document], |row| row.get(0));
        self.db.run(
            "UPDATE documents SET place = ?2, modified = ?3 WHERE key = ?1",
            (document, to, self.now),
        );
        self.count(from, -1);
        self.count(to, 1);
        self.log(&[from.to_le_bytes(), to.to_le_bytes()].concat());
    }

    fn set_state(&self, block: i64, done: bool) {
        let (document, before): (i64, String) =
            self.db.one("SELECT document, markdown FROM blocks WHERE key = ?1", [block], |row| {
                Ok((row.get(0)?, row.get(1)?))
            });
        let sql = "UPDATE blocks SET rev = rev + 1, modified = ?2, state = ?3, closed = ?4,
            due = CASE WHEN ?3 = 0 THEN coalesce(scheduled, deadline) END WHERE key = ?1";
        self.db.run(sql, (block, self.now, i64::from(done), done.then_some(self.now)));
        self.touch(document);
        self.log(before.as_bytes());
    }

    fn new_day(&mut self, day: i64) -> i64 {
        let id = self.new_id();
        let sql = "INSERT INTO documents (id, title, place, day, created, modified) VALUES (?1, 'A day', ?2, ?3, ?4, ?4)";
        let key = self.db.insert(sql, (id, DAILY_NOTES, day, self.now));
        self.count(DAILY_NOTES, 1);
        self.add(key, "the first words of a day", None);
        key
    }

    fn erase_block(&self, block: i64) {
        self.db.run("DELETE FROM blocks WHERE key = ?1", [block]);
    }

    fn erase_document(&self, document: i64) {
        self.db.run("DELETE FROM blocks WHERE document = ?1", [document]);
        self.db.run("DELETE FROM documents WHERE key = ?1", [document]);
        self.count(DAILY_NOTES, -1);
    }

    /// A block of the document: its third is an open task.
    fn block_of(&self, document: i64, place: usize) -> i64 {
        let sql = "SELECT key FROM blocks WHERE document = ?1 ORDER BY ord LIMIT 1 OFFSET ?2";
        self.db.one(sql, (document, place as i64), |row| row.get(0))
    }

    fn place_of(&self, document: i64) -> i64 {
        self.db.one("SELECT place FROM documents WHERE key = ?1", [document], |row| row.get(0))
    }

    /// Each measured in a transaction of its own, and undone at the end.
    fn each<T, U>(
        &mut self,
        from: Vec<T>,
        mut run: impl FnMut(&mut Self, &T) -> U,
        mut undo: impl FnMut(&mut Self, &T, U),
    ) -> Vec<Duration> {
        let mut times = Vec::with_capacity(from.len());
        let mut made = Vec::with_capacity(from.len());
        for item in &from {
            let (took, ()) = timed(|| self.transaction(|db| made.push(run(db, item))));
            times.push(took);
        }
        self.transaction(|db| from.iter().zip(made).for_each(|(item, made)| undo(db, item, made)));
        times
    }
}

impl Peer for Sqlite {
    fn ask(&mut self, question: Question) -> Box<dyn Answer> {
        match question {
            Question::List(list) => Box::new(self.list(list)),
            Question::Tasks(scope) => Box::new(self.tasks(scope)),
            Question::Folders => Box::new(self.folders()),
            Question::Today => {
                let sql = "SELECT key, title FROM documents WHERE day = ?1 AND day IS NOT NULL AND place <> 3";
                Box::new(self.tree(sql, TODAY))
            }
            Question::Fetch(at) => Box::new(self.with_comments(self.tree(BY_KEY, at as i64 + 1))),
            Question::FetchBusy => Box::new(self.with_comments(self.tree(BY_KEY, self.busy))),
            Question::Info => Box::new(self.db.one("SELECT id, name, zone FROM meta", (), |row| {
                Ok(Info { _id: blob(row, 0)?, name: row.get(1)?, zone: row.get(2)? })
            })),
        }
    }

    fn write(&mut self, write: Write, targets: &[Target]) -> Vec<Duration> {
        let open =
            Task { state: State::Todo, scheduled: Some(TODAY), deadline: None, closed: None };
        let keys: Vec<i64> = targets.iter().map(|target| target.at as i64 + 1).collect();
        match write {
            Write::NewDay => {
                let days = (0..targets.len() as i64).map(|at| TODAY + 1 + at).collect();
                self.each(days, |db, day| db.new_day(*day), |db, _, key| db.erase_document(key))
            }
            Write::AddTask => self.each(
                keys,
                |db, key| db.add(*key, "a task", Some(open)),
                |db, _, block| db.erase_block(block),
            ),
            Write::AddInboxTask => self.each(
                keys,
                |db, _| db.add(INBOX, "a task", Some(open)),
                |db, _, block| db.erase_block(block),
            ),
            Write::Complete => {
                let tasks = keys.iter().map(|key| self.block_of(*key, 2)).collect();
                self.each(
                    tasks,
                    |db, block| db.set_state(*block, true),
                    |db, block, ()| db.set_state(*block, false),
                )
            }
            Write::Move => {
                let moves = keys.iter().map(|key| (*key, self.place_of(*key))).collect();
                let to = |place: i64| FIRST_FOLDER + (place - FIRST_FOLDER + 1) % BOX as i64;
                self.each(
                    moves,
                    |db, (key, at)| db.relocate(*key, to(*at)),
                    |db, (key, at), ()| db.relocate(*key, *at),
                )
            }
            Write::TrashAndRestore => {
                let moves: Vec<(i64, i64)> =
                    keys.iter().map(|key| (*key, self.place_of(*key))).collect();
                let there = self.each(
                    moves.clone(),
                    |db, (key, _)| db.relocate(*key, TRASH),
                    |_, _, ()| (),
                );
                let back = self.each(moves, |db, (key, at)| db.relocate(*key, *at), |_, _, ()| ());
                there.into_iter().zip(back).map(|(there, back)| there + back).collect()
            }
            Write::Comment => {
                let blocks = keys.iter().map(|key| self.block_of(*key, 0)).collect();
                let comment = |db: &mut Self, block: &i64| {
                    db.insert_comment(*block);
                    db.log(b"a word on this");
                };
                self.each(blocks, comment, |_, _, ()| ())
            }
        }
    }

    fn flush(&mut self) {
        self.db.checkpoint();
    }
}
