//! What holds items of an index back that cannot be in the answer, without a look at them.

use std::collections::HashSet;
use std::ops::ControlFlow;

use leafbase_collections::{
    AccessPath, IndexIntersection, IndexRange, ItemQuery, QueryPlan, ScanCost, lookup_cost,
};
use leafbase_model::{BlockId, Result};
use leafbase_store::{IndexBitmap, ItemIndex};

use super::rows::indexed;

/// What to do with an item that an index names.
pub(super) enum Step {
    /// It is not in the answer.
    Skip,
    /// It may be.
    Look,
    /// No more is to be read: it costs less to look at the few that [`Sieve::into_few`] gives.
    Leave,
}

/// The sieve of one query.
pub(super) struct Sieve<'p> {
    /// Of each of these, an item of the answer has one.
    wanted: Vec<Vec<IndexBitmap>>,
    narrowing: Option<&'p IndexIntersection>,
    /// Items that no other is of the answer, once they were collected.
    within: Option<HashSet<BlockId>>,
    pace: ScanCost,
    found: usize,
    is_left: bool,
}

impl<'p> Sieve<'p> {
    pub(super) fn new(
        index: &ItemIndex<'_>,
        query: &ItemQuery,
        plan: &'p QueryPlan,
        limit: Option<usize>,
    ) -> Self {
        let bitmaps = |(column, keys): (_, Vec<Vec<u8>>)| {
            keys.iter().map(|key| index.bitmap(indexed(column), key)).collect::<Option<Vec<_>>>()
        };
        let wanted = query.required_keys().into_iter().filter_map(bitmaps).collect();
        let pace = ScanCost::new(limit.unwrap_or(usize::MAX).saturating_add(1));
        Self {
            wanted,
            narrowing: plan.intersection.as_ref(),
            within: None,
            pace,
            found: 0,
            is_left: false,
        }
    }

    /// What to do with an item of this bitmap.
    pub(super) fn step(
        &mut self,
        index: &ItemIndex<'_>,
        item: BlockId,
        bitmap: IndexBitmap,
    ) -> Result<Step> {
        self.pace.row();
        if self.is_slow(index)? {
            self.is_left = true;
            return Ok(Step::Leave);
        }
        let has_one =
            |wanted: &Vec<IndexBitmap>| wanted.iter().any(|wanted| bitmap.may_have(*wanted));
        let is_within = self.within.as_ref().is_none_or(|within| within.contains(&item));
        if !is_within || !self.wanted.iter().all(has_one) {
            return Ok(Step::Skip);
        }
        self.pace.lookup();
        Ok(Step::Look)
    }

    /// So many were found, if not all.
    pub(super) fn found(&mut self, flow: ControlFlow<(), usize>) -> ControlFlow<()> {
        flow.map_continue(|found| self.found = found)
    }

    /// Whether it is better to look at all that are collected, which they are once reading takes
    /// longer than that.
    fn is_slow(&mut self, index: &ItemIndex<'_>) -> Result<bool> {
        let Some(narrowing) = self.narrowing else { return Ok(false) };
        let others =
            self.within.as_ref().map_or(narrowing.max_rows, |within| lookup_cost(within.len()));
        if !self.pace.is_slow(self.found, others) {
            return Ok(false);
        }
        if self.within.is_some() {
            return Ok(true);
        }
        // Reading for it takes no longer than has been taken already.
        let most = narrowing.max_rows.max(self.pace.spent());
        Ok(self.within(index, most)?.is_some_and(|within| narrowing.is_few(within.len())))
    }

    /// All items that can be in the answer, if an index names them in no more rows than that; they
    /// are collected once.
    pub(super) fn within(
        &mut self,
        index: &ItemIndex<'_>,
        most: usize,
    ) -> Result<Option<&HashSet<BlockId>>> {
        let accesses = self.narrowing.map_or(&[][..], |narrowing| &narrowing.accesses);
        for access in accesses {
            if self.within.is_some() {
                break;
            }
            self.within = collect(index, access, most)?;
        }
        Ok(self.within.as_ref())
    }

    /// The items to be looked at, if reading was left.
    pub(super) fn into_few(self) -> Option<HashSet<BlockId>> {
        self.within.filter(|_| self.is_left)
    }
}

/// The items of an access, if they have no more rows than that.
fn collect(
    index: &ItemIndex<'_>,
    access: &AccessPath,
    most: usize,
) -> Result<Option<HashSet<BlockId>>> {
    let AccessPath::Index { column, ranges, .. } = access else { return Ok(None) };
    let (mut found, mut rows) = (HashSet::new(), 0);
    for IndexRange { from, to } in ranges {
        index.scan(indexed(column), from, to.as_deref(), false, &mut |item, _| {
            found.insert(item);
            rows += 1;
            Ok(if rows <= most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if rows > most {
            return Ok(None);
        }
    }
    Ok(Some(found))
}
