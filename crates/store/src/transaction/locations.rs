//! Staged places.

use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::{BlockId, IdMap, Result};

use crate::keyspaces;
use crate::kv::{KeyRange, Read, Transaction, WriteBatch};
use crate::reader::transaction_cache::TransactionCache;
use crate::records;
use crate::records::location::{self, LocationRecord};

/// For so many blocks, one scan is tried before they are looked up one by one.
const SCANNED_FROM: usize = 8;
/// So many others are passed by for each of them: a step of a scan costs that much less than a
/// look-up.
const PASSED_BY: usize = 8;
/// A place and its key mostly take no more.
const ROW_BYTES: usize = 72;

/// The places that a write changed.
#[derive(Debug, Default)]
pub(super) struct StagedLocations {
    /// Those that are written next, as they came: new blocks mostly by ID.
    staged: Vec<(BlockId, Option<LocationRecord>)>,
    /// Which of `staged` is whose.
    index: IdMap<BlockId, usize>,
    /// The latest block that is staged.
    latest: BlockId,
    /// The blocks whose rows were written.
    changed: Vec<BlockId>,
}

impl StagedLocations {
    /// The place of `block`, if it exists.
    pub(super) fn get(
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

    /// Whether one of `blocks`, which are sorted, exists.
    pub(super) fn has_any(
        &self,
        source: &dyn Read,
        cache: &TransactionCache,
        blocks: &[BlockId],
    ) -> Result<bool> {
        let is_staged = |block: &BlockId| matches!(self.staged(*block), Some(Some(_)));
        if blocks.first().is_some_and(|first| *first <= self.latest) && blocks.iter().any(is_staged)
        {
            return Ok(true);
        }
        if let (Some(first), Some(last)) = (blocks.first(), blocks.last())
            && blocks.len() >= SCANNED_FROM
            && let Some(answer) = self.scan_for(source, *first, *last, blocks)?
        {
            return Ok(answer);
        }
        for block in blocks {
            if self.get(source, cache, *block)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// New IDs mostly lie behind all others: one look at the range that they span then answers for
    /// all. None if too many others lie in it.
    fn scan_for(
        &self,
        source: &dyn Read,
        first: BlockId,
        last: BlockId,
        blocks: &[BlockId],
    ) -> Result<Option<bool>> {
        let (start, end) =
            (keyspaces::block_location(first), keyspaces::end_of(keyspaces::block_location(last)));
        let (mut passed_by, mut found) = (0, false);
        let (mut sought, most) = (blocks.iter().peekable(), PASSED_BY * blocks.len());
        source.scan(KeyRange::half_open(&start, &end), &mut |key, _| {
            let block = keyspaces::read_block_location(key).ok_or_else(|| records::damaged(key))?;
            passed_by += 1;
            while sought.next_if(|sought| **sought < block).is_some() {}
            // One that this write removes does not exist; only places that were staged are unlike
            // their rows.
            found = sought.peek().is_some_and(|sought| **sought == block)
                && !self.index.contains_key(&block);
            Ok(if found || passed_by > most {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok((found || passed_by <= most).then_some(found))
    }

    fn staged(&self, block: BlockId) -> Option<&Option<LocationRecord>> {
        let at = self.index.get(&block)?;
        self.staged.get(*at).map(|(_, location)| location)
    }

    fn stage(&mut self, block: BlockId, location: Option<LocationRecord>) {
        let next = self.staged.len();
        let at = *self.index.entry(block).or_insert(next);
        if let Some((_, before)) = self.staged.get_mut(at) {
            *before = location;
        } else {
            self.staged.push((block, location));
            self.latest = self.latest.max(block);
        }
    }

    pub(super) fn set(&mut self, block: BlockId, location: LocationRecord) {
        self.stage(block, Some(location));
    }

    /// All of `blocks` are in one run.
    pub(super) fn set_all(&mut self, blocks: &[BlockId], location: &LocationRecord) {
        self.expect(blocks.len());
        for block in blocks {
            self.stage(*block, Some(location.clone()));
        }
    }

    pub(super) fn remove(&mut self, block: BlockId) {
        self.stage(block, None);
    }

    /// So many places will be set or removed.
    pub(super) fn expect(&mut self, count: usize) {
        self.index.reserve(count);
    }

    /// The blocks are in another run of the same parent. Only places that are written anyway are
    /// told.
    pub(super) fn moved(&mut self, blocks: &[BlockId], order: &[u8]) {
        let order: Arc<[u8]> = Arc::from(order);
        for block in blocks {
            let staged = self.index.get(block).and_then(|at| self.staged.get_mut(*at));
            if let Some((_, Some(location))) = staged {
                location.order = Arc::clone(&order);
            }
        }
    }

    /// The blocks whose rows were written since the last call.
    pub(super) fn take_changed(&mut self) -> Vec<BlockId> {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn flush(
        &mut self,
        rows: &mut dyn Transaction,
        cache: &mut TransactionCache,
    ) -> Result<()> {
        // Not sorted where they are: a place is several times as long as this.
        let mut blocks: Vec<_> =
            self.staged.iter().zip(0..).map(|((block, _), at)| (*block, at)).collect();
        blocks.sort_unstable();
        self.changed.extend(blocks.iter().map(|(block, _)| *block));
        let mut written = WriteBatch::with_capacity(blocks.len(), ROW_BYTES);
        // Those of one run say the same.
        let (mut last, mut body) = (None, Vec::with_capacity(64));
        for (block, location) in blocks
            .into_iter()
            .filter_map(|(block, at): (_, usize)| Some((block, &self.staged.get(at)?.1)))
        {
            cache.forget_location(block);
            let key = keyspaces::block_location(block);
            match location {
                Some(location) => {
                    if last != Some(location) {
                        body.clear();
                        location::put(&mut body, location);
                        last = Some(location);
                    }
                    records::put(&mut written, &key, |out| out.extend_from_slice(&body));
                }
                None => written.delete(&key),
            }
            if written.is_full() {
                written.write_to(rows)?;
            }
        }
        written.write_to(rows)?;
        self.staged.clear();
        self.index.clear();
        self.latest = BlockId::NIL;
        Ok(())
    }
}
