//! Reads of edges: what refers to a target.

use std::ops::{Bound, ControlFlow};

use leafbase_model::Result;

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
}
