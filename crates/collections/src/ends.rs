//! The two ends of a relation, as the schemas at both have them.

use leafbase_model::{BlockId, Error, Properties, PropertyValue, Relation, Result, Schema};

/// One end: a property of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) collection: BlockId,
    pub(crate) key: String,
    /// Whether an item has one related item at most.
    pub(crate) single: bool,
}

/// Which end is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    /// The one whose items hold the relation.
    Owner,
    /// The one that is read from back links.
    Other,
    /// Both at once: each pair is held by one of its two items, by either.
    Symmetric,
}

/// A relation as seen from one of its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) here: End,
    pub(crate) there: End,
    pub(crate) face: Face,
}

impl Ends {
    /// The relation `key` of `collection`. `schema_of` gives the schema of a collection that
    /// exists.
    pub(crate) fn of(
        collection: BlockId,
        key: &str,
        mut schema_of: impl FnMut(BlockId) -> Result<Option<Schema>>,
    ) -> Result<Self> {
        let broken =
            || Error::corrupted(format_args!("the relation {key:?} of collection {collection}"));
        let mut relation_of = |collection, key: &str| {
            let schema = schema_of(collection)?;
            let relation = schema.as_ref().and_then(|schema| schema.property(key)?.kind.relation());
            Ok::<Relation, Error>(relation.ok_or_else(broken)?.clone())
        };
        let relation = relation_of(collection, key)?;
        let inverse_key = relation.inverse_key.clone().ok_or_else(broken)?;
        let inverse = relation_of(relation.target, &inverse_key)?;
        let face = match relation.is_symmetric(collection, key) {
            true => Face::Symmetric,
            false if relation.owner => Face::Owner,
            false => Face::Other,
        };
        Ok(Self {
            here: End { collection, key: key.to_owned(), single: relation.single },
            there: End { collection: relation.target, key: inverse_key, single: inverse.single },
            face,
        })
    }

    /// The same relation as seen from its other end.
    pub(crate) fn turned(&self) -> Self {
        let face = match self.face {
            Face::Owner => Face::Other,
            Face::Other => Face::Owner,
            Face::Symmetric => Face::Symmetric,
        };
        Self { here: self.there.clone(), there: self.here.clone(), face }
    }

    /// The end whose items hold the relation.
    pub(crate) fn owner(&self) -> &End {
        if self.face == Face::Other { &self.there } else { &self.here }
    }
}

/// The items that `values` relate to by `key`.
pub(crate) fn listed<'v>(values: &'v Properties, key: &str) -> &'v [BlockId] {
    match values.get(key) {
        Some(PropertyValue::Relations(items)) => items,
        _ => &[],
    }
}

/// Relates `values` to these items by `key`; to none clears it.
pub(crate) fn put(values: &mut Properties, key: &str, items: Vec<BlockId>) {
    values.set(key, (!items.is_empty()).then_some(PropertyValue::Relations(items)));
}
