//! Staged locations of blocks.

use std::sync::Arc;

use leafbase_model::{BlockId, IdMap, Result, invariant};

use crate::keyspaces;
use crate::kv::{Read, Transaction, WriteBatch};
use crate::order_key;
use crate::reader::transaction_cache::TransactionCache;
use crate::reader::trees::rows_of;
use crate::records;
use crate::records::location::{self, LocationRecord};

/// From this number of blocks on they are scanned for, not looked up one by one.
const MIN_SCANNED_BLOCKS: usize = 8;
/// Bytes that the key and the record of a location mostly take.
const ROW_BYTES: usize = 72;

/// The locations that a transaction changes.
#[derive(Debug, Default)]
pub(crate) struct StagedLocations {
    /// Staged since the last flush, in the order of staging: new blocks mostly ascend. `None` is
    /// removed.
    staged: Vec<(BlockId, Option<LocationRecord>)>,
    /// The position of each block in `staged`.
    index: IdMap<BlockId, usize>,
    /// The greatest staged block.
    greatest: BlockId,
}

impl StagedLocations {
    /// The location of `block`, if it exists.
    pub(crate) fn get(
        &self,
        source: &dyn Read,
        cache: &TransactionCache,
        block: BlockId,
    ) -> Result<Option<LocationRecord>> {
        match self.staged(block) {
            Some(location) => Ok(location.clone()),
            None => cache.location(source, block),
        }
    }

    /// Whether any of `blocks`, which are sorted, exists.
    pub(crate) fn has_any(
        &self,
        source: &dyn Read,
        cache: &TransactionCache,
        blocks: &[BlockId],
    ) -> Result<bool> {
        debug_assert!(blocks.is_sorted(), "blocks are read in the order of their keys");
        let is_staged = |block: &BlockId| matches!(self.staged(*block), Some(Some(_)));
        if blocks.first().is_some_and(|first| *first <= self.greatest)
            && blocks.iter().any(is_staged)
        {
            return Ok(true);
        }
        if blocks.len() < MIN_SCANNED_BLOCKS {
            for block in blocks {
                if self.get(source, cache, *block)?.is_some() {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        // New IDs mostly sort after all stored ones, so that the scan finds nothing.
        let mut exists = false;
        rows_of(source, &[keyspaces::BLOCK_LOCATIONS.tag], blocks, &mut |block, _, _| {
            // If it is staged it was looked at above: as removed, and its row is stale.
            exists |= !self.index.contains_key(&block);
            Ok(())
        })?;
        Ok(exists)
    }

    fn staged(&self, block: BlockId) -> Option<&Option<LocationRecord>> {
        let at = self.index.get(&block)?;
        self.staged.get(*at).map(|(_, location)| location)
    }

    fn stage(&mut self, block: BlockId, location: Option<LocationRecord>) {
        let next = self.staged.len();
        let at = *self.index.entry(block).or_insert(next);
        if let Some((_, staged)) = self.staged.get_mut(at) {
            *staged = location;
        } else {
            debug_assert_eq!(at, next, "an indexed block is staged");
            self.staged.push((block, location));
            self.greatest = self.greatest.max(block);
        }
    }

    pub(crate) fn set(&mut self, block: BlockId, location: LocationRecord) {
        self.stage(block, Some(location));
    }

    /// Sets the location of all `blocks` of one run.
    pub(crate) fn set_all(&mut self, blocks: &[BlockId], location: &LocationRecord) {
        self.reserve(blocks.len());
        for block in blocks {
            self.stage(*block, Some(location.clone()));
        }
    }

    pub(crate) fn remove(&mut self, block: BlockId) {
        self.stage(block, None);
    }

    /// Reserves room for `count` blocks.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.index.reserve(count);
    }

    /// Updates the hints of blocks that move to another run of their parent, where a location is
    /// written anyway. Others get stale, and are repaired when a lookup follows them.
    pub(crate) fn update_order(&mut self, blocks: &[BlockId], order: &[u8]) {
        let order: Arc<[u8]> = Arc::from(order);
        for block in blocks {
            let staged = self.index.get(block).and_then(|at| self.staged.get_mut(*at));
            if let Some((_, Some(location))) = staged {
                location.order = Arc::clone(&order);
            }
        }
    }

    pub(crate) fn flush(
        &mut self,
        rows: &mut dyn Transaction,
        batch: &mut WriteBatch,
        mut cache: Option<&mut TransactionCache>,
    ) -> Result<()> {
        if self.staged.is_empty() {
            return Ok(());
        }
        // Sorts positions: a location is several times as large.
        let mut blocks: Vec<(BlockId, usize)> =
            self.staged.iter().zip(0..).map(|((block, _), at)| (*block, at)).collect();
        blocks.sort_unstable();
        batch.reserve(blocks.len(), ROW_BYTES);
        // Blocks of one run have the same location: its record is encoded once.
        let (mut last, mut body) = (None, Vec::with_capacity(64));
        for (block, at) in blocks {
            let Some((_, location)) = self.staged.get(at) else {
                invariant!("positions of staged locations are within them")
            };
            if let Some(cache) = &mut cache {
                cache.evict_location(block);
            }
            let key = keyspaces::block_location(block);
            match location {
                Some(location) => {
                    if last != Some(location) {
                        invariant!(
                            order_key::is_valid(&location.order),
                            "a location is written with the order key of a run"
                        );
                        body.clear();
                        location::encode(&mut body, location);
                        last = Some(location);
                    }
                    records::put(batch, &key, |out| out.extend_from_slice(&body));
                }
                None => batch.delete(&key),
            }
            if batch.is_full() {
                batch.write_to(rows)?;
            }
        }
        self.staged.clear();
        self.index.clear();
        self.greatest = BlockId::NIL;
        Ok(())
    }
}
