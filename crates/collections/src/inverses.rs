//! Inverse resolution: every relation of a schema gets its other end, a property of the target
//! collection, which may be the same collection.
//!
//! The end that was declared first owns the relation. An existing end keeps its inverse. A new one
//! creates its inverse, or pairs with a new relation of the same request that names it, or with
//! itself. An end that is omitted from the schema takes its inverse along, within one collection,
//! too.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::json::quoted;
use leafbase_model::{BlockId, Error, Limits, Property, PropertyKind, Relation, Result, Schema};

use crate::keys::{ColumnKey, KeyGenerator, Keys, is_key};
use crate::reader::ReadCollections;
use crate::value_rules::check_count;

pub(crate) struct InverseResolver<'a, R: ?Sized> {
    pub(crate) reader: &'a R,
    pub(crate) collection: BlockId,
    pub(crate) old: Option<&'a Schema>,
    pub(crate) limits: &'a Limits,
    /// Generates the keys of new ends.
    pub(crate) new_key: KeyGenerator<'a>,
    /// Schemas of other collections that change.
    pub(crate) others: BTreeMap<BlockId, Schema>,
    /// Columns of other collections that are dropped and may hold values.
    pub(crate) dropped: Vec<ColumnKey>,
}

impl<R: ReadCollections + ?Sized> InverseResolver<'_, R> {
    /// Resolves all relations of `schema`, and removes the inverses of relations that are gone.
    /// Returns the former index of each property that stays.
    pub(crate) fn resolve(&mut self, schema: &mut Schema) -> Result<Vec<usize>> {
        for property in &mut schema.properties {
            // The placeholder `self` of a request stands for a collection whose ID it does not
            // know.
            if let PropertyKind::Relation(relation) = &mut property.kind
                && relation.target == Relation::ITSELF
            {
                relation.target = self.collection;
            }
        }
        // Ends are removed before new ones are added: a new end may reuse the key of a removed one.
        self.remove_ends(schema)?;
        // `paired` contains keys of new ends that already have an inverse.
        let (places, mut paired) = (self.drop_dangling(schema), BTreeSet::new());
        for (index, place) in places.iter().enumerate() {
            let pair = self.pair(schema, index, &mut paired);
            pair.map_err(|error| error.at(format_args!("properties[{place}]")))?;
        }
        Ok(places)
    }

    /// Removes dangling relations. Returns the former index of each property that stays.
    fn drop_dangling(&self, schema: &mut Schema) -> Vec<usize> {
        // Decided for all properties first: dropping one end must not make the other look dangling.
        let stays: Vec<_> =
            schema.properties.iter().map(|property| !self.is_dangling(schema, property)).collect();
        let places =
            stays.iter().enumerate().filter(|(_, stays)| **stays).map(|(place, _)| place).collect();
        let mut stays = stays.into_iter();
        debug_assert_eq!(stays.len(), schema.properties.len(), "each property stays or not");

        schema.properties.retain(|_| stays.next().unwrap_or(true));
        places
    }

    /// Whether `property` is an existing relation of the collection with itself whose inverse
    /// `schema` omits. A relation that asks for another inverse is not dangling: it is refused
    /// later.
    fn is_dangling(&self, schema: &Schema, property: &Property) -> bool {
        let Some(relation) = property.kind.relation().filter(|now| now.target == self.collection)
        else {
            return false;
        };
        let former = self
            .kept(&property.key, relation.target)
            .and_then(|former| former.inverse_key.as_deref());
        former.is_some_and(|inverse| {
            schema.property(inverse).is_none()
                && relation.inverse_key.as_deref().is_none_or(|wanted| wanted == inverse)
        })
    }

    /// The old relation under this key, if its target is unchanged.
    fn kept(&self, key: &str, target: BlockId) -> Option<&Relation> {
        let former = self.old?.property(key)?.kind.relation()?;
        (former.target == target).then_some(former)
    }

    /// Removes the inverses of relations that are gone from the schemas of other collections.
    fn remove_ends(&mut self, schema: &Schema) -> Result<()> {
        let old = self.old;
        for former in old.into_iter().flat_map(|old| &old.properties) {
            if let Some(relation) = former.kind.relation() {
                let now =
                    schema.property(&former.key).and_then(|property| property.kind.relation());
                // Within the collection `drop_dangling` removes the inverse.
                if relation.target != self.collection
                    && now.is_none_or(|now| now.target != relation.target)
                {
                    self.remove_end(relation)?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn remove_end(&mut self, relation: &Relation) -> Result<()> {
        let Some(key) = &relation.inverse_key else { return Ok(()) };
        let Some(mut other) = self.other(relation.target)? else { return Ok(()) };
        other.properties.retain(|property| property.key != *key);
        self.others.insert(relation.target, other);
        // Only items of the owner store values, so only its columns have to be cleared.
        if !relation.owner {
            self.dropped.push(ColumnKey { collection: relation.target, key: key.clone() });
        }
        Ok(())
    }

    /// The current schema of another collection, with the changes so far.
    fn other(&self, collection: BlockId) -> Result<Option<Schema>> {
        self.others
            .get(&collection)
            .map_or_else(|| self.reader.schema(collection), |schema| Ok(Some(schema.clone())))
    }

    /// Resolves the property at `index`, if it is a relation.
    fn pair(
        &mut self,
        schema: &mut Schema,
        index: usize,
        paired: &mut BTreeSet<String>,
    ) -> Result<()> {
        let Some(property) = schema.properties.get(index).cloned() else { return Ok(()) };
        let Some(relation) = property.kind.relation() else { return Ok(()) };
        // An existing relation keeps its inverse and its owner.
        if let Some(former) = self.kept(&property.key, relation.target) {
            return self.keep(schema, &property, relation, former);
        }
        if paired.contains(&property.key) {
            return Ok(());
        }
        if relation.target == self.collection {
            return self.pair_within(schema, &property, relation, paired);
        }
        let inverse = self.make_across(schema, &property, relation)?;
        connect(schema, &property.key, inverse, true);
        Ok(())
    }

    fn keep(
        &self,
        schema: &mut Schema,
        property: &Property,
        relation: &Relation,
        former: &Relation,
    ) -> Result<()> {
        let Some(inverse) = former.inverse_key.clone() else { return Ok(()) };
        if relation.inverse_key.as_ref().is_some_and(|wanted| *wanted != inverse) {
            let message =
                format!("the other end of {} stays {}", quoted(&property.key), quoted(&inverse));
            return Err(Error::validation(message).at("inverseKey"));
        }
        if relation.target == self.collection && inverse != property.key {
            self.check_own_end(schema, &property.key, &inverse)?;
        }
        connect(schema, &property.key, inverse, former.owner);
        Ok(())
    }

    /// An end of a relation within one collection must stay a relation as long as its inverse does.
    fn check_own_end(&self, schema: &Schema, key: &str, inverse: &str) -> Result<()> {
        let end = schema.property(inverse).and_then(|property| property.kind.relation());
        if end.is_some_and(|end| end.target == self.collection) {
            return Ok(());
        }
        Err(Error::validation(format!(
            "its other end {} stays a relation to {}",
            quoted(inverse),
            quoted(key)
        )))
    }

    fn pair_within(
        &self,
        schema: &mut Schema,
        property: &Property,
        relation: &Relation,
        paired: &mut BTreeSet<String>,
    ) -> Result<()> {
        let key = property.key.as_str();
        let inverse = match &relation.inverse_key {
            // The inverse is an existing property, or the relation itself.
            Some(inverse) if schema.property(inverse).is_some() => {
                self.check_partner(schema, key, inverse, paired)
                    .map_err(|error| error.at("inverseKey"))?;
                connect(schema, inverse, key.to_owned(), false);
                inverse.clone()
            }
            Some(wanted) => self.make_within(schema, property, Some(wanted))?,
            None => match self.partner(schema, key) {
                Some(partner) => {
                    connect(schema, &partner, key.to_owned(), false);
                    partner
                }
                None => self.make_within(schema, property, None)?,
            },
        };
        paired.extend([key.to_owned(), inverse.clone()]);
        connect(schema, key, inverse, true);
        Ok(())
    }

    fn make_within(
        &self,
        schema: &mut Schema,
        property: &Property,
        wanted: Option<&str>,
    ) -> Result<String> {
        let name = format!("{} of", property.name);
        let made = self.new_end((self.collection, schema), wanted, &name, &property.key)?;
        self.check_count(schema)?;
        Ok(made)
    }

    /// A new relation of the same request that names this one as its inverse.
    fn partner(&self, schema: &Schema, key: &str) -> Option<String> {
        let names_it = |property: &&Property| {
            let relation = property.kind.relation();
            property.key != key
                && relation.is_some_and(|relation| relation.is_symmetric(self.collection, key))
                && self.kept(&property.key, self.collection).is_none()
        };
        schema.properties.iter().find(names_it).map(|property| property.key.clone())
    }

    fn check_partner(
        &self,
        schema: &Schema,
        key: &str,
        inverse: &str,
        paired: &BTreeSet<String>,
    ) -> Result<()> {
        let relation = schema.property(inverse).and_then(|property| property.kind.relation());
        let fits = relation.is_some_and(|relation| {
            relation.target == self.collection
                && relation.inverse_key.as_deref().is_none_or(|named| named == key)
        });
        if fits && !paired.contains(inverse) && self.kept(inverse, self.collection).is_none() {
            return Ok(());
        }
        Err(Error::validation(format!(
            "the property {} cannot be the other end of {}",
            quoted(inverse),
            quoted(key)
        )))
    }

    fn make_across(
        &mut self,
        schema: &Schema,
        property: &Property,
        relation: &Relation,
    ) -> Result<String> {
        let missing = || Error::no_collection().at("targetCollectionId");
        let mut other = self.other(relation.target)?.ok_or_else(missing)?;
        let wanted = relation.inverse_key.as_deref();
        let inverse =
            self.new_end((relation.target, &mut other), wanted, &schema.name, &property.key)?;
        self.check_room(&other)?;
        self.others.insert(relation.target, other);
        Ok(inverse)
    }

    /// Adds the inverse of the relation `key` to the schema of `other`, which does not own it.
    /// Returns the new key.
    fn new_end(
        &self,
        (other, schema): (BlockId, &mut Schema),
        wanted: Option<&str>,
        name: &str,
        key: &str,
    ) -> Result<String> {
        // The generator may replace the key, to avoid one that the caller cannot see.
        let made = (self.new_key)(other, free_key(schema, wanted, name, self.limits)?)?;
        debug_assert!(schema.property(&made).is_none(), "the key {made:?} is free");
        let relation = Relation::to(self.collection).with_inverse(key);
        schema.properties.push(Property {
            key: made.clone(),
            name: name.to_owned(),
            kind: relation.into(),
        });
        Ok(made)
    }

    fn check_count(&self, schema: &Schema) -> Result<()> {
        check_count(
            "properties in a schema",
            self.limits.schema_properties,
            schema.properties.len(),
        )
    }

    /// Checks that another collection has room for the new end.
    fn check_room(&self, other: &Schema) -> Result<()> {
        let what = format!(
            "properties of the collection {}, which gets the other end",
            quoted(&other.name)
        );
        check_count(&what, self.limits.schema_properties, other.properties.len())
    }
}

/// The key of a new end of `schema`.
fn free_key(schema: &Schema, wanted: Option<&str>, name: &str, limits: &Limits) -> Result<String> {
    let mut keys = Keys::default();
    // The title shares the namespace of the properties.
    keys.reserve(&schema.content.key);
    for property in &schema.properties {
        keys.reserve(&property.key);
    }
    Ok(match wanted {
        Some(wanted) if !is_key(wanted) => {
            return Err(
                Error::validation(format!("{} cannot be a key", quoted(wanted))).at("inverseKey")
            );
        }
        Some(wanted) if wanted.chars().count() > limits.title => {
            let found = wanted.chars().count();
            let error = Error::limit("characters of a property key", limits.title, found);
            return Err(error.at("inverseKey"));
        }
        Some(wanted) if !keys.reserve(wanted) => {
            let message = format!(
                "{} is a key already in the collection {}",
                quoted(wanted),
                quoted(&schema.name)
            );
            return Err(Error::validation(message).at("inverseKey"));
        }
        Some(wanted) => wanted.to_owned(),
        None => keys.allocate(name, limits.title),
    })
}

/// Sets the inverse of the relation `key`.
fn connect(schema: &mut Schema, key: &str, inverse: String, owner: bool) {
    let property = schema.properties.iter_mut().find(|property| property.key == key);
    let kind = property.map(|property| &mut property.kind);
    debug_assert!(
        matches!(kind, Some(PropertyKind::Relation(_))),
        "{key:?} is a relation of the schema"
    );
    if let Some(PropertyKind::Relation(relation)) = kind {
        (relation.inverse_key, relation.owner) = (Some(inverse), owner);
    }
}
