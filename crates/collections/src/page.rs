//! Builds one page of a result from rows in access order.

use std::collections::BinaryHeap;

use leafbase_model::BlockId;

use crate::plan::QueryPlan;
use crate::query::{ItemQuery, OrderKey, QueryRow};

/// Filters and sorts the rows of a plan in a bounded heap: larger order keys are evicted.
#[derive(Debug)]
pub struct QueryPageBuilder<'a> {
    query: &'a ItemQuery,
    is_sorted: bool,
    limit: usize,
    after: Option<OrderKey>,
    /// The smallest order keys so far: one more than the page has, to know whether another page
    /// follows.
    kept: BinaryHeap<(OrderKey, BlockId)>,
}

/// The result of pushing a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushResult {
    /// Whether the row is on the page, unless a later row diskeys it.
    pub is_kept: bool,
    /// Whether the page can still change. If not, the scan can end.
    pub may_change: bool,
}

/// A page of items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryPage {
    /// The items, in order.
    pub items: Vec<BlockId>,
    /// The cursor of the next page. `None` on the last page.
    pub next: Option<OrderKey>,
}

impl<'a> QueryPageBuilder<'a> {
    /// A page of up to `limit` items (`None`: all) that follow `after`.
    pub fn new(
        query: &'a ItemQuery,
        plan: &QueryPlan,
        limit: Option<usize>,
        after: Option<OrderKey>,
    ) -> Self {
        let limit = limit.unwrap_or(usize::MAX);
        Self { query, is_sorted: plan.is_sorted, limit, after, kept: BinaryHeap::new() }
    }

    /// Adds a row in access order.
    #[must_use]
    pub fn push(&mut self, row: QueryRow<'_>) -> PushResult {
        // One more than the limit: the extra row shows that another page follows.
        let is_full = self.kept.len() > self.limit;
        if !is_full && !self.query.matches(row) {
            return PushResult { is_kept: false, may_change: true };
        }
        // For a full heap the cheap key comparison runs before the filter.
        let key = self.query.order_key(row);
        let greatest = self.kept.peek().map(|(key, _)| key).filter(|_| is_full);
        if self.is_sorted
            && greatest.is_some_and(|greatest| key.first(self.query) != greatest.first(self.query))
        {
            // In sorted access order, a larger first key means that no later row is smaller.
            return PushResult { is_kept: false, may_change: false };
        }
        let is_wanted = self.after.as_ref().is_none_or(|after| key > *after)
            && greatest.is_none_or(|greatest| key < *greatest)
            && (!is_full || self.query.matches(row));
        if is_wanted {
            if is_full {
                self.kept.pop();
            }
            self.kept.push((key, row.id));
        }
        // Ties come sorted by ID: with at most one sort, no later row precedes the kept ones.
        let by_id = self.query.sort.is_empty() || (self.query.sort.len() == 1 && self.has_keys());
        PushResult {
            is_kept: is_wanted,
            may_change: !(self.is_sorted && by_id && self.kept.len() > self.limit),
        }
    }

    /// The items kept so far, in any order. No other row pushed so far will be on the page.
    pub fn kept(&self) -> impl ExactSizeIterator<Item = BlockId> + '_ {
        self.kept.iter().map(|(_, id)| *id)
    }

    /// Whether the kept items have index keys. Items without one come in no particular order.
    fn has_keys(&self) -> bool {
        self.kept.peek().is_some_and(|(key, _)| matches!(key.first(self.query), Some(Some(_))))
    }

    /// The finished page.
    pub fn finish(self) -> QueryPage {
        debug_assert!(
            self.kept.len() <= self.limit.saturating_add(1),
            "the heap is bounded by the page"
        );
        let mut kept = self.kept.into_sorted_vec();
        let is_last = kept.len() <= self.limit;
        kept.truncate(self.limit);
        let next = kept.last().map(|(key, _)| key.clone()).filter(|_| !is_last);
        QueryPage { items: kept.into_iter().map(|(_, id)| id).collect(), next }
    }
}
