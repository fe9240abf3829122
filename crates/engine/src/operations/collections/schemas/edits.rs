//! Edits that create and replace schemas, including those at the other ends of relations.

use leafbase_collections::{ReadCollections, Replacement, replace_with_keys};
use leafbase_markdown as markdown;
use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, CollectionSchema, DocumentId, Edit, Error, Limits,
    Location, OptionRename, Result, Schema, SchemaDraft, Subtrees, json,
};
use leafbase_tree_ops::{self as ops, Context, ReadTree, ResolvedPosition, update_edit};

use super::item_changes;
use crate::core::cascades::item_edits;
use crate::core::redaction::LinkRedactor;
use crate::core::redaction::hidden_relations;
use crate::core::tree::Tree;
use crate::operations::files::named;

/// The schema of the requested collection.
pub(super) fn existing_schema(tree: &Tree<'_>, collection: BlockId) -> Result<Schema> {
    tree.schema(collection)?.ok_or_else(|| Error::no_collection().at("collectionId"))
}

/// The schema of a collection that may be changed.
pub(super) fn changeable(tree: &Tree<'_>, collection: BlockId) -> Result<Schema> {
    let schema = existing_schema(tree, collection)?;
    if home(tree, collection)?.1 == Location::Trash {
        let message = "the document is in the trash: restore it to change its collections";
        return Err(Error::rule(message).at("collectionId"));
    }
    Ok(schema)
}

/// The block of an existing collection.
pub(super) fn block(tree: &Tree<'_>, collection: BlockId) -> Result<BlockRecord> {
    tree.block(collection)?.ok_or_else(|| no_block(collection))
}

fn no_block(collection: BlockId) -> Error {
    Error::corrupted(format_args!("collection {collection} has no block"))
}

/// The document of an existing collection, and its location.
fn home(tree: &Tree<'_>, collection: BlockId) -> Result<(DocumentId, Location)> {
    let document = tree.locate(collection)?.ok_or_else(|| no_block(collection))?.document;
    let record = tree.document(document)?;
    let record = record.ok_or_else(|| {
        Error::corrupted(format_args!("document {document} has blocks but no record"))
    })?;
    Ok((document, record.location))
}

/// The draft with its name normalized as a title.
fn named(mut draft: SchemaDraft, limits: &Limits) -> Result<SchemaDraft> {
    // A name that is too long is refused with the rest of the draft, before any work on it.
    if draft.name.chars().count() <= limits.title {
        markdown::check_highlights(&draft.name).map_err(|error| error.at("name"))?;
        draft.name = markdown::canonical_inline(&draft.name).into_owned();
    }
    Ok(draft)
}

/// The block of a collection with this name.
fn block_of(name: &str, limits: &Limits) -> Result<BlockData> {
    let data = BlockData { inline: name.to_owned(), ..BlockData::new(BlockKind::Collection) };
    let wrong = |error: Error| error.without_path().at("schema.name");
    data.check(limits).map_err(wrong)?;
    Ok(data)
}

pub(super) fn reply(id: BlockId, schema: Schema) -> CollectionSchema {
    CollectionSchema { id, name: schema.name.clone(), schema }
}

fn below_schema(error: Error) -> Error {
    error.at("schema")
}

pub(super) fn create(
    tree: &Tree<'_>,
    context: &Context<'_>,
    draft: SchemaDraft,
    place: ResolvedPosition,
) -> Result<(Vec<Edit>, CollectionSchema)> {
    let (limits, stamp) = (context.limits, context.stamp);
    let opened =
        ops::prepare_target_for(tree, context, place, &BlockData::new(BlockKind::Collection))?;
    let id = BlockId::from_bytes(context.ids.new_id(stamp.at));
    let new_key = |collection: BlockId, key: String| {
        if collection == id {
            Ok(key)
        } else {
            hidden_relations::new_key(tree, context, collection, key)
        }
    };
    let plan = named(draft, limits)
        .and_then(|draft| replace_with_keys(tree, id, None, draft, limits, &new_key));
    let plan = plan.map_err(below_schema)?;
    check_others(tree, None, &plan).map_err(below_schema)?;
    named::check_title(tree, None, &plan.schema.name).map_err(|error| error.at("schema.name"))?;
    // The block repeats the name of the schema: both change together.
    let data = block_of(&plan.schema.name, limits)?;
    let block = BlockRecord { id, rev: 1, created: stamp.clone(), modified: stamp.clone(), data };
    let document = opened.target.document;
    let mut edits = opened.edits;
    edits.push(Edit::Insert { target: opened.target, subtrees: Subtrees::one(block) });
    edits.extend(set(document, id, None, &plan.schema, false));
    edits.extend(set_others(tree, &plan)?);
    Ok((edits, reply(id, plan.schema)))
}

/// The edit that sets the schema. `None` if it is equal.
fn set(
    document: DocumentId,
    collection: BlockId,
    before: Option<Schema>,
    after: &Schema,
    quiet: bool,
) -> Option<Edit> {
    if before.as_ref() == Some(after) {
        return None;
    }
    let (before, after) = (before.map(Box::new), Some(Box::new(after.clone())));
    Some(Edit::SetSchema { document, collection, before, after, quiet })
}

fn set_others(tree: &Tree<'_>, plan: &Replacement) -> Result<Vec<Edit>> {
    let mut edits = Vec::with_capacity(plan.others.len());
    for (other, schema) in &plan.others {
        let before = hidden_relations::stored_schema(tree, *other)?;
        let after = hidden_relations::with_hidden(tree, &before, schema)?;
        edits.extend(set(home(tree, *other)?.0, *other, Some(before), &after, true));
    }
    Ok(edits)
}

/// Checks that the schemas at the other ends may be written.
fn check_others(tree: &Tree<'_>, old: Option<&Schema>, plan: &Replacement) -> Result<()> {
    for (other, schema) in &plan.others {
        if home(tree, *other)?.1 == Location::Trash {
            let name = json::quoted(&schema.name);
            let message = format!(
                "the collection {other} {name}, the other end of a relation, is in the trash: restore it"
            );
            let place = comes(old, plan, *other)
                .map(|index| format!("properties[{index}].targetCollectionId"));
            return Err(Error::rule(message).at(place.as_deref().unwrap_or("properties")));
        }
    }
    Ok(())
}

/// The path of the first new relation to `other` in the request.
fn comes(old: Option<&Schema>, plan: &Replacement, other: BlockId) -> Option<usize> {
    let target = |schema: &Schema, key: &str| {
        schema.property(key)?.kind.relation().map(|relation| relation.target)
    };
    let is_new = |key: &str| {
        target(&plan.schema, key) == Some(other)
            && old.and_then(|old| target(old, key)) != Some(other)
    };
    plan.draft_index(plan.schema.properties.iter().position(|property| is_new(&property.key))?)
}

/// The edits of a replacement: the items first, because they must not hold values under keys that a
/// schema adds; then the schemas; then the block, if the name changes.
pub(super) fn replaced(
    tree: &Tree<'_>,
    context: &Context<'_>,
    (id, old): (BlockId, &Schema),
    (mut draft, mut renames): (SchemaDraft, Vec<OptionRename>),
    drop_unconvertible: bool,
) -> Result<(Vec<Edit>, Schema)> {
    let (limits, stamp) = (context.limits, context.stamp);
    let links = LinkRedactor::new(tree);
    // Names as the request has them, before links in them are restored.
    hidden_relations::keep_new_keys(tree, limits, links.redacted(old)?.as_ref(), &mut draft);
    links.refuse_hidden_options(&draft, &renames)?;
    links.restore(old, &mut draft)?;
    links.restore(old, &mut renames)?;
    let draft = named(draft, limits).map_err(below_schema)?;
    let new_key = |collection: BlockId, key: String| {
        hidden_relations::new_key(tree, context, collection, key)
    };
    let mut plan =
        replace_with_keys(tree, id, Some(old), draft, limits, &new_key).map_err(below_schema)?;
    plan.rename_options(old, renames).map_err(|error| error.at("renameOptions"))?;
    check_others(tree, Some(old), &plan).map_err(below_schema)?;
    let before = block(tree, id)?;
    named::check_title(tree, Some(&before.data), &plan.schema.name)
        .map_err(|error| error.at("schema.name"))?;
    let markdown = block_of(&plan.schema.name, limits)?.inline;
    let data = BlockData { inline: markdown, ..before.data.clone() };
    let changed =
        item_changes::items(tree, old, &plan, drop_unconvertible).map_err(below_schema)?;
    let (own, others) = changed.into_iter().partition(|item| item.collection == id);
    let mut edits = item_edits::updates(tree, stamp, own)?;
    edits.extend(item_edits::unstamped_updates(tree, others)?);
    edits.extend(set_others(tree, &plan)?);
    let document = home(tree, id)?.0;
    let stored = hidden_relations::stored_schema(tree, id)?;
    let after = hidden_relations::with_hidden(tree, &stored, &plan.schema)?;
    edits.extend(set(document, id, Some(stored), &after, false));
    edits.extend(update_edit(document, before, data, stamp));
    Ok((edits, plan.schema))
}
