//! Reads of a store on another machine: the rows of an operation are loaded in one round trip. For
//! all other stores nothing is done.

use std::collections::BTreeSet;

use leafbase_model::{BlockId, DocumentId, Result};

use super::transaction_cache::TransactionCache;
use super::{ReaderCache, SpaceReader};
use crate::edges::EdgeEnd;
use crate::keyspaces::{self, BLOCK_LOCATIONS, CHANGES};
use crate::kv::{KeyRange, Read, ReadHint};
use crate::lookup::stored_location;
use crate::records::location::LocationRecord;
use crate::records::meta;
use crate::run::RunView;

/// Runs that are loaded of a document whose whole content is wanted: about 2 MB.
const MAX_RUNS: usize = 256;
/// Runs that are loaded of a document of which a few blocks are wanted.
const FEW_RUNS: usize = 16;
/// Runs that are loaded of it besides those of a block whose location is known: the root, and
/// mostly the parent of the block.
const FIRST_RUNS: usize = 4;
/// Runs that are loaded from that of a block on: an insertion may go to the next one.
const BLOCK_RUNS: usize = 2;
/// Blocks that are looked up in one round trip.
const MAX_BLOCKS: usize = 1_024;
/// Documents whose content is loaded in one round trip.
const MAX_DOCUMENTS: usize = 32;
/// Locations of the newest blocks that a write loads: other hosts may have written the last ones.
const NEWEST_BLOCKS: usize = 4;
/// Rows of the change log that are loaded at once: each change has at least one.
const MAX_LOG_ROWS: usize = 256;

/// Ranges that are loaded in one round trip.
const MAX_RANGES: usize = 256;
/// Edges that are loaded of an end: most have none.
const FEW_EDGES: usize = 16;
/// Rows of a kind that are loaded of what depends on the blocks of a document: comments, tags,
/// tasks, collections.
const FEW_ROWS: usize = 16;

/// How much of a document is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedContent {
    Whole,
    FewBlocks,
}

impl WantedContent {
    fn runs(self) -> usize {
        match self {
            Self::Whole => MAX_RUNS,
            Self::FewBlocks => FEW_RUNS,
        }
    }
}

impl SpaceReader<'_> {
    /// Loads the location of `block` and the content of its document: one round trip for a
    /// document, by its root, and for a block whose location is loaded or is where it was; two for
    /// any other block.
    pub(super) fn load_tree(&self, block: BlockId, wanted: WantedContent) -> Result<()> {
        if !self.read.is_remote() {
            return Ok(());
        }
        let is_located = self.read.is_loaded(&keyspaces::block_location(block));
        if !is_located {
            let (key, write) = (keyspaces::block_location(block), self.write_rows());
            let mut others: Vec<_> = write.iter().flat_map(WriteRows::hints).collect();
            match self.hints.and_then(|hints| hints.get(block)) {
                Some(location) => {
                    others.push(ReadHint::Key(&key));
                    self.load_located(&location, wanted, &others)?;
                }
                None => self.load_document(DocumentId::of_root(block), wanted.runs(), &others)?,
            }
        }
        let location = stored_location(self.read, block)?;
        self.remember(block, location.as_ref());
        match location {
            // Loaded already, unless the block has moved or nothing was known of it.
            Some(location) if !location.parent.is_nil() => {
                self.load_located(&location, wanted, &[])
            }
            Some(location) if is_located => {
                self.load_document(location.document, wanted.runs(), &[])
            }
            _ => Ok(()),
        }
    }

    /// Loads the rows of a document around a block at `location`, its run, and `others`.
    fn load_located(
        &self,
        location: &LocationRecord,
        wanted: WantedContent,
        others: &[ReadHint<'_>],
    ) -> Result<()> {
        let start = location.run_key();
        let siblings = keyspaces::parent_runs(location.document, location.parent);
        let end = keyspaces::prefix_end(siblings);
        let runs = ReadHint::Range(KeyRange::half_open(&start, &end), BLOCK_RUNS);
        let first_runs = if wanted == WantedContent::Whole { MAX_RUNS } else { FIRST_RUNS };
        let others: Vec<_> = others.iter().copied().chain([runs]).collect();
        self.load_document(location.document, first_runs, &others)
    }

    /// Remembers where `block` is, if the store is on another machine.
    pub(super) fn remember(&self, block: BlockId, location: Option<&LocationRecord>) {
        if let Some((hints, location)) = self.hints.zip(location) {
            hints.set(location, std::iter::once(block));
        }
    }

    /// Remembers where the blocks of a run are, if the store is on another machine.
    pub(super) fn remember_run(&self, key: &[u8], run: RunView<'_>) {
        if let Some(hints) = self.hints
            && let Some((document, parent, order)) = keyspaces::parse_run(key)
        {
            let location = LocationRecord { document, parent, order: order.into() };
            hints.set(&location, run.entries().map(|(block, _)| block));
        }
    }

    /// Loads the location of `block` with the run that it was in and the comments of its document.
    /// An error is left to the reads.
    pub(super) fn load_hinted(&self, block: BlockId) {
        let key = keyspaces::block_location(block);
        let location = self.hints.and_then(|hints| hints.get(block));
        if let Some(location) = location.filter(|_| !self.read.is_loaded(&key)) {
            self.load_run(&location, &[ReadHint::Key(&key)]);
        }
    }

    /// Loads the run at `location` with the comments of its document and `others`.
    fn load_run(&self, location: &LocationRecord, others: &[ReadHint<'_>]) {
        let run = location.run_key();
        let comments = keyspaces::document_comments(location.document);
        let end = keyspaces::prefix_end(comments);
        let comments = ReadHint::Range(KeyRange::half_open(&comments, &end), FEW_ROWS);
        let hints = [ReadHint::Key(&run), comments];
        let _ = self
            .read
            .prefetch(&hints.into_iter().chain(others.iter().copied()).collect::<Vec<_>>());
    }

    /// What most writes read, if this is one.
    fn write_rows(&self) -> Option<WriteRows> {
        matches!(self.cache, ReaderCache::Transaction(_)).then(WriteRows::new)
    }

    /// Loads the rows that a write reads around `block`, unless the transaction knows where it is.
    pub(super) fn load_target(&self, cache: &TransactionCache, block: BlockId) -> Result<()> {
        if !self.read.is_remote() || cache.has_location(block) {
            return Ok(());
        }
        self.load_tree(block, WantedContent::FewBlocks)
    }

    /// Loads the run of `block` with the comments of its document, unless the run is loaded. An
    /// error is left to the reads.
    pub(super) fn load_block(&self, location: &LocationRecord) {
        if !self.read.is_remote() {
            return;
        }
        if !self.read.is_loaded(&location.run_key()) {
            self.load_run(location, &[]);
        }
    }

    /// Prepares reads of whole `documents`: from a remote store, their content is loaded together.
    /// An error is left to the reads.
    pub fn prefetch_documents(&self, documents: impl IntoIterator<Item = DocumentId>) {
        if self.read.is_remote() {
            let documents = documents.into_iter();
            let rows = documents.map(|id| DocumentRows::new(id, FEW_RUNS));
            for rows in rows.collect::<Vec<_>>().chunks(MAX_DOCUMENTS) {
                let hints: Vec<_> = rows.iter().flat_map(DocumentRows::hints).collect();
                let _ = self.read.prefetch(&hints);
            }
        }
    }

    /// Prepares moves and deletions of `documents` as wholes: from a remote store, their records
    /// and the rows that list their blocks are loaded together. An error is left to the reads.
    pub fn prefetch_listings(&self, documents: &[DocumentId]) {
        if self.read.is_remote() {
            for documents in documents.chunks(MAX_DOCUMENTS) {
                let keys: Vec<_> = documents.iter().map(|id| keyspaces::document(*id)).collect();
                let rows: Vec<_> = documents.iter().copied().map(DependentRows::new).collect();
                let keys = keys.iter().map(|key| ReadHint::Key(key));
                let hints: Vec<_> =
                    keys.chain(rows.iter().flat_map(DependentRows::hints)).collect();
                let _ = self.read.prefetch(&hints);
            }
        }
    }

    /// Prepares moves or deletions of `blocks` with their descendants, as [`Self::prefetch`]: from
    /// a remote store, the content of their documents and what depends on it are loaded as well.
    pub fn prefetch_subtrees(&self, blocks: &[BlockId]) {
        // What a single block needs is read with it.
        if blocks.len() > 1 {
            self.prefetch(blocks);
        }
        if self.read.is_remote() {
            let located = blocks.iter().filter_map(|block| self.locate(*block).ok().flatten());
            let documents: BTreeSet<_> = located.map(|location| location.document).collect();
            self.prefetch_dependents(&documents.into_iter().collect::<Vec<_>>());
        }
    }

    /// Prepares erasures of `documents`: from a remote store, their content and what depends on it
    /// are loaded together. An error is left to the reads.
    pub fn prefetch_dependents(&self, documents: &[DocumentId]) {
        if self.read.is_remote() {
            let runs = (MAX_RUNS / documents.len().max(1)).clamp(FIRST_RUNS, FEW_RUNS);
            for documents in documents.chunks(MAX_DOCUMENTS) {
                let content = documents.iter().map(|id| DocumentRows::new(*id, runs));
                let content: Vec<_> = content.collect();
                let rows: Vec<_> = documents.iter().copied().map(DependentRows::new).collect();
                let rows = rows.iter().flat_map(DependentRows::hints);
                let hints: Vec<_> =
                    content.iter().flat_map(DocumentRows::hints).chain(rows).collect();
                let _ = self.read.prefetch(&hints);
            }
        }
    }

    /// Prepares reads of the change log after `sequence`: from a remote store, the totals and the
    /// first changes are loaded together. An error is left to the reads.
    pub fn prefetch_log(&self, sequence: u64) {
        if self.read.is_remote() {
            let totals = keyspaces::meta(meta::TOTALS);
            let beginning = keyspaces::meta(meta::LOG_BEGINNING);
            let start = keyspaces::change_part(sequence, 0);
            let end = keyspaces::prefix_end([CHANGES.tag]);
            let _ = self.read.prefetch(&[
                ReadHint::Key(&totals),
                ReadHint::Key(&beginning),
                ReadHint::Range(KeyRange::half_open(&start, &end), MAX_LOG_ROWS),
            ]);
        }
    }

    /// Prepares lookups of where `blocks` are: from a remote store, their locations are loaded
    /// together. An error is left to the lookups.
    pub fn prefetch_locations(&self, blocks: &[BlockId]) {
        if self.read.is_remote() {
            for blocks in blocks.chunks(MAX_BLOCKS) {
                let keys: Vec<_> =
                    blocks.iter().map(|block| keyspaces::block_location(*block)).collect();
                let hints: Vec<_> = keys.iter().map(|key| ReadHint::Key(key)).collect();
                let _ = self.read.prefetch(&hints);
            }
        }
    }

    /// Prepares reads of `blocks` and of the roots of their documents: from a remote store, they
    /// are loaded together. An error is left to the reads.
    pub fn prefetch_with_roots(&self, blocks: &[BlockId]) {
        if self.read.is_remote() {
            self.load_blocks(blocks);
            let located = blocks.iter().filter_map(|block| self.location(*block).ok().flatten());
            let roots: BTreeSet<_> = located.map(|location| location.document.root()).collect();
            self.load_blocks(&roots.into_iter().collect::<Vec<_>>());
        }
    }

    /// Prepares reads of the edges to `ends`: from a remote store, the first ones of all are loaded
    /// together. An error is left to the reads.
    pub fn prefetch_edges(&self, ends: &[EdgeEnd]) {
        let prefixes = ends.iter().map(|end| keyspaces::edges_to(*end));
        prefetch_ranges(self.read, prefixes, FEW_EDGES);
    }

    /// Prepares reads of the comments in `documents`: from a remote store, the first ones of all
    /// are loaded together. An error is left to the reads.
    pub fn prefetch_comments(&self, documents: impl IntoIterator<Item = DocumentId>) {
        let prefixes = documents.into_iter().map(keyspaces::document_comments);
        prefetch_ranges(self.read, prefixes, FEW_ROWS);
    }

    /// Loads the rows of a document with up to `runs` of its runs, and `others`.
    fn load_document(
        &self,
        document: DocumentId,
        runs: usize,
        others: &[ReadHint<'_>],
    ) -> Result<()> {
        let rows = DocumentRows::new(document, runs);
        self.read.prefetch(&rows.hints().chain(others.iter().copied()).collect::<Vec<_>>())
    }

    /// Loads the locations of `blocks`, then their runs and the records of their documents: two
    /// round trips. An error is left to the lookup of the block.
    pub(super) fn load_blocks(&self, blocks: &[BlockId]) {
        for blocks in blocks.chunks(MAX_BLOCKS) {
            let _ = self.try_load_blocks(blocks);
        }
    }

    fn try_load_blocks(&self, blocks: &[BlockId]) -> Result<()> {
        let keys: Vec<_> = blocks.iter().map(|block| keyspaces::block_location(*block)).collect();
        let known = blocks.iter().filter_map(|block| self.hints?.get(*block));
        let mut hinted: Vec<_> = known.flat_map(|location| located_rows(&location)).collect();
        hinted.sort_unstable();
        hinted.dedup();
        let write = self.write_rows();
        let hints = hinted.iter().map(|key| ReadHint::Key(key));
        let hints = hints.chain(keys.iter().map(|key| ReadHint::Key(key)));
        let hints = hints.chain(write.iter().flat_map(WriteRows::hints));
        self.read.prefetch(&hints.collect::<Vec<_>>())?;
        let mut rows = Vec::new();
        for block in blocks {
            let location = match self.cache {
                // Known to the transaction, so that no block is loaded by itself.
                ReaderCache::Transaction(cache) => cache.location(self.read, *block)?,
                _ => stored_location(self.read, *block)?,
            };
            self.remember(*block, location.as_ref());
            rows.extend(location.iter().flat_map(located_rows));
        }
        rows.sort_unstable();
        rows.dedup();
        self.read.prefetch(&rows.iter().map(|key| ReadHint::Key(key)).collect::<Vec<_>>())
    }
}

/// The keys of the run and of the document of a block at `location`.
fn located_rows(location: &LocationRecord) -> [Vec<u8>; 2] {
    [location.run_key(), keyspaces::document(location.document).to_vec()]
}

/// Prepares reads of the first `entries` with each prefix: from a remote store, they are loaded
/// together. An error is left to the reads.
pub(crate) fn prefetch_ranges<P: AsRef<[u8]>>(
    source: &dyn Read,
    prefixes: impl Iterator<Item = P>,
    entries: usize,
) {
    if !source.is_remote() {
        return;
    }
    let bounds = prefixes.map(|it| (keyspaces::prefix_end_of(it.as_ref()), it));
    for bounds in bounds.collect::<Vec<_>>().chunks(MAX_RANGES) {
        let ranges = bounds.iter().map(|(end, it)| KeyRange::half_open(it.as_ref(), end));
        let hints: Vec<_> = ranges.map(|range| ReadHint::Range(range, entries)).collect();
        let _ = source.prefetch(&hints);
    }
}

/// Prepares reads of `keys`: from a remote store, they are loaded together. An error is left to the
/// reads.
pub(crate) fn prefetch_keys<'k>(source: &dyn Read, keys: impl Iterator<Item = &'k Vec<u8>>) {
    if source.is_remote() {
        let hints: Vec<_> = keys.map(|key| ReadHint::Key(key)).collect();
        // Nothing at all would begin the transaction by a round trip of its own.
        if !hints.is_empty() {
            let _ = source.prefetch(&hints);
        }
    }
}

/// The keys of the rows of a document: its record, the location of its root, and ranges.
struct DocumentRows {
    keys: [[u8; 17]; 2],
    /// Lower and upper bounds, and how many entries are wanted.
    ranges: [([u8; 17], Vec<u8>, usize); 3],
}

impl DocumentRows {
    fn new(document: DocumentId, runs: usize) -> Self {
        let range = |start: [u8; 17], entries| (start, keyspaces::prefix_end_of(&start), entries);
        Self {
            keys: [keyspaces::document(document), keyspaces::block_location(document.root())],
            ranges: [
                range(keyspaces::document_runs(document), runs),
                range(keyspaces::document_collections(document), 1),
                range(keyspaces::document_comments(document), FEW_ROWS),
            ],
        }
    }

    fn hints(&self) -> impl Iterator<Item = ReadHint<'_>> {
        let ranges = self.ranges.iter();
        let ranges = ranges.map(|(start, end, entries)| {
            ReadHint::Range(KeyRange::half_open(start, end), *entries)
        });
        self.keys.iter().map(|key| ReadHint::Key(key)).chain(ranges)
    }
}

/// The ranges of what depends on a document, besides its content: tags, open tasks, closed tasks,
/// collections, records of the host.
struct DependentRows {
    /// Lower and upper bounds.
    ranges: [(Vec<u8>, Vec<u8>); 5],
}

impl DependentRows {
    fn new(document: DocumentId) -> Self {
        let range = |start: &[u8]| (start.to_vec(), keyspaces::prefix_end_of(start));
        Self {
            ranges: [
                range(&keyspaces::tagged_blocks(document)),
                range(&keyspaces::document_tasks(document, true)),
                range(&keyspaces::document_tasks(document, false)),
                range(&keyspaces::document_collections(document)),
                range(&keyspaces::document_host_records(document)),
            ],
        }
    }

    fn hints(&self) -> impl Iterator<Item = ReadHint<'_>> {
        let ranges = self.ranges.iter().map(|(start, end)| KeyRange::half_open(start, end));
        ranges.map(|range| ReadHint::Range(range, FEW_ROWS))
    }
}

/// What most writes read besides their targets: the totals, and the last locations of blocks. The
/// IDs of new blocks mostly sort after them, and so are known to be new.
struct WriteRows {
    totals: Vec<u8>,
    locations: ([u8; 1], [u8; 1]),
}

impl WriteRows {
    fn new() -> Self {
        let start = [BLOCK_LOCATIONS.tag];
        let locations = (start, keyspaces::prefix_end(start));
        Self { totals: keyspaces::meta(meta::TOTALS), locations }
    }

    fn hints(&self) -> impl Iterator<Item = ReadHint<'_>> {
        let (start, end) = &self.locations;
        let newest = KeyRange::half_open(start, end).reversed();
        [ReadHint::Key(&self.totals), ReadHint::Range(newest, NEWEST_BLOCKS)].into_iter()
    }
}
