//! Index intersection: conditions on other columns shorten the scan of the sorted index, because
//! their indexes rule items out without reading them.

use std::cmp::Ordering;

use leafbase_model::{PropertyKind, PropertyValue};

use crate::access::AccessPath;
use crate::predicates::{Predicate, SetMatch};
use crate::query::{ColumnRef, ItemQuery};
use crate::sort_keys::{index_keys, option_key};

/// Cost of looking up one item, in iterated index rows.
const ROWS_PER_LOOKUP: usize = 16;

/// Threshold of scanned index rows from which the cost estimate is consulted.
const MIN_SAMPLE_ROWS: usize = 512;

/// Index accesses for the conditions on other columns: every result is in all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexIntersection {
    /// For each column with conditions, the rows that satisfy them.
    pub accesses: Vec<AccessPath>,
    /// Index rows that reading these accesses may cost: twice the square root of wanted items times
    /// all items.
    pub max_rows: usize,
}

impl IndexIntersection {
    /// Whether looking up `items` items costs less than scanning the sorted index for the wanted
    /// ones.
    pub const fn is_few(&self, items: usize) -> bool {
        let root = self.max_rows / 2;
        // Both sides are squared, so that no root has to be computed.
        lookup_cost(items).saturating_mul(items) <= root.saturating_mul(root)
    }
}

/// Measures the cost of a scan in index rows, against the items that it finds.
#[derive(Debug)]
pub struct ScanCost {
    wanted: usize,
    spent: usize,
    next_estimate: usize,
}

impl ScanCost {
    /// For a scan that ends after `wanted` items.
    pub fn new(wanted: usize) -> Self {
        Self { wanted, spent: 0, next_estimate: MIN_SAMPLE_ROWS }
    }

    /// The cost so far.
    pub const fn spent(&self) -> usize {
        self.spent
    }

    /// Counts an index row.
    pub fn row(&mut self) {
        self.spent += 1;
    }

    /// Counts a lookup of an item.
    pub fn lookup(&mut self) {
        self.spent += ROWS_PER_LOOKUP;
    }

    /// Whether the rest of the scan, at the present rate of `found` items, would cost more than
    /// reading `others` index rows. To be called after each row; estimates again only when the cost
    /// has doubled.
    #[must_use]
    pub fn is_slow(&mut self, found: usize, others: usize) -> bool {
        if self.spent < self.next_estimate {
            return false;
        }
        // Doubling keeps the number of estimates logarithmic in the cost of the scan.
        self.next_estimate = self.spent.saturating_mul(2);
        // The remaining cost is `spent / found * missing`; multiplied out to avoid a division by
        // zero.
        let missing = self.wanted.saturating_sub(found);
        self.spent.saturating_mul(missing).cmp(&others.saturating_mul(found)) == Ordering::Greater
    }
}

/// Cost of looking up `items` items, in index rows.
pub const fn lookup_cost(items: usize) -> usize {
    items.saturating_mul(ROWS_PER_LOOKUP)
}

impl ItemQuery {
    /// Index keys that every result has, by column: at least one of each list. Only for selects and
    /// booleans.
    pub fn required_keys(&self) -> Vec<(&ColumnRef, Vec<Vec<u8>>)> {
        let mut required = Vec::new();
        for condition in
            self.conditions.iter().filter(|condition| condition.required && condition.wanted)
        {
            let column = &condition.on.column;
            match &condition.predicate {
                // Only columns with few distinct values have index bitmaps.
                Predicate::Boolean(value) => {
                    required.push((
                        column,
                        index_keys(&PropertyKind::Boolean, &PropertyValue::Boolean(*value)),
                    ));
                }
                Predicate::Option(names) | Predicate::Options(SetMatch::Any, names) => {
                    required.push((column, names.iter().map(|name| option_key(name)).collect()));
                }
                Predicate::Options(SetMatch::All | SetMatch::Exactly, names) => {
                    required.extend(names.iter().map(|name| (column, vec![option_key(name)])));
                }
                _ => {}
            }
        }
        required
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_that_finds_little_is_slow() {
        for (found, others, is_slow) in [
            (0, 2_000, true),
            (1, 2_000, true),
            (4, 2_100, false),
            (4, 2_000, true),
            (20, 1, false),
            (21, 0, false),
        ] {
            let mut pace = ScanCost::new(20);
            (0..MIN_SAMPLE_ROWS - 1).for_each(|_| pace.row());
            assert!(!pace.is_slow(found, others), "too early");
            pace.row();
            assert_eq!(pace.is_slow(found, others), is_slow, "{found} {others}");
            pace.lookup();
            assert!(!pace.is_slow(0, 0), "not again before it has doubled");
            (0..MIN_SAMPLE_ROWS / ROWS_PER_LOOKUP).for_each(|_| pace.lookup());
            assert!(pace.is_slow(0, 0));
        }
    }
}
