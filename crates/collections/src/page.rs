//! A page of an answer: rows are offered as an access gives them, and come out filtered and in
//! order.

use std::collections::BinaryHeap;

use leafbase_model::BlockId;

use crate::plan::Plan;
use crate::query::{Place, Query, Row};

/// Takes the rows of a plan and keeps those of one page, and no more in memory.
#[derive(Debug)]
pub struct Page<'a> {
    query: &'a Query,
    is_sorted: bool,
    limit: usize,
    after: Option<Place>,
    /// The least places by now: one more than the page has, to know whether more follows.
    kept: BinaryHeap<(Place, BlockId)>,
}

/// What became of a row that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// It is of the page, if none that is still to come takes its place.
    pub is_kept: bool,
    /// Whether the page may still change: if not, no further row need be offered.
    pub may_change: bool,
}

/// The items of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The items, in order.
    pub items: Vec<BlockId>,
    /// Where the next page goes on; none if this is the last.
    pub next: Option<Place>,
}

impl<'a> Page<'a> {
    /// At most so many items (none: all) that follow `after`.
    pub fn new(query: &'a Query, plan: &Plan, limit: Option<usize>, after: Option<Place>) -> Self {
        let limit = limit.unwrap_or(usize::MAX);
        Self { query, is_sorted: plan.is_sorted, limit, after, kept: BinaryHeap::new() }
    }

    /// Looks at a row.
    #[must_use]
    pub fn offer(&mut self, row: Row<'_>) -> Offer {
        let is_full = self.kept.len() > self.limit;
        if !is_full && !self.query.matches(row) {
            return Offer { is_kept: false, may_change: true };
        }
        let place = self.query.place(row);
        let greatest = self.kept.peek().map(|(place, _)| place).filter(|_| is_full);
        if self.is_sorted
            && greatest
                .is_some_and(|greatest| place.first(self.query) != greatest.first(self.query))
        {
            return Offer { is_kept: false, may_change: false };
        }
        let is_wanted = self.after.as_ref().is_none_or(|after| place > *after)
            && greatest.is_none_or(|greatest| place < *greatest)
            && (!is_full || self.query.matches(row));
        if is_wanted {
            if is_full {
                self.kept.pop();
            }
            self.kept.push((place, row.id));
        }
        // Equal ones come by ID: with a single sort, or none, no row that is still to come is
        // before those kept.
        let by_id = self.query.sort.is_empty() || (self.query.sort.len() == 1 && self.has_keys());
        Offer {
            is_kept: is_wanted,
            may_change: !(self.is_sorted && by_id && self.kept.len() > self.limit),
        }
    }

    /// The items that are kept by now, in any order: no other of those offered comes out.
    pub fn kept(&self) -> impl ExactSizeIterator<Item = BlockId> + '_ {
        self.kept.iter().map(|(_, id)| *id)
    }

    /// Whether those kept have a key in the index: those without come in any order.
    fn has_keys(&self) -> bool {
        self.kept.peek().is_some_and(|(place, _)| matches!(place.first(self.query), Some(Some(_))))
    }

    /// The page.
    pub fn finish(self) -> Found {
        let mut kept = self.kept.into_sorted_vec();
        let is_last = kept.len() <= self.limit;
        kept.truncate(self.limit);
        let next = kept.last().map(|(place, _)| place.clone()).filter(|_| !is_last);
        Found { items: kept.into_iter().map(|(_, id)| id).collect(), next }
    }
}
