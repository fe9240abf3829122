//! StagedRun runs: a write reads each run it touches once, splices it, and writes it once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use leafbase_model::{BlockId, DocumentId, Error, Result};

use super::locations::StagedLocations;
use crate::keyspaces;
use crate::kv::{KeyRange, Read, Transaction};
use crate::order_key;
use crate::reader::{get, trees};
use crate::records;
use crate::records::location::LocationRecord;
use crate::run::{self, Run, RunView};

mod rebalance;

use rebalance::LONG_ORDER;

/// A block to put in, with its record.
pub(super) type NewBlock<'e> = (BlockId, &'e [u8]);

/// The children of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Siblings {
    pub(super) document: DocumentId,
    pub(super) parent: BlockId,
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
            keyspaces::read_run(key).ok_or_else(|| records::damaged(key))?;
        Ok(Self { document, parent })
    }
}

fn order_of(key: &[u8]) -> &[u8] {
    keyspaces::read_run(key).map_or(&[], |(_, _, order)| order)
}

/// A run as the write has it. An empty one is to be deleted, or was.
#[derive(Debug)]
struct StagedRun {
    run: Run,
    dirty: bool,
}

/// The runs that a write has read, changed or made, by key.
#[derive(Debug, Default)]
pub(super) struct StagedRuns {
    staged: BTreeMap<Vec<u8>, StagedRun>,
    /// StagedRuns that fell below the size at which they are joined with a neighbour.
    shrunk: BTreeSet<Vec<u8>>,
    /// Parents whose runs have got an order key that is too long.
    long: BTreeSet<Vec<u8>>,
}

/// Where a block is: the key of its run, and its index in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunPosition {
    pub(super) key: Vec<u8>,
    pub(super) index: usize,
}

impl StagedRuns {
    fn load(&mut self, source: &dyn Read, key: &[u8]) -> Result<Option<&Run>> {
        if !self.staged.contains_key(key) {
            let Some(run) = get(source, key, |value| Run::read(key, value))? else {
                return Ok(None);
            };
            self.staged.insert(key.to_owned(), StagedRun { run, dirty: false });
        }
        Ok(self.staged.get(key).map(|staged| &staged.run).filter(|run| !run.is_empty()))
    }

    /// Keeps a run that was read already. One that is staged is newer.
    pub(super) fn keep(&mut self, key: Vec<u8>, value: &[u8]) {
        if let Some(view) = RunView::read_again(value) {
            self.staged
                .entry(key)
                .or_insert_with(|| StagedRun { run: Run::of(view), dirty: false });
        }
    }

    /// The run under `key`, which was loaded.
    pub(super) fn run(&self, key: &[u8]) -> Result<&Run> {
        self.staged.get(key).map(|staged| &staged.run).ok_or_else(|| records::damaged(key))
    }

    fn change(&mut self, key: &[u8]) -> Result<&mut Run> {
        let staged = self.staged.get_mut(key).ok_or_else(|| records::damaged(key))?;
        staged.dirty = true;
        Ok(&mut staged.run)
    }

    fn stage(&mut self, key: Vec<u8>, run: Run) {
        if order_of(&key).len() > LONG_ORDER {
            self.long.insert(key.clone());
        }
        self.staged.insert(key, StagedRun { run, dirty: true });
    }

    /// The first run of `range` by staged and stored keys, or the last one if it is reversed;
    /// loaded.
    fn nearest(&mut self, source: &dyn Read, range: KeyRange<'_>) -> Result<Option<Vec<u8>>> {
        let mut met = None;
        let nearest = self.nearest_key(source, range, |key, value| {
            met = Some((key.to_owned(), Run::read(key, value)))
        })?;
        if let Some((key, run)) = met.filter(|(key, _)| nearest.as_ref() == Some(key)) {
            self.staged.insert(key, StagedRun { run: run?, dirty: false });
        }
        Ok(nearest)
    }

    /// The key of it. One that is stored and not staged is handed to `visit` with its value.
    fn nearest_key(
        &self,
        source: &dyn Read,
        range: KeyRange<'_>,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<Option<Vec<u8>>> {
        if range.is_empty() {
            return Ok(None);
        }
        let mut stored: Option<Vec<u8>> = None;
        source.scan(range, &mut |key, value| {
            match self.staged.get(key) {
                Some(staged) if staged.run.is_empty() => return Ok(ControlFlow::Continue(())),
                Some(_) => {}
                None => visit(key, value),
            }
            stored = Some(key.to_owned());
            Ok(ControlFlow::Break(()))
        })?;
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.lower, range.upper);
        let mut staged =
            self.staged.range::<[u8], _>(bounds).filter(|(_, staged)| !staged.run.is_empty());
        let staged = if range.reverse { staged.next_back() } else { staged.next() }
            .map(|(key, _)| key.clone());
        Ok(match (stored, staged) {
            (Some(stored), Some(staged)) => {
                Some(if range.reverse { stored.max(staged) } else { stored.min(staged) })
            }
            (stored, staged) => stored.or(staged),
        })
    }

    /// The run right after `key`, of the same parent.
    fn next(&mut self, source: &dyn Read, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.nearest(source, behind(key, &end_of_parent(key)?))
    }

    /// The key of it.
    fn next_key(&self, source: &dyn Read, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.nearest_key(source, behind(key, &end_of_parent(key)?), |_, _| ())
    }

    /// The run right before `key`, of the same parent.
    fn previous(&mut self, source: &dyn Read, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Siblings { document, parent } = Siblings::of_key(key)?;
        let start = keyspaces::parent_runs(document, parent);
        self.nearest(source, KeyRange::half_open(&start, key).reversed())
    }

    fn first(&mut self, source: &dyn Read, siblings: Siblings) -> Result<Option<Vec<u8>>> {
        let start = keyspaces::parent_runs(siblings.document, siblings.parent);
        self.nearest(source, KeyRange::half_open(&start, &keyspaces::end_of(start)))
    }

    /// Finds `block`, which `place` is the place of. A hint that led astray is mended.
    pub(super) fn find(
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
                locations.set(
                    block,
                    LocationRecord { order: Arc::from(order_of(&next)), ..location.clone() },
                );
                return Ok(RunPosition { key: next, index });
            }
            key = next;
        }
        Err(records::damaged(&keyspaces::block_location(block)))
    }

    /// The sibling right before the block at `spot`.
    pub(super) fn before(
        &mut self,
        source: &dyn Read,
        spot: &RunPosition,
    ) -> Result<Option<BlockId>> {
        if let Some(index) = spot.index.checked_sub(1) {
            return Ok(self.run(&spot.key)?.ids().get(index).copied());
        }
        match self.previous(source, &spot.key)? {
            Some(key) => Ok(self.run(&key)?.ids().last().copied()),
            None => Ok(None),
        }
    }

    /// Puts `entries` right after the block at `after`, or before all siblings.
    pub(super) fn insert(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        siblings: Siblings,
        after: Option<RunPosition>,
        entries: &[NewBlock<'_>],
    ) -> Result<()> {
        let (key, index) = match after {
            Some(RunPosition { key, index }) => (key, index + 1),
            None => match self.first(source, siblings)? {
                Some(key) => (key, 0),
                None => return self.lay(locations, siblings, None, None, entries),
            },
        };
        let run = self.run(&key)?;
        if fitting(run, entries) == entries.len() {
            return self.splice(locations, siblings, &key, index, entries);
        }
        if index == 0 {
            return self.lay(locations, siblings, None, Some(order_of(&key)), entries);
        }
        if index < run.ids().len() {
            self.splice(locations, siblings, &key, index, entries)?;
            return self.split(source, locations, &key);
        }
        self.insert_at_end(source, locations, siblings, &key, entries)
    }

    /// Puts `entries` after the last block of a run that has no room for all of them.
    fn insert_at_end(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        siblings: Siblings,
        key: &[u8],
        entries: &[NewBlock<'_>],
    ) -> Result<()> {
        let next = self.next(source, key)?;
        if let Some(next) = &next
            && fitting(self.run(next)?, entries) == entries.len()
        {
            return self.splice(locations, siblings, next, 0, entries);
        }
        let run = self.run(key)?;
        let end = run.ids().len();
        let (filling, rest) =
            entries.split_at_checked(fitting(run, entries)).unwrap_or((&[], entries));
        if !filling.is_empty() {
            self.splice(locations, siblings, key, end, filling)?;
        }
        self.lay(locations, siblings, Some(order_of(key)), next.as_deref().map(order_of), rest)
    }

    fn splice(
        &mut self,
        locations: &mut StagedLocations,
        siblings: Siblings,
        key: &[u8],
        index: usize,
        entries: &[NewBlock<'_>],
    ) -> Result<()> {
        self.change(key)?.insert(index, entries);
        let location = siblings.location(order_of(key));
        for (block, _) in entries {
            locations.set(*block, location.clone());
        }
        Ok(())
    }

    /// Makes runs of `entries` between two order keys.
    pub(super) fn lay(
        &mut self,
        locations: &mut StagedLocations,
        siblings: Siblings,
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
        entries: &[NewBlock<'_>],
    ) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut made: Vec<Run> = Vec::new();
        let mut rest = entries;
        while !rest.is_empty() {
            let mut run = Run::default();
            // A block that is larger than a run has one by itself.
            let count = fitting(&run, rest).max(1);
            let (filling, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            run.insert(0, filling);
            made.push(run);
            rest = after;
        }
        for (order, run) in order_keys(lower, upper, made.len())?.into_iter().zip(made) {
            self.settle(locations, siblings, &order, run);
        }
        Ok(())
    }

    /// Stages a run, and the places of all its blocks.
    fn settle(
        &mut self,
        locations: &mut StagedLocations,
        siblings: Siblings,
        order: &[u8],
        run: Run,
    ) {
        locations.set_all(run.ids(), &siblings.location(order));
        self.stage(siblings.key(order), run);
    }

    /// Cuts an overfull run; what does not stay goes to the right.
    fn split(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        key: &[u8],
    ) -> Result<()> {
        if !self.run(key)?.is_over_full() {
            return Ok(());
        }
        let siblings = Siblings::of_key(key)?;
        let next = self.next_key(source, key)?;
        let pieces = self.change(key)?.cut();
        let orders = order_keys(Some(order_of(key)), next.as_deref().map(order_of), pieces.len())?;
        for (order, run) in orders.into_iter().zip(pieces) {
            locations.moved(run.ids(), &order);
            self.stage(siblings.key(&order), run);
        }
        Ok(())
    }

    /// Puts another record at `spot`.
    pub(super) fn replace(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        spot: &RunPosition,
        record: &[u8],
    ) -> Result<()> {
        self.shrinking(&spot.key, |run| run.replace(spot.index, record))?;
        self.split(source, locations, &spot.key)
    }

    /// Takes out `count` blocks of one run from `spot` on. Their places are the caller's.
    pub(super) fn remove(&mut self, spot: &RunPosition, count: usize) -> Result<()> {
        self.shrinking(&spot.key, |run| run.remove(spot.index, count))
    }

    fn shrinking(&mut self, key: &[u8], change: impl FnOnce(&mut Run)) -> Result<()> {
        let run = self.change(key)?;
        let was_large = run.bytes() >= run::SMALL_BYTES;
        change(run);
        if was_large && run.bytes() < run::SMALL_BYTES {
            self.shrunk.insert(key.to_owned());
        }
        Ok(())
    }

    /// Takes out a whole run, which was loaded.
    pub(super) fn remove_run(&mut self, key: &[u8]) -> Result<()> {
        *self.change(key)? = Run::default();
        Ok(())
    }

    /// Takes a run, which was loaded, out of the store and out of memory's staging.
    pub(super) fn take(&mut self, key: &[u8]) -> Result<Run> {
        Ok(std::mem::take(self.change(key)?))
    }

    /// Writes a run under a new key at once, so that what moves need not all be in memory.
    pub(super) fn put(&mut self, rows: &mut dyn Transaction, key: &[u8], run: &Run) -> Result<()> {
        let mut value = Vec::with_capacity(run.bytes());
        run.seal_into(key, &mut value);
        rows.put(key, &value)?;
        self.staged.remove(key);
        // It may have been under this key before, shrunk, and left in between: what is not in
        // memory is not joined.
        self.shrunk.remove(key);
        Ok(())
    }

    /// The keys of all runs of `parents`, which are sorted, by parent and order; all of them
    /// loaded.
    pub(super) fn of_parents(
        &mut self,
        source: &dyn Read,
        document: DocumentId,
        parents: &[BlockId],
    ) -> Result<Vec<Vec<u8>>> {
        let mut keys = Vec::new();
        trees::runs_of(source, document, parents, &mut |_, key, value| {
            if !self.staged.contains_key(key) {
                let run = Run::read(key, value)?;
                self.staged.insert(key.to_owned(), StagedRun { run, dirty: false });
            }
            Ok(())
        })?;
        let mut left = parents;
        while let Some((parent, others)) = left.split_first() {
            let start = keyspaces::parent_runs(document, *parent);
            let mut rows = self
                .staged
                .range::<[u8], _>((Bound::Included(&start[..]), Bound::Unbounded))
                .peekable();
            left = others;
            while let Some((key, staged)) = rows.next_if(|(key, _)| key.starts_with(&start)) {
                if !staged.run.is_empty() {
                    keys.push(key.clone());
                }
            }
            // Those before the parent of the next run have none.
            let Some((next, _)) = rows.next() else { break };
            let has_none = |parent: &BlockId| {
                let start = keyspaces::parent_runs(document, *parent);
                start[..] < **next && !next.starts_with(&start)
            };
            left = left.get(left.partition_point(has_none)..).unwrap_or_default();
        }
        Ok(keys)
    }
}

/// What comes after `key`, up to `end`.
fn behind<'k>(key: &'k [u8], end: &'k [u8]) -> KeyRange<'k> {
    KeyRange { lower: Bound::Excluded(key), ..KeyRange::half_open(key, end) }
}

/// Where the runs of the same parent end.
fn end_of_parent(key: &[u8]) -> Result<[u8; 33]> {
    let Siblings { document, parent } = Siblings::of_key(key)?;
    Ok(keyspaces::end_of(keyspaces::parent_runs(document, parent)))
}

/// How many of the first entries fit into `run`.
fn fitting(run: &Run, entries: &[NewBlock<'_>]) -> usize {
    let mut sum = 0;
    let fits = |(_, record): &&NewBlock<'_>| {
        sum += record.len() + run::ENTRY_BYTES;
        run.bytes() + sum <= run::MAX_BYTES
    };
    entries.iter().take_while(fits).count()
}

/// `count` ascending order keys between two.
fn order_keys(lower: Option<&[u8]>, upper: Option<&[u8]>, count: usize) -> Result<Vec<Vec<u8>>> {
    let mut keys: Vec<Vec<u8>> = Vec::with_capacity(count);
    // Before all others they are made from the right, so that each is an integer.
    let descending = lower.is_none();
    for _ in 0..count {
        let made = keys.last().map(Vec::as_slice);
        let key = if descending {
            order_key::between(lower, made.or(upper))
        } else {
            order_key::between(made.or(lower), upper)
        };
        keys.push(
            key.ok_or_else(|| Error::limit("bytes of an order key", order_key::MAX_BYTES, "more"))?,
        );
    }
    if descending {
        keys.reverse();
    }
    Ok(keys)
}
