//! Cache of what a transaction read: its edits are decided by the same few blocks and their
//! neighbours.
//!
//! It holds stored rows only. The transaction evicts or replaces each row that it writes.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::{BlockId, BlockLocation, DocumentId, IdMap, Result, invariant};

use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::lookup::{stored_document, stored_location};
use crate::records;
use crate::records::document::StoredDocument;
use crate::records::location::{self, LocationRecord, OrderCache};
use crate::run::{self, RunView, VisitRun};

/// From this number of blocks on, a scan is tried before each is looked up.
const MIN_SCANNED_BLOCKS: usize = 8;
/// Rows of other blocks in a row after which the scan starts again at the next block.
const MAX_PASSED: usize = 4;
/// Runs that are cached at most. Adding one to a full cache evicts all.
const MAX_RUNS: usize = 16;

/// The key and the value of a run.
type CachedRun = (Vec<u8>, Vec<u8>);

#[derive(Debug, Default)]
pub(crate) struct TransactionCache {
    locations: RefCell<IdMap<BlockId, LocationRecord>>,
    documents: RefCell<IdMap<DocumentId, StoredDocument>>,
    /// The last committed change of the documents that the change in progress touches.
    committed_changes: RefCell<IdMap<DocumentId, u64>>,
    /// Keys and values of the runs found last, each once.
    runs: RefCell<Vec<CachedRun>>,
    /// Buffers of evicted runs, for those that are added next.
    spare: RefCell<Vec<CachedRun>>,
    /// The run of the block found last, and the index of the block: mostly the next block asked for
    /// follows it.
    last: Cell<(usize, usize)>,
    childless: Cell<Option<ChildlessRange>>,
    /// The document that was found to have no comments last.
    commentless: Cell<Option<DocumentId>>,
}

/// The blocks of a document from `from` up to, and without, `to` have no children; `None` is the
/// end.
#[derive(Clone, Copy, Debug)]
struct ChildlessRange {
    document: DocumentId,
    from: BlockId,
    to: Option<BlockId>,
}

impl ChildlessRange {
    fn contains(&self, block: BlockId) -> bool {
        self.from <= block && self.to.is_none_or(|to| block < to)
    }
}

impl TransactionCache {
    /// Records that the change in progress touches a document, whose last change is `committed`.
    pub(crate) fn touch(&self, document: DocumentId, committed: u64) {
        self.committed_changes.borrow_mut().insert(document, committed);
    }

    /// The last committed change of a document that the change in progress touches.
    pub(crate) fn committed_change(&self, document: DocumentId) -> Option<u64> {
        self.committed_changes.borrow().get(&document).copied()
    }

    /// The location of `block`, if it exists.
    pub(crate) fn location(
        &self,
        source: &dyn Read,
        block: BlockId,
    ) -> Result<Option<LocationRecord>> {
        if let Some(location) = self.locations.borrow().get(&block) {
            return Ok(Some(location.clone()));
        }
        let location = match self.location_in_runs(block) {
            Some(location) => Some(location),
            None => stored_location(source, block)?,
        };
        if let Some(location) = &location {
            self.locations.borrow_mut().insert(block, location.clone());
        }
        Ok(location)
    }

    /// The location of `block` if it is in a cached run: the next edit of a batch is mostly near
    /// the last one. There are few of them, so that this costs a fraction of a lookup.
    fn location_in_runs(&self, block: BlockId) -> Option<LocationRecord> {
        let runs = self.runs.borrow();
        let has_block = |run: &&CachedRun| {
            RunView::verified(&run.1).is_ok_and(|view| view.position(block).is_some())
        };
        let (key, _) = runs.iter().find(has_block)?;
        let (document, parent, order) = keyspaces::parse_run(key)?;
        Some(LocationRecord { document, parent, order: Arc::from(order) })
    }

    /// Whether the location of `block` is cached.
    pub(crate) fn has_location(&self, block: BlockId) -> bool {
        self.locations.borrow().contains_key(&block)
    }

    /// [`Self::location`] without the order key, which need not be cloned.
    pub(crate) fn block_location(
        &self,
        source: &dyn Read,
        block: BlockId,
    ) -> Result<Option<BlockLocation>> {
        if let Some(location) = self.locations.borrow().get(&block) {
            return Ok(Some(location.location()));
        }
        Ok(self.location(source, block)?.map(|location| location.location()))
    }

    /// Loads the locations of those of `blocks` that are stored close together: a step of a scan
    /// costs a fraction of a lookup. An error is left to the lookup of the block.
    pub(crate) fn prefetch_locations(&self, source: &dyn Read, blocks: &[BlockId]) {
        let mut locations = self.locations.borrow_mut();
        let mut blocks: Vec<BlockId> =
            blocks.iter().copied().filter(|block| !locations.contains_key(block)).collect();
        locations.reserve(blocks.len());
        blocks.sort_unstable();
        let (mut left, mut orders) = (blocks.as_slice(), OrderCache::default());
        while let (Some(first), Some(last), MIN_SCANNED_BLOCKS..) =
            (left.first(), left.last(), left.len())
        {
            let start = keyspaces::block_location(*first);
            let end = keyspaces::prefix_end(keyspaces::block_location(*last));
            let (mut found, mut passed) = (0, 0);
            let scanned = source.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
                let block =
                    keyspaces::parse_block_location(key).ok_or_else(|| records::corrupt(key))?;
                while let Some((_, others)) = left.split_first().filter(|(next, _)| **next < block)
                {
                    left = others;
                }
                match left.split_first() {
                    Some((next, others)) if *next == block => {
                        left = others;
                        let location = records::decode(key, value, |decoder| {
                            location::decode_with(decoder, &mut orders)
                        })?;
                        locations.insert(block, location);
                        (found, passed) = (found + 1, 0);
                    }
                    _ => passed += 1,
                }
                let is_done = left.is_empty() || passed > MAX_PASSED;
                Ok(if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
            // Blocks that are far apart are better looked up one by one.
            if scanned.is_err() || found < MIN_SCANNED_BLOCKS || passed <= MAX_PASSED {
                return;
            }
        }
    }

    /// Evicts the location of `block`, whose row is written.
    pub(crate) fn evict_location(&mut self, block: BlockId) {
        let locations = self.locations.get_mut();
        if !locations.is_empty() {
            locations.remove(&block);
        }
    }

    /// The record of `document`, if it exists.
    pub(crate) fn document(
        &self,
        source: &dyn Read,
        document: DocumentId,
    ) -> Result<Option<StoredDocument>> {
        if let Some(stored) = self.documents.borrow().get(&document) {
            return Ok(Some(stored.clone()));
        }
        let stored = stored_document(source, document)?;
        if let Some(stored) = &stored {
            self.documents.borrow_mut().insert(document, stored.clone());
        }
        Ok(stored)
    }

    /// Caches the record of `document` as its row is written; `None` if that is deleted.
    pub(crate) fn set_document(&mut self, document: DocumentId, stored: Option<&StoredDocument>) {
        let documents = self.documents.get_mut();
        match stored {
            Some(stored) => drop(documents.insert(document, stored.clone())),
            None => drop(documents.remove(&document)),
        }
    }

    /// Whether `document` was found to have no comments, and none was added since.
    pub(crate) fn is_commentless(&self, document: DocumentId) -> bool {
        self.commentless.get() == Some(document)
    }

    /// Sets the document that has no comments; `None` as one is written.
    pub(crate) fn set_commentless(&self, document: Option<DocumentId>) {
        self.commentless.set(document);
    }

    /// Evicts all runs, which are about to be written.
    pub(crate) fn evict_runs(&mut self) {
        let is_kept = |(_, value): &CachedRun| value.capacity() <= 2 * run::MAX_BYTES;
        let (runs, spare) = (self.runs.get_mut(), self.spare.get_mut());
        spare.extend(runs.drain(..).filter(is_kept));
        spare.truncate(MAX_RUNS);
    }

    /// Forgets what the run under `key`, which is written, makes untrue: its parent has children.
    pub(crate) fn evict_childless(&self, key: &[u8]) {
        let Some(range) = self.childless.get() else { return };
        let is_outside = keyspaces::parse_run(key).is_some_and(|(document, parent, _)| {
            document != range.document || !range.contains(parent)
        });
        if !is_outside {
            self.childless.set(None);
        }
    }

    /// Caches the run under `key`, whose checksum was verified.
    pub(crate) fn add_run(&self, key: &[u8], value: &[u8]) {
        let mut runs = self.runs.borrow_mut();
        // A large run evicts all others, so that a few of them cannot pile up.
        if runs.len() == MAX_RUNS || value.len() > run::MAX_BYTES {
            runs.clear();
        }
        debug_assert!(runs.len() < MAX_RUNS, "a full cache was evicted");
        let at = runs.iter().position(|(cached, _)| cached == key).unwrap_or(runs.len());
        if at == runs.len() {
            let (mut own_key, mut own_value) = self.spare.borrow_mut().pop().unwrap_or_default();
            key.clone_into(&mut own_key);
            value.clone_into(&mut own_value);
            runs.push((own_key, own_value));
        }
        self.last.set((at, 0));
    }

    /// Caches the run under `key`, whose checksum was verified, and the location of its last block.
    pub(crate) fn add_last_child(&self, last: BlockId, key: &[u8], value: &[u8]) -> Result<()> {
        let Some((document, parent, order)) = keyspaces::parse_run(key) else {
            invariant!("a run that was read has the key of a run")
        };
        let location = LocationRecord { document, parent, order: Arc::from(order) };
        self.locations.borrow_mut().insert(last, location);
        self.add_run(key, value);
        Ok(())
    }

    /// Passes the keys and values of the cached runs to `visit` and evicts them.
    pub(crate) fn take_runs(
        &mut self,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.runs.get_mut().iter().try_for_each(|(key, value)| visit(key, value))?;
        self.evict_runs();
        Ok(())
    }

    /// Passes the cached run with `block` to `visit`. Returns whether there is one.
    pub(crate) fn find_run(
        &self,
        location: &LocationRecord,
        block: BlockId,
        visit: VisitRun<'_>,
    ) -> Result<bool> {
        let runs = self.runs.borrow();
        let (last, near) = self.last.get();
        let siblings = keyspaces::parent_runs(location.document, location.parent);
        let is_sibling = |(key, _): &&CachedRun| key.starts_with(&siblings);
        // Fast path: the run of the last block, at the next index.
        if let Some((key, value)) = runs.get(last).filter(is_sibling) {
            let view = RunView::verified(value)?;
            if let Some(index) = view.position_near(block, near).or_else(|| view.position(block)) {
                self.last.set((last, index));
                visit(key, view, index)?;
                return Ok(true);
            }
        }
        let is_hinted =
            |(key, _): &CachedRun| key.strip_prefix(&siblings) == Some(&*location.order);
        if let Some(at) = runs.iter().position(is_hinted).filter(|at| *at != last)
            && let Some((key, value)) = runs.get(at)
        {
            let view = RunView::verified(value)?;
            if let Some(index) = view.position(block) {
                self.last.set((at, index));
                visit(key, view, index)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The sibling before `block`, if both are in the run of the block found last.
    pub(crate) fn previous_sibling(&self, block: BlockId) -> Option<BlockId> {
        let (locations, runs) = (self.locations.borrow(), self.runs.borrow());
        let (last, near) = self.last.get();
        let (location, (key, value)) = (locations.get(&block)?, runs.get(last)?);
        if !key.starts_with(&keyspaces::parent_runs(location.document, location.parent)) {
            return None;
        }
        let view = RunView::verified(value).ok()?;
        let index = view.position_near(block, near)?;
        self.last.set((last, index));
        view.id(index.checked_sub(1)?)
    }

    /// Whether `block` was found to have no children, and none was written since.
    pub(crate) fn is_known_childless(&self, document: DocumentId, block: BlockId) -> bool {
        let range = self.childless.get();
        range.is_some_and(|range| range.document == document && range.contains(block))
    }

    /// Whether `block` has no children. The next run of the document answers for all blocks up to
    /// its parent.
    pub(crate) fn is_childless(
        &self,
        source: &dyn Read,
        document: DocumentId,
        block: BlockId,
    ) -> Result<bool> {
        if self.is_known_childless(document, block) {
            return Ok(true);
        }
        let start = keyspaces::parent_runs(document, block);
        let end = keyspaces::prefix_end(keyspaces::document_runs(document));
        let mut to = None;
        source.scan(KeyRange::half_open(&start, &end), &mut |key, _| {
            let (_, parent, _) = keyspaces::parse_run(key).ok_or_else(|| records::corrupt(key))?;
            to = Some(parent);
            Ok(ControlFlow::Break(()))
        })?;
        // The next run has a greater parent: no block in between has children.
        let is_childless = to != Some(block);
        if is_childless {
            self.childless.set(Some(ChildlessRange { document, from: block, to }));
        }
        Ok(is_childless)
    }
}
