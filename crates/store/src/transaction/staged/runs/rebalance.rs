//! Keeps runs few and their keys short, and writes them.

use leafbase_model::{Result, invariant};

use super::{LONG_ORDER_BYTES, Siblings, StagedRuns, order_keys, order_of};
use crate::kv::{Read, Transaction, WriteBatch};
use crate::order_key;
use crate::reader::transaction_cache::TransactionCache;
use crate::run;
use crate::transaction::staged::locations::StagedLocations;

/// Merged runs stay below this, so that the next insertions do not split them again.
const MAX_MERGED_BYTES: usize = run::MAX_BYTES * 3 / 4;
/// Dirty runs that stay in the cache when they are written.
const MAX_CACHED_RUNS: usize = 4;
/// Runs that stay staged once they are written. More of them are let go: a long batch mostly does
/// not come back to what it wrote, and its memory is bounded by this.
const MAX_WRITTEN_RUNS: usize = 16;

impl StagedRuns {
    /// Merges an underfull run with its right neighbour, or with its left one. Blocks move to the
    /// right, so that the hints of their locations stay valid.
    fn merge_underfull(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        key: &[u8],
    ) -> Result<()> {
        let bytes = self.run(key)?.bytes();
        if self.run(key)?.is_empty() || bytes >= run::MIN_BYTES {
            return Ok(());
        }
        if let Some(next) = self.next(source, key)?
            && bytes + self.run(&next)?.bytes() <= MAX_MERGED_BYTES
        {
            return self.merge_into(locations, key, &next);
        }
        if let Some(previous) = self.previous(source, key)?
            && bytes + self.run(&previous)?.bytes() <= MAX_MERGED_BYTES
        {
            return self.merge_into(locations, &previous, key);
        }
        Ok(())
    }

    fn merge_into(
        &mut self,
        locations: &mut StagedLocations,
        left: &[u8],
        right: &[u8],
    ) -> Result<()> {
        debug_assert!(left < right, "blocks move to the right");
        // The left run is emptied, and deleted by the flush.
        let mut merged = self.take(left)?;
        locations.update_order(merged.ids(), order_of(right));
        let run = self.change(right)?;
        merged.append(run);
        *run = merged;
        Ok(())
    }

    /// Gives short order keys to all runs of each parent that has a long one. It writes the
    /// location of every child, and becomes due only after hundreds of alternating splits at one
    /// position.
    pub(crate) fn rebalance(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
    ) -> Result<()> {
        for key in std::mem::take(&mut self.long) {
            let siblings = Siblings::of_key(&key)?;
            let keys = self.of_parents(source, None, siblings.document, &[siblings.parent])?;
            // An earlier key of the same parent may have rebalanced it already.
            if !keys.iter().any(|key| order_of(key).len() > LONG_ORDER_BYTES) {
                continue;
            }
            let runs = keys.iter().map(|key| self.take(key)).collect::<Result<Vec<_>>>()?;
            // Emptied before they are staged again: a new key may be that of an old run.
            let first = order_key::first();
            let orders =
                std::iter::once(first.clone()).chain(order_keys(Some(&first), None, runs.len())?);
            for (order, run) in orders.zip(runs) {
                self.stage_with_locations(locations, siblings, &order, run);
            }
        }
        Ok(())
    }

    /// Merges underfull runs and adds dirty ones to an empty batch, which is written when it is
    /// full. A few of them replace those in the cache, if there is one: the next edit of a batch is
    /// mostly near the last one.
    pub(crate) fn flush(
        &mut self,
        rows: &mut dyn Transaction,
        batch: &mut WriteBatch,
        locations: &mut StagedLocations,
        mut cache: Option<&mut TransactionCache>,
    ) -> Result<()> {
        for key in std::mem::take(&mut self.underfull) {
            self.merge_underfull(&*rows, locations, &key)?;
        }
        // What is written is not staged for long.
        self.covered.clear();
        let dirty = std::mem::take(&mut self.dirty);
        let are_few = dirty.len() <= MAX_CACHED_RUNS;
        batch.reserve(dirty.len(), run::MAX_BYTES);
        for key in dirty {
            if let Some(cache) = &mut cache {
                cache.evict_childless(&key);
            }
            let run = self.run(&key)?;
            if run.is_empty() {
                batch.delete(&key);
                self.staged.remove(&key);
            } else {
                invariant!(!run.is_overfull(), "a run is split before it is written");
                let mut sealed = Ok(());
                batch.put(&key, |out| sealed = run.append_sealed(&key, out));
                sealed?;
            }
            if batch.is_full() {
                batch.write_to(rows)?;
            }
        }
        if let Some(cache) = cache {
            cache.evict_runs();
            let written = batch.iter().filter_map(|(key, value)| Some((key, value?)));
            written.filter(|_| are_few).for_each(|(key, value)| cache.add_run(key, value));
        }
        if self.staged.len() > MAX_WRITTEN_RUNS {
            self.spare.extend(std::mem::take(&mut self.staged).into_values());
            self.spare.truncate(MAX_WRITTEN_RUNS);
        }
        Ok(())
    }
}
