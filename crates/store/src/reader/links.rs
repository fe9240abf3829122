//! Reads of edges: what refers to a target.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{BlockId, Result};

use super::SpaceReader;
use crate::edges::{BackLink, EdgeEnd};
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::records;

impl SpaceReader<'_> {
    /// The blocks that refer to `target`, by kind and ID, after `after`; at most `limit`.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn edges_to(
        &self,
        target: EdgeEnd,
        after: Option<BackLink>,
        limit: usize,
    ) -> Result<Vec<BackLink>> {
        let mut links = Vec::new();
        if limit == 0 {
            return Ok(links);
        }
        let prefix = keyspaces::edges_to(target);
        let end = keyspaces::prefix_end_of(&prefix);
        let after = after.map(|BackLink { kind, source }| keyspaces::edge(target, kind, source));
        let lower = after.as_deref().map_or(Bound::Included(&*prefix), Bound::Excluded);
        let range = KeyRange { lower, ..KeyRange::half_open(&prefix, &end) };
        self.read.scan(range, &mut |key, value| {
            records::decode_empty(key, value)?;
            let (kind, source) = keyspaces::parse_edge(key).ok_or_else(|| records::corrupt(key))?;
            links.push(BackLink { kind, source });
            Ok(if links.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(links)
    }

    /// The first block from `first` on, by ID, that something refers to. On a remote store, where a
    /// seek takes longer than the edges that are read with others, `first` itself.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn next_target(&self, first: BlockId) -> Result<Option<BlockId>> {
        if self.read.is_remote() {
            return Ok(Some(first));
        }
        let mut found = None;
        let (start, end) = (
            keyspaces::edges_to(EdgeEnd::Block(first)),
            keyspaces::prefix_end(keyspaces::edges_to_blocks()),
        );
        self.read.scan(KeyRange::half_open(&start, &end), &mut |key, _| {
            let target = keyspaces::parse_edge_to_block(key);
            found = Some(target.ok_or_else(|| records::corrupt(key))?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }
}
