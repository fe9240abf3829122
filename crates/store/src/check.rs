//! The check of a space: reads every record once and verifies all invariants of the keyspaces.
//!
//! It takes memory for all blocks (24 bytes each, and 100 for each run), for the records of all
//! documents, folders and schemas, 250 bytes for each file, 90 for each task, 32 for each comment,
//! 16 for each edge, 100 for each tag of a block, and 16 for each index row of one collection at a
//! time. Damage does not end it: each problem is reported with its invariant and its record.

use std::fmt;
use std::ops::ControlFlow;

use leafbase_model::{Error, ErrorKind, Result};

use crate::edges::Extractor;
use crate::keyspaces::{self, Keyspace, RowName, SCOPES};
use crate::kv::{KeyRange, Read};
use crate::progress::ProgressFn;
use crate::records;
use crate::records::layout::Value;
use crate::records::meta::{self, DroppedChange, SpaceMeta, SpaceTotals, read_scope};

mod assets;
mod blocks;
mod collections;
mod comments;
mod documents;
mod embeddings;
mod folders;
mod host_records;
mod items;
mod locations;
mod log;
mod replies;
mod tags;
mod tasks;

/// Problems that are listed; further ones are counted.
const LISTED: usize = 1_000;
/// Rows between two reports of progress.
const STEP: u64 = 1_024;

/// An invariant of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Invariant {
    /// The structures of the storage engine are valid.
    Engine,
    /// Each row is in a known keyspace, its key parses, its checksum matches and its record
    /// decodes.
    Record,
    /// No run is empty, and none of several blocks exceeds its maximum size.
    Run,
    /// Each block has one location.
    SingleLocation,
    /// Each document has one top block, which has the document's ID.
    Root,
    /// The parent of each block exists, in the same document.
    Parent,
    /// A block has children only if its type allows them; collections contain items, and nothing
    /// else does.
    ParentType,
    /// The ancestors of each block lead to the root.
    Reach,
    /// Each block has its location record, and each record its block.
    BlockLocation,
    /// Each document has its root block, and each root block its document.
    Document,
    /// The index rows of documents follow from their records.
    DocumentIndex,
    /// The counts of documents by location are exact.
    LocationCount,
    /// There is at most one inbox.
    Inbox,
    /// Folders form trees, and their number matches the totals.
    Folder,
    /// The index rows of folders follow from their records.
    FolderIndex,
    /// A day has one daily note outside of the trash.
    DailyNote,
    /// The folder of each document exists.
    DocumentFolder,
    /// Each document has as many blocks as its record counts.
    BlockCount,
    /// The title in the record of each document is the text of its root block.
    Title,
    /// The record of each document names the last change that touched it, and each change the one
    /// before.
    LastChange,
    /// Edge rows follow from the data of blocks.
    Edge,
    /// Task rows follow from the data of blocks and the locations of their documents.
    Task,
    /// Tags, their documents and their counts follow from the data of blocks and the locations of
    /// their documents.
    Tag,
    /// Each comment is on a block of its document, and can be found by its ID.
    Comment,
    /// Each file has all its bytes, with the hash of its record, and is embedded; no chunk is
    /// orphaned.
    Asset,
    /// Each collection has a schema with its name, and no other block has one; keys and columns are
    /// unique.
    Schema,
    /// Each relation has an inverse that leads back, and one of both owns it.
    Relation,
    /// Values match the schema; related items belong to the target collection, and single relations
    /// have one item.
    Value,
    /// The document and the item count of each collection are exact.
    ItemCount,
    /// Item index rows follow from the items and their schema.
    ItemIndex,
    /// The change log has no gap and ends at the sequence of the totals.
    ChangeLog,
    /// Index rows of kept replies follow from them.
    Reply,
    /// Records of hosts are attached to documents that exist.
    HostRecord,
    /// Vectors are of blocks that exist, in their documents; digests and models follow from them.
    Embedding,
    /// The search index contains what the space has, up to its last update.
    SearchIndex,
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Engine => "the storage engine is whole",
            Self::Record => "records decode",
            Self::Run => "runs are neither empty nor too large",
            Self::SingleLocation => "a block has one location",
            Self::Root => "a document has one root",
            Self::Parent => "a block's parent is in its document",
            Self::ParentType => "a parent is of a type that may have such children",
            Self::Reach => "a block can be reached from its root",
            Self::BlockLocation => "block locations agree with blocks",
            Self::Document => "documents agree with roots",
            Self::DocumentIndex => "indexes agree with documents",
            Self::LocationCount => "counts agree with documents",
            Self::Inbox => "a space has one inbox",
            Self::Folder => "folders form trees",
            Self::FolderIndex => "the index of folders agrees with them",
            Self::DailyNote => "a day has one note",
            Self::DocumentFolder => "the folder of a document exists",
            Self::Edge => "edges agree with blocks",
            Self::Task => "task rows agree with blocks",
            Self::Tag => "tags agree with blocks",
            Self::Comment => "a comment is on a block",
            Self::Asset => "a file has its bytes and is embedded",
            Self::Schema => "schemas agree with collections",
            Self::Relation => "a relation has two ends, and one owner",
            Self::Value => "values match the schema",
            Self::ItemCount => "counts agree with items",
            Self::ItemIndex => "indexes agree with items",
            Self::ChangeLog => "the change log has no gap",
            Self::Reply => "the index of kept replies agrees with them",
            Self::HostRecord => "a record of a host is beside a document",
            Self::Embedding => "a vector is of a block",
            Self::SearchIndex => "the search index agrees with the documents",
            Self::BlockCount => "block counts agree with documents",
            Self::Title => "titles agree with roots",
            Self::LastChange => "documents agree with the change log",
        })
    }
}

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Problem {
    /// The invariant.
    pub invariant: Invariant,
    /// The record: its keyspace and key, or its name.
    pub record: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.record, self.message, self.invariant)
    }
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CheckReport {
    /// Broken invariants; at most 1,000 are listed.
    pub problems: Vec<Problem>,
    /// The number of further ones.
    pub unlisted: u64,
    /// Rows read.
    pub rows: u64,
    /// Documents, without the hidden inbox.
    pub documents: u64,
    /// Blocks, with those of the inbox.
    pub blocks: u64,
    /// Folders.
    pub folders: u64,
    /// Edges.
    pub edges: u64,
    /// Tasks, with closed ones and those in the trash.
    pub tasks: u64,
    /// Collections.
    pub collections: u64,
    /// Items of collections.
    pub items: u64,
    /// Comments.
    pub comments: u64,
    /// Uploaded files.
    pub assets: u64,
    /// Vectors of blocks and documents.
    pub embeddings: u64,
    /// Rows of the change log.
    pub changes: u64,
}

impl CheckReport {
    /// Whether every invariant holds.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds a problem, which is only counted if 1,000 are listed.
    pub fn add(
        &mut self,
        invariant: Invariant,
        record: impl fmt::Display,
        message: impl fmt::Display,
    ) {
        // A badly damaged space has millions of problems: they are counted, not held.
        if self.problems.len() < LISTED {
            let (record, message) = (record.to_string(), message.to_string());
            self.problems.push(Problem { invariant, record, message });
        } else {
            self.unlisted += 1;
        }
    }
}

/// Receives each row of a keyspace.
type CheckRow<'f, C> = &'f mut dyn FnMut(&mut C, &[u8], &[u8]) -> Result<()>;

/// A check in progress.
struct SpaceCheck<'a> {
    source: &'a dyn Read,
    extractor: Extractor,
    progress: ProgressFn<'a>,
    is_canceled: bool,
    /// An error of the device, which leaves it unknown which rows are damaged.
    failure: Option<Error>,
    report: CheckReport,
}

/// Checks the state of `source`; the caller checks the engine's structures.
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
        is_canceled: false,
        failure: None,
        report: CheckReport::default(),
    };
    if !engine_is_whole {
        check.found(Invariant::Engine, "the store", "the engine's own check failed");
    }
    // Blocks first: later checks compare their rows with what follows from the blocks.
    let totals = check.meta();
    check.nothing_elsewhere();
    let blocks = check.blocks();
    check.locations(&blocks);
    let (documents, last_changes) = check.documents(&blocks);
    let folders = check.folders(totals);
    check.document_folders(&documents, &folders);
    check.edges(&blocks.edges);
    check.tasks(&blocks, &documents);
    check.tags(&blocks, &documents);
    check.collections(&blocks);
    check.comments(&blocks);
    check.assets();
    check.changes(totals, &last_changes);
    check.replies();
    check.rows(SCOPES, &mut |_, key, value| read_scope(key, value).map(drop));
    check.embeddings(&blocks);
    check.host_records(&|document| documents.contains_key(&document));
    debug_assert!(check.report.problems.len() <= LISTED, "further problems are counted");
    check.report_progress();
    if check.is_canceled {
        return Err(Error::new(ErrorKind::Canceled, "the check was canceled"));
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
        self.report.add(invariant, record, message);
    }

    fn report_progress(&mut self) {
        self.is_canceled = self.is_canceled || (self.progress)(self.report.rows).is_break();
    }

    fn unreadable(&mut self, key: &[u8], error: &Error) {
        self.note_failure(error);
        self.found(Invariant::Record, RowName(key), error.message());
    }

    /// A device error becomes the result, unless damage was found before: damage makes a store
    /// fail, too.
    fn note_failure(&mut self, error: &Error) {
        if self.report.problems.is_empty() && error.kind() == ErrorKind::Storage {
            self.failure = Some(error.clone().without_path());
        }
    }

    /// Passes each row of `keyspace` to `visit`; its error is reported as a record that does not
    /// decode.
    fn rows(&mut self, keyspace: Keyspace, visit: CheckRow<'_, Self>) {
        let start = [keyspace.tag];
        self.rows_within(keyspace.name, &start, &keyspaces::prefix_end(start), visit);
    }

    /// [`Self::rows`] from `from` up to and without `to`, of the keyspace `name`.
    fn rows_within(&mut self, name: &str, from: &[u8], to: &[u8], visit: CheckRow<'_, Self>) {
        let source = self.source;
        let scanned = source.scan(KeyRange::half_open(from, to), &mut |key, value| {
            self.report.rows += 1;
            if self.report.rows.is_multiple_of(STEP) {
                self.report_progress();
            }
            if self.is_canceled {
                return Ok(ControlFlow::Break(()));
            }
            // One corrupt row must not end the check.
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

    /// Reports under `invariant` if the index row `key` is missing.
    fn expect_index_row(&mut self, invariant: Invariant, key: &[u8]) {
        match self.source.get(key, &mut |_| Ok(())) {
            Ok(true) => {}
            Ok(false) => self.found(invariant, RowName(key), "is missing"),
            // The engine could not read the page of the row.
            Err(error) => self.unreadable(key, &error),
        }
    }

    /// Returns the totals, if they decode.
    fn meta(&mut self) -> Option<SpaceTotals> {
        let mut totals = None;
        self.rows(keyspaces::META, &mut |_, key, value| {
            match key.get(1..).and_then(|name| str::from_utf8(name).ok()) {
                Some(meta::FORMAT) => {
                    records::decode_prefix(key, value, meta::decode_minimum_reader)?;
                }
                Some(meta::SPACE) => {
                    records::decode(key, value, SpaceMeta::decode)?;
                }
                Some(meta::LOG_BEGINNING) => {
                    records::decode(key, value, DroppedChange::decode)?;
                }
                Some(meta::TOTALS) => {
                    totals = Some(records::decode(key, value, SpaceTotals::decode)?);
                }
                _ => return Err(records::corrupt(key)),
            }
            Ok(())
        });
        for name in [meta::FORMAT, meta::SPACE, meta::TOTALS] {
            self.expect_index_row(Invariant::Record, &keyspaces::meta(name));
        }
        totals
    }

    /// No row may be outside of the known keyspaces.
    fn nothing_elsewhere(&mut self) {
        let used = |tag| keyspaces::IN_USE.iter().any(|keyspace| keyspace.tag == tag);
        for tag in (0..=u8::MAX).filter(|tag| !used(*tag)) {
            let (start, end) =
                // After the last tag there is no next one: no key is that long.
                ([tag], tag.checked_add(1).map_or(vec![tag; 1_025], |next| vec![next]));
            let source = self.source;
            let scanned = source.scan(KeyRange::half_open(&start, &end), &mut |key, _| {
                self.found(Invariant::Record, RowName(key), "the row is in no known keyspace");
                Ok(ControlFlow::Continue(()))
            });
            if let Err(error) = scanned {
                self.unreadable(&start, &error);
            }
        }
    }
}
