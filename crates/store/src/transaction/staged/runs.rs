//! Staged runs: a transaction reads each run that it touches once, splices it, and writes it once.
//!
//! A run is a leaf of siblings. Blocks move only to runs with a higher order key of the same
//! parent, so the hint of a location never points beyond its block.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use leafbase_model::{BlockId, DocumentId, Error, Result, invariant};

use super::locations::StagedLocations;
use crate::keyspaces;
use crate::kv::{KeyRange, Read, Transaction};
use crate::lookup::{get, load_first};
use crate::order_key;
use crate::reader::transaction_cache::TransactionCache;
use crate::reader::trees;
use crate::records;
use crate::records::location::LocationRecord;
use crate::run::{self, RunBuffer, RunView};

mod rebalance;

/// From this length of an order key on, all runs of its parent get new keys. Appending and
/// prepending never lengthens a key.
const LONG_ORDER_BYTES: usize = 64;

/// A block to insert, with its record.
pub(crate) type NewBlock<'e> = (BlockId, &'e [u8]);

/// The children of one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Siblings {
    pub(crate) document: DocumentId,
    pub(crate) parent: BlockId,
}

impl Siblings {
    fn key(self, order: &[u8]) -> Vec<u8> {
        keyspaces::run(self.document, self.parent, order)
    }

    fn location(self, order: &[u8]) -> LocationRecord {
        LocationRecord { document: self.document, parent: self.parent, order: Arc::from(order) }
    }

    fn of_key(key: &[u8]) -> Result<Self> {
        let (document, parent, _) =
            keyspaces::parse_run(key).ok_or_else(|| records::corrupt(key))?;
        Ok(Self { document, parent })
    }
}

fn order_of(key: &[u8]) -> &[u8] {
    let order = keyspaces::parse_run(key).map(|(_, _, order)| order);
    debug_assert!(order.is_some(), "a staged run has the key of a run");
    order.unwrap_or(&[])
}

/// The runs that a transaction read or changed, by key.
#[derive(Debug, Default)]
pub(crate) struct StagedRuns {
    /// As the transaction leaves them: an empty one is to be deleted.
    staged: BTreeMap<Vec<u8>, RunBuffer>,
    /// Runs that changed since the last flush, which takes time by them alone: a transaction may
    /// have staged many others before.
    dirty: BTreeSet<Vec<u8>>,
    /// Runs that became underfull: each is merged with a neighbour at the next flush.
    underfull: BTreeSet<Vec<u8>>,
    /// Runs with a long order key, whose parents are due for rebalancing.
    long: BTreeSet<Vec<u8>>,
    /// Spans of keys, by their first one and with their last one, in which every stored run is
    /// staged: a scan need not pass again over those that the transaction emptied.
    covered: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Memory of runs that were written and let go.
    spare: Vec<RunBuffer>,
}

/// The position of a block: the key of its run, and its index in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunPosition {
    pub(crate) key: Vec<u8>,
    pub(crate) index: usize,
}

impl StagedRuns {
    fn load(&mut self, source: &dyn Read, key: &[u8]) -> Result<Option<&RunBuffer>> {
        if !self.staged.contains_key(key) {
            let Some(run) = get(source, key, |value| RunBuffer::read(key, value))? else {
                return Ok(None);
            };
            self.staged.insert(key.to_owned(), run);
        }
        Ok(self.staged.get(key).filter(|run| !run.is_empty()))
    }

    /// Adds a run that was read and verified before. One that is staged is newer.
    pub(crate) fn add_loaded(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if !self.staged.contains_key(key) {
            let mut run = self.spare.pop().unwrap_or_default();
            run.fill(RunView::verified(value)?);
            self.staged.insert(key.to_owned(), run);
        }
        Ok(())
    }

    /// The run under `key`, which is staged.
    pub(crate) fn run(&self, key: &[u8]) -> Result<&RunBuffer> {
        let Some(run) = self.staged.get(key) else {
            invariant!("a run is staged before it is used")
        };
        Ok(run)
    }

    fn change(&mut self, key: &[u8]) -> Result<&mut RunBuffer> {
        let Some(run) = self.staged.get_mut(key) else {
            invariant!("a run is staged before it is changed")
        };
        if !self.dirty.contains(key) {
            self.dirty.insert(key.to_owned());
        }
        Ok(run)
    }

    fn stage(&mut self, key: Vec<u8>, run: RunBuffer) {
        if order_of(&key).len() > LONG_ORDER_BYTES {
            self.long.insert(key.clone());
        }
        self.dirty.insert(key.clone());
        // Replaces a run of this key that was emptied before.
        self.staged.insert(key, run);
    }

    /// Loads the first run of `range`, staged or stored, or the last one if it is reversed.
    fn nearest(&mut self, source: &dyn Read, range: KeyRange<'_>) -> Result<Option<Vec<u8>>> {
        let mut stored = None;
        let nearest = self.nearest_key(source, range, |key, value| {
            stored = Some((key.to_owned(), RunBuffer::read(key, value)));
        })?;
        if let Some((key, run)) = stored.filter(|(key, _)| nearest.as_ref() == Some(key)) {
            self.staged.insert(key, run?);
        }
        Ok(nearest)
    }

    /// Finds its key. A run that is stored and not staged goes to `visit` with its value.
    fn nearest_key(
        &mut self,
        source: &dyn Read,
        range: KeyRange<'_>,
        visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<Option<Vec<u8>>> {
        // `BTreeMap::range` panics where the bounds cross.
        if range.is_empty() {
            return Ok(None);
        }
        load_first(source, range)?;
        let stored = self.nearest_stored(source, range, visit)?;
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.lower, range.upper);
        let mut staged = self.staged.range::<[u8], _>(bounds).filter(|(_, run)| !run.is_empty());
        let staged = if range.reverse { staged.next_back() } else { staged.next() }
            .map(|(key, _)| key.clone());
        Ok(match (stored, staged) {
            (Some(stored), Some(staged)) => {
                Some(if range.reverse { stored.max(staged) } else { stored.min(staged) })
            }
            (stored, staged) => stored.or(staged),
        })
    }

    /// Finds the key of the nearest stored run that is not emptied. One in a covered span is left
    /// out: it is staged.
    fn nearest_stored(
        &mut self,
        source: &dyn Read,
        range: KeyRange<'_>,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<Option<Vec<u8>>> {
        let mut passed: Option<[Vec<u8>; 2]> = None;
        let found = loop {
            let last = passed.as_ref().map(|[_, last]| last.clone());
            let rest = match last.as_deref().map(Bound::Excluded) {
                None => range,
                Some(upper) if range.reverse => KeyRange { upper, ..range },
                Some(lower) => KeyRange { lower, ..range },
            };
            if rest.is_empty() {
                break None;
            }
            if let ControlFlow::Break(found) =
                self.pass_emptied(source, rest, &mut passed, &mut visit)?
            {
                break found;
            }
        };
        match passed {
            Some([last, first]) if range.reverse => self.cover(first, last),
            Some([first, last]) => self.cover(first, last),
            None => {}
        }
        Ok(found)
    }

    /// Scans past emptied runs, to the end of a covered span, or to the first other run, which
    /// breaks. `passed` has the first key that was passed and the last one, in this order.
    fn pass_emptied(
        &self,
        source: &dyn Read,
        range: KeyRange<'_>,
        passed: &mut Option<[Vec<u8>; 2]>,
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<ControlFlow<Option<Vec<u8>>>> {
        let (mut found, mut leaps) = (None, false);
        source.scan(range, &mut |key, value| {
            let staged = self.staged.get(key);
            if !staged.is_some_and(RunBuffer::is_empty) {
                if staged.is_none() {
                    visit(key, value);
                }
                found = Some(key.to_owned());
                return Ok(ControlFlow::Break(()));
            }
            let span = self.covered_until(key).filter(|(_, last)| **last >= *key);
            leaps = span.is_some();
            let (first, last) = span.unwrap_or((key, key));
            let end = if range.reverse { first } else { last };
            match passed {
                Some([_, last]) => end.clone_into(last),
                None => *passed = Some([key.to_owned(), end.to_owned()]),
            }
            Ok(if leaps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(if leaps { ControlFlow::Continue(()) } else { ControlFlow::Break(found) })
    }

    /// The first and the last key of the last covered span that begins at `key` or before it.
    fn covered_until(&self, key: &[u8]) -> Option<(&[u8], &[u8])> {
        let until = (Bound::Unbounded, Bound::Included(key));
        let span = self.covered.range::<[u8], _>(until).next_back();
        span.map(|(first, last)| (first.as_slice(), last.as_slice()))
    }

    /// Covers the keys from `first` to `last`, joined with the spans that overlap them.
    fn cover(&mut self, mut first: Vec<u8>, mut last: Vec<u8>) {
        debug_assert!(first <= last, "a span ascends");
        while let Some((start, end)) = self.covered_until(&last).filter(|(_, end)| **end >= *first)
        {
            let (start, end) = (start.to_owned(), end.to_owned());
            self.covered.remove(&start);
            first = first.min(start);
            last = last.max(end);
        }
        self.covered.insert(first, last);
    }

    /// Loads the run after `key`, of the same parent.
    fn next(&mut self, source: &dyn Read, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.nearest(source, after(key, &end_of_parent(key)?))
    }

    /// Finds the key of the run after `key`, of the same parent.
    fn next_key(&mut self, source: &dyn Read, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.nearest_key(source, after(key, &end_of_parent(key)?), |_, _| ())
    }

    /// Loads the run before `key`, of the same parent.
    fn previous(&mut self, source: &dyn Read, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Siblings { document, parent } = Siblings::of_key(key)?;
        let start = keyspaces::parent_runs(document, parent);
        self.nearest(source, KeyRange::half_open(&start, key).reversed())
    }

    /// Loads the first run of `siblings`.
    fn first(&mut self, source: &dyn Read, siblings: Siblings) -> Result<Option<Vec<u8>>> {
        let start = keyspaces::parent_runs(siblings.document, siblings.parent);
        self.nearest(source, KeyRange::half_open(&start, &keyspaces::prefix_end(start)))
    }

    /// Finds `block` by its location. A stale hint is repaired: the block is in a run further
    /// right.
    pub(crate) fn find(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        location: &LocationRecord,
        block: BlockId,
    ) -> Result<RunPosition> {
        let mut key = location.run_key();
        if let Some(index) = self.load(source, &key)?.and_then(|run| run.position(block)) {
            return Ok(RunPosition { key, index });
        }
        while let Some(next) = self.next(source, &key)? {
            if let Some(index) = self.run(&next)?.position(block) {
                let order = Arc::from(order_of(&next));
                locations.set(block, LocationRecord { order, ..location.clone() });
                return Ok(RunPosition { key: next, index });
            }
            key = next;
        }
        Err(records::corrupt(&keyspaces::block_location(block)))
    }

    /// The sibling before the block at `position`.
    pub(crate) fn previous_sibling(
        &mut self,
        source: &dyn Read,
        position: &RunPosition,
    ) -> Result<Option<BlockId>> {
        if let Some(index) = position.index.checked_sub(1) {
            return Ok(self.run(&position.key)?.ids().get(index).copied());
        }
        match self.previous(source, &position.key)? {
            Some(key) => Ok(self.run(&key)?.ids().last().copied()),
            None => Ok(None),
        }
    }

    /// Inserts `blocks` after the block at `after`, or before all siblings.
    pub(crate) fn insert(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        siblings: Siblings,
        after: Option<RunPosition>,
        blocks: &[NewBlock<'_>],
    ) -> Result<()> {
        invariant!(!blocks.is_empty(), "an insertion has blocks");
        let (key, index) = match after {
            Some(RunPosition { key, index }) => (key, index + 1),
            None => match self.first(source, siblings)? {
                Some(key) => (key, 0),
                None => return self.insert_runs(locations, siblings, None, None, blocks),
            },
        };
        let run = self.run(&key)?;
        // Fast path: most insertions fit.
        if fitting(run, blocks) == blocks.len() {
            return self.splice(locations, siblings, &key, index, blocks);
        }
        // Before a full run: new runs go to its left, and no block moves.
        if index == 0 {
            return self.insert_runs(locations, siblings, None, Some(order_of(&key)), blocks);
        }
        if index < run.ids().len() {
            self.splice(locations, siblings, &key, index, blocks)?;
            return self.split(source, locations, &key);
        }
        self.insert_at_end(source, locations, siblings, &key, blocks)
    }

    /// Inserts `blocks` after the last block of a run without room for all of them: the existing
    /// blocks stay, so that appending fills runs one after the other.
    fn insert_at_end(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        siblings: Siblings,
        key: &[u8],
        blocks: &[NewBlock<'_>],
    ) -> Result<()> {
        let next = self.next(source, key)?;
        if let Some(next) = &next
            && fitting(self.run(next)?, blocks) == blocks.len()
        {
            return self.splice(locations, siblings, next, 0, blocks);
        }
        let run = self.run(key)?;
        let end = run.ids().len();
        let (filling, rest) = blocks.split_at(fitting(run, blocks));
        if !filling.is_empty() {
            self.splice(locations, siblings, key, end, filling)?;
        }
        let upper = next.as_deref().map(order_of);
        self.insert_runs(locations, siblings, Some(order_of(key)), upper, rest)
    }

    fn splice(
        &mut self,
        locations: &mut StagedLocations,
        siblings: Siblings,
        key: &[u8],
        index: usize,
        blocks: &[NewBlock<'_>],
    ) -> Result<()> {
        self.change(key)?.insert(index, blocks)?;
        let location = siblings.location(order_of(key));
        for (block, _) in blocks {
            locations.set(*block, location.clone());
        }
        Ok(())
    }

    /// Inserts new runs of `blocks` between two order keys.
    pub(crate) fn insert_runs(
        &mut self,
        locations: &mut StagedLocations,
        siblings: Siblings,
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
        blocks: &[NewBlock<'_>],
    ) -> Result<()> {
        let (mut runs, mut rest): (Vec<RunBuffer>, _) = (Vec::new(), blocks);
        while !rest.is_empty() {
            let mut run = RunBuffer::default();
            // A block that is larger than a run gets one of its own.
            let (filling, after) = rest.split_at(fitting(&run, rest).max(1));
            run.insert(0, filling)?;
            runs.push(run);
            rest = after;
        }
        debug_assert!(lower.zip(upper).is_none_or(|(lower, upper)| lower < upper), "runs ascend");
        for (order, run) in order_keys(lower, upper, runs.len())?.into_iter().zip(runs) {
            self.stage_with_locations(locations, siblings, &order, run);
        }
        Ok(())
    }

    /// Stages a run and the locations of all its blocks.
    fn stage_with_locations(
        &mut self,
        locations: &mut StagedLocations,
        siblings: Siblings,
        order: &[u8],
        run: RunBuffer,
    ) {
        locations.set_all(run.ids(), &siblings.location(order));
        self.stage(siblings.key(order), run);
    }

    /// Splits an overfull run; new runs go to its right.
    fn split(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        key: &[u8],
    ) -> Result<()> {
        if !self.run(key)?.is_overfull() {
            return Ok(());
        }
        let siblings = Siblings::of_key(key)?;
        let next = self.next_key(source, key)?;
        // The first piece stays under the key, so the hints of its blocks stay exact.
        let pieces = self.change(key)?.split()?;
        let orders = order_keys(Some(order_of(key)), next.as_deref().map(order_of), pieces.len())?;
        for (order, run) in orders.into_iter().zip(pieces) {
            locations.update_order(run.ids(), &order);
            self.stage(siblings.key(&order), run);
        }
        Ok(())
    }

    /// Replaces the record at `position`.
    pub(crate) fn replace(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        position: &RunPosition,
        record: &[u8],
    ) -> Result<()> {
        self.shrink(&position.key, |run| run.replace(position.index, record))?;
        self.split(source, locations, &position.key)
    }

    /// Removes `count` blocks of one run from `position` on. The caller removes their locations.
    pub(crate) fn remove(&mut self, position: &RunPosition, count: usize) -> Result<()> {
        self.shrink(&position.key, |run| run.remove(position.index, count))
    }

    fn shrink(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut RunBuffer) -> Result<()>,
    ) -> Result<()> {
        let run = self.change(key)?;
        let was_large = run.bytes() >= run::MIN_BYTES;
        change(run)?;
        if was_large && run.bytes() < run::MIN_BYTES {
            self.underfull.insert(key.to_owned());
        }
        Ok(())
    }

    /// Empties a staged run, so that the next flush deletes it.
    pub(crate) fn take(&mut self, key: &[u8]) -> Result<RunBuffer> {
        Ok(std::mem::take(self.change(key)?))
    }

    /// Writes a run under another key at once: a subtree that moves need not fit into memory.
    pub(crate) fn write_through(
        &mut self,
        rows: &mut dyn Transaction,
        key: &[u8],
        run: &RunBuffer,
    ) -> Result<()> {
        let mut value = Vec::with_capacity(run.bytes());
        run.seal_into(key, &mut value)?;
        rows.put(key, &value)?;
        self.covered.clear();
        self.staged.remove(key);
        self.dirty.remove(key);
        // A run may have become underfull under this key and moved away since: only staged runs are
        // merged.
        self.underfull.remove(key);
        Ok(())
    }

    /// Loads all runs of `parents`, which are sorted. Returns their keys by parent and order. Those
    /// that `cache` knows to have none are not looked up.
    pub(crate) fn of_parents(
        &mut self,
        source: &dyn Read,
        cache: Option<&TransactionCache>,
        document: DocumentId,
        parents: &[BlockId],
    ) -> Result<Vec<Vec<u8>>> {
        debug_assert!(parents.is_sorted(), "parents are scanned in the order of their keys");
        let mut keys = Vec::new();
        let may_have_any = |parent: &BlockId| {
            cache.is_none_or(|cache| !cache.is_known_childless(document, *parent))
        };
        let mut stored = Cow::Borrowed(parents);
        if !parents.iter().all(may_have_any) {
            stored.to_mut().retain(may_have_any);
        }
        trees::runs_of(source, document, &stored, &mut |_, key, value| {
            if !self.staged.contains_key(key) {
                let run = RunBuffer::read(key, value)?;
                self.staged.insert(key.to_owned(), run);
            }
            Ok(())
        })?;
        let mut left = parents;
        while let Some((parent, others)) = left.split_first() {
            let start = keyspaces::parent_runs(document, *parent);
            let mut staged = self
                .staged
                .range::<[u8], _>((Bound::Included(&start[..]), Bound::Unbounded))
                .peekable();
            left = others;
            while let Some((key, run)) = staged.next_if(|(key, _)| key.starts_with(&start)) {
                if !run.is_empty() {
                    keys.push(key.clone());
                }
            }
            let Some((next, _)) = staged.next() else { return Ok(keys) };
            // Skips the parents before that of the next staged run: they have no runs.
            let has_none = |parent: &BlockId| {
                let start = keyspaces::parent_runs(document, *parent);
                start[..] < **next && !next.starts_with(&start)
            };
            left = left.split_at(left.partition_point(has_none)).1;
        }
        Ok(keys)
    }
}

/// The range after `key`, up to `end`.
fn after<'k>(key: &'k [u8], end: &'k [u8]) -> KeyRange<'k> {
    KeyRange { lower: Bound::Excluded(key), ..KeyRange::half_open(key, end) }
}

/// Where the runs of the parent of `key` end.
fn end_of_parent(key: &[u8]) -> Result<[u8; 33]> {
    let Siblings { document, parent } = Siblings::of_key(key)?;
    Ok(keyspaces::prefix_end(keyspaces::parent_runs(document, parent)))
}

/// How many of the first blocks fit into `run`.
fn fitting(run: &RunBuffer, blocks: &[NewBlock<'_>]) -> usize {
    let mut bytes = run.bytes();
    let fits = |(_, record): &&NewBlock<'_>| {
        bytes += record.len() + run::ENTRY_BYTES;
        bytes <= run::MAX_BYTES
    };
    blocks.iter().take_while(fits).count()
}

/// `count` ascending order keys between `lower` and `upper`.
fn order_keys(lower: Option<&[u8]>, upper: Option<&[u8]>, count: usize) -> Result<Vec<Vec<u8>>> {
    let mut keys: Vec<Vec<u8>> = Vec::with_capacity(count);
    // Without a lower bound they are generated from the right: each is then the integer before the
    // last one, and none gets longer.
    let descending = lower.is_none();
    for _ in 0..count {
        let last = keys.last().map(Vec::as_slice);
        let key = if descending {
            order_key::between(lower, last.or(upper))
        } else {
            order_key::between(last.or(lower), upper)
        };
        keys.push(
            key.ok_or_else(|| Error::limit("bytes of an order key", order_key::MAX_BYTES, "more"))?,
        );
    }
    if descending {
        keys.reverse();
    }
    debug_assert!(keys.is_sorted(), "order keys ascend");
    Ok(keys)
}
