//! Constraint check of stored items and schemas, after writes that no operation validated: changes
//! undone later.
//!
//! It states the constraints of values and relations for stored data; `values.rs` and
//! `relations.rs` state them for requests.

use std::collections::HashMap;
use std::rc::Rc;

use leafbase_model::{
    BlockId, Error, ErrorKind, Properties, Property, PropertyKind, PropertyValue, Relation, Result,
    Schema,
};

use crate::relation_ends::listed;

use crate::property_types::rules;
use crate::reader::{ReadCollections, all_naming};

/// Checks items and schemas of one state. Caches schemas.
#[derive(Debug)]
pub struct ConstraintCheck<'a, R: ?Sized> {
    reader: &'a R,
    schemas: HashMap<BlockId, Option<Rc<Schema>>>,
}

/// A relation at the end that stores it.
#[derive(Clone, Copy)]
struct HeldRelation<'p> {
    collection: BlockId,
    key: &'p str,
    relation: &'p Relation,
}

impl<'a, R: ReadCollections + ?Sized> ConstraintCheck<'a, R> {
    /// Checks the state that `reader` reads.
    pub fn new(reader: &'a R) -> Self {
        Self { reader, schemas: HashMap::new() }
    }

    /// Checks the values of `item` under the keys that `is_wanted` selects: that the schema of
    /// `collection` admits them, that related items exist in the target collection, and that single
    /// relations hold one item at either end.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] that names item and property; errors of the reader.
    pub fn item(
        &mut self,
        item: BlockId,
        collection: BlockId,
        values: &Properties,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<()> {
        let schema = self.schema(collection)?;
        let schema =
            schema.ok_or_else(|| conflict(format!("item {item} would be in no collection")))?;
        for (key, value) in values.iter().filter(|(key, _)| is_wanted(key)) {
            if let Some(violation) =
                self.violation(item, collection, schema.property(key), value)?
            {
                return Err(refused(item, key, &violation));
            }
        }
        Ok(())
    }

    /// Checks that every stored relation to `item` targets `collection`, which contains it. With
    /// `None` the item is gone, and nothing may name it.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] that names the other item and its property; errors of the reader.
    pub fn named(&mut self, item: BlockId, collection: Option<BlockId>) -> Result<()> {
        for holder in all_naming(self.reader, item)? {
            // The back link may be of an item outside of the caller's scope.
            let stored = self.reader.item(holder)?;
            let collection_of = stored.as_ref().map(|stored| self.schema(stored.collection));
            let schema = collection_of.transpose()?.flatten();
            let values = stored.map_or_else(Properties::default, |stored| stored.values);
            for (key, _) in values.iter().filter(|(key, _)| listed(&values, key).contains(&item)) {
                let property = schema.as_ref().and_then(|schema| schema.property(key));
                let target = property
                    .and_then(|property| property.kind.relation())
                    .map(|relation| relation.target);
                if target.is_none() || target != collection {
                    let violation = match collection {
                        None => format!("it names item {item}, which would be gone"),
                        Some(_) => {
                            format!("it names item {item}, which would be in another collection")
                        }
                    };
                    return Err(refused(holder, key, &violation));
                }
            }
        }
        Ok(())
    }

    /// Checks that every relation of `collection` has its inverse, and exactly one owner. Does
    /// nothing if there is no such collection.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] that names collection and property; errors of the reader.
    pub fn ends(&mut self, collection: BlockId) -> Result<()> {
        let Some(schema) = self.schema(collection)? else { return Ok(()) };
        for Property { key, kind, .. } in &schema.properties {
            if let Some(relation) = kind.relation()
                && let Some(violation) =
                    self.end_violation(HeldRelation { collection, key, relation })?
            {
                return Err(conflict(format!(
                    "property {key:?} of collection {collection}: {violation}"
                )));
            }
        }
        Ok(())
    }

    fn schema(&mut self, collection: BlockId) -> Result<Option<Rc<Schema>>> {
        if let Some(known) = self.schemas.get(&collection) {
            return Ok(known.clone());
        }
        let schema = self.reader.schema(collection)?.map(Rc::new);
        self.schemas.insert(collection, schema.clone());
        Ok(schema)
    }

    /// The inverse of a relation. `None` if it is missing.
    fn other_end(&mut self, relation: &Relation) -> Result<Option<Relation>> {
        let schema = self.schema(relation.target)?;
        let key = relation.inverse_key.as_deref();
        let property = schema.as_ref().zip(key).and_then(|(schema, key)| schema.property(key));
        Ok(property.and_then(|property| property.kind.relation()).cloned())
    }

    fn end_violation(
        &mut self,
        HeldRelation { collection, key, relation }: HeldRelation<'_>,
    ) -> Result<Option<&'static str>> {
        let Some(other) = self.other_end(relation)? else {
            return Ok(Some("its other end would be missing"));
        };
        let is_back = other.target == collection && other.inverse_key.as_deref() == Some(key);
        Ok(match (is_back, relation.is_symmetric(collection, key)) {
            (false, _) => Some("its other end would lead elsewhere"),
            (true, true) if !relation.owner => Some("nothing would own it"),
            (true, false) if relation.owner == other.owner => {
                Some("not exactly one end would own it")
            }
            _ => None,
        })
    }

    /// The violation of one value, if any.
    fn violation(
        &mut self,
        item: BlockId,
        collection: BlockId,
        property: Option<&Property>,
        value: &PropertyValue,
    ) -> Result<Option<String>> {
        let Some(Property { key, kind, .. }) = property else {
            return Ok(Some("the collection has no such property".to_owned()));
        };
        match (kind, value) {
            (PropertyKind::Relation(relation), PropertyValue::Relations(items)) => {
                self.relation_violation(item, HeldRelation { collection, key, relation }, items)
            }
            // The rules of the type decide, as they do for requests; lengths are not checked.
            _ if rules(kind).admits(kind, value) => Ok(None),
            _ => Ok(Some(format!(
                "the property, of type {}, does not take its value",
                kind.property_type()
            ))),
        }
    }

    fn relation_violation(
        &mut self,
        item: BlockId,
        held: HeldRelation<'_>,
        items: &[BlockId],
    ) -> Result<Option<String>> {
        let HeldRelation { collection, key, relation } = held;
        if !relation.owner {
            return Ok(Some("the other end owns the relation".to_owned()));
        }
        let Some(other) = self.other_end(relation)? else {
            return Ok(Some("the other end of the relation is missing".to_owned()));
        };
        for other in items {
            // A dangling ID: the item was deleted, or moved to another collection.
            if self.reader.item(*other)?.is_none_or(|stored| stored.collection != relation.target) {
                return Ok(Some(format!(
                    "{other} is not an item of collection {}",
                    relation.target
                )));
            }
        }
        if relation.is_symmetric(collection, key) {
            // Both items of a symmetric pair are owners, so their counts add up.
            return if relation.single {
                self.symmetric_violation(held, item, items)
            } else {
                Ok(None)
            };
        }
        if relation.single && items.len() > 1 {
            return Ok(Some("it takes one item".to_owned()));
        }
        // The inverse is single, too: no sibling may store the same item.
        for named in items.iter().filter(|_| other.single) {
            if let Some(rival) =
                self.holders(held, *named)?.into_iter().find(|holder| *holder != item)
            {
                return Ok(Some(format!("{named}, which takes one item, is related to {rival}")));
            }
        }
        Ok(None)
    }

    /// For a single symmetric relation: checks that `item` and each item that it stores are in one
    /// pair.
    fn symmetric_violation(
        &self,
        held: HeldRelation<'_>,
        item: BlockId,
        items: &[BlockId],
    ) -> Result<Option<String>> {
        for one in items.iter().chain([&item]) {
            let stored = self.reader.item(*one)?;
            // A pair is stored in either of its two items: stored IDs and back links both count.
            let own = stored.as_ref().map_or(0, |stored| listed(&stored.values, held.key).len());
            let others =
                self.holders(held, *one)?.into_iter().filter(|holder| holder != one).count();
            if own + others > 1 {
                return Ok(Some(format!("{one}, which takes one item, is related to more")));
            }
        }
        Ok(None)
    }

    /// The items that name `named` by this relation, sorted by ID.
    fn holders(&self, held: HeldRelation<'_>, named: BlockId) -> Result<Vec<BlockId>> {
        let mut found = Vec::new();
        for holder in all_naming(self.reader, named)? {
            let stored = self.reader.item(holder)?;
            if stored.is_some_and(|stored| {
                stored.collection == held.collection
                    && listed(&stored.values, held.key).contains(&named)
            }) {
                found.push(holder);
            }
        }
        Ok(found)
    }
}

fn refused(item: BlockId, key: &str, violation: &str) -> Error {
    conflict(format!("property {key:?} of item {item}: {violation}"))
}

fn conflict(message: String) -> Error {
    Error::new(ErrorKind::Conflict, message)
}
