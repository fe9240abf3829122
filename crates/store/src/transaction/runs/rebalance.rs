//! What keeps runs few and their keys short, and writes them.

use leafbase_model::Result;

use super::{Siblings, StagedRuns, order_keys, order_of};
use crate::kv::{Read, Transaction, WriteBatch};
use crate::order_key;
use crate::run;
use crate::transaction::locations::StagedLocations;

/// Once an order key is longer, all runs of its parent get new ones. Keys made in a row get nowhere
/// near it.
pub(super) const LONG_ORDER: usize = 64;

impl StagedRuns {
    /// Joins a run that shrank with its right neighbour, or with its left one: entries go to the
    /// right, so that hints hold.
    fn join(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
        key: &[u8],
    ) -> Result<()> {
        let bytes = self.run(key)?.bytes();
        if self.run(key)?.is_empty() || bytes >= run::SMALL_BYTES {
            return Ok(());
        }
        let room = run::MAX_BYTES * 3 / 4;
        if let Some(next) = self.next(source, key)?
            && bytes + self.run(&next)?.bytes() <= room
        {
            return self.join_into(locations, key, &next);
        }
        if let Some(previous) = self.previous(source, key)?
            && bytes + self.run(&previous)?.bytes() <= room
        {
            return self.join_into(locations, &previous, key);
        }
        Ok(())
    }

    fn join_into(
        &mut self,
        locations: &mut StagedLocations,
        left: &[u8],
        right: &[u8],
    ) -> Result<()> {
        let mut joined = std::mem::take(self.change(left)?);
        locations.moved(joined.ids(), order_of(right));
        let run = self.change(right)?;
        joined.append(run);
        *run = joined;
        Ok(())
    }

    /// Gives short order keys to the runs of parents that have a long one. Every place under such a
    /// parent is written: it is the price of keys that stay short, and it takes hundreds of runs
    /// cut on either side in turn to come to it.
    pub(in crate::transaction) fn shorten(
        &mut self,
        source: &dyn Read,
        locations: &mut StagedLocations,
    ) -> Result<()> {
        for key in std::mem::take(&mut self.long) {
            let siblings = Siblings::of_key(&key)?;
            let keys = self.of_parents(source, siblings.document, &[siblings.parent])?;
            if !keys.iter().any(|key| order_of(key).len() > LONG_ORDER) {
                continue;
            }
            let runs = keys.iter().map(|key| self.take(key)).collect::<Result<Vec<_>>>()?;
            let first = order_key::first();
            let orders =
                std::iter::once(first.clone()).chain(order_keys(Some(&first), None, runs.len())?);
            for (order, run) in orders.zip(runs) {
                self.settle(locations, siblings, &order, run);
            }
        }
        Ok(())
    }

    /// Writes what changed.
    pub(in crate::transaction) fn flush(
        &mut self,
        rows: &mut dyn Transaction,
        locations: &mut StagedLocations,
    ) -> Result<()> {
        for key in std::mem::take(&mut self.shrunk) {
            self.join(&*rows, locations, &key)?;
        }
        let mut written = WriteBatch::with_capacity(self.staged.len(), run::MAX_BYTES);
        for (key, staged) in &mut self.staged {
            if !std::mem::take(&mut staged.dirty) {
                continue;
            }
            if staged.run.is_empty() {
                written.delete(key);
            } else {
                written.put(key, |out| staged.run.append_sealed(key, out));
            }
            if written.is_full() {
                written.write_to(rows)?;
            }
        }
        written.write_to(rows)?;
        self.staged.retain(|_, staged| !staged.run.is_empty());
        Ok(())
    }
}
