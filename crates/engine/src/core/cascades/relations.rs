//! The cascade of deleted items and collections: the relations at either end.
//!
//! It is planned on the state before the write. The edits of the write itself are then aligned with
//! it: they were planned without regard to deletions in the same write.

use std::collections::{BTreeSet, HashMap};

use leafbase_collections::{CollectionRemoval, ReadCollections, remove_collections, unlink_items};
use leafbase_model::{
    BlockId, BlockKind, BlockRecord, BlockType, DocumentId, Edit, Error, Limits, PropertyValue,
    Relation, Result, Schema, Subtrees, invariant,
};
use leafbase_store::EdgeEnd;
use leafbase_tree_ops::ReadTree;

use super::item_edits;
use super::removed::removed;
use crate::core::tree::Tree;

/// Whether one of `edits` removes items or collections.
pub(crate) fn removes_any(edits: &[Edit]) -> bool {
    let nodes = edits.iter().filter_map(removed).flat_map(|(_, subtrees)| &subtrees.0);
    nodes.map(|node| node.block.data.block_type()).any(is_part)
}

/// Whether blocks of this type are items or collections.
pub(super) fn is_part(block_type: BlockType) -> bool {
    matches!(block_type, BlockType::CollectionItem | BlockType::Collection)
}

/// The items and collections that a write deletes.
#[derive(Debug, Default)]
struct Deleted {
    items: BTreeSet<BlockId>,
    collections: BTreeSet<BlockId>,
}

impl Deleted {
    fn by(edits: &[Edit]) -> Self {
        let mut deleted = Self::default();
        for node in edits.iter().filter_map(removed).flat_map(|(_, subtrees)| &subtrees.0) {
            match node.block.data.block_type() {
                BlockType::CollectionItem => {
                    deleted.items.insert(node.block.id);
                }
                BlockType::Collection => {
                    deleted.collections.insert(node.block.id);
                }
                _ => {}
            }
        }
        deleted
    }
}

/// `edits` with the edits that follow: relations of remaining items to deleted ones, the properties
/// at the other ends of the relations of deleted collections, and the schemas of these. None of
/// them stamps the remaining items, which the request did not name. The cost grows with the deleted
/// items and those related to them.
///
/// # Errors
/// Errors of the store.
pub(crate) fn with_relations(
    tree: &Tree<'_>,
    limits: &Limits,
    edits: Vec<Edit>,
) -> Result<Vec<Edit>> {
    let deleted = Deleted::by(&edits);
    let ends: Vec<_> = deleted.items.iter().copied().map(EdgeEnd::Block).collect();
    tree.unguarded().prefetch_edges(&ends);
    let mut all = item_edits::unstamped_updates(tree, unlink_items(tree, &deleted.items)?)?;
    let mut state = PlannedState::after(&all);
    // The values in dropped properties are relations to deleted items, which are unlinked already.
    let CollectionRemoval { others, dropped: _ } =
        remove_collections(tree, &deleted.collections, limits)?;
    for edit in edits {
        if let Some((document, subtrees)) = removed(&edit) {
            for collection in collections(subtrees) {
                if state.has_schema(tree, collection)? {
                    let removal = state.set_schema(tree, document, collection, None)?;
                    all.push(removal);
                }
            }
        }
        all.extend(state.align(edit, &deleted));
    }
    // The properties of other collections go last: deleted items may hold values in them, and the
    // inverse, which runs backwards, needs the properties before it inserts the items.
    for (collection, _) in others {
        invariant!(
            !deleted.collections.contains(&collection),
            "the other end of a deleted collection's relation is a remaining collection"
        );
        all.extend(state.without_deleted_targets(tree, collection, &deleted)?);
    }
    Ok(all)
}

fn collections(subtrees: &Subtrees) -> impl Iterator<Item = BlockId> {
    let blocks = subtrees.0.iter().map(|node| &node.block);
    blocks.filter(|block| block.data.block_type() == BlockType::Collection).map(|block| block.id)
}

/// Items and schemas as the planned edits leave them.
#[derive(Debug, Default)]
struct PlannedState {
    items: HashMap<BlockId, BlockRecord>,
    /// `None` for a removed schema.
    schemas: HashMap<BlockId, Option<Schema>>,
}

impl PlannedState {
    fn after(edits: &[Edit]) -> Self {
        let items = edits.iter().filter_map(|edit| match edit {
            Edit::Update { after, .. } => Some((after.id, after.as_ref().clone())),
            _ => None,
        });
        Self { items: items.collect(), schemas: HashMap::new() }
    }

    fn schema(&self, tree: &Tree<'_>, collection: BlockId) -> Result<Option<Schema>> {
        self.schemas
            .get(&collection)
            .map_or_else(|| tree.schema(collection), |known| Ok(known.clone()))
    }

    fn has_schema(&self, tree: &Tree<'_>, collection: BlockId) -> Result<bool> {
        Ok(self.schema(tree, collection)?.is_some())
    }

    /// The edit that removes the relations of a remaining collection to deleted ones; `None` if no
    /// such relation is left.
    fn without_deleted_targets(
        &mut self,
        tree: &Tree<'_>,
        collection: BlockId,
        deleted: &Deleted,
    ) -> Result<Option<Edit>> {
        let Some(before) = self.schema(tree, collection)? else { return Ok(None) };
        let after = without_deleted_targets(before.clone(), deleted);
        if after == before {
            return Ok(None);
        }
        let missing =
            || Error::corrupted(format_args!("collection {collection} has a schema but no block"));
        let document = tree.locate(collection)?.ok_or_else(missing)?.document;
        self.set_schema(tree, document, collection, Some(after)).map(Some)
    }

    fn set_schema(
        &mut self,
        tree: &Tree<'_>,
        document: DocumentId,
        collection: BlockId,
        after: Option<Schema>,
    ) -> Result<Edit> {
        let before = self.schema(tree, collection)?.map(Box::new);
        invariant!(before.is_some(), "collection {collection} has a schema to change");
        self.schemas.insert(collection, after.clone());
        let quiet = after.is_some();
        Ok(Edit::SetSchema { document, collection, before, after: after.map(Box::new), quiet })
    }

    /// An edit of the write itself, rebased on the planned state and without deleted items and
    /// collections; `None` if it has become a no-op.
    fn align(&mut self, edit: Edit, deleted: &Deleted) -> Option<Edit> {
        match edit {
            Edit::Update { document, before, after } => {
                let is_stamp = before.data == after.data;
                let (before, after) = self.align_item(before, after, deleted);
                (is_stamp || before.data != after.data).then_some(Edit::Update {
                    document,
                    before,
                    after,
                })
            }
            Edit::SetSchema { document, collection, before, after, quiet } => {
                let before = self
                    .schemas
                    .get(&collection)
                    .cloned()
                    .map_or(before, |known| known.map(Box::new));
                let after = after.map(|after| without_deleted_targets(*after, deleted));
                self.schemas.insert(collection, after.clone());
                let after = after.map(Box::new);
                (before != after).then_some(Edit::SetSchema {
                    document,
                    collection,
                    before,
                    after,
                    quiet,
                })
            }
            edit => Some(edit),
        }
    }

    fn align_item(
        &mut self,
        before: Box<BlockRecord>,
        mut after: Box<BlockRecord>,
        deleted: &Deleted,
    ) -> (Box<BlockRecord>, Box<BlockRecord>) {
        debug_assert_eq!(before.id, after.id, "an update keeps the ID of its block");
        // An item that is deleted later in the write is removed as the write leaves it.
        if deleted.items.contains(&after.id) {
            return (before, after);
        }
        let BlockKind::CollectionItem { properties } = &mut after.data.kind else {
            return (before, after);
        };
        let relations = properties.iter().filter_map(|(key, value)| match value {
            PropertyValue::Relations(items) => {
                let remaining: Vec<_> =
                    items.iter().copied().filter(|item| !deleted.items.contains(item)).collect();
                let value = (!remaining.is_empty()).then_some(PropertyValue::Relations(remaining));
                Some((key.to_owned(), value))
            }
            _ => None,
        });
        let relations: Vec<_> = relations.collect();
        properties.apply(relations);
        let is_stamped = before.rev != after.rev;
        let before = match self.items.get(&after.id) {
            Some(planned) => Box::new(planned.clone()),
            None => before,
        };
        // The revision counts from the planned state, which an earlier update may have stamped.
        after.rev = if is_stamped { before.rev.saturating_add(1) } else { before.rev };
        self.items.insert(after.id, after.as_ref().clone());
        (before, after)
    }
}

/// A schema without relations to deleted collections.
fn without_deleted_targets(mut schema: Schema, deleted: &Deleted) -> Schema {
    let remains = |relation: &Relation| !deleted.collections.contains(&relation.target);
    schema.properties.retain(|property| property.kind.relation().is_none_or(remains));
    schema
}

#[cfg(test)]
mod tests {
    use leafbase_model::{
        AddItems, BlockData, CreateCollection, DocumentId, Edit, Fetch, GetItems, InsertTarget,
        ItemDraft, Position, Properties, PropertyDraft, SchemaDraft, Subtrees,
    };
    use leafbase_tree_ops::update_edit;

    use super::*;
    use crate::{Connection, Space, Stamp};

    /// Parts, and things that name them: the things own the relation.
    struct Workshop {
        notes: Connection,
        document: DocumentId,
        parts: BlockId,
        things: BlockId,
    }

    impl Workshop {
        /// Three parts, and a thing that names the first two.
        fn new() -> Self {
            let notes = Space::in_memory().unwrap().connect();
            let document = notes.create_document("workshop").unwrap().id();
            let create = |name: &str, properties: Vec<PropertyDraft>| {
                let schema = SchemaDraft::new(name, properties);
                notes
                    .create_collection(CreateCollection::new(schema, Position::end_of(document)))
                    .unwrap()
                    .id
            };
            let parts = create("Parts", Vec::new());
            let things =
                create("Things", vec![PropertyDraft::new("Parts", Relation::to(parts).into())]);
            let drafts = ["a", "b", "c"].map(ItemDraft::new);
            let added = notes.add_items(AddItems::new(parts, drafts)).unwrap();
            let ids: Vec<_> = added.iter().take(2).map(|item| item.id.to_string()).collect();
            notes
                .add_items(AddItems::new(things, [ItemDraft::new("thing").with("parts", ids)]))
                .unwrap();
            Self { notes, document, parts, things }
        }

        fn items(&self, collection: BlockId) -> Vec<BlockId> {
            self.notes
                .items(GetItems::of(collection))
                .unwrap()
                .items
                .iter()
                .map(|item| item.id)
                .collect()
        }

        /// The titles of what the thing names.
        fn named(&self) -> Vec<String> {
            let items = self.notes.items(GetItems::of(self.things)).unwrap().items;
            items
                .iter()
                .flat_map(|item| item.related("parts"))
                .map(|part| part.title.to_string())
                .collect()
        }

        fn record(&self, block: BlockId) -> BlockRecord {
            self.notes.operation("test").read(|tree| tree.block(block)).unwrap().unwrap()
        }

        /// The thing comes to name these parts, and has another title.
        fn update(&self, parts: &[BlockId]) -> Edit {
            let before = self.record(self.items(self.things)[0]);
            let value = PropertyValue::Relations(parts.to_vec());
            let properties = Properties::from_iter([("parts".to_owned(), value)]);
            let (kind, markdown) = (BlockKind::CollectionItem { properties }, "changed".to_owned());
            let data = BlockData { kind, inline: markdown, ..before.data.clone() };
            update_edit(self.document, before, data, &Stamp::default()).unwrap()
        }

        /// The parts before the last one go.
        fn remove(&self, count: usize) -> Edit {
            let nodes = self.items(self.parts).into_iter().take(count);
            let subtrees =
                Subtrees(nodes.flat_map(|part| Subtrees::one(self.record(part)).0).collect());
            Edit::Remove {
                target: InsertTarget { document: self.document, parent: self.parts, after: None },
                subtrees,
            }
        }

        /// Blocks of the document, which `edits` take out or move.
        fn apply(&self, edits: &[Edit]) {
            self.notes.operation("test").write(|writing| writing.apply(edits.to_vec())).unwrap();
            let report = self.notes.space().check().unwrap();
            assert!(report.is_clean(), "{report:#?}");
        }
    }

    #[test]
    fn what_is_updated_in_the_same_write_names_what_stays() {
        type Make = fn(&Workshop) -> Vec<Edit>;
        let all = |shop: &Workshop| shop.items(shop.parts);
        let cases: [(&str, Make, &[&str]); 6] = [
            ("only a removal", |shop| vec![shop.remove(1)], &["b"]),
            (
                "before",
                |shop| vec![shop.update(&shop.items(shop.parts)), shop.remove(1)],
                &["b", "c"],
            ),
            (
                "after",
                |shop| vec![shop.remove(1), shop.update(&shop.items(shop.parts))],
                &["b", "c"],
            ),
            (
                "nothing of it is left",
                |shop| vec![shop.update(&shop.items(shop.parts)[..2]), shop.remove(2)],
                &[],
            ),
            (
                "what did not name it",
                |shop| vec![shop.update(&shop.items(shop.parts)[1..]), shop.remove(2)],
                &["c"],
            ),
            ("all go", |shop| vec![shop.remove(3), shop.update(&shop.items(shop.parts)[..1])], &[]),
        ];
        for (name, edits, expected) in cases {
            let shop = Workshop::new();
            assert_eq!(all(&shop).len(), 3);
            shop.apply(&edits(&shop));
            assert_eq!(shop.named(), expected, "{name}");
        }
    }

    #[test]
    fn schemas_that_change_in_the_same_write_lose_the_ends_of_what_goes() {
        for is_first in [true, false] {
            let shop = Workshop::new();
            let before = shop.notes.schema(shop.things).unwrap();
            let after = Schema { key: "other".to_owned(), ..before.clone() };
            let (document, collection) = (shop.document, shop.things);
            let (before, after) = (Some(Box::new(before)), Some(Box::new(after)));
            let change = Edit::SetSchema { document, collection, before, after, quiet: false };
            let subtrees =
                shop.notes.operation("test").read(|tree| tree.subtree(shop.parts, None)).unwrap();
            let removal = Edit::Remove {
                target: InsertTarget { document, parent: document.root(), after: None },
                subtrees,
            };
            shop.apply(&if is_first { [change, removal] } else { [removal, change] });
            let schema = shop.notes.schema(shop.things).unwrap();
            assert_eq!((schema.key.as_str(), schema.properties.len()), ("other", 0));
            assert!(shop.named().is_empty());
        }
    }

    #[test]
    fn what_is_moved_and_renamed_before_goes_all_the_same() {
        let shop = Workshop::new();
        let root = shop.document.root();
        let text = shop.notes.insert_markdown("text", shop.document).unwrap()[0].id;
        let slot = |after| InsertTarget { document: shop.document, parent: root, after };
        let before = shop.record(shop.parts);
        let data = BlockData { inline: "Renamed".to_owned(), ..before.data.clone() };
        let rename = update_edit(shop.document, before, data, &Stamp::default()).unwrap();
        let mut subtrees =
            shop.notes.operation("test").read(|tree| tree.subtree(shop.parts, None)).unwrap();
        if let (Some(node), Edit::Update { after, .. }) = (subtrees.0.first_mut(), &rename) {
            node.block = after.as_ref().clone();
        }
        let there = Edit::Move { block: shop.parts, from: slot(None), to: slot(Some(text)) };
        shop.apply(&[there, rename, Edit::Remove { target: slot(Some(text)), subtrees }]);
        assert_eq!(shop.notes.fetch(Fetch::new(shop.document)).unwrap().children().len(), 2);
        assert!(shop.notes.schema(shop.things).unwrap().properties.is_empty());
    }
}
