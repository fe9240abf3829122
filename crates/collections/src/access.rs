//! Access paths: the index ranges, back links or sequential scan that a query plan iterates.

use std::collections::BTreeSet;

use leafbase_model::BlockId;

use crate::query::ColumnRef;
use crate::sort_keys::after;

/// A range of index keys: from `from` inclusive to `to` exclusive, unbounded if `None`. A key is
/// followed by the 16 bytes of the item's ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexRange {
    /// The lower bound in bytes, inclusive.
    pub from: Vec<u8>,
    /// The upper bound in bytes, exclusive; often the successor of a prefix.
    pub to: Option<Vec<u8>>,
}

impl IndexRange {
    pub(crate) fn beginning(prefix: Vec<u8>) -> Self {
        let to = after(&prefix);
        debug_assert!(to.as_ref().is_none_or(|to| *to > prefix), "the successor is an upper bound");
        Self { from: prefix, to }
    }

    /// Whether the range contains `key`, with or without an ID.
    pub fn contains(&self, key: &[u8]) -> bool {
        *self.from <= *key && self.to.as_deref().is_none_or(|to| key < to)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to <= self.from)
    }
}

/// The source of a query's rows.
#[derive(Clone, Debug, PartialEq)]
pub enum AccessPath {
    /// All items of the collection, in any order.
    All,
    /// The items with a key (`index_keys`) in one of the ranges of the column's index: range
    /// after range, within a range by key and ID. No item occurs twice.
    Index {
        /// The column.
        column: ColumnRef,
        /// The ranges, sorted in scan order.
        ranges: Vec<IndexRange>,
        /// Whether each range is iterated backwards.
        backwards: bool,
        /// Whether the items without a key in the index follow, in any order.
        then_empty: bool,
    },
    /// The items related to any of these items, as [`crate::related`] finds them from the other
    /// end, deduplicated.
    Related {
        /// The key of the relation.
        key: String,
        /// The items at its other end.
        items: BTreeSet<BlockId>,
    },
}
