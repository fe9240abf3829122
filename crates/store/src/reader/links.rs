//! Reads of edges: what points to something.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{BlockData, Result};

use super::SpaceReader;
use crate::edges::{BackLink, EdgeEnd, EdgeTarget, Extractor};
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::records;

/// What `data` points to, sorted, each once.
pub(crate) fn targets(extractor: Extractor, data: &BlockData) -> Vec<EdgeTarget> {
    let mut targets = Vec::new();
    (extractor.edges)(data, &mut |target| targets.push(target));
    targets.sort_unstable();
    targets.dedup();
    targets
}

impl SpaceReader<'_> {
    /// At most `limit` blocks that point to `target`, by kind and ID, after `after`.
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
        let end = keyspaces::end_of_slice(&prefix);
        let after = after.map(|BackLink { kind, source }| keyspaces::edge(target, kind, source));
        let lower = after.as_deref().map_or(Bound::Included(&*prefix), Bound::Excluded);
        let range = KeyRange { lower, ..KeyRange::half_open(&prefix, &end) };
        self.read.scan(range, &mut |key, value| {
            records::read_empty(key, value)?;
            let (kind, source) = keyspaces::read_edge(key).ok_or_else(|| records::damaged(key))?;
            links.push(BackLink { kind, source });
            Ok(if links.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(links)
    }
}
