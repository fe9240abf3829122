//! What makes the walk over a sorted index short, where conditions are on other columns: what tells
//! of an item without a look at it.

use std::cmp::Ordering;

use leafbase_model::{PropertyKind, PropertyValue};

use crate::conditions::{Among, Test};
use crate::plan::Access;
use crate::query::{ColumnRef, Query};
use crate::sort_key::{index_keys, option_key};

/// To look an item up costs as much as so many rows of an index.
const ROWS_PER_LOOKUP: usize = 16;

/// What is learned from so many rows is worth something.
const SAMPLE: usize = 512;

/// Conditions by which a walk can be made shorter: items that are not in one of these accesses are
/// not in the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Narrowing {
    /// For each column with conditions, the rows that meet them.
    pub accesses: Vec<Access>,
    /// Twice the root of the items wanted times all: so many rows are worth to be read for it.
    pub most: usize,
}

impl Narrowing {
    /// Whether looking up so many items, which an access gave, costs less than to look for them on
    /// a walk to as many as are wanted.
    pub const fn is_few(&self, items: usize) -> bool {
        let root = self.most / 2;
        rows_of_lookups(items).saturating_mul(items) <= root.saturating_mul(root)
    }
}

/// Watches what a walk costs and what it finds, in rows of an index.
#[derive(Debug)]
pub struct Pace {
    wanted: usize,
    spent: usize,
    looked_at: usize,
}

impl Pace {
    /// Of a walk that ends with so many items.
    pub fn new(wanted: usize) -> Self {
        Self { wanted, spent: 0, looked_at: SAMPLE }
    }

    /// What it has cost by now.
    pub const fn spent(&self) -> usize {
        self.spent
    }

    /// A row was read.
    pub fn row(&mut self) {
        self.spent += 1;
    }

    /// An item was looked up.
    pub fn lookup(&mut self) {
        self.spent += ROWS_PER_LOOKUP;
    }

    /// Whether going on as until now, with so many items found, would probably cost more than
    /// reading `others` rows. It is asked after each row, and considered each time that the cost
    /// has doubled.
    #[must_use]
    pub fn is_slow(&mut self, found: usize, others: usize) -> bool {
        if self.spent < self.looked_at {
            return false;
        }
        self.looked_at = self.spent.saturating_mul(2);
        let missing = self.wanted.saturating_sub(found);
        self.spent.saturating_mul(missing).cmp(&others.saturating_mul(found)) == Ordering::Greater
    }
}

/// What looking up so many items costs, in rows of an index.
pub const fn rows_of_lookups(items: usize) -> usize {
    items.saturating_mul(ROWS_PER_LOOKUP)
}

impl Query {
    /// What every item of the answer has: for each of these, one of the keys ([`index_keys`]) in
    /// the index of the column. Selects and booleans alone.
    pub fn required_keys(&self) -> Vec<(&ColumnRef, Vec<Vec<u8>>)> {
        let mut required = Vec::new();
        for condition in
            self.conditions.iter().filter(|condition| condition.required && condition.wanted)
        {
            let column = &condition.on.column;
            match &condition.test {
                Test::Boolean(value) => {
                    required.push((
                        column,
                        index_keys(&PropertyKind::Boolean, &PropertyValue::Boolean(*value)),
                    ));
                }
                Test::Option(names) | Test::Options(Among::Any, names) => {
                    required.push((column, names.iter().map(|name| option_key(name)).collect()));
                }
                Test::Options(Among::All | Among::Just, names) => {
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
            let mut pace = Pace::new(20);
            (0..SAMPLE - 1).for_each(|_| pace.row());
            assert!(!pace.is_slow(found, others), "too early");
            pace.row();
            assert_eq!(pace.is_slow(found, others), is_slow, "{found} {others}");
            pace.lookup();
            assert!(!pace.is_slow(0, 0), "not again before it has doubled");
            (0..SAMPLE / ROWS_PER_LOOKUP).for_each(|_| pace.lookup());
            assert!(pace.is_slow(0, 0));
        }
    }
}
