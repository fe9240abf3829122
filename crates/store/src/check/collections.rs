//! Checks of collections: schemas, inverses of relations, and item counts.

use std::collections::{BTreeMap, HashSet};

use leafbase_model::{BlockId, BlockType, Property, Relation};

use super::blocks::CheckedBlocks;
use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, COLLECTIONS, RowName, SCHEMAS};
use crate::reader::items::parse_entry;
use crate::records;
use crate::records::schema::{self, IndexedSchema};

/// The schemas of all collections.
pub(super) type SchemaMap = BTreeMap<BlockId, IndexedSchema>;

impl SpaceCheck<'_> {
    pub(super) fn collections(&mut self, blocks: &CheckedBlocks) {
        let schemas = self.schemas(blocks);
        self.relations(&schemas);
        self.item_counts(blocks);
        self.items(blocks, &schemas);
    }

    /// Each collection has a schema with its name, and no other block has one.
    fn schemas(&mut self, blocks: &CheckedBlocks) -> SchemaMap {
        // Includes schemas that do not decode: their collections do have one.
        let (mut schemas, mut named) = (SchemaMap::new(), HashSet::new());
        self.rows(SCHEMAS, &mut |check, key, value| {
            let id = keyspaces::parse_schema(key).ok_or_else(|| records::corrupt(key))?;
            named.insert(id);
            let indexed = records::decode(key, value, schema::decode_indexed)?;
            match blocks.collections.get(&id) {
                None => {
                    check.found(Invariant::Schema, RowName(key), "the block is not a collection");
                }
                Some(name) if *name != indexed.schema.name => {
                    check.found(
                        Invariant::Schema,
                        RowName(key),
                        "the name differs from that of its block",
                    );
                }
                Some(_) => {}
            }
            if let Some(property) = twice(&indexed) {
                check.found(
                    Invariant::Schema,
                    RowName(key),
                    format_args!("the key {:?} or its column is used twice", property.key),
                );
            }
            schemas.insert(id, indexed);
            Ok(())
        });
        for id in blocks.collections.keys().filter(|id| !named.contains(id)) {
            self.found(
                Invariant::Schema,
                format_args!("block {id}"),
                "the collection has no schema",
            );
        }
        self.report.collections = blocks.collections.len() as u64;
        schemas
    }

    fn relations(&mut self, schemas: &SchemaMap) {
        for (id, indexed) in schemas {
            for property in &indexed.schema.properties {
                if let Some(relation) = property.kind.relation()
                    && let Some(message) = broken_relation(schemas, *id, &property.key, relation)
                {
                    let key = keyspaces::schema(*id);
                    self.found(
                        Invariant::Relation,
                        RowName(&key),
                        format_args!("{:?}: {message}", property.key),
                    );
                }
            }
        }
    }

    fn item_counts(&mut self, blocks: &CheckedBlocks) {
        let mut counted = HashSet::new();
        self.rows(COLLECTIONS, &mut |check, key, value| {
            let (document, id) =
                keyspaces::parse_collection(key).ok_or_else(|| records::corrupt(key))?;
            let is_here = blocks.run_of(id).is_some_and(|(found, ..)| found == document);
            if !is_here || !blocks.collections.contains_key(&id) {
                check.found(
                    Invariant::ItemCount,
                    RowName(key),
                    "the document has no such collection",
                );
                return parse_entry(key, value).map(drop);
            }
            counted.insert(id);
            let (count, found) =
                (parse_entry(key, value)?.items, blocks.items.get(&id).copied().unwrap_or(0));
            if count != found {
                check.found(
                    Invariant::ItemCount,
                    RowName(key),
                    format_args!("the count is {count}, but {found} exist"),
                );
            }
            Ok(())
        });
        for id in blocks.collections.keys().filter(|id| !counted.contains(id)) {
            self.found(
                Invariant::ItemCount,
                format_args!("block {id}"),
                "its items are not counted",
            );
        }
    }
}

/// A property whose key or column number an earlier property has.
fn twice(indexed: &IndexedSchema) -> Option<&Property> {
    let (mut keys, mut columns) = (HashSet::new(), HashSet::new());
    let mut properties = indexed.schema.properties.iter().zip(&indexed.columns);
    let taken = properties.find(|(property, column)| {
        !keys.insert(&property.key) || column.is_some_and(|column| !columns.insert(column))
    });
    taken.map(|(property, _)| property)
}

/// The inverse of a relation, if it exists.
pub(super) fn other_end<'s>(schemas: &'s SchemaMap, relation: &Relation) -> Option<&'s Relation> {
    let target = schemas.get(&relation.target)?;
    target.schema.property(relation.inverse_key.as_deref()?)?.kind.relation()
}

fn broken_relation(
    schemas: &SchemaMap,
    id: BlockId,
    key: &str,
    relation: &Relation,
) -> Option<&'static str> {
    let Some(other) = other_end(schemas, relation) else {
        return Some("the inverse relation does not exist");
    };
    // A symmetric relation is its own inverse, and has no second end to own it.
    let is_back = other.target == id && other.inverse_key.as_deref() == Some(key);
    match (is_back, relation.is_symmetric(id, key)) {
        (false, _) => Some("the inverse relation does not lead back"),
        (true, true) if !relation.owner => Some("no end owns the relation"),
        (true, false) if relation.owner == other.owner => {
            Some("the relation needs exactly one owner")
        }
        _ => None,
    }
}

impl CheckedBlocks {
    /// Whether a block is an item of this collection.
    pub(super) fn is_item_of(&self, block: BlockId, collection: BlockId) -> bool {
        let known = self.get(block).filter(|known| known.block_type == BlockType::CollectionItem);
        known.and_then(|known| self.run(known)).is_some_and(|(_, parent, _)| parent == collection)
    }
}
