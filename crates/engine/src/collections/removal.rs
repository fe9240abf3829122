//! What goes with items and collections that a write takes away: their ends of relations.
//!
//! All of it is decided on the state before the write. What the write itself does to items that stay, and to the schemas of other
//! collections, is brought in line with that: it may have been decided without a thought of what goes.

use std::collections::{BTreeSet, HashMap};

use leafbase_collections::{ReadCollections, Removal, forget, remove_collections};
use leafbase_model::{
    BlockId, BlockKind, BlockRecord, BlockType, DocumentId, Edit, Error, Forest, Limits, PropertyValue, Result, Schema,
    Stamp,
};
use leafbase_tree_ops::ReadTree;

use crate::collections::writing;
use crate::sight::Full;
use crate::tree::Tree;
use crate::upkeep::taken;

/// Whether one of `edits` takes items or collections out.
pub(crate) fn takes_any(edits: &[Edit]) -> bool {
    let nodes = edits.iter().filter_map(taken).flat_map(|(_, forest)| &forest.0);
    nodes.map(|node| node.block.data.block_type()).any(is_part)
}

fn is_part(block_type: BlockType) -> bool {
    matches!(block_type, BlockType::CollectionItem | BlockType::Collection)
}

/// The items and collections that go.
#[derive(Debug, Default)]
struct Going {
    items: BTreeSet<BlockId>,
    collections: BTreeSet<BlockId>,
}

impl Going {
    fn with(edits: &[Edit]) -> Self {
        let mut going = Self::default();
        for node in edits.iter().filter_map(taken).flat_map(|(_, forest)| &forest.0) {
            match node.block.data.block_type() {
                BlockType::CollectionItem => going.items.insert(node.block.id),
                BlockType::Collection => going.collections.insert(node.block.id),
                _ => continue,
            };
        }
        going
    }
}

/// `edits` with what goes along: relations of items that stay to those that go, the other ends of relations of collections that
/// go, their own schemas. Costs by what goes and by what names it.
///
/// # Errors
/// What the store reports.
pub(crate) fn with_ends(tree: &Tree<'_, Full>, stamp: &Stamp, limits: &Limits, edits: Vec<Edit>) -> Result<Vec<Edit>> {
    let going = Going::with(&edits);
    let mut all = writing::edits(tree, stamp, forget(tree, &going.items)?)?;
    let mut held = Held::after(&all);
    // What the columns that go hold are items that go, which no item holds any more.
    let Removal { others, dropped: _ } = remove_collections(tree, &going.collections, limits)?;
    for (collection, schema) in others {
        let edit = held.schema(tree, collection, Some(schema))?;
        all.push(edit);
    }
    for edit in edits {
        if let Some((document, forest)) = taken(&edit) {
            for collection in collections(forest) {
                if held.has_schema(tree, collection)? {
                    let end = held.schema_in(tree, document, collection, None)?;
                    all.push(end);
                }
            }
        }
        all.extend(held.aligned(edit, &going));
    }
    Ok(all)
}

fn collections(forest: &Forest) -> impl Iterator<Item = BlockId> {
    let blocks = forest.0.iter().map(|node| &node.block);
    blocks.filter(|block| block.data.block_type() == BlockType::Collection).map(|block| block.id)
}

/// Items and schemas as the edits so far leave them.
#[derive(Debug, Default)]
struct Held {
    items: HashMap<BlockId, BlockRecord>,
    schemas: HashMap<BlockId, Option<Schema>>,
}

impl Held {
    fn after(edits: &[Edit]) -> Self {
        let items = edits.iter().filter_map(|edit| match edit {
            Edit::Update { after, .. } => Some((after.id, after.as_ref().clone())),
            _ => None,
        });
        Self { items: items.collect(), schemas: HashMap::new() }
    }

    fn present(&self, tree: &Tree<'_, Full>, collection: BlockId) -> Result<Option<Schema>> {
        self.schemas.get(&collection).map_or_else(|| tree.schema(collection), |known| Ok(known.clone()))
    }

    fn has_schema(&self, tree: &Tree<'_, Full>, collection: BlockId) -> Result<bool> {
        Ok(self.present(tree, collection)?.is_some())
    }

    /// The edit after which `collection` has this schema.
    fn schema(&mut self, tree: &Tree<'_, Full>, collection: BlockId, after: Option<Schema>) -> Result<Edit> {
        let missing = || Error::corrupted(format_args!("collection {collection} has a schema but no block"));
        let document = tree.locate(collection)?.ok_or_else(missing)?.document;
        self.schema_in(tree, document, collection, after)
    }

    fn schema_in(
        &mut self,
        tree: &Tree<'_, Full>,
        document: DocumentId,
        collection: BlockId,
        after: Option<Schema>,
    ) -> Result<Edit> {
        let before = self.present(tree, collection)?.map(Box::new);
        self.schemas.insert(collection, after.clone());
        Ok(Edit::SetSchema { document, collection, before, after: after.map(Box::new) })
    }

    /// An edit of the write itself, on what is there by now, and without what goes; none if nothing is left to do.
    fn aligned(&mut self, edit: Edit, going: &Going) -> Option<Edit> {
        match edit {
            Edit::Update { document, before, after } => {
                let (before, after) = self.item(before, after, going);
                (before.data != after.data).then_some(Edit::Update { document, before, after })
            }
            Edit::SetSchema { document, collection, before, after } => {
                let before = self.schemas.get(&collection).cloned().map_or(before, |known| known.map(Box::new));
                let after = after.map(|after| without_ends(after, going));
                self.schemas.insert(collection, after.as_deref().cloned());
                (before != after).then_some(Edit::SetSchema { document, collection, before, after })
            }
            edit => Some(edit),
        }
    }

    fn item(
        &mut self,
        before: Box<BlockRecord>,
        mut after: Box<BlockRecord>,
        going: &Going,
    ) -> (Box<BlockRecord>, Box<BlockRecord>) {
        // One that goes later is taken out as the write leaves it.
        if going.items.contains(&after.id) {
            return (before, after);
        }
        let BlockKind::CollectionItem { properties } = &mut after.data.kind else { return (before, after) };
        let relations = properties.iter().filter_map(|(key, value)| match value {
            PropertyValue::Relations(items) => {
                let rest: Vec<_> = items.iter().copied().filter(|item| !going.items.contains(item)).collect();
                let value = (!rest.is_empty()).then_some(PropertyValue::Relations(rest));
                Some((key.to_owned(), value))
            }
            _ => None,
        });
        let relations: Vec<_> = relations.collect();
        properties.apply(relations);
        let before = match self.items.get(&after.id) {
            Some(held) => Box::new(held.clone()),
            None => before,
        };
        after.rev = before.rev.saturating_add(1);
        self.items.insert(after.id, after.as_ref().clone());
        (before, after)
    }
}

/// A schema without relations to collections that go.
fn without_ends(mut schema: Box<Schema>, going: &Going) -> Box<Schema> {
    let stays = |relation: &leafbase_model::Relation| !going.collections.contains(&relation.target);
    schema.properties.retain(|property| property.kind.relation().is_none_or(stays));
    schema
}
