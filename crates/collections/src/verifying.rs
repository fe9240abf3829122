//! Whether items and schemas are as every operation leaves them, after writes that no operation
//! decided on: changes undone late.
//!
//! It says the laws of values and relations once more, about what is there and not about a request.

use std::collections::HashMap;
use std::rc::Rc;

use leafbase_model::{
    BlockId, Error, ErrorKind, Properties, Property, PropertyKind, PropertyValue, Relation, Result,
    Schema, SelectOption,
};

use crate::ends::listed;
use crate::forms;
use crate::read::{ReadCollections, all_naming};

/// Verifies items and schemas of one state; each schema is read once.
#[derive(Debug)]
pub struct Verifying<'a, R: ?Sized> {
    reader: &'a R,
    schemas: HashMap<BlockId, Option<Rc<Schema>>>,
}

/// A relation, as the property `key` of `collection` has it.
#[derive(Clone, Copy)]
struct Held<'p> {
    collection: BlockId,
    key: &'p str,
    relation: &'p Relation,
}

impl<'a, R: ReadCollections + ?Sized> Verifying<'a, R> {
    /// Verifies what `reader` reads.
    pub fn new(reader: &'a R) -> Self {
        Self { reader, schemas: HashMap::new() }
    }

    /// That the schema of `collection` takes what its item `item` holds under those keys of which
    /// `is_wanted` says so: the values, and of relations also that the related items exist in the
    /// other collection, and that neither end has more of them than it takes.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] that names item and property; what the reader reports.
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
            if let Some(fault) = self.fault(item, collection, schema.property(key), value)? {
                return Err(refused(item, key, &fault));
            }
        }
        Ok(())
    }

    /// That every item that names `item` does so by a relation to `collection`, which it is in;
    /// none if it is gone, and nothing may.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] that names the other item and its property; what the reader reports.
    pub fn named(&mut self, item: BlockId, collection: Option<BlockId>) -> Result<()> {
        for holder in all_naming(self.reader, item)? {
            let Some(stored) = self.reader.item(holder)? else { continue };
            let schema = self.schema(stored.collection)?;
            for (key, _) in
                stored.values.iter().filter(|(key, _)| listed(&stored.values, key).contains(&item))
            {
                let property = schema.as_ref().and_then(|schema| schema.property(key));
                let target = property
                    .and_then(|property| property.kind.relation())
                    .map(|relation| relation.target);
                if target.is_none() || target != collection {
                    let fault = match collection {
                        None => format!("it names item {item}, which would be gone"),
                        Some(_) => {
                            format!("it names item {item}, which would be in another collection")
                        }
                    };
                    return Err(refused(holder, key, &fault));
                }
            }
        }
        Ok(())
    }

    /// That each relation of `collection`, if there is such a collection, has its other end, and
    /// one of both owns it.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] that names collection and property; what the reader reports.
    pub fn ends(&mut self, collection: BlockId) -> Result<()> {
        let Some(schema) = self.schema(collection)? else { return Ok(()) };
        for Property { key, kind, .. } in &schema.properties {
            let Some(relation) = kind.relation() else { continue };
            if let Some(fault) = self.broken_ends(Held { collection, key, relation })? {
                return Err(conflict(format!(
                    "property {key:?} of collection {collection}: {fault}"
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

    /// The other end of a relation, if it is there.
    fn other_end(&mut self, relation: &Relation) -> Result<Option<Relation>> {
        let schema = self.schema(relation.target)?;
        let key = relation.inverse_key.as_deref();
        let property = schema.as_ref().zip(key).and_then(|(schema, key)| schema.property(key));
        Ok(property.and_then(|property| property.kind.relation()).cloned())
    }

    fn broken_ends(
        &mut self,
        Held { collection, key, relation }: Held<'_>,
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

    /// What is wrong with a value of an item; none if it is in order.
    fn fault(
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
                self.relation_fault(item, Held { collection, key, relation }, items)
            }
            _ if takes(kind, value) => Ok(None),
            _ => Ok(Some(format!(
                "the property, of type {}, does not take its value",
                kind.property_type()
            ))),
        }
    }

    fn relation_fault(
        &mut self,
        item: BlockId,
        held: Held<'_>,
        items: &[BlockId],
    ) -> Result<Option<String>> {
        let Held { collection, key, relation } = held;
        if !relation.owner {
            return Ok(Some("the other end owns the relation".to_owned()));
        }
        let Some(other) = self.other_end(relation)? else {
            return Ok(Some("the other end of the relation is missing".to_owned()));
        };
        for other in items {
            if self.reader.item(*other)?.is_none_or(|stored| stored.collection != relation.target) {
                return Ok(Some(format!("{other} is no item of collection {}", relation.target)));
            }
        }
        if relation.is_symmetric(collection, key) {
            return if relation.single { self.paired_twice(held, item, items) } else { Ok(None) };
        }
        if relation.single && items.len() > 1 {
            return Ok(Some("it takes one item".to_owned()));
        }
        for named in items.iter().filter(|_| other.single) {
            if let Some(rival) =
                self.holders(held, *named)?.into_iter().find(|holder| *holder != item)
            {
                return Ok(Some(format!("{named}, which takes one item, is related to {rival}")));
            }
        }
        Ok(None)
    }

    /// Of a symmetric relation of which each item takes one: that `item`, or one that it holds, has
    /// more.
    fn paired_twice(
        &self,
        held: Held<'_>,
        item: BlockId,
        items: &[BlockId],
    ) -> Result<Option<String>> {
        for one in items.iter().chain([&item]) {
            let stored = self.reader.item(*one)?;
            let own = stored.as_ref().map_or(0, |stored| listed(&stored.values, held.key).len());
            let others =
                self.holders(held, *one)?.into_iter().filter(|holder| holder != one).count();
            if own + others > 1 {
                return Ok(Some(format!("{one}, which takes one item, is related to more")));
            }
        }
        Ok(None)
    }

    /// The items that hold `named` by this relation, by ID.
    fn holders(&self, held: Held<'_>, named: BlockId) -> Result<Vec<BlockId>> {
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

/// Whether a property of this kind, which is no relation, takes a value. How long texts are is no
/// matter: limits are a space's, and change.
fn takes(kind: &PropertyKind, value: &PropertyValue) -> bool {
    match (kind, value) {
        (PropertyKind::Text, PropertyValue::Text(_))
        | (PropertyKind::Number, PropertyValue::Number(_))
        | (PropertyKind::Boolean, PropertyValue::Boolean(_))
        | (PropertyKind::Date, PropertyValue::Date(_)) => true,
        (PropertyKind::Url, PropertyValue::Text(text)) => forms::URL.fits(text),
        (PropertyKind::Email, PropertyValue::Text(text)) => forms::EMAIL.fits(text),
        (PropertyKind::Phone, PropertyValue::Text(text)) => forms::PHONE.fits(text),
        (PropertyKind::SingleSelect(options), PropertyValue::Text(name)) => has(options, name),
        (PropertyKind::MultiSelect(options), PropertyValue::Options(names)) => {
            names.iter().all(|name| has(options, name))
        }
        _ => false,
    }
}

fn has(options: &[SelectOption], name: &str) -> bool {
    options.iter().any(|option| option.name == name)
}

fn refused(item: BlockId, key: &str, fault: &str) -> Error {
    conflict(format!("property {key:?} of item {item}: {fault}"))
}

fn conflict(message: String) -> Error {
    Error::new(ErrorKind::Conflict, message)
}
