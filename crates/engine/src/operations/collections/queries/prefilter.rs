//! The prefilter of an index scan: excludes items by their index bitmaps and by index intersection,
//! without reading them.

use std::collections::HashSet;
use std::ops::ControlFlow;

use leafbase_collections::{
    AccessPath, ColumnRef, IndexIntersection, IndexRange, ItemQuery, QueryPlan, ScanCost,
    lookup_cost,
};
use leafbase_model::{BlockId, Result};
use leafbase_store::{IndexBitmap, IndexedColumn, ItemIndex};

/// What to do with an item of an index.
pub(super) enum PrefilterResult {
    /// It is not a result.
    Skip,
    /// It may be a result.
    Look,
    /// End the scan: looking up the candidates of [`IndexPrefilter::into_candidates`] is cheaper.
    EndScan,
}

/// The prefilter of one query.
pub(super) struct IndexPrefilter<'p> {
    /// Bitmaps by condition: a result has at least one of each list.
    wanted: Vec<Vec<IndexBitmap>>,
    intersection: Option<&'p IndexIntersection>,
    /// The candidates, once collected by an intersection: a superset of the results.
    candidates: Option<HashSet<BlockId>>,
    cost: ScanCost,
    found: usize,
    is_ended: bool,
}

impl<'p> IndexPrefilter<'p> {
    pub(super) fn new(
        index: &ItemIndex<'_>,
        query: &ItemQuery,
        plan: &'p QueryPlan,
        limit: Option<usize>,
    ) -> Self {
        // A column without bitmaps excludes nothing: its condition is skipped.
        let bitmaps = |(column, keys): (_, Vec<Vec<u8>>)| {
            keys.iter().map(|key| index.bitmap(indexed(column), key)).collect::<Option<Vec<_>>>()
        };
        let wanted = query.required_keys().into_iter().filter_map(bitmaps).collect();
        let cost = ScanCost::new(limit.unwrap_or(usize::MAX).saturating_add(1));
        Self {
            wanted,
            intersection: plan.intersection.as_ref(),
            candidates: None,
            cost,
            found: 0,
            is_ended: false,
        }
    }

    /// Decides on an item by its bitmap, before its row is decoded.
    pub(super) fn step(
        &mut self,
        index: &ItemIndex<'_>,
        item: BlockId,
        bitmap: IndexBitmap,
    ) -> Result<PrefilterResult> {
        self.cost.row();
        // Estimated per entry, from cost and results so far.
        if self.is_slow(index)? {
            self.is_ended = true;
            return Ok(PrefilterResult::EndScan);
        }
        let has_one =
            |wanted: &Vec<IndexBitmap>| wanted.iter().any(|wanted| bitmap.may_have(*wanted));
        let is_within =
            self.candidates.as_ref().is_none_or(|candidates| candidates.contains(&item));
        if !is_within || !self.wanted.iter().all(has_one) {
            return Ok(PrefilterResult::Skip);
        }
        self.cost.lookup();
        Ok(PrefilterResult::Look)
    }

    /// Records the number of results found so far.
    pub(super) fn found(&mut self, flow: ControlFlow<(), usize>) -> ControlFlow<()> {
        flow.map_continue(|found| self.found = found)
    }

    /// Whether looking up the candidates is cheaper than scanning on. Collects them once the scan
    /// has cost as much as that would.
    fn is_slow(&mut self, index: &ItemIndex<'_>) -> Result<bool> {
        let Some(intersection) = self.intersection else { return Ok(false) };
        let others = self
            .candidates
            .as_ref()
            .map_or(intersection.max_rows, |candidates| lookup_cost(candidates.len()));
        if !self.cost.is_slow(self.found, others) {
            return Ok(false);
        }
        if self.candidates.is_some() {
            return Ok(true);
        }
        // Collecting costs at most what the scan has already cost.
        let most = intersection.max_rows.max(self.cost.spent());
        Ok(self
            .candidates(index, most)?
            .is_some_and(|candidates| intersection.is_few(candidates.len())))
    }

    /// The candidates, if an index yields them within `most` rows. Collected once.
    pub(super) fn candidates(
        &mut self,
        index: &ItemIndex<'_>,
        most: usize,
    ) -> Result<Option<&HashSet<BlockId>>> {
        let accesses = self.intersection.map_or(&[][..], |intersection| &intersection.accesses);
        for access in accesses {
            if self.candidates.is_some() {
                break;
            }
            self.candidates = collect(index, access, most)?;
        }
        Ok(self.candidates.as_ref())
    }

    /// The candidates to look up if the scan ended early.
    pub(super) fn into_candidates(self) -> Option<HashSet<BlockId>> {
        debug_assert!(
            !self.is_ended || self.candidates.is_some(),
            "a scan ends early only for known candidates"
        );
        self.candidates.filter(|_| self.is_ended)
    }
}

/// The items of an access path, if they are at most `most` rows.
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

/// The column as the store names it.
pub(super) fn indexed(column: &ColumnRef) -> IndexedColumn<'_> {
    match column {
        ColumnRef::Title => IndexedColumn::Title,
        ColumnRef::Property(key) => IndexedColumn::Property(key),
    }
}
