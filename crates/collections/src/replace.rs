//! A collection gets a schema, its first or another: what becomes of the schemas at the other ends
//! of its relations, and of the values of its items.
//!
//! Columns are matched by key. Those that are new, renamed or moved touch no item. A removed column
//! takes its values along, and of a relation the other end. Values of a column that gets another
//! type, loses options or takes but one relation from now on are converted where nothing is lost
//! (numbers and texts, days and texts, one option and several, ..: two types share a value if it is
//! written alike); where something would be, the items are in the way, unless they may lose it.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::json::quoted;
use leafbase_model::{
    BlockId, ContentPropertyDraft, Error, ErrorKind, Limits, Properties, Property, PropertyKind,
    PropertyValue, Relation, Result, Schema, SchemaDraft,
};

use crate::convert::{Converted, convert};
use crate::ends::listed;
use crate::pairing::Pairing;
use crate::read::ReadCollections;
use crate::relations::Relating;
use crate::schemas::complete;

/// A column of a collection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column {
    /// The collection.
    pub collection: BlockId,
    /// The key of the property.
    pub key: String,
}

/// What a new schema does.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    /// The collection.
    pub collection: BlockId,
    /// Its schema as it is to be kept.
    pub schema: Schema,
    /// Schemas of other collections as they are to be kept: the other ends of relations that came
    /// or went.
    pub others: Vec<(BlockId, Schema)>,
    /// Columns of other collections that go with values in them: what their items hold under the
    /// key is to be cleared.
    pub dropped: Vec<Column>,
    steps: Vec<(String, Step)>,
    /// Where the properties that the draft has stand in it, in the order of the schema; those that
    /// were made come after them.
    places: Vec<usize>,
    limits: Limits,
}

/// What becomes of the values of a column of the collection itself.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Drop,
    Convert(PropertyKind),
    /// The relation takes one item from now on.
    Single,
}

/// What makes the key of a property that comes to a collection of the one that it would have: the
/// same, or another that is free.
pub type NewKey<'a> = &'a dyn Fn(BlockId, String) -> Result<String>;

/// The schema that `draft` makes of `collection`, which has the schema `old`; none if it is made.
///
/// # Errors
/// As [`complete`]; below `properties[n]`: [`ErrorKind::NotFound`] for a relation to a collection
/// that is not there, [`ErrorKind::Validation`] for an `inverseKey` that cannot be,
/// [`ErrorKind::LimitExceeded`] if the other collection has no room.
pub fn replace<R: ReadCollections + ?Sized>(
    reader: &R,
    collection: BlockId,
    old: Option<&Schema>,
    draft: SchemaDraft,
    limits: &Limits,
) -> Result<Replacement> {
    replace_with_keys(reader, collection, old, draft, limits, &|_, key| Ok(key))
}

/// As [`replace`], where properties that come, at whichever end, get their keys by `new_key`: it
/// knows of keys that `reader` does not show.
///
/// # Errors
/// As [`replace`], and those of `new_key`.
pub fn replace_with_keys<R: ReadCollections + ?Sized>(
    reader: &R,
    collection: BlockId,
    old: Option<&Schema>,
    draft: SchemaDraft,
    limits: &Limits,
    new_key: NewKey<'_>,
) -> Result<Replacement> {
    let mut schema = complete(keeping(draft, old), &roomy(limits, old))?;
    give_new_keys(&mut schema, collection, old, new_key)?;
    let (others, dropped) = (BTreeMap::new(), Vec::new());
    let mut pairing = Pairing { reader, collection, old, limits, new_key, others, dropped };
    let places = pairing.settle(&mut schema)?;
    let Pairing { others, dropped, .. } = pairing;
    let former = old.iter().flat_map(|old| &old.properties);
    let steps = former.filter_map(|former| {
        Some((former.key.clone(), step(former, schema.property(&former.key))?))
    });
    let (steps, others) = (steps.collect(), others.into_iter().collect());
    Ok(Replacement { collection, schema, others, dropped, steps, places, limits: limits.clone() })
}

/// A collection that has more properties already may keep as many: some came from writers who did
/// not see all of them.
fn roomy(limits: &Limits, old: Option<&Schema>) -> Limits {
    let mut limits = limits.clone();
    limits.schema_properties =
        limits.schema_properties.max(old.map_or(0, |old| old.properties.len()));
    limits
}

/// Gives the keys that were not there before, and those that name them as the other end of a
/// relation within the collection.
fn give_new_keys(
    schema: &mut Schema,
    collection: BlockId,
    old: Option<&Schema>,
    new_key: NewKey<'_>,
) -> Result<()> {
    let Some(old) = old else { return Ok(()) };
    if schema.content.key != old.content.key {
        schema.content.key = new_key(collection, std::mem::take(&mut schema.content.key))?;
    }
    let mut given = BTreeMap::new();
    for property in
        schema.properties.iter_mut().filter(|property| old.property(&property.key).is_none())
    {
        let key = new_key(collection, property.key.clone())?;
        given.insert(std::mem::replace(&mut property.key, key.clone()), key);
    }
    for property in &mut schema.properties {
        if let PropertyKind::Relation(Relation { target, inverse_key: Some(inverse), .. }) =
            &mut property.kind
            && [collection, Relation::ITSELF].contains(target)
            && let Some(key) = given.get(inverse)
        {
            inverse.clone_from(key);
        }
    }
    Ok(())
}

/// The draft with the keys of the collection and of its titles as they are, where it has none: keys
/// are made once. A collection always has titles, so that a draft without them leaves them as they
/// are.
fn keeping(mut draft: SchemaDraft, old: Option<&Schema>) -> SchemaDraft {
    if let Some(old) = old {
        let Schema { key, content, .. } = old;
        draft.key.get_or_insert_with(|| key.clone());
        let titles = draft
            .content
            .get_or_insert_with(|| ContentPropertyDraft { key: None, name: content.name.clone() });
        titles.key.get_or_insert_with(|| content.key.clone());
    }
    draft
}

fn step(former: &Property, now: Option<&Property>) -> Option<Step> {
    let Some(now) = now else { return Some(Step::Drop) };
    match (&former.kind, &now.kind) {
        // Another relation may have made its other end under the key of one that went.
        (PropertyKind::Relation(former), PropertyKind::Relation(now))
            if former.target == now.target && former.inverse_key == now.inverse_key =>
        {
            (now.single && !former.single).then_some(Step::Single)
        }
        (former, now)
            if former.property_type() != now.property_type() || now.relation().is_some() =>
        {
            Some(Step::Convert(now.clone()))
        }
        (former, now) => {
            let names: BTreeSet<_> = now.options().iter().map(|option| &option.name).collect();
            let lost = former.options().iter().any(|option| !names.contains(&option.name));
            lost.then(|| Step::Convert(now.clone()))
        }
    }
}

impl Replacement {
    /// Where the draft has the property that the schema has at `index`; nowhere if it was made as
    /// the other end of another.
    pub fn place_in_draft(&self, index: usize) -> Option<usize> {
        self.places.get(index).copied()
    }

    /// Whether items of the collection have to be looked at.
    pub fn touches_items(&self) -> bool {
        !self.steps.is_empty()
    }

    /// The relations whose values [`Self::apply`] needs as replies show them, at the other end,
    /// too; everything else as it is kept.
    pub fn relations_needed(&self) -> impl Iterator<Item = &str> {
        self.steps
            .iter()
            .filter(|(_, step)| !matches!(step, Step::Drop))
            .map(|(key, _)| key.as_str())
    }

    /// Puts what becomes of one item into `relating`, which reads the schemas as they were, and
    /// what is lost into `lost`.
    ///
    /// # Errors
    /// As [`Relating::change`].
    pub fn apply<R: ReadCollections + ?Sized>(
        &self,
        item: BlockId,
        title: &str,
        values: &Properties,
        relating: &mut Relating<'_, R>,
        lost: &mut Lost,
    ) -> Result<()> {
        let mut in_the_way = Vec::new();
        for (key, step) in &self.steps {
            let Some(value) = values.get(key) else { continue };
            match step {
                Step::Drop => relating.store(item, vec![(key.clone(), None)])?,
                Step::Single if listed(values, key).len() > 1 => {
                    in_the_way.push(key.clone());
                    relating.change(item, self.collection, vec![(key.clone(), None)], "")?;
                }
                Step::Single => {}
                Step::Convert(kind) => {
                    let (converted, is_whole) = split(convert(value, kind, &self.limits));
                    if !is_whole {
                        in_the_way.push(format!("{key}{}", gone(value, kind)));
                    }
                    if converted.as_ref() != Some(value) {
                        relating.store(item, vec![(key.clone(), converted)])?;
                    }
                }
            }
        }
        lost.add(item, title, &in_the_way);
        Ok(())
    }
}

/// Of a select, what of `value` is none of its options any more, for a message: `: "open", "ajar"`.
fn gone(value: &PropertyValue, kind: &PropertyKind) -> String {
    let names = match value {
        PropertyValue::Text(name) => std::slice::from_ref(name),
        PropertyValue::Options(names) => names,
        _ => &[],
    };
    let is_option = |name: &str| kind.options().iter().any(|option| option.name == name);
    let gone = names.iter().filter(|name| kind.property_type().has_options() && !is_option(name));
    let mut gone: Vec<_> = gone.take(Lost::NAMED + 1).map(|name| quoted(name)).collect();
    if gone.len() > Lost::NAMED {
        gone.truncate(Lost::NAMED);
        gone.push("..".to_owned());
    }
    if gone.is_empty() { String::new() } else { format!(": {}", gone.join(", ")) }
}

fn split(converted: Converted) -> (Option<PropertyValue>, bool) {
    match converted {
        Converted::Whole(value) => (Some(value), true),
        Converted::Part(value) => (value, false),
    }
}

/// Items that would lose values: how many, and the first ones by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    items: usize,
    named: Vec<String>,
}

impl Lost {
    /// A message names so many at most.
    const NAMED: usize = 10;

    /// `values` are the values in the way, each by its key, and by what of it would be lost where
    /// that is known.
    fn add(&mut self, item: BlockId, title: &str, values: &[String]) {
        if values.is_empty() {
            return;
        }
        self.items += 1;
        if self.named.len() < Self::NAMED {
            self.named.push(format!("{item} {} ({})", quoted(title), values.join("; ")));
        }
    }

    /// That none would.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] that names the first ones, with the properties in brackets,
    /// and with the options of a select that go.
    pub fn refuse(&self) -> Result<()> {
        if self.items == 0 {
            return Ok(());
        }
        let more = self.items.saturating_sub(self.named.len());
        let rest = if more == 0 { String::new() } else { format!(", and {more} more") };
        let message = format!(
            "items have values that the new schema cannot hold, and dropUnconvertible is not set: {}{rest}",
            self.named.join(", ")
        );
        Err(Error::new(ErrorKind::SchemaMismatch, message))
    }
}

/// What is left of other collections when some are deleted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Removal {
    /// Their schemas, without the other ends of relations that go.
    pub others: Vec<(BlockId, Schema)>,
    /// Those columns among them that hold values: what items hold under the key is to be cleared.
    pub dropped: Vec<Column>,
}

/// Collections are deleted with all their items: others lose the other ends of their relations.
///
/// # Errors
/// What `reader` reports.
pub fn remove_collections<R: ReadCollections + ?Sized>(
    reader: &R,
    going: &BTreeSet<BlockId>,
    limits: &Limits,
) -> Result<Removal> {
    let (others, dropped) = (BTreeMap::new(), Vec::new());
    let new_key = &|_, key| Ok(key);
    let mut pairing =
        Pairing { reader, collection: BlockId::NIL, old: None, limits, new_key, others, dropped };
    for collection in going {
        let Some(schema) = reader.schema(*collection)? else { continue };
        let relations = schema.properties.iter().filter_map(|property| property.kind.relation());
        for relation in relations.filter(|relation| !going.contains(&relation.target)) {
            pairing.remove_end(relation)?;
        }
    }
    Ok(Removal { others: pairing.others.into_iter().collect(), dropped: pairing.dropped })
}
