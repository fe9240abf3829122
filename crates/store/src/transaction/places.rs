//! Staged places.

use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::{BlockId, IdMap, Result};

use crate::keyspaces;
use crate::kv::{KeyRange, Read, Transaction};
use crate::reader::memo::Memo;
use crate::records;
use crate::records::place::{self, Place};

/// For so many blocks, one scan is tried before they are looked up one by one.
const SCANNED_FROM: usize = 8;
/// So many others are passed by for each of them: a step of a scan costs that much less than a look-up.
const PASSED_BY: usize = 8;

/// The places that a write changed.
#[derive(Debug, Default)]
pub(super) struct Places {
    staged: IdMap<BlockId, Option<Place>>,
    /// The blocks whose rows were written.
    changed: Vec<BlockId>,
}

impl Places {
    /// The place of `block`, if it exists.
    pub(super) fn get(&self, source: &dyn Read, memo: &Memo, block: BlockId) -> Result<Option<Place>> {
        match self.staged.get(&block) {
            Some(place) => Ok(place.clone()),
            None => memo.place(source, block),
        }
    }

    /// Whether one of `blocks`, which are sorted, exists.
    pub(super) fn has_any(&self, source: &dyn Read, memo: &Memo, blocks: &[BlockId]) -> Result<bool> {
        let is_staged = |block: &BlockId| matches!(self.staged.get(block), Some(Some(_)));
        if !self.staged.is_empty() && blocks.iter().any(is_staged) {
            return Ok(true);
        }
        if let (Some(first), Some(last)) = (blocks.first(), blocks.last())
            && blocks.len() >= SCANNED_FROM
            && let Some(answer) = self.scan_for(source, *first, *last, blocks)?
        {
            return Ok(answer);
        }
        for block in blocks {
            if self.get(source, memo, *block)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// New IDs mostly lie behind all others: one look at the range that they span then answers for all. None if too many
    /// others lie in it.
    fn scan_for(&self, source: &dyn Read, first: BlockId, last: BlockId, blocks: &[BlockId]) -> Result<Option<bool>> {
        let (start, end) = (keyspaces::place(first), keyspaces::end_of(keyspaces::place(last)));
        let (mut passed_by, mut found) = (0, false);
        let (mut sought, most) = (blocks.iter().peekable(), PASSED_BY * blocks.len());
        source.scan(KeyRange::half_open(&start, &end), &mut |key, _| {
            let block = keyspaces::read_place(key).ok_or_else(|| records::damaged(key))?;
            passed_by += 1;
            while sought.next_if(|sought| **sought < block).is_some() {}
            // One that this write removes does not exist; only places that were staged are unlike their rows.
            found = sought.peek().is_some_and(|sought| **sought == block) && !self.staged.contains_key(&block);
            Ok(if found || passed_by > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok((found || passed_by <= most).then_some(found))
    }

    pub(super) fn set(&mut self, block: BlockId, place: Place) {
        self.staged.insert(block, Some(place));
    }

    /// All of `blocks` are in one run.
    pub(super) fn set_all(&mut self, blocks: &[BlockId], place: &Place) {
        self.staged.extend(blocks.iter().map(|block| (*block, Some(place.clone()))));
    }

    pub(super) fn remove(&mut self, block: BlockId) {
        self.staged.insert(block, None);
    }

    /// So many places will be set or removed.
    pub(super) fn expect(&mut self, count: usize) {
        self.staged.reserve(count);
    }

    /// The blocks are in another run of the same parent. Only places that are written anyway are told.
    pub(super) fn moved(&mut self, blocks: &[BlockId], order: &[u8]) {
        let order: Arc<[u8]> = Arc::from(order);
        for block in blocks {
            if let Some(Some(place)) = self.staged.get_mut(block) {
                place.order = Arc::clone(&order);
            }
        }
    }

    /// The blocks whose rows were written since the last call.
    pub(super) fn take_changed(&mut self) -> Vec<BlockId> {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn flush(&mut self, rows: &mut dyn Transaction, memo: &mut Memo) -> Result<()> {
        let mut staged: Vec<_> = self.staged.iter().map(|(block, place)| (*block, place)).collect();
        staged.sort_unstable_by_key(|(block, _)| *block);
        self.changed.extend(staged.iter().map(|(block, _)| *block));
        let mut value = Vec::with_capacity(64);
        for (block, place) in staged {
            memo.forget_place(block);
            let key = keyspaces::place(block);
            match place {
                Some(place) => {
                    records::seal_into(&key, &mut value, |out| place::put(out, place));
                    rows.put(&key, &value)?;
                }
                None => rows.delete(&key)?,
            }
        }
        self.staged.clear();
        Ok(())
    }
}
