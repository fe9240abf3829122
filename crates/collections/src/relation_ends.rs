//! The two ends of a relation, read from the schemas of both collections.

use leafbase_model::{BlockId, Error, Properties, PropertyValue, Relation, Result};

/// One end of a relation: a property of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RelationEnd {
    pub(crate) collection: BlockId,
    pub(crate) key: String,
    /// Whether an item has at most one related item.
    pub(crate) single: bool,
}

/// The side from which a relation is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The items of this collection store the relation.
    Owner,
    /// Read from back links to the owner's items.
    Inverse,
    /// Both sides are the same property: each pair is stored in either of its two items.
    Symmetric,
}

/// A relation, accessed from its local end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RelationEnds {
    pub(crate) local: RelationEnd,
    pub(crate) remote: RelationEnd,
    pub(crate) side: Side,
}

impl RelationEnds {
    /// Looks up the relation `key` of `collection`.
    pub(crate) fn of(
        collection: BlockId,
        key: &str,
        mut relation_of: impl FnMut(BlockId, &str) -> Result<Option<Relation>>,
    ) -> Result<Self> {
        let broken =
            || Error::corrupted(format_args!("the relation {key:?} of collection {collection}"));
        let relation = relation_of(collection, key)?.ok_or_else(broken)?;
        // A stored relation always has an inverse; the schema is corrupt otherwise.
        let inverse_key = relation.inverse_key.clone().ok_or_else(broken)?;
        let inverse = relation_of(relation.target, &inverse_key)?.ok_or_else(broken)?;
        let side = match relation.is_symmetric(collection, key) {
            true => Side::Symmetric,
            false if relation.owner => Side::Owner,
            false => Side::Inverse,
        };
        Ok(Self {
            local: RelationEnd { collection, key: key.to_owned(), single: relation.single },
            remote: RelationEnd {
                collection: relation.target,
                key: inverse_key,
                single: inverse.single,
            },
            side,
        })
    }

    /// The same relation, accessed from its remote end.
    pub(crate) fn inverse(&self) -> Self {
        let side = match self.side {
            Side::Owner => Side::Inverse,
            Side::Inverse => Side::Owner,
            Side::Symmetric => Side::Symmetric,
        };
        Self { local: self.remote.clone(), remote: self.local.clone(), side }
    }

    /// The end whose items store the relation.
    pub(crate) fn owner(&self) -> &RelationEnd {
        if self.side == Side::Inverse { &self.remote } else { &self.local }
    }
}

/// The items that `values` stores under `key`.
pub(crate) fn listed<'v>(values: &'v Properties, key: &str) -> &'v [BlockId] {
    match values.get(key) {
        Some(PropertyValue::Relations(items)) => items,
        _ => &[],
    }
}

/// Stores related items under `key`; an empty list clears it.
pub(crate) fn put(values: &mut Properties, key: &str, items: Vec<BlockId>) {
    values.set(key, (!items.is_empty()).then_some(PropertyValue::Relations(items)));
}
