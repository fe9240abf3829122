//! The one way to write: edits are applied in order, and every row that follows from them is kept
//! in step.
//!
//! Rows are staged, so that one touched by many edits is written once, and written in the order of
//! their keys. The reader of a write is given after what is staged was written.

use std::collections::BTreeMap;
use std::fmt;

use leafbase_model::{
    BlockData, BlockId, Change, DocumentId, Edit, Error, ErrorKind, Result, Stamp,
};

use crate::edges::Extractor;
use crate::keyspaces;
use crate::kv::{Transaction, WriteBatch};
use crate::location_cache::Changed;
use crate::reader::transaction_cache::TransactionCache;
use crate::reader::{ReaderCache, SpaceReader, links, totals};
use crate::records;
use crate::records::change::ChangeEncoder;
use crate::records::meta::SpaceTotals;
use crate::space_store::put_totals;

mod assets;
mod blocks;
mod comments;
mod documents;
mod folders;
mod items;
mod locations;
mod moves;
mod runs;
mod schemas;
mod subtrees;
mod tasks;

use documents::StagedDocuments;
pub(crate) use documents::{by_day, index_keys, noted_day};
use items::StagedCollections;
use locations::StagedLocations;
use moves::CrossDocumentMove;
use runs::StagedRuns;
use tasks::StagedTasks;

/// The most bytes of a change in one row: with its frame it fills a page. Longer rows would take
/// pages of a power of two.
const PART_BYTES: usize = 4_058;

/// An open write: reads its own writes.
pub struct SpaceTransaction<'a> {
    rows: &'a mut dyn Transaction,
    extractor: Extractor,
    stamp: &'a Stamp,
    runs: StagedRuns,
    locations: StagedLocations,
    crossing: Option<CrossDocumentMove>,
    cache: TransactionCache,
    documents: StagedDocuments,
    /// Edges to put, or to delete.
    edges: BTreeMap<Vec<u8>, bool>,
    tasks: StagedTasks,
    collections: StagedCollections,
    /// The documents whose comments were written.
    commented: Vec<DocumentId>,
    log: ChangeEncoder,
    edits: Vec<Edit>,
    earlier: Vec<Edit>,
    failed: bool,
}

/// What a write came to.
pub(crate) struct Finished {
    /// The row of the change log; none if nothing was applied.
    pub(crate) change: Option<Change>,
    /// What it changed of what may be known of the state before.
    pub(crate) changed: Changed,
}

impl fmt::Debug for SpaceTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpaceTransaction").field("edits", &self.edits.len()).finish_non_exhaustive()
    }
}

impl<'a> SpaceTransaction<'a> {
    pub(crate) fn new(
        rows: &'a mut dyn Transaction,
        extractor: Extractor,
        stamp: &'a Stamp,
    ) -> Self {
        Self {
            rows,
            extractor,
            stamp,
            runs: StagedRuns::default(),
            locations: StagedLocations::default(),
            crossing: None,
            cache: TransactionCache::default(),
            documents: StagedDocuments::default(),
            edges: BTreeMap::new(),
            tasks: StagedTasks::default(),
            collections: StagedCollections::default(),
            commented: Vec::new(),
            log: ChangeEncoder::default(),
            edits: Vec::new(),
            earlier: Vec::new(),
            failed: false,
        }
    }

    /// The same write, run again: these are the edits of the run before, of which nothing is there.
    pub(crate) fn after(self, earlier: Vec<Edit>) -> Self {
        Self { earlier, ..self }
    }

    /// The edits that this write had applied when it was run before, in vain: who made them of
    /// something need not have kept that. None if it was not, or came to no end.
    pub fn take_earlier(&mut self) -> Vec<Edit> {
        std::mem::take(&mut self.earlier)
    }

    /// Reads of the state as the edits applied so far left it.
    ///
    /// # Errors
    /// What the store reports.
    pub fn reader(&mut self) -> Result<SpaceReader<'_>> {
        self.flush()?;
        Ok(SpaceReader {
            read: &*self.rows,
            extractor: self.extractor,
            known: ReaderCache::Write(&self.cache),
        })
    }

    /// Applies `edits` in order.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if an edit names what is not there, [`ErrorKind::Conflict`] if it
    /// does not describe what is there, [`ErrorKind::Validation`] if it is none that can be
    /// applied. After an error the write cannot be committed.
    pub fn apply(&mut self, edits: Vec<Edit>) -> Result<()> {
        for (key, run) in self.cache.take_runs() {
            self.runs.keep(key, &run);
        }
        let applied = self.apply_all(edits);
        // The log holds all or nothing of an edit, and so must the rows.
        self.failed |= applied.is_err();
        applied
    }

    fn apply_all(&mut self, edits: Vec<Edit>) -> Result<()> {
        for edit in edits {
            if !matches!(edit, Edit::Move { .. }) {
                self.arrive()?;
            }
            self.apply_one(&edit)?;
            self.edits.push(edit);
            // At once, so that a write of very many edits doesn't run out of room between two keys.
            self.runs.shorten(&*self.rows, &mut self.locations)?;
        }
        self.arrive()?;
        self.runs.shorten(&*self.rows, &mut self.locations)
    }

    fn apply_one(&mut self, edit: &Edit) -> Result<()> {
        match edit {
            Edit::Insert { target, subtrees } => self.insert(target, subtrees),
            Edit::Remove { target, subtrees } => self.remove(target, subtrees),
            Edit::Update { document, before, after } => self.update(*document, before, after),
            Edit::Move { block, from, to } => self.relocate(*block, from, to),
            Edit::CreateDocument { record, subtrees } => self.create_document(record, subtrees),
            Edit::EraseDocument { record, subtrees } => self.erase_document(record, subtrees),
            Edit::UpdateDocument { before, after } => self.update_document(before, after),
            Edit::CreateFolder(folder) => self.create_folder(folder),
            Edit::RemoveFolder(folder) => self.remove_folder(folder),
            Edit::UpdateFolder { before, after } => self.update_folder(before, after),
            Edit::AddComment { document, block, comment } => {
                self.add_comment(*document, *block, comment)
            }
            Edit::RemoveComment { document, block, comment } => {
                self.remove_comment(*document, *block, comment)
            }
            Edit::CreateAsset(record) => self.create_asset(record),
            Edit::EraseAsset(record) => self.erase_asset(record),
            Edit::SetSchema { document, collection, before, after, quiet } => self.set_schema(
                (*document, *collection),
                before.as_deref(),
                after.as_deref(),
                *quiet,
            ),
        }
    }

    /// Writes what is staged, in the order of the keyspaces.
    fn flush(&mut self) -> Result<()> {
        if self.failed {
            return Err(Error::new(
                ErrorKind::Conflict,
                "an edit of this write failed: it cannot go on",
            ));
        }
        self.runs.flush(self.rows, &mut self.locations)?;
        self.cache.forget_runs();
        self.locations.flush(self.rows, &mut self.cache)?;
        self.documents.flush(self.rows, &mut self.cache)?;
        let mut edges = WriteBatch::default();
        for (key, is_there) in std::mem::take(&mut self.edges) {
            if is_there {
                records::put(&mut edges, &key, |_| ());
            } else {
                edges.delete(&key);
            }
        }
        edges.write_to(self.rows)?;
        self.tasks.flush(self.rows)?;
        self.collections.flush(self.rows)
    }

    /// Writes all that is left to write, and the row of the change log.
    pub(crate) fn finish(mut self) -> Result<Finished> {
        self.flush()?;
        let commented = std::mem::take(&mut self.commented);
        let changed = Changed { blocks: self.locations.take_changed(), commented };
        if self.log.is_empty() {
            return Ok(Finished { change: None, changed });
        }
        let totals = totals(&*self.rows)?;
        let sequence = totals.sequence + 1;
        put_totals(self.rows, SpaceTotals { sequence, ..totals })?;
        let documents = self.documents.touched();
        put_change(self.rows, sequence, self.log.body(self.stamp, &documents))?;
        let change = Change { sequence, stamp: self.stamp.clone(), documents, edits: self.edits };
        Ok(Finished { change: Some(change), changed })
    }

    /// Writes all that is left to write, and no row of the change log: for a copy that has the log
    /// of its source.
    pub(crate) fn finish_without_change(mut self) -> Result<()> {
        self.flush()
    }

    /// Stages what follows from a block of `document`, which was touched, that says `after` where
    /// it said `before`: its edges, and the rows of the task that it is.
    fn index(
        &mut self,
        document: DocumentId,
        block: BlockId,
        before: Option<&BlockData>,
        after: Option<&BlockData>,
    ) {
        self.link(block, before, after);
        let task = |data: Option<&BlockData>| data.and_then(|data| data.task);
        self.track(document, block, task(before).as_ref(), task(after).as_ref());
    }

    fn link(&mut self, source: BlockId, before: Option<&BlockData>, after: Option<&BlockData>) {
        let targets = |data: Option<&BlockData>| {
            data.map(|data| links::targets(self.extractor, data)).unwrap_or_default()
        };
        for (targets, is_there) in [(targets(before), false), (targets(after), true)] {
            for target in targets {
                self.edges.insert(keyspaces::edge(target.to, target.kind, source), is_there);
            }
        }
    }
}

/// Writes the row of a change in parts. Its body is `head` and, behind that, `tail`.
fn put_change(
    rows: &mut dyn Transaction,
    sequence: u64,
    (head, tail): (Vec<u8>, &[u8]),
) -> Result<()> {
    let length = head.len() + tail.len();
    let parts = length.div_ceil(PART_BYTES);
    let count = u32::try_from(parts).ok().filter(|count| count & keyspaces::PACKED == 0);
    let count =
        count.ok_or_else(|| Error::limit("parts of a change", keyspaces::PACKED - 1, parts))?;
    let mut written = WriteBatch::with_capacity(parts, length.min(PART_BYTES) + 32);
    for (part, start) in (0..count).zip((0..length).step_by(PART_BYTES)) {
        let key = keyspaces::change_part(sequence, part);
        let end = (start + PART_BYTES).min(length);
        let behind = |at: usize| at.saturating_sub(head.len());
        records::put(&mut written, &key, |out| {
            out.extend_from_slice(&count.to_be_bytes());
            out.extend_from_slice(head.get(start..end.min(head.len())).unwrap_or_default());
            out.extend_from_slice(tail.get(behind(start)..behind(end)).unwrap_or_default());
        });
        if written.is_full() {
            written.write_to(rows)?;
        }
    }
    written.write_to(rows)
}

/// An edit names what is not there.
fn missing(what: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{what} does not exist"))
}

/// An edit does not describe what is there.
fn conflict(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Conflict, message)
}
