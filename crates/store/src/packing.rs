//! What is done to rows before a store is compacted, so that they take fewer pages when these are
//! filled in the order of the keys.

use std::ops::{Bound, ControlFlow};

use leafbase_model::Result;

use crate::kv::{Durability, KeyRange, Store, WriteOptions};
use crate::location_cache::LocationCache;

mod changes;
mod runs;

/// Cuts runs to fill pages, and packs changes. Others may read and write meanwhile.
pub(crate) fn pack(store: &dyn Store, lookups: &LocationCache) -> Result<()> {
    // What can't be written says so, before much is read.
    store.write(WriteOptions::durability(Durability::Relaxed), &mut |_| Ok(()))?;
    // All is read once before anything is written: a store that is damaged is left as it is.
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    store.snapshot()?.scan(all, &mut |_, _| Ok(ControlFlow::Continue(())))?;
    runs::lay_runs(store, lookups)?;
    changes::pack_changes(store)
}
