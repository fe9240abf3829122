//! What a write has read: its decisions ask for the same few blocks and their neighbours again and again.
//!
//! It holds what the rows say. The write takes out what it changes when it writes it.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use leafbase_model::{BlockId, DocumentId, IdMap, Result};

use super::{VisitFound, counted_document, place_of};
use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::document::Counted;
use crate::records::place::{self, Place};
use crate::run::RunView;

/// For so many blocks a scan is tried before they are looked up one by one.
const SCANNED_FROM: usize = 8;
/// A scan ends when so many others lie between two of them.
const PASSED_BY: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct Memo {
    places: RefCell<IdMap<BlockId, Place>>,
    documents: RefCell<IdMap<DocumentId, Counted>>,
    /// Key and value of the run found last.
    run: RefCell<Option<(Vec<u8>, Vec<u8>)>>,
    /// Where in it a block was found last: what is asked for next mostly stands behind it.
    index: Cell<usize>,
    /// From a key on, and up to another one, there are no runs.
    bare: RefCell<Option<(Vec<u8>, Vec<u8>)>>,
}

impl Memo {
    /// The place of `block`, if it exists.
    pub(crate) fn place(&self, source: &dyn Read, block: BlockId) -> Result<Option<Place>> {
        if let Some(place) = self.places.borrow().get(&block) {
            return Ok(Some(place.clone()));
        }
        let place = place_of(source, block)?;
        if let Some(place) = &place {
            self.places.borrow_mut().insert(block, place.clone());
        }
        Ok(place)
    }

    /// Reads the places of those of `blocks` that lie side by side: a step of a scan costs a fraction of a look-up. What cannot be read is told by
    /// the look-up of it.
    pub(super) fn expect(&self, source: &dyn Read, blocks: &[BlockId]) {
        let mut places = self.places.borrow_mut();
        let mut blocks: Vec<BlockId> = blocks.iter().copied().filter(|block| !places.contains_key(block)).collect();
        blocks.sort_unstable();
        let mut left = blocks.as_slice();
        while let (Some(first), Some(last), SCANNED_FROM..) = (left.first(), left.last(), left.len()) {
            let (start, end) = (keyspaces::place(*first), keyspaces::end_of(keyspaces::place(*last)));
            let (mut found, mut passed_by) = (0, 0);
            let scanned = source.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
                let block = keyspaces::read_place(key).ok_or_else(|| records::damaged(key))?;
                while let Some((_, others)) = left.split_first().filter(|(next, _)| **next < block) {
                    left = others;
                }
                match left.split_first() {
                    Some((next, others)) if *next == block => {
                        left = others;
                        places.insert(block, records::read(key, value, place::read)?);
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
    pub(crate) fn forget_place(&mut self, block: BlockId) {
        let places = self.places.get_mut();
        if !places.is_empty() {
            places.remove(&block);
        }
    }

    /// The record of `document`, if it exists.
    pub(crate) fn document(&self, source: &dyn Read, document: DocumentId) -> Result<Option<Counted>> {
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
        *self.run.get_mut() = None;
        *self.bare.get_mut() = None;
    }

    /// Keeps the run under `key`, whose checksum holds.
    pub(super) fn keep_run(&self, key: &[u8], value: &[u8]) {
        *self.run.borrow_mut() = Some((key.to_owned(), value.to_owned()));
    }

    /// Key and value of the run kept.
    pub(crate) fn take_run(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.run.get_mut().take()
    }

    /// Hands the run kept to `visit`, if `block` is in it; says whether it is.
    pub(super) fn find(&self, place: &Place, block: BlockId, visit: VisitFound<'_>) -> Result<bool> {
        let kept = self.run.borrow();
        let siblings = keyspaces::parent_runs(place.document, place.parent);
        let Some((key, value)) = kept.as_ref().filter(|(key, _)| key.starts_with(&siblings)) else { return Ok(false) };
        let Some(run) = RunView::read_again(value) else { return Ok(false) };
        let last = self.index.get();
        let Some(index) = run.position_near(block, last).or_else(|| run.position(block)) else { return Ok(false) };
        self.index.set(index);
        visit(key, run, index)?;
        Ok(true)
    }

    /// Whether `block` has no children. The next run of the document tells so of all blocks up to its parent.
    pub(super) fn is_childless(&self, source: &dyn Read, document: DocumentId, block: BlockId) -> Result<bool> {
        let start = keyspaces::parent_runs(document, block);
        let is_within = |(from, to): &(Vec<u8>, Vec<u8>)| **from <= start[..] && **to >= keyspaces::end_of(start)[..];
        if self.bare.borrow().as_ref().is_some_and(is_within) {
            return Ok(true);
        }
        let mut next = keyspaces::end_of(keyspaces::document_runs(document)).to_vec();
        source.scan(KeyRange::half_open(&start, &next.clone()), &mut |key, _| {
            keyspaces::read_run(key).ok_or_else(|| records::damaged(key))?;
            key.clone_into(&mut next);
            Ok(ControlFlow::Break(()))
        })?;
        let is_childless = !next.starts_with(&start);
        if is_childless {
            *self.bare.borrow_mut() = Some((start.to_vec(), next));
        }
        Ok(is_childless)
    }
}
