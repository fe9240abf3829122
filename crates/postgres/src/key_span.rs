//! Ranges of keys with one kind of bounds: from a key on, and before another one.

use std::ops::Bound;

use leafbase_kv::KeyRange;

/// The keys from `lower` on, and before `upper` unless that is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeySpan {
    pub(crate) lower: Vec<u8>,
    pub(crate) upper: Option<Vec<u8>>,
}

/// The lowest key above `key`.
pub(crate) fn successor(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

impl KeySpan {
    /// The keys of `range`, whatever its direction.
    pub(crate) fn of(range: KeyRange<'_>) -> Self {
        let lower = match range.lower {
            Bound::Unbounded => Vec::new(),
            Bound::Included(key) => key.to_vec(),
            Bound::Excluded(key) => successor(key),
        };
        let upper = match range.upper {
            Bound::Unbounded => None,
            Bound::Included(key) => Some(successor(key)),
            Bound::Excluded(key) => Some(key.to_vec()),
        };
        Self { lower, upper }
    }

    /// Whether no key is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.upper.as_ref().is_some_and(|upper| *upper <= self.lower)
    }
}

/// Whether the bound `upper` is at most `other`, where `None` is above all keys.
pub(crate) fn is_at_most(upper: Option<&[u8]>, other: Option<&[u8]>) -> bool {
    match (upper, other) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(upper), Some(other)) => upper <= other,
    }
}
