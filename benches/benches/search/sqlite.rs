//! `SQLite` with FTS5, as an expert sets it up: a row of the full-text table for each block, or for
//! each document. By document the table keeps no copy of the text: a snippet comes from the first
//! block that has all terms.

use crate::peer::{Build, Peer};
use crate::plan::{Document, LARGE, Number, Plan, Question, uid};
use benches::baseline::{Database, Sharing, Sync};
use benches::measure::timed;
use regex::{Regex, RegexBuilder};
use rusqlite::{Row, params};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

/// A block's key: its document's number, then its place, so that a document lies together and tells
/// itself.
const PLACES: u32 = 14;
const _: () = assert!(LARGE < 1 << PLACES);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its texts are those of the table of blocks.
    Block,
    /// Without a copy of the text.
    Document,
    /// With Porter's stems, and a copy of the text for the snippets of inflected forms.
    Stems,
}

pub struct Sqlite {
    db: Database,
    kind: Kind,
    edits: i64,
}

struct Found {
    document: i64,
    snippet: String,
}

const SCHEMA: &str = "
    CREATE TABLE documents(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, title TEXT NOT NULL, created INTEGER NOT NULL,
        modified INTEGER NOT NULL);
    CREATE INDEX documents_modified ON documents(modified);
    CREATE TABLE blocks(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, rev INTEGER NOT NULL, kind INTEGER NOT NULL,
        markdown TEXT NOT NULL, created INTEGER NOT NULL, modified INTEGER NOT NULL);
    CREATE TABLE changes(id INTEGER PRIMARY KEY, document INTEGER NOT NULL, at INTEGER NOT NULL, before TEXT, after TEXT);";

fn key(document: usize, place: usize) -> i64 {
    ((document as i64) << PLACES) + place as i64
}

fn body(document: &Document) -> String {
    document.blocks.join("\n")
}

/// Creates the file and fills it in one transaction, which is durable at the end.
pub fn build(directory: &Path, plan: &Plan, kind: Kind) -> Build<Sqlite> {
    let (whole, peer) = timed(|| {
        let peer = open(directory, kind);
        peer.db.set_sync(Sync::Full);
        peer.db.begin();
        peer.fill(plan).expect("rows");
        peer.db.commit();
        peer
    });
    peer.db.set_sync(Sync::Normal);
    Build { whole, indexing: Duration::ZERO, peer }
}

pub fn open(directory: &Path, kind: Kind) -> Sqlite {
    let words = match kind {
        Kind::Block => "fts5(markdown, content='blocks', content_rowid='id', tokenize='unicode61')",
        Kind::Document => {
            "fts5(title, body, content='', contentless_delete=1, tokenize='unicode61')"
        }
        Kind::Stems => "fts5(title, body, tokenize='porter unicode61')",
    };
    let schema = format!("{SCHEMA} CREATE VIRTUAL TABLE words USING {words};");
    Sqlite {
        db: Database::open(directory, Sharing::Exclusive, Sync::Normal, &schema),
        kind,
        edits: 0,
    }
}

/// One word or beginning each, as FTS5 takes it.
fn terms(question: &Question) -> Vec<String> {
    let Needles { words, .. } = Needles::new(question);
    let mut terms: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    if let (Question::Prefix(_), Some(last)) = (question, terms.last_mut()) {
        last.push('*');
    }
    terms
}

/// The query of a question.
fn query(question: &Question) -> String {
    let between = if is_any(question) { " OR " } else { " " };
    terms(question).join(between)
}

/// Whether one of the terms is enough.
const fn is_any(question: &Question) -> bool {
    matches!(question, Question::Sentence(_))
}

fn regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).case_insensitive(true).build().expect("a pattern")
}

/// The terms of a question, and how they are found in a text.
struct Needles {
    words: Vec<String>,
    is_prefix: bool,
}

/// Byte ranges of the hits in a text, and how many of the terms have one.
struct Hits {
    terms: usize,
    ranges: Vec<(usize, usize)>,
}

impl Needles {
    fn new(question: &Question) -> Self {
        let split = |words: &str| words.split(' ').map(str::to_owned).collect();
        match question {
            Question::Words(words) => Self { words: words.clone(), is_prefix: false },
            Question::Sentence(words) | Question::Many(words) => {
                Self { words: split(words), is_prefix: false }
            }
            // Nothing begins with a whole word of these but the word.
            Question::Prefix(words) => Self { words: split(words), is_prefix: true },
            Question::Misspelt(_) => unreachable!("FTS5 corrects nothing"),
            Question::Pattern(_) => unreachable!("patterns are matched on the texts"),
        }
    }

    /// Finds whole words, whatever their case in ASCII.
    fn find(&self, text: &str) -> Hits {
        let text = text.to_ascii_lowercase();
        let mut hits = Hits { terms: 0, ranges: Vec::new() };
        for word in &self.words {
            let before = hits.ranges.len();
            for (start, _) in text.match_indices(word.as_str()) {
                let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let rest = &text[start + word.len()..];
                let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
                let is_whole = !inside(text[..start].chars().next_back());
                if is_whole && (self.is_prefix || end == 0) {
                    hits.ranges.push((start, start + word.len() + end));
                }
            }
            hits.terms += usize::from(hits.ranges.len() > before);
        }
        hits.ranges.sort_unstable();
        hits
    }
}

impl Hits {
    fn marked(&self, text: &str) -> String {
        let mut marked = String::with_capacity(text.len() + 4 * self.ranges.len());
        let mut at = 0;
        for (start, end) in &self.ranges {
            marked.push_str(&text[at..*start]);
            marked.push_str("**");
            marked.push_str(&text[*start..*end]);
            marked.push_str("**");
            at = *end;
        }
        marked.push_str(&text[at..]);
        marked
    }
}

impl Sqlite {
    fn fill(&self, plan: &Plan) -> rusqlite::Result<()> {
        let prepare = |sql| self.db.connection.prepare(sql);
        let mut documents = prepare("INSERT INTO documents VALUES(?1, ?2, ?3, ?4, ?4)")?;
        let mut blocks = prepare("INSERT INTO blocks VALUES(?1, ?2, 1, ?3, ?4, ?5, ?5)")?;
        let mut changes = prepare("INSERT INTO changes(document, at, after) VALUES(?1, ?2, ?3)")?;
        let mut words = prepare(match self.kind {
            Kind::Block => "INSERT INTO words(rowid, markdown) VALUES(?1, ?2)",
            Kind::Document | Kind::Stems => {
                "INSERT INTO words(rowid, title, body) VALUES(?1, ?2, ?3)"
            }
        })?;
        for (number, document) in plan.documents.iter().enumerate() {
            let body = body(document);
            let at = number as i64;
            documents.execute(params![at, uid(1, number), document.title, at])?;
            for (place, text) in document.texts().enumerate() {
                let key = key(number, place);
                let kind = i64::from(place == 0);
                blocks.execute(params![key, uid(2, key as usize), kind, text, at])?;
                if self.kind == Kind::Block {
                    words.execute(params![key, text])?;
                }
            }
            if self.kind != Kind::Block {
                words.execute(params![at, document.title, body])?;
            }
            changes.execute(params![at, at, body])?;
        }
        Ok(())
    }

    fn found(&self, question: &Question) -> rusqlite::Result<Vec<Found>> {
        match (question, self.kind) {
            (Question::Pattern(pattern), _) => self.scan(&regex(pattern)),
            (_, Kind::Block) => self.by_block(question),
            (_, Kind::Document) => self.by_document(question),
            (_, Kind::Stems) => self.by_stems(question),
        }
    }

    /// Ranked by the full-text table; the snippets are read from the blocks.
    fn by_document(&self, question: &Question) -> rusqlite::Result<Vec<Found>> {
        let sql = "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT ?2";
        let asked = params![query(question), question.limit() as i64];
        let documents: Vec<i64> = self.db.rows(sql, asked, |row| row.get(0));
        let needles = Needles::new(question);
        documents
            .into_iter()
            .map(|document| Ok(Found { document, snippet: self.snippet(document, &needles)? }))
            .collect()
    }

    /// The first block with all terms, else the first with any of them, with its hits marked.
    fn snippet(&self, document: i64, needles: &Needles) -> rusqlite::Result<String> {
        let mut statement = self.blocks()?;
        let mut rows = statement.query([document << PLACES, (document + 1) << PLACES])?;
        let mut partial: Option<String> = None;
        while let Some(row) = rows.next()? {
            let text = row.get_ref(2)?.as_str()?;
            let hits = needles.find(text);
            if hits.terms == needles.words.len() {
                return Ok(hits.marked(text));
            }
            if hits.terms > 0 && partial.is_none() {
                partial = Some(hits.marked(text));
            }
        }
        Ok(partial.unwrap_or_default())
    }

    fn by_stems(&self, question: &Question) -> rusqlite::Result<Vec<Found>> {
        let sql = "SELECT rowid, snippet(words, -1, '**', '**', '…', 24) FROM words
            WHERE words MATCH ?1 ORDER BY rank LIMIT ?2";
        let asked = params![query(question), question.limit() as i64];
        let read = |row: &Row<'_>| Ok(Found { document: row.get(0)?, snippet: row.get(1)? });
        Ok(self.db.rows(sql, asked, read))
    }

    /// The best block of each document by each word; a document has to have all, unless one is
    /// enough.
    fn ranked(&self, question: &Question) -> rusqlite::Result<HashMap<i64, (f64, i64)>> {
        let (terms, is_any) = (terms(question), is_any(question));
        let mut statement = self
            .db
            .connection
            .prepare_cached("SELECT rowid, rank FROM words WHERE words MATCH ?1")?;
        let mut all: Option<HashMap<i64, (f64, i64)>> = None;
        for term in &terms {
            let mut best: HashMap<i64, (f64, i64)> = HashMap::new();
            let mut rows = statement.query([term])?;
            while let Some(row) = rows.next()? {
                let (block, rank): (i64, f64) = (row.get(0)?, row.get(1)?);
                let is_out = |all: &HashMap<_, _>| !is_any && !all.contains_key(&(block >> PLACES));
                if all.as_ref().is_some_and(is_out) {
                    continue;
                }
                let known = best.entry(block >> PLACES).or_insert((rank, block));
                if rank < known.0 {
                    *known = (rank, block);
                }
            }
            all = Some(match all {
                None => best,
                Some(mut before) if is_any => {
                    for (document, (rank, block)) in best {
                        let known = before.entry(document).or_insert((0.0, block));
                        known.0 += rank;
                    }
                    before
                }
                Some(before) => {
                    let both = best.into_iter().filter_map(|(document, (rank, block))| {
                        let (known, _) = before.get(&document)?;
                        Some((document, (rank + known, block)))
                    });
                    both.collect()
                }
            });
        }
        Ok(all.unwrap_or_default())
    }

    fn by_block(&self, question: &Question) -> rusqlite::Result<Vec<Found>> {
        let mut all: Vec<_> = self.ranked(question)?.into_iter().collect();
        let order =
            |one: &(i64, (f64, i64)), other: &(i64, (f64, i64))| one.1.0.total_cmp(&other.1.0);
        let limit = question.limit();
        if all.len() > limit {
            all.select_nth_unstable_by(limit, order);
            all.truncate(limit);
        }
        all.sort_unstable_by(order);
        let sql = "SELECT snippet(words, 0, '**', '**', '…', 24) FROM words WHERE words MATCH ?1 AND rowid = ?2";
        let mut statement = self.db.connection.prepare_cached(sql)?;
        let asked = terms(question).join(" OR ");
        let shown = all.into_iter().map(|(document, (_, block))| {
            let snippet = statement.query_row(params![asked, block], |row| row.get(0))?;
            Ok(Found { document, snippet })
        });
        shown.collect()
    }

    /// How many blocks of each document match.
    fn matched(&self, pattern: &Regex) -> rusqlite::Result<Vec<(Reverse<u32>, i64)>> {
        let mut found: Vec<(Reverse<u32>, i64)> = Vec::new();
        let mut statement =
            self.db.connection.prepare_cached("SELECT id, markdown FROM blocks ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if !pattern.is_match(row.get_ref(1)?.as_str()?) {
                continue;
            }
            let document = row.get::<_, i64>(0)? >> PLACES;
            match found.last_mut() {
                Some((Reverse(count), last)) if *last == document => *count += 1,
                _ => found.push((Reverse(1), document)),
            }
        }
        Ok(found)
    }

    /// Every block is looked at; those documents are shown that have most.
    fn scan(&self, pattern: &Regex) -> rusqlite::Result<Vec<Found>> {
        let mut all = self.matched(pattern)?;
        all.sort_unstable();
        all.truncate(20);
        let mut statement = self.blocks()?;
        let mut shown = Vec::with_capacity(all.len());
        for (_, document) in all {
            let mut rows = statement.query([document << PLACES, (document + 1) << PLACES])?;
            while let Some(row) = rows.next()? {
                let text = row.get_ref(2)?.as_str()?;
                if pattern.is_match(text) {
                    shown.push(Found {
                        document,
                        snippet: pattern.replace_all(text, "**$0**").into_owned(),
                    });
                    break;
                }
            }
        }
        Ok(shown)
    }

    fn blocks(&self) -> rusqlite::Result<rusqlite::CachedStatement<'_>> {
        let sql = "SELECT id, uid, markdown FROM blocks WHERE id >= ?1 AND id < ?2 ORDER BY id";
        self.db.connection.prepare_cached(sql)
    }

    fn around(&self, pattern: &Regex) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.blocks()?;
        let mut hits: Vec<i64> = Vec::new();
        let mut rows = statement.query([0, 1 << PLACES])?;
        while let Some(row) = rows.next()? {
            if pattern.is_match(row.get_ref(2)?.as_str()?) {
                hits.push(row.get(0)?);
            }
        }
        drop(rows);
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            let near = statement.query_map([(hit - 5).max(0), hit + 6], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, [u8; 16]>(1)?, row.get::<_, String>(2)?))
            })?;
            let near: Vec<_> = near.collect::<rusqlite::Result<_>>()?;
            let text = &near.iter().find(|(id, ..)| *id == hit).expect("the block itself").2;
            let ranges: Vec<_> = pattern.find_iter(text).map(|found| found.range()).collect();
            found.push(text.clone());
            black_box((near, ranges));
        }
        Ok(found)
    }

    fn set(&self, document: i64, key: i64, text: &str, at: i64) -> rusqlite::Result<()> {
        let db = &self.db;
        db.begin();
        let before: String =
            db.one("SELECT markdown FROM blocks WHERE id = ?1", [key], |row| row.get(0));
        if self.kind == Kind::Block {
            let sql = "INSERT INTO words(words, rowid, markdown) VALUES('delete', ?1, ?2)";
            db.run(sql, params![key, before]);
        }
        let sql = "UPDATE blocks SET markdown = ?2, rev = rev + 1, modified = ?3 WHERE id = ?1";
        db.run(sql, params![key, text, at]);
        if self.kind == Kind::Block {
            db.run("INSERT INTO words(rowid, markdown) VALUES(?1, ?2)", params![key, text]);
        } else {
            let (mut title, mut body) = (String::new(), String::new());
            let mut statement = self.blocks()?;
            let mut rows = statement.query([document << PLACES, (document + 1) << PLACES])?;
            while let Some(row) = rows.next()? {
                let text = row.get_ref(2)?.as_str()?;
                if row.get::<_, i64>(0)? == document << PLACES {
                    title.push_str(text);
                    continue;
                }
                body.push_str(if body.is_empty() { "" } else { "\n" });
                body.push_str(text);
            }
            drop(rows);
            let sql = "UPDATE words SET title = ?2, body = ?3 WHERE rowid = ?1";
            db.run(sql, params![document, title, body]);
        }
        db.run("UPDATE documents SET modified = ?2 WHERE id = ?1", [document, at]);
        let sql = "INSERT INTO changes(document, at, before, after) VALUES(?1, ?2, ?3, ?4)";
        db.run(sql, params![document, at, before, text]);
        db.commit();
        Ok(())
    }
}

impl Peer for Sqlite {
    fn ask(&mut self, question: &Question) -> usize {
        black_box(self.found(question).expect("an answer"))
            .iter()
            .filter(|found| !found.snippet.is_empty())
            .count()
    }

    fn top(&mut self, question: &Question) -> Vec<Number> {
        self.found(question)
            .expect("an answer")
            .iter()
            .map(|found| found.document as Number)
            .collect()
    }

    fn all(&mut self, question: &Question) -> Vec<Number> {
        let mut all: Vec<i64> = match (question, self.kind) {
            (Question::Pattern(pattern), _) => self
                .matched(&regex(pattern))
                .expect("a scan")
                .into_iter()
                .map(|(_, document)| document)
                .collect(),
            (_, Kind::Block) => self.ranked(question).expect("an answer").into_keys().collect(),
            (_, Kind::Document | Kind::Stems) => {
                let sql = "SELECT rowid FROM words WHERE words MATCH ?1";
                let mut statement = self.db.connection.prepare_cached(sql).expect("a statement");
                let rows =
                    statement.query_map([query(question)], |row| row.get(0)).expect("an answer");
                rows.collect::<rusqlite::Result<_>>().expect("rows")
            }
        };
        all.sort_unstable();
        all.into_iter().map(|document| document as Number).collect()
    }

    fn within(&mut self, pattern: &str) -> Vec<String> {
        self.around(&regex(pattern)).expect("an answer")
    }

    fn edit(&mut self, document: Number, block: usize, text: &str) -> Duration {
        self.edits += 1;
        let at = 1_000_000 + self.edits;
        timed(|| self.set(document as i64, key(document, block + 1), text, at).expect("an update"))
            .0
    }

    fn settle(&mut self) {
        self.db.checkpoint();
    }

    /// Bytes of the full-text table, without the texts that it shares.
    fn index_bytes(&self) -> Option<u64> {
        let sql = "SELECT sum(pgsize) FROM dbstat WHERE name GLOB 'words_*'";
        self.db.value::<Option<i64>>(sql, ()).flatten().map(|bytes| bytes as u64)
    }
}
