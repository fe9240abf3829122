//! The jobs of the process that is killed: one thread each. What a job has left after its first so
//! many calls is a pure function of their number, which is the model outside.

use std::time::Duration;

use leafbase::{
    BlockData, BlockDraft, CompactOptions, Connection, Destination, Document, DocumentId,
    Durability, Error, ErrorKind, Fetch, PurgeDocuments, Result,
};

use self::books::{books, found_books, write_book};
use self::files::{found_uploads, kept_uploads, upload, uploaded};
use self::pages::{PAGES, found_pages, import, page};
use crate::random::Random;
use crate::world::work::{WORDS, is_deleted};

pub use self::pages::{is_of_import, is_whole_page, leads_nowhere};

mod books;
mod files;
mod pages;

/// The number of a job's first call.
pub const FIRST: u64 = 4;
/// Blocks that are typed into.
const LINES: u64 = 2;
/// Changes that a compaction keeps at most, where it drops any.
const KEPT_CHANGES: u64 = 150;
/// Edits of one text are merged where none is longer than this after the one before.
const MERGED_WITHIN: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Job {
    Typing,
    Imports,
    Uploads,
    Books,
    Scraps,
}

impl Job {
    pub const ALL: [Self; 5] =
        [Self::Typing, Self::Imports, Self::Uploads, Self::Books, Self::Scraps];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Typing => "typing",
            Self::Imports => "imports",
            Self::Uploads => "uploads",
            Self::Books => "books",
            Self::Scraps => "scraps",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|job| job.name() == name)
    }

    /// Makes the call of this number. Where it maintains the space, that is to compact it or else
    /// to flush it.
    pub fn call(self, notes: &Connection, number: u64, compacts: bool) -> Result<()> {
        match self {
            Self::Typing => type_text(notes, number),
            Self::Imports => import(notes, number),
            Self::Uploads => upload(notes, number),
            Self::Books => write_book(notes, number),
            Self::Scraps if is_maintenance(number) && !compacts => notes.space().flush(),
            Self::Scraps => write_scrap(notes, number),
        }
    }

    /// What the calls up to this one leave, a line for each thing.
    pub fn expected(self, last: u64) -> Vec<String> {
        match self {
            Self::Typing => (0..LINES).map(|line| typed(line, last)).collect(),
            Self::Imports => {
                (FIRST..=last).flat_map(|import| (0..PAGES).map(move |p| page(import, p))).collect()
            }
            Self::Uploads => kept_uploads(last).map(uploaded).collect(),
            Self::Books => books(last),
            Self::Scraps => scraps(last),
        }
    }

    /// What is there.
    pub fn found(self, notes: &Connection) -> Result<Vec<String>> {
        match self {
            Self::Typing => found_lines(notes),
            Self::Imports => found_pages(notes),
            Self::Uploads => found_uploads(notes),
            Self::Books => found_books(notes),
            Self::Scraps => found_scraps(notes),
        }
    }
}

/// Puts what the jobs begin with into an empty space.
pub fn prepare(notes: &Connection) -> Result<()> {
    let typing = notes.create_document(Job::Typing.name())?.id();
    for line in 0..LINES {
        notes.insert_markdown(&typed(line, 0), typing)?;
    }
    notes.create_document(Job::Uploads.name())?;
    books::prepare_books(notes)
}

/// Words that depend on the number.
fn words(number: u64, count: u64) -> String {
    let mut random = Random::new(number);
    let words: Vec<_> = (0..count).map(|_| WORDS[random.place(WORDS.len())]).collect();
    words.join(" ")
}

fn missing(what: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{what} is gone"))
}

fn document(notes: &Connection, job: Job) -> Result<DocumentId> {
    let documents = notes.documents()?;
    let found = documents.iter().find(|document| document.title == job.name());
    found.map(Document::id).ok_or_else(|| missing(job.name()))
}

/// The text of a line after the call `last`. Eight calls in a row add a word each to one line.
fn typed(line: u64, last: u64) -> String {
    let of_line = (FIRST..=last).rev().find(|call| (call / 8) % LINES == line);
    of_line.map_or_else(
        || format!("line {line}"),
        |call| format!("typed {} {}", call / 8, words(call / 8, call % 8 + 1)),
    )
}

fn type_text(notes: &Connection, number: u64) -> Result<()> {
    let line = (number / 8) % LINES;
    let tree = notes.fetch(Fetch::new(document(notes, Job::Typing)?))?;
    let at = usize::try_from(line).unwrap_or_default();
    let block = tree.children().get(at).ok_or_else(|| missing("a line"))?.id;
    let is_durable = number.is_multiple_of(4);
    let durability = if is_durable { Durability::Durable } else { Durability::Relaxed };
    notes.with_durability(durability).update_markdown(block, &typed(line, number)).map(drop)
}

fn found_lines(notes: &Connection) -> Result<Vec<String>> {
    let tree = notes.fetch(Fetch::new(document(notes, Job::Typing)?))?;
    Ok(tree.children().iter().map(|block| block.data.inline.clone()).collect())
}

/// What a purged document must not leave in the change log.
pub fn secret(number: u64) -> String {
    format!("secret {number} of scraps")
}

/// The scrap that a call is about: four calls create, trash and purge one, and then maintain the
/// space.
const fn scrap(number: u64) -> u64 {
    number - number % 4
}

/// Whether the call of scraps of this number maintains the space.
pub const fn is_maintenance(number: u64) -> bool {
    number % 4 == 3
}

fn scraps(last: u64) -> Vec<String> {
    match last % 4 {
        _ if last < FIRST => Vec::new(),
        0 => vec![format!("{}, false", secret(last))],
        1 => vec![format!("{}, true", secret(scrap(last)))],
        _ => Vec::new(),
    }
}

/// Scraps of which a call that purges them is said to be done.
pub fn purged(last: u64) -> impl Iterator<Item = u64> {
    (FIRST..last).step_by(4).filter(move |scrap| scrap + 2 <= last)
}

fn find_scraps(notes: &Connection) -> Result<Vec<Document>> {
    let documents = notes.documents()?.0.into_iter();
    Ok(documents.filter(|document| document.title.starts_with("secret ")).collect())
}

fn found_scraps(notes: &Connection) -> Result<Vec<String>> {
    let scraps = find_scraps(notes)?;
    Ok(scraps.iter().map(|scrap| format!("{}, {}", scrap.title, is_deleted(scrap))).collect())
}

fn write_scrap(notes: &Connection, number: u64) -> Result<()> {
    let title = secret(scrap(number));
    let find = || {
        let scraps = find_scraps(notes)?;
        let found = scraps.iter().find(|document| document.title == title);
        found.map(Document::id).ok_or_else(|| missing(&title))
    };
    match number % 4 {
        0 => {
            let lines = (0..20).map(|line| format!("{title}: {}", words(number + line, 9)));
            let lines = lines.map(|line| BlockDraft::new(BlockData::text(line))).collect();
            let page = BlockDraft::new(BlockData::page(title)).with_content(lines);
            notes.create_document_of(page, Destination::Unsorted).map(drop)
        }
        1 => notes.delete_documents(find()?).map(drop),
        2 => notes.purge_documents(PurgeDocuments::new([find()?])).map(drop),
        _ => compact(notes, number / 4),
    }
}

/// Shows in the change log alone.
fn compact(notes: &Connection, round: u64) -> Result<()> {
    let options = CompactOptions::new();
    notes.space().compact_with(match round % 3 {
        0 => options.merge_edits_within(MERGED_WITHIN),
        1 => options.keep_changes(KEPT_CHANGES),
        _ => options.merge_edits_within(MERGED_WITHIN).keep_changes(KEPT_CHANGES),
    })
}
