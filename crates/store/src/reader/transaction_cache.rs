//! What a write has read: its decisions ask for the same few blocks and their neighbours again and
//! again.
//!
//! It holds what the rows say, and where a block is whose run was read. The write takes out what it
//! changes when it writes it.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::{BlockId, BlockLocation, DocumentId, IdMap, Result};

use super::{VisitFound, counted_document, location_of};
use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::document::StoredDocument;
use crate::records::location::{self, LocationRecord, OrderCache};
use crate::run::{self, RunView};

/// For so many blocks a scan is tried before they are looked up one by one.
const SCANNED_FROM: usize = 8;
/// A scan ends when so many others lie between two of them.
const PASSED_BY: usize = 4;
/// The most runs that are kept. Large ones are not kept together.
const KEPT_RUNS: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct TransactionCache {
    locations: RefCell<IdMap<BlockId, LocationRecord>>,
    documents: RefCell<IdMap<DocumentId, StoredDocument>>,
    /// Keys and values of the runs found last, each once.
    runs: RefCell<Vec<(Vec<u8>, Vec<u8>)>>,
    /// Which of them a block was found in last, and where in it: what is asked for next mostly
    /// stands behind it.
    last: Cell<(usize, usize)>,
    bare: Cell<Option<Bare>>,
}

/// From a block of a document on, and up to another one, or to the end, none has children.
#[derive(Clone, Copy, Debug)]
struct Bare {
    document: DocumentId,
    from: BlockId,
    to: Option<BlockId>,
}

impl TransactionCache {
    /// The place of `block`, if it exists.
    pub(crate) fn location(
        &self,
        source: &dyn Read,
        block: BlockId,
    ) -> Result<Option<LocationRecord>> {
        if let Some(location) = self.locations.borrow().get(&block) {
            return Ok(Some(location.clone()));
        }
        let location = location_of(source, block)?;
        if let Some(location) = &location {
            self.locations.borrow_mut().insert(block, location.clone());
        }
        Ok(location)
    }

    /// Where `block` stands, if it exists.
    pub(super) fn standing(
        &self,
        source: &dyn Read,
        block: BlockId,
    ) -> Result<Option<BlockLocation>> {
        if let Some(location) = self.locations.borrow().get(&block) {
            return Ok(Some(location.location()));
        }
        Ok(self.location(source, block)?.as_ref().map(LocationRecord::location))
    }

    /// Reads the places of those of `blocks` that lie side by side: a step of a scan costs a
    /// fraction of a look-up. What cannot be read is told by the look-up of it.
    pub(super) fn expect(&self, source: &dyn Read, blocks: &[BlockId]) {
        let mut locations = self.locations.borrow_mut();
        let mut blocks: Vec<BlockId> =
            blocks.iter().copied().filter(|block| !locations.contains_key(block)).collect();
        locations.reserve(blocks.len());
        blocks.sort_unstable();
        let (mut left, mut order_cache) = (blocks.as_slice(), OrderCache::default());
        while let (Some(first), Some(last), SCANNED_FROM..) =
            (left.first(), left.last(), left.len())
        {
            let (start, end) = (
                keyspaces::block_location(*first),
                keyspaces::end_of(keyspaces::block_location(*last)),
            );
            let (mut found, mut passed_by) = (0, 0);
            let scanned = source.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
                let block =
                    keyspaces::read_block_location(key).ok_or_else(|| records::damaged(key))?;
                while let Some((_, others)) = left.split_first().filter(|(next, _)| **next < block)
                {
                    left = others;
                }
                match left.split_first() {
                    Some((next, others)) if *next == block => {
                        left = others;
                        let location = records::read(key, value, |decoder| {
                            location::read_next(decoder, &mut order_cache)
                        })?;
                        locations.insert(block, location);
                        (found, passed_by) = (found + 1, 0);
                    }
                    _ => passed_by += 1,
                }
                let is_done = left.is_empty() || passed_by > PASSED_BY;
                Ok(if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
            // Where they lie far from each other, each is better looked up.
            if scanned.is_err() || found < SCANNED_FROM || passed_by <= PASSED_BY {
                break;
            }
        }
    }

    /// The row of the place of `block` is written.
    pub(crate) fn forget_location(&mut self, block: BlockId) {
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
        if let Some(counted) = self.documents.borrow().get(&document) {
            return Ok(Some(counted.clone()));
        }
        let counted = counted_document(source, document)?;
        if let Some(counted) = &counted {
            self.documents.borrow_mut().insert(document, counted.clone());
        }
        Ok(counted)
    }

    /// The row of `document` is written.
    pub(crate) fn forget_document(&mut self, document: DocumentId) {
        self.documents.get_mut().remove(&document);
    }

    /// Rows of runs may have been written.
    pub(crate) fn forget_runs(&mut self) {
        self.runs.get_mut().clear();
        self.bare.set(None);
    }

    /// Keeps the run under `key`, whose checksum holds.
    pub(super) fn keep_run(&self, key: &[u8], value: &[u8]) {
        let mut runs = self.runs.borrow_mut();
        if runs.len() == KEPT_RUNS || value.len() > run::MAX_BYTES {
            runs.clear();
        }
        let at = runs.iter().position(|(kept, _)| kept == key).unwrap_or(runs.len());
        if at == runs.len() {
            runs.push((key.to_owned(), value.to_owned()));
        }
        self.last.set((at, 0));
    }

    /// Keeps the run under `key`, whose checksum holds, and where its block `last` is.
    pub(super) fn keep_last(&self, last: BlockId, key: &[u8], value: &[u8]) {
        if let Some((document, parent, order)) = keyspaces::read_run(key) {
            self.locations
                .borrow_mut()
                .insert(last, LocationRecord { document, parent, order: Arc::from(order) });
            self.keep_run(key, value);
        }
    }

    /// Keys and values of the runs kept.
    pub(crate) fn take_runs(&mut self) -> Vec<(Vec<u8>, Vec<u8>)> {
        std::mem::take(self.runs.get_mut())
    }

    /// Hands the run kept that has `block` to `visit`; says whether there is one.
    pub(super) fn find(
        &self,
        location: &LocationRecord,
        block: BlockId,
        visit: VisitFound<'_>,
    ) -> Result<bool> {
        let runs = self.runs.borrow();
        let (last, near) = self.last.get();
        let siblings = keyspaces::parent_runs(location.document, location.parent);
        let is_last = |(key, _): &&(Vec<u8>, Vec<u8>)| key.starts_with(&siblings);
        if let Some((key, value)) = runs.get(last).filter(is_last)
            && let Some(view) = RunView::read_again(value)
            && let Some(index) = view.position_near(block, near).or_else(|| view.position(block))
        {
            self.last.set((last, index));
            visit(key, view, index)?;
            return Ok(true);
        }
        let is_named =
            |(key, _): &(Vec<u8>, Vec<u8>)| key.strip_prefix(&siblings) == Some(&*location.order);
        if let Some(at) = runs.iter().position(is_named).filter(|at| *at != last)
            && let Some((key, value)) = runs.get(at)
            && let Some(view) = RunView::read_again(value)
            && let Some(index) = view.position(block)
        {
            self.last.set((at, index));
            visit(key, view, index)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The sibling right before `block`, if both are side by side in the run in which a block was
    /// found last.
    pub(super) fn before(&self, block: BlockId) -> Option<BlockId> {
        let (locations, runs) = (self.locations.borrow(), self.runs.borrow());
        let (last, near) = self.last.get();
        let (location, (key, value)) = (locations.get(&block)?, runs.get(last)?);
        if !key.starts_with(&keyspaces::parent_runs(location.document, location.parent)) {
            return None;
        }
        let view = RunView::read_again(value)?;
        let index = view.position_near(block, near)?;
        self.last.set((last, index));
        view.id(index.checked_sub(1)?)
    }

    /// Whether `block` has no children. The next run of the document tells so of all blocks up to
    /// its parent.
    pub(super) fn is_childless(
        &self,
        source: &dyn Read,
        document: DocumentId,
        block: BlockId,
    ) -> Result<bool> {
        if let Some(bare) = self.bare.get()
            && bare.document == document
            && bare.from <= block
            && bare.to.is_none_or(|to| block < to)
        {
            return Ok(true);
        }
        let start = keyspaces::parent_runs(document, block);
        let end = keyspaces::end_of(keyspaces::document_runs(document));
        let mut to = None;
        source.scan(KeyRange::half_open(&start, &end), &mut |key, _| {
            let (_, parent, _) = keyspaces::read_run(key).ok_or_else(|| records::damaged(key))?;
            to = Some(parent);
            Ok(ControlFlow::Break(()))
        })?;
        let is_childless = to != Some(block);
        if is_childless {
            self.bare.set(Some(Bare { document, from: block, to }));
        }
        Ok(is_childless)
    }
}
