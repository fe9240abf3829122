//! Reads of the children and the siblings of a block.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{BlockId, BlockRecord, DocumentId, Result};

use super::SpaceReader;
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::lookup::load_first;
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::run::RunView;

impl SpaceReader<'_> {
    /// The last child of `parent`, a block of `document`.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn last_child(&self, document: DocumentId, parent: BlockId) -> Result<Option<BlockId>> {
        let start = keyspaces::parent_runs(document, parent);
        let end = keyspaces::prefix_end(start);
        let runs = KeyRange::half_open(&start, &end).reversed();
        load_first(self.read, runs)?;
        let mut last = None;
        self.read.scan(runs, &mut |key, value| {
            last = RunView::read(key, value)?.ids().next_back();
            if let (Some(cache), Some(last)) = (self.transaction_cache(), last) {
                // An appended block is inserted after this one.
                cache.add_last_child(last, key, value)?;
            }
            Ok(ControlFlow::Break(()))
        })?;
        Ok(last)
    }

    /// The sibling before `block`; `None` if it is the first, a root, or missing.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn previous_sibling(&self, block: BlockId) -> Result<Option<BlockId>> {
        if let Some(before) =
            self.transaction_cache().and_then(|cache| cache.previous_sibling(block))
        {
            return Ok(Some(before));
        }
        let Some(location) = self.location(block)? else { return Ok(None) };
        // The previous run is read after the visit: a visit of the cached run may not read again.
        let (mut before, mut first_of) = (None, None);
        self.find_in_runs(&location, block, &mut |key, run, index| {
            match index.checked_sub(1) {
                // The sibling before the first block of a run is the last one of the previous run.
                Some(index) => before = run.ids().nth(index),
                None => first_of = Some(key.to_owned()),
            }
            Ok(())
        })?;
        let Some(key) = first_of else { return Ok(before) };
        let start = keyspaces::parent_runs(location.document, location.parent);
        let runs = KeyRange::half_open(&start, &key).reversed();
        load_first(self.read, runs)?;
        self.read.scan(runs, &mut |key, value| {
            before = RunView::read(key, value)?.ids().next_back();
            Ok(ControlFlow::Break(()))
        })?;
        Ok(before)
    }

    /// The siblings after `block`, at most `limit`; none after a root, or if it is missing.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn next_siblings(&self, block: BlockId, limit: usize) -> Result<Vec<BlockId>> {
        let (mut siblings, mut last) = (Vec::new(), None);
        let Some(location) = self.location(block)? else { return Ok(siblings) };
        self.find_in_runs(&location, block, &mut |key, run, index| {
            siblings.extend(run.ids().skip(index + 1).take(limit));
            last = Some(key.to_owned());
            Ok(())
        })?;
        let start = keyspaces::parent_runs(location.document, location.parent);
        let end = keyspaces::prefix_end(start);
        let lower = last.as_deref().map_or(Bound::Included(&start[..]), Bound::Excluded);
        let runs = KeyRange { lower, ..KeyRange::half_open(&start, &end) };
        if siblings.len() < limit {
            self.read.scan(runs, &mut |key, value| {
                let missing = limit - siblings.len();
                siblings.extend(RunView::read(key, value)?.ids().take(missing));
                let is_full = siblings.len() >= limit;
                Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
        }
        Ok(siblings)
    }

    /// The first children of `parent`, at most `limit`.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn first_children(
        &self,
        document: DocumentId,
        parent: BlockId,
        limit: usize,
    ) -> Result<Vec<BlockRecord>> {
        let start = keyspaces::parent_runs(document, parent);
        let (mut children, mut authors) = (Vec::new(), AuthorCache::default());
        if limit == 0 {
            return Ok(children);
        }
        self.read.scan(
            KeyRange::half_open(&start, &keyspaces::prefix_end(start)),
            &mut |key, value| {
                for (id, record) in
                    RunView::read(key, value)?.entries().take(limit - children.len())
                {
                    let child = block::decode(id, record, &mut authors)
                        .map_err(|error| records::decode_error(key, error))?;
                    children.push(child);
                }
                Ok(if children.len() < limit {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            },
        )?;
        Ok(children)
    }

    /// The IDs of all children of `parent`, in order. No block is decoded.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn children(&self, document: DocumentId, parent: BlockId) -> Result<Vec<BlockId>> {
        let start = keyspaces::parent_runs(document, parent);
        let mut children = Vec::new();
        self.read.scan(
            KeyRange::half_open(&start, &keyspaces::prefix_end(start)),
            &mut |key, value| {
                children.extend(RunView::read(key, value)?.ids());
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(children)
    }
}
