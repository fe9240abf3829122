//! Values of a request: scalars are stored as given, relations at both ends.

use std::collections::{BTreeMap, HashMap};

use leafbase_collections::{ChangedItem, RelationBatch};
use leafbase_model::{
    BlockData, BlockId, BlockLocation, Day, DayRef, Edit, Error, Limits, Location, PropertyChange,
    Result, Schema, Timestamp,
};
use leafbase_tree_ops::ReadTree;
use serde_json::{Map, Value};

use crate::core::redaction::hidden_relations;
use crate::core::tree::Tree;
use crate::operations::files::named;
use crate::operations::normalize;
use crate::support::days;

/// The day that `today` resolves to in values.
pub(super) fn today(tree: &Tree<'_>, now: Timestamp) -> Result<Day> {
    days::resolve(DayRef::Today, &tree.zone()?, now)
}

/// The edit that adds new options to the schema of a collection.
pub(super) fn set_schema(
    tree: &Tree<'_>,
    located: BlockLocation,
    collection: BlockId,
    after: Option<&Schema>,
) -> Result<Option<Edit>> {
    let Some(after) = after else { return Ok(None) };
    let before = hidden_relations::stored_schema(tree, collection)?;
    let after = Some(Box::new(hidden_relations::with_hidden(tree, &before, after)?));
    let (document, before) = (located.document, Some(Box::new(before)));
    Ok(Some(Edit::SetSchema { document, collection, before, after, quiet: false }))
}

/// Adds the relations of an item to `batch`. Returns the other changes.
pub(super) fn relate(
    batch: &mut RelationBatch<'_, Tree<'_>>,
    (schema, collection): (&Schema, BlockId),
    item: BlockId,
    changes: Vec<PropertyChange>,
    path: &str,
) -> Result<Vec<PropertyChange>> {
    let is_relation =
        |key: &str| schema.property(key).is_some_and(|property| property.kind.relation().is_some());
    // Scalars change the item alone; relations may change other items.
    let (relations, scalars): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|(key, _)| is_relation(key));
    if !relations.is_empty() {
        batch.change(item, collection, relations, path)?;
    }
    Ok(scalars)
}

/// Refuses new links to items in the trash.
pub(super) fn check_new_links(tree: &Tree<'_>, batch: &RelationBatch<'_, Tree<'_>>) -> Result<()> {
    let mut trashed = HashMap::new();
    for (item, path) in batch.new_links() {
        let document = tree.locate(item)?.ok_or_else(|| Error::no_item().at(path))?.document;
        // One lookup per document: items of one collection share it.
        let is_trashed = match trashed.get(&document) {
            Some(known) => *known,
            None => {
                tree.document(document)?.is_some_and(|record| record.location == Location::Trash)
            }
        };
        trashed.insert(document, is_trashed);
        if is_trashed {
            let message =
                format!("item {item} is in the trash: restore its document to relate to it");
            return Err(Error::rule(message).at(path));
        }
    }
    Ok(())
}

/// The values to store by item: items of the request and items at other ends.
pub(super) fn finished(
    batch: RelationBatch<'_, Tree<'_>>,
) -> Result<BTreeMap<BlockId, ChangedItem>> {
    Ok(batch.finish()?.into_iter().map(|changed| (changed.id, changed)).collect())
}

/// Normalizes the title of an item. An error names its only field.
pub(super) fn titled(fields: &Map<String, Value>, title: &str, limits: &Limits) -> Result<String> {
    debug_assert!(fields.len() <= 1, "an item has one title");
    let field = fields.keys().next().map_or("", String::as_str);
    normalize::item_title(title, limits).map_err(|error| error.at(field))
}

/// Refuses a title that names an invisible file, unless it did `before`.
pub(super) fn check_files(
    tree: &Tree<'_>,
    before: Option<&BlockData>,
    fields: &Map<String, Value>,
    title: &str,
) -> Result<()> {
    let field = fields.keys().next().map_or("", String::as_str);
    named::check_title(tree, before, title).map_err(|error| error.at(field))
}
