//! Checks of collections: their schemas, the ends of relations, and how many items they have.

use std::collections::{BTreeMap, HashSet};

use leafbase_model::{BlockId, BlockType, Property, Relation};

use super::blocks::CheckedBlocks;
use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, COLLECTIONS, RowName, SCHEMAS};
use crate::reader::items::read_entry;
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

    /// Each collection has a schema with its name, and nothing else has one.
    fn schemas(&mut self, blocks: &CheckedBlocks) -> SchemaMap {
        // Also those that cannot be read: their collections are not without a schema.
        let (mut schemas, mut named) = (SchemaMap::new(), HashSet::new());
        self.rows(SCHEMAS, &mut |check, key, value| {
            let id = keyspaces::read_schema(key).ok_or_else(|| records::damaged(key))?;
            named.insert(id);
            let numbered = records::read(key, value, schema::read_numbered)?;
            match blocks.collections.get(&id) {
                None => check.found(Invariant::Schema, RowName(key), "the block is no collection"),
                Some(name) if *name != numbered.schema.name => {
                    check.found(
                        Invariant::Schema,
                        RowName(key),
                        "it has another name than its block",
                    );
                }
                Some(_) => {}
            }
            if let Some(property) = twice(&numbered) {
                check.found(
                    Invariant::Schema,
                    RowName(key),
                    format_args!("the key {:?} or its column is there twice", property.key),
                );
            }
            schemas.insert(id, numbered);
            Ok(())
        });
        for id in blocks.collections.keys().filter(|id| !named.contains(id)) {
            self.found(
                Invariant::Schema,
                format_args!("block {id}"),
                "it is a collection and has no schema",
            );
        }
        self.report.collections = blocks.collections.len() as u64;
        schemas
    }

    fn relations(&mut self, schemas: &SchemaMap) {
        for (id, numbered) in schemas {
            for property in &numbered.schema.properties {
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
                keyspaces::read_collection(key).ok_or_else(|| records::damaged(key))?;
            let is_here = blocks.run_of(id).is_some_and(|(found, ..)| found == document);
            if !is_here || !blocks.collections.contains_key(&id) {
                check.found(
                    Invariant::ItemCount,
                    RowName(key),
                    "the document has no such collection",
                );
                return read_entry(key, value).map(drop);
            }
            counted.insert(id);
            let (says, found) =
                (read_entry(key, value)?.items, blocks.items.get(&id).copied().unwrap_or_default());
            if says != found {
                check.found(
                    Invariant::ItemCount,
                    RowName(key),
                    format_args!("it says {says}, and {found} are there"),
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

/// A property whose key, or the number of whose column, another one before it has.
fn twice(numbered: &IndexedSchema) -> Option<&Property> {
    let (mut keys, mut columns) = (HashSet::new(), HashSet::new());
    let mut properties = numbered.schema.properties.iter().zip(&numbered.columns);
    let taken = properties.find(|(property, column)| {
        !keys.insert(&property.key) || column.is_some_and(|column| !columns.insert(column))
    });
    taken.map(|(property, _)| property)
}

/// The other end of a relation, if it is there.
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
        return Some("its other end does not exist");
    };
    let is_back = other.target == id && other.inverse_key.as_deref() == Some(key);
    match (is_back, relation.is_symmetric(id, key)) {
        (false, _) => Some("its other end leads elsewhere"),
        (true, true) if !relation.owner => Some("nothing owns it"),
        (true, false) if relation.owner == other.owner => Some("not exactly one end owns it"),
        _ => None,
    }
}

impl CheckedBlocks {
    /// Whether a block is an item of this collection.
    pub(super) fn is_item_of(&self, block: BlockId, collection: BlockId) -> bool {
        let is_item = self
            .known
            .get(&block)
            .is_some_and(|known| known.block_type == BlockType::CollectionItem);
        is_item && self.run_of(block).is_some_and(|(_, parent, _)| parent == collection)
    }
}
