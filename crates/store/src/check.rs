//! The check of a whole space: every record is read once and every invariant of the keyspaces is
//! verified.
//!
//! It needs memory for the IDs of all blocks (about 100 bytes each), for the records of all
//! documents, folders and schemas, 16 bytes for each edge and 80 for each task, and, for one
//! collection after the other, 16 bytes for each row of its indexes. What it finds is told by
//! invariant and record, and one thing that is damaged doesn't end it.

use std::fmt;
use std::ops::ControlFlow;

use leafbase_model::{Error, ErrorKind, Result};

use crate::edges::Extractor;
use crate::keyspaces::{self, Keyspace, RowName};
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::meta::{self, SpaceTotals};
use crate::space_store::ProgressFn;

mod assets;
mod blocks;
mod collections;
mod comments;
mod documents;
mod folders;
mod items;
mod locations;
mod log;
mod tasks;

/// So many problems are listed; the others are counted.
const LISTED: usize = 1_000;
/// Progress is reported after this many rows.
const STEP: u64 = 1_024;

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Invariant {
    /// The storage engine finds its own structures whole.
    Engine,
    /// Each row is in a known keyspace, its key is one of that keyspace, its checksum holds and its
    /// record can be read.
    Record,
    /// No run is empty, and none of several blocks is over its size.
    Run,
    /// Each block is in one place.
    SingleLocation,
    /// Each document has one block at its top, which has the document's ID.
    Root,
    /// The parent of each block exists, in the same document.
    Parent,
    /// CheckedBlocks stand below others only if those may have children; items stand in
    /// collections, and nothing else does.
    ParentType,
    /// The parents of each block lead to the root.
    Reach,
    /// Each block has its place, and each place its block.
    BlockLocation,
    /// Each document has its root, and each root its document.
    Document,
    /// Each document is in the indexes as its record says, and nothing else is.
    DocumentIndex,
    /// For each location it is known how many documents are kept there.
    LocationCount,
    /// There is one inbox at most.
    Inbox,
    /// Folders are in folders that exist, none is in itself, and there are as many as the space
    /// says.
    Folder,
    /// The index of what is in a folder agrees with the folders.
    FolderIndex,
    /// A day has one note out of the trash.
    DailyNote,
    /// Each document that is kept in a folder is kept in one that exists.
    DocumentFolder,
    /// Each document has as many blocks as its record says.
    BlockCount,
    /// Edges are what the contents of the blocks say.
    Edge,
    /// The rows of tasks are what the contents of the blocks and the locations of their documents
    /// say.
    Task,
    /// Each comment is on a block of its document.
    Comment,
    /// Each file has all its bytes and is shown, and no bytes are of no file.
    Asset,
    /// Each collection has a schema, which has its name, and nothing else has one; keys and columns
    /// are unique.
    Schema,
    /// Each relation has its other end, which leads back, and one of both owns it.
    Relation,
    /// What items hold is as their schema says; related items are items of the other collection,
    /// and no more than may be.
    Value,
    /// It is known in which document each collection is, and how many items it has.
    ItemCount,
    /// The indexes of items are what the items and the schema of their collection say.
    ItemIndex,
    /// The change log has no gap and ends where the space says.
    ChangeLog,
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Engine => "the storage engine is whole",
            Self::Record => "records can be read",
            Self::Run => "runs are neither empty nor too large",
            Self::SingleLocation => "a block is in one place",
            Self::Root => "a document has one root",
            Self::Parent => "a block's parent is in its document",
            Self::ParentType => "a parent is of a type that may have such children",
            Self::Reach => "a block can be reached from its root",
            Self::BlockLocation => "places agree with blocks",
            Self::Document => "documents agree with roots",
            Self::DocumentIndex => "indexes agree with documents",
            Self::LocationCount => "counts agree with documents",
            Self::Inbox => "a space has one inbox",
            Self::Folder => "folders form trees",
            Self::FolderIndex => "the index of folders agrees with them",
            Self::DailyNote => "a day has one note",
            Self::DocumentFolder => "the folder of a document exists",
            Self::Edge => "edges agree with contents",
            Self::Task => "rows of tasks agree with contents",
            Self::Comment => "a comment is on a block",
            Self::Asset => "a file has its bytes and is shown",
            Self::Schema => "schemas agree with collections",
            Self::Relation => "a relation has two ends, and one owner",
            Self::Value => "values are as the schema says",
            Self::ItemCount => "counts agree with items",
            Self::ItemIndex => "indexes agree with items",
            Self::ChangeLog => "the change log has no gap",
            Self::BlockCount => "a document has all its blocks",
        })
    }
}

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Problem {
    /// The invariant that is broken.
    pub invariant: Invariant,
    /// The record: its keyspace, and its key or what it names.
    pub record: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.record, self.message, self.invariant)
    }
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CheckReport {
    /// What does not hold; at most 1,000 are listed.
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub unlisted: u64,
    /// Rows read.
    pub rows: u64,
    /// Documents among them; the hidden one of the inbox is not counted.
    pub documents: u64,
    /// CheckedBlocks, those of the inbox included.
    pub blocks: u64,
    /// Folders.
    pub folders: u64,
    /// Edges.
    pub edges: u64,
    /// Tasks, done ones and those in the trash included.
    pub tasks: u64,
    /// Collections.
    pub collections: u64,
    /// Items of collections.
    pub items: u64,
    /// Comments.
    pub comments: u64,
    /// Uploaded files.
    pub assets: u64,
    /// Rows of the change log.
    pub changes: u64,
}

impl CheckReport {
    /// Whether every invariant holds.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

/// What is done with each row of a keyspace.
type CheckRow<'f, C> = &'f mut dyn FnMut(&mut C, &[u8], &[u8]) -> Result<()>;

/// A check under way.
struct SpaceCheck<'a> {
    source: &'a dyn Read,
    extractor: Extractor,
    progress: ProgressFn<'a>,
    broken_off: bool,
    /// What came between this and the rows, if it was no damage: rows could then not be told from
    /// damaged ones.
    failure: Option<Error>,
    report: CheckReport,
}

/// Checks the state that `source` shows; the engine's own structures are the caller's.
pub(crate) fn check(
    source: &dyn Read,
    extractor: Extractor,
    engine_is_whole: bool,
    progress: ProgressFn<'_>,
) -> Result<CheckReport> {
    let mut check = SpaceCheck {
        source,
        extractor,
        progress,
        broken_off: false,
        failure: None,
        report: CheckReport::default(),
    };
    if !engine_is_whole {
        check.found(Invariant::Engine, "the store", "its own check failed");
    }
    let totals = check.meta();
    check.nothing_elsewhere();
    let blocks = check.blocks();
    check.locations(&blocks);
    let documents = check.documents(&blocks);
    let folders = check.folders(totals);
    check.document_folders(&documents, &folders);
    check.edges(&blocks.edges);
    check.tasks(&blocks, &documents);
    check.collections(&blocks);
    check.comments(&blocks);
    check.assets();
    check.changes(totals);
    check.tell();
    if check.broken_off {
        return Err(Error::new(ErrorKind::Canceled, "the check was broken off"));
    }
    check.failure.map_or(Ok(check.report), Err)
}

impl SpaceCheck<'_> {
    fn found(
        &mut self,
        invariant: Invariant,
        record: impl fmt::Display,
        message: impl fmt::Display,
    ) {
        if self.report.problems.len() < LISTED {
            let (record, message) = (record.to_string(), message.to_string());
            self.report.problems.push(Problem { invariant, record, message });
        } else {
            self.report.unlisted += 1;
        }
    }

    fn tell(&mut self) {
        self.broken_off = self.broken_off || (self.progress)(self.report.rows).is_break();
    }

    fn unreadable(&mut self, key: &[u8], error: &Error) {
        self.note_failure(error);
        self.found(Invariant::Record, RowName(key), error.message());
    }

    /// An error of the device is the answer, unless damage was found before: that makes a store
    /// fail, too.
    fn note_failure(&mut self, error: &Error) {
        if self.report.problems.is_empty() && error.kind() == ErrorKind::Storage {
            self.failure = Some(Error::new(error.kind(), error.message()));
        }
    }

    /// Hands each row of `keyspace` to `visit`; an error of it is a record that cannot be read.
    fn rows(&mut self, keyspace: Keyspace, visit: CheckRow<'_, Self>) {
        let start = [keyspace.tag];
        self.rows_within(keyspace.name, &start, &keyspaces::end_of(start), visit);
    }

    /// The same for those from `from` on and before `to`, of the keyspace called `name`.
    fn rows_within(&mut self, name: &str, from: &[u8], to: &[u8], visit: CheckRow<'_, Self>) {
        let source = self.source;
        let scanned = source.scan(KeyRange::half_open(from, to), &mut |key, value| {
            self.report.rows += 1;
            if self.report.rows.is_multiple_of(STEP) {
                self.tell();
            }
            if self.broken_off {
                return Ok(ControlFlow::Break(()));
            }
            if let Err(error) = visit(self, key, value) {
                self.unreadable(key, &error);
            }
            Ok(ControlFlow::Continue(()))
        });
        if let Err(error) = scanned {
            self.note_failure(&error);
            self.found(Invariant::Record, name, error.message());
        }
    }

    /// Whether `key` is there with a record of an index; what is not in order is told under
    /// `invariant`.
    fn expect_index_row(&mut self, invariant: Invariant, key: &[u8]) {
        match self.source.get(key, &mut |_| Ok(())) {
            Ok(true) => {}
            Ok(false) => self.found(invariant, RowName(key), "is missing"),
            Err(error) => self.unreadable(key, &error),
        }
    }

    /// Gives the totals, if they can be read.
    fn meta(&mut self) -> Option<SpaceTotals> {
        let mut totals = None;
        self.rows(keyspaces::META, &mut |_, key, value| {
            match key.get(1..).and_then(|name| str::from_utf8(name).ok()) {
                Some(meta::FORMAT) => {
                    records::read_prefix(key, value, meta::read_minimum_reader)?;
                }
                Some(meta::SPACE) => {
                    records::read(key, value, meta::read_space)?;
                }
                Some(meta::TOTALS) => totals = Some(records::read(key, value, meta::read_totals)?),
                _ => return Err(records::damaged(key)),
            }
            Ok(())
        });
        for name in [meta::FORMAT, meta::SPACE, meta::TOTALS] {
            self.expect_index_row(Invariant::Record, &keyspaces::meta(name));
        }
        totals
    }

    /// Nothing may be outside of the keyspaces in use.
    fn nothing_elsewhere(&mut self) {
        let used = |tag| keyspaces::IN_USE.iter().any(|keyspace| keyspace.tag == tag);
        for tag in (0..=u8::MAX).filter(|tag| !used(*tag)) {
            let (start, end) =
                ([tag], tag.checked_add(1).map_or(vec![tag; 1_025], |next| vec![next]));
            let source = self.source;
            let scanned = source.scan(KeyRange::half_open(&start, &end), &mut |key, _| {
                self.found(Invariant::Record, RowName(key), "no row may be here");
                Ok(ControlFlow::Continue(()))
            });
            if let Err(error) = scanned {
                self.unreadable(&start, &error);
            }
        }
    }
}
