//! Replacement of a collection's schema: what it does to the schemas at the other ends of relations
//! and to the values of items.
//!
//! Columns are matched by key. New, renamed and reordered columns touch no item. A dropped column
//! takes its values along, and a dropped relation its inverse. Values of a column that changes its
//! type, loses options or becomes single are converted where that is lossless (`convert.rs`), after
//! options that the request renames got their new names. Otherwise the items block the replacement,
//! unless the request allows the loss.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::json::quoted;
use leafbase_model::{
    BlockId, ContentPropertyDraft, Error, ErrorKind, Limits, OptionRename, Properties, Property,
    PropertyKind, PropertyValue, Relation, Result, Schema, SchemaDraft,
};

use crate::convert::{Converted, convert};
use crate::inverses::InverseResolver;
use crate::keys::{ColumnKey, KeyGenerator};
use crate::predicates::present;
use crate::query::TypedColumn;
use crate::reader::ReadCollections;
use crate::relation_ends::listed;
use crate::relations::RelationBatch;
use crate::schemas::complete_keeping;
use crate::value_rules::{has_option, mismatch};

/// The effects of a new schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    /// The collection.
    pub collection: BlockId,
    /// The schema to store.
    pub schema: Schema,
    /// Other collections' schemas to store: they gain or lose an end of a relation.
    pub others: Vec<(BlockId, Schema)>,
    /// Dropped columns of other collections whose items store values under the key.
    pub dropped: Vec<ColumnKey>,
    changes: Vec<(String, ColumnChange)>,
    /// By key, the new names of options.
    renamed: BTreeMap<String, BTreeMap<String, String>>,
    /// Index in the draft of each property that came from it, in the order of the schema. Generated
    /// properties follow.
    draft_indices: Vec<usize>,
    limits: Limits,
}

/// A change to the values of one column of the collection.
#[derive(Clone, Debug, PartialEq)]
enum ColumnChange {
    Drop,
    Convert(PropertyKind),
    /// The relation becomes single.
    Single,
}

/// The effects of giving `collection` the schema `draft`. `old` is its present schema; `None` for a
/// new collection.
///
/// # Errors
/// As [`complete`](crate::complete); below `properties[n]`: [`ErrorKind::NotFound`] for the target
/// of a relation, [`ErrorKind::Validation`] for an invalid `inverseKey`,
/// [`ErrorKind::LimitExceeded`] if the target has too many properties.
pub fn replace<R: ReadCollections + ?Sized>(
    reader: &R,
    collection: BlockId,
    old: Option<&Schema>,
    draft: SchemaDraft,
    limits: &Limits,
) -> Result<Replacement> {
    replace_with_keys(reader, collection, old, draft, limits, &|_, key| Ok(key))
}

/// As [`replace`], with keys of new properties, at either end, chosen by `new_key`, which may know
/// keys that `reader` hides.
///
/// # Errors
/// As [`replace`]; errors of `new_key`.
pub fn replace_with_keys<R: ReadCollections + ?Sized>(
    reader: &R,
    collection: BlockId,
    old: Option<&Schema>,
    draft: SchemaDraft,
    limits: &Limits,
    new_key: KeyGenerator<'_>,
) -> Result<Replacement> {
    // Keys are completed before relations: an inverse is created under a key that is still free.
    let kept_title = old.map(|old| old.content.key.as_str());
    let draft = with_kept_keys(draft, old);
    let mut schema = complete_keeping(draft, kept_title, &with_room(limits, old))?;
    assign_new_keys(&mut schema, collection, old, new_key)?;
    let (others, dropped) = (BTreeMap::new(), Vec::new());
    let mut resolver =
        InverseResolver { reader, collection, old, limits, new_key, others, dropped };
    let draft_indices = resolver.resolve(&mut schema)?;
    let InverseResolver { others, dropped, .. } = resolver;
    debug_assert!(
        draft_indices.len() <= schema.properties.len(),
        "generated properties follow those of the draft"
    );
    let former = old.iter().flat_map(|old| &old.properties);
    let changes = former.filter_map(|former| {
        Some((former.key.clone(), change_of(former, schema.property(&former.key))?))
    });
    let (changes, others) = (changes.collect(), others.into_iter().collect());
    Ok(Replacement {
        collection,
        schema,
        others,
        dropped,
        changes,
        renamed: BTreeMap::new(),
        draft_indices,
        limits: limits.clone(),
    })
}

/// A scoped writer does not see all properties, so a schema may already exceed the limit. It may
/// keep its number of properties.
fn with_room(limits: &Limits, old: Option<&Schema>) -> Limits {
    let mut limits = limits.clone();
    limits.schema_properties =
        limits.schema_properties.max(old.map_or(0, |old| old.properties.len()));
    limits
}

/// Assigns final keys to new properties, and renames them in the relations that name them as
/// inverses.
fn assign_new_keys(
    schema: &mut Schema,
    collection: BlockId,
    old: Option<&Schema>,
    new_key: KeyGenerator<'_>,
) -> Result<()> {
    let Some(old) = old else { return Ok(()) };
    if schema.content.key != old.content.key {
        schema.content.key = new_key(collection, std::mem::take(&mut schema.content.key))?;
    }
    // From the keys that the draft has to those that are stored.
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

/// Fills in the keys of the collection and of its title: keys are permanent. A draft without a
/// title keeps the old one.
fn with_kept_keys(mut draft: SchemaDraft, old: Option<&Schema>) -> SchemaDraft {
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

fn change_of(former: &Property, now: Option<&Property>) -> Option<ColumnChange> {
    let Some(now) = now else { return Some(ColumnChange::Drop) };
    match (&former.kind, &now.kind) {
        // A new relation may have created its inverse under the key of a dropped one: it is another
        // column.
        (PropertyKind::Relation(former), PropertyKind::Relation(now))
            if former.target == now.target && former.inverse_key == now.inverse_key =>
        {
            (now.single && !former.single).then_some(ColumnChange::Single)
        }
        (former, now)
            if former.property_type() != now.property_type() || now.relation().is_some() =>
        {
            Some(ColumnChange::Convert(now.clone()))
        }
        (former, now) => {
            let names: BTreeSet<_> = now.options().iter().map(|option| &option.name).collect();
            let lost = former.options().iter().any(|option| !names.contains(&option.name));
            lost.then(|| ColumnChange::Convert(now.clone()))
        }
    }
}

impl Replacement {
    /// The index in the draft of the property at `index` of the schema. `None` if it was generated
    /// as the inverse of another.
    pub fn draft_index(&self, index: usize) -> Option<usize> {
        self.draft_indices.get(index).copied()
    }

    /// Lets values that name an option of the schema `old` follow it to its new name.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] at `[n].property` for a property that is not a select in both
    /// schemas, at `[n].from` for an option that `old` does not have or that is renamed twice, at
    /// `[n].to` for one that the new schema does not have.
    pub fn rename_options(&mut self, old: &Schema, renames: Vec<OptionRename>) -> Result<()> {
        for (index, rename) in renames.into_iter().enumerate() {
            self.rename_option(old, rename).map_err(|error| error.at(format_args!("[{index}]")))?;
        }
        Ok(())
    }

    fn rename_option(&mut self, old: &Schema, rename: OptionRename) -> Result<()> {
        let OptionRename { property: key, from, to } = rename;
        let select = |schema: &Schema| {
            let kind = TypedColumn::find(schema, &key)?.kind;
            if kind.property_type().has_options() {
                return Ok(kind);
            }
            let message = format!("the property {} is not a select", quoted(&key));
            Err(mismatch(message).at("property"))
        };
        let (former, now) = (select(old)?, select(&self.schema)?);
        let ends = [("from", "former", &former, &from), ("to", "new", &now, &to)];
        for (field, schema, kind, name) in ends {
            if !has_option(kind.options(), name) {
                let (key, name) = (quoted(&key), quoted(name));
                let message = format!("the {schema} schema has no option {name} of {key}");
                return Err(mismatch(message).at(field));
            }
        }
        let renamed = self.renamed.entry(key.clone()).or_default();
        if renamed.insert(from.clone(), to).is_some() {
            let message = format!("the option {} is renamed twice", quoted(&from));
            return Err(mismatch(message).at("from"));
        }
        if !self.changes.iter().any(|(changed, _)| *changed == key) {
            self.changes.push((key, ColumnChange::Convert(now)));
        }
        Ok(())
    }

    /// The value with its options under their new names.
    fn renamed(&self, key: &str, mut value: PropertyValue) -> PropertyValue {
        let Some(names) = self.renamed.get(key) else { return value };
        let rename = |name: &mut String| {
            if let Some(to) = names.get(name) {
                name.clone_from(to);
            }
        };
        match &mut value {
            PropertyValue::Text(name) => rename(name),
            PropertyValue::Options(chosen) => {
                chosen.iter_mut().for_each(rename);
                let mut seen = BTreeSet::new();
                chosen.retain(|name| seen.insert(name.clone()));
            }
            _ => debug_assert!(false, "a value of a select has options"),
        }
        value
    }

    /// Whether items of the collection have to be read.
    pub fn touches_items(&self) -> bool {
        !self.changes.is_empty()
    }

    /// The relations whose values [`Self::apply`] needs as replies return them, from either end.
    /// All other values are passed as stored.
    pub fn relations_needed(&self) -> impl Iterator<Item = &str> {
        self.changes
            .iter()
            .filter(|(_, change)| !matches!(change, ColumnChange::Drop))
            .map(|(key, _)| key.as_str())
    }

    /// Adds the changes of one item to `batch`, which reads the old schemas, and its losses to
    /// `lost`.
    ///
    /// # Errors
    /// As [`RelationBatch::change`].
    pub fn apply<R: ReadCollections + ?Sized>(
        &self,
        item: BlockId,
        title: &str,
        values: &Properties,
        batch: &mut RelationBatch<'_, R>,
        lost: &mut LostValues,
    ) -> Result<()> {
        let mut lost_values = Vec::new();
        for (key, change) in &self.changes {
            let Some(value) = values.get(key) else { continue };
            match change {
                ColumnChange::Drop => batch.store(item, vec![(key.clone(), None)])?,
                // The relation is cleared at both ends; with one related item it is already valid.
                ColumnChange::Single if listed(values, key).len() > 1 => {
                    lost_values.push(key.clone());
                    batch.change(item, self.collection, vec![(key.clone(), None)], "")?;
                }
                ColumnChange::Single => {}
                ColumnChange::Convert(kind) => {
                    // Nothing is lost with an empty text, which counts as no value.
                    let renamed = self.renamed(key, value.clone());
                    let (converted, is_whole) = present(Some(&renamed))
                        .map_or((None, true), |value| split(convert(value, kind, &self.limits)));
                    if !is_whole {
                        lost_values.push(format!("{key}{}", gone(&renamed, kind)));
                    }
                    // An unchanged value is not written, so that the item keeps its `rev`.
                    if converted.as_ref() != Some(value) {
                        batch.store(item, vec![(key.clone(), converted)])?;
                    }
                }
            }
        }
        lost.add(item, title, &lost_values);
        Ok(())
    }
}

/// For an error message, the options in `value` that the select no longer has: `: "open", "ajar"`.
fn gone(value: &PropertyValue, kind: &PropertyKind) -> String {
    let names = match value {
        PropertyValue::Text(name) => std::slice::from_ref(name),
        PropertyValue::Options(names) => names,
        _ => &[],
    };
    let is_option = |name: &str| kind.options().iter().any(|option| option.name == name);
    let gone = names.iter().filter(|name| kind.property_type().has_options() && !is_option(name));
    let mut gone: Vec<_> = gone.take(LostValues::MAX_NAMED + 1).map(|name| quoted(name)).collect();
    if gone.len() > LostValues::MAX_NAMED {
        gone.truncate(LostValues::MAX_NAMED);
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

/// Items that would lose values: their count, and the first ones for the error message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostValues {
    items: usize,
    named: Vec<String>,
}

impl LostValues {
    /// Items, and options of an item, listed in the error message.
    const MAX_NAMED: usize = 10;

    /// Records the values of an item that would be lost: their keys, with the options concerned.
    fn add(&mut self, item: BlockId, title: &str, values: &[String]) {
        if values.is_empty() {
            return;
        }
        self.items += 1;
        if self.named.len() < Self::MAX_NAMED {
            self.named.push(format!("{item} {} ({})", quoted(title), values.join("; ")));
        }
    }

    /// Fails if any item would lose a value.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] that lists the first items with their properties, and the
    /// options of a select that would go.
    pub fn refuse(&self) -> Result<()> {
        if self.items == 0 {
            return Ok(());
        }
        // Only the first items are formatted: the message stays short for a large collection.
        let more = self.items.saturating_sub(self.named.len());
        let rest = if more == 0 { String::new() } else { format!(", and {more} more") };
        let message = format!(
            "items have values that the new schema cannot hold, and dropUnconvertible is not set: {}{rest}",
            self.named.join(", ")
        );
        Err(Error::new(ErrorKind::SchemaMismatch, message))
    }
}

/// The effects of deleting collections on other collections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectionRemoval {
    /// Their schemas, without the inverses of relations that go.
    pub others: Vec<(BlockId, Schema)>,
    /// Dropped columns among them whose items store values under the key.
    pub dropped: Vec<ColumnKey>,
}

/// The effects of deleting collections with all their items.
///
/// # Errors
/// Errors of `reader`.
pub fn remove_collections<R: ReadCollections + ?Sized>(
    reader: &R,
    going: &BTreeSet<BlockId>,
    limits: &Limits,
) -> Result<CollectionRemoval> {
    let (others, dropped) = (BTreeMap::new(), Vec::new());
    let new_key = &|_, key| Ok(key);
    let mut resolver = InverseResolver {
        reader,
        collection: BlockId::NIL,
        old: None,
        limits,
        new_key,
        others,
        dropped,
    };
    for collection in going {
        let Some(schema) = reader.schema(*collection)? else { continue };
        let relations = schema.properties.iter().filter_map(|property| property.kind.relation());
        for relation in relations.filter(|relation| !going.contains(&relation.target)) {
            resolver.remove_end(relation)?;
        }
    }
    Ok(CollectionRemoval {
        others: resolver.others.into_iter().collect(),
        dropped: resolver.dropped,
    })
}
