//! Checks of item values and of item indexes, one collection at a time.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use leafbase_model::{
    BlockId, BlockKind, BlockRecord, DocumentId, Properties, Property, PropertyValue, Relation,
    Result,
};

use super::blocks::{CheckedBlocks, edge_hash};
use super::collections::{SchemaMap, other_end};
use super::{Invariant, SpaceCheck};
use crate::index_bitmap::IndexBitmap;
use crate::items::ItemIndexer;
use crate::keyspaces::{self, ITEM_KEYS, RowName};
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::schema::IndexedSchema;
use crate::run::RunView;

/// Passes each item of a collection that decodes to `visit`. Returns whether all do.
fn items_of(
    source: &dyn Read,
    document: DocumentId,
    collection: BlockId,
    visit: &mut dyn FnMut(&BlockRecord, &Properties),
) -> Result<bool> {
    let (start, mut authors, mut is_whole) =
        (keyspaces::parent_runs(document, collection), AuthorCache::default(), true);
    source.scan(
        KeyRange::half_open(&start, &keyspaces::prefix_end(start)),
        &mut |key, value| {
            let Ok(run) = RunView::read(key, value) else {
                is_whole = false;
                return Ok(ControlFlow::Continue(()));
            };
            for (id, record) in run.entries() {
                let item = block::decode(id, record, &mut authors);
                is_whole &= item.is_ok();
                if let Ok(item) = item
                    && let BlockKind::CollectionItem { properties } = &item.data.kind
                {
                    visit(&item, properties);
                }
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(is_whole)
}

/// Items that already have their one related item, by the key of the relation.
type SingleLinks = HashSet<(String, BlockId)>;

/// Checks the values of one collection.
struct ValueCheck<'c> {
    blocks: &'c CheckedBlocks,
    schemas: &'c SchemaMap,
    collection: BlockId,
    taken: SingleLinks,
}

impl ValueCheck<'_> {
    /// What is wrong with a value; `None` if nothing is.
    fn violation(
        &mut self,
        item: BlockId,
        property: Option<&Property>,
        value: &PropertyValue,
    ) -> Option<String> {
        let Some(property) = property else {
            return Some("the schema has no such property".to_owned());
        };
        if !property.kind.has_form(value) {
            return Some(format!("the value is not of type {}", property.kind.property_type()));
        }
        match (property.kind.relation(), value) {
            (Some(relation), PropertyValue::Relations(items)) => {
                self.relation_violation(item, &property.key, relation, items)
            }
            _ => None,
        }
    }

    fn relation_violation(
        &mut self,
        item: BlockId,
        key: &str,
        relation: &Relation,
        items: &[BlockId],
    ) -> Option<String> {
        if !relation.owner {
            return Some("the inverse relation owns the values".to_owned());
        }
        if let Some(stray) =
            items.iter().find(|other| !self.blocks.is_item_of(**other, relation.target))
        {
            return Some(format!("{stray} is not an item of the target collection"));
        }
        let is_symmetric = relation.is_symmetric(self.collection, key);
        let is_single = other_end(self.schemas, relation).is_some_and(|other| other.single);
        // Single relations: the first item that takes a block has it.
        let mut take = |block: BlockId| self.taken.insert((key.to_owned(), block));
        let is_over = match (is_symmetric, relation.single) {
            (true, true) => {
                items.iter().any(|other| !take(*other) || (*other != item && !take(item)))
            }
            (true, false) => false,
            (false, single) => {
                (single && items.len() > 1)
                    || (is_single && items.iter().any(|other| !take(*other)))
            }
        };
        is_over.then(|| "a single relation has more than one item".to_owned())
    }
}

impl SpaceCheck<'_> {
    /// Checks values against schemas, and index rows against values.
    pub(super) fn items(&mut self, blocks: &CheckedBlocks, schemas: &SchemaMap) {
        let mut from = vec![ITEM_KEYS.tag];
        for (id, indexed) in schemas {
            let columns = keyspaces::columns(*id);
            self.stray_item_keys(&from, &columns);
            if let Some((document, ..)) = blocks.run_of(*id) {
                self.values(document, *id, indexed, blocks, schemas);
                self.item_keys(document, *id, indexed);
            } else {
                self.stray_item_keys(&columns, &keyspaces::prefix_end(columns));
            }
            from = keyspaces::prefix_end(columns).to_vec();
        }
        self.stray_item_keys(&from, &keyspaces::prefix_end([ITEM_KEYS.tag]));
    }

    fn stray_item_keys(&mut self, from: &[u8], to: &[u8]) {
        self.rows_within(ITEM_KEYS.name, from, to, &mut |check, key, value| {
            check.found(Invariant::ItemIndex, RowName(key), "there is no such collection");
            IndexBitmap::read(key, value).map(drop)
        });
    }

    fn values(
        &mut self,
        document: DocumentId,
        collection: BlockId,
        indexed: &IndexedSchema,
        blocks: &CheckedBlocks,
        schemas: &SchemaMap,
    ) {
        let mut values = ValueCheck { blocks, schemas, collection, taken: SingleLinks::new() };
        let read = items_of(self.source, document, collection, &mut |item, properties| {
            self.report.items += 1;
            for (key, value) in properties.iter() {
                if let Some(message) =
                    values.violation(item.id, indexed.schema.property(key), value)
                {
                    self.found(
                        Invariant::Value,
                        format_args!("block {}", item.id),
                        format_args!("{key:?}: {message}"),
                    );
                }
            }
        });
        // Runs that do not decode are reported with the blocks.
        drop(read);
    }

    /// Checks the index rows of one collection. Holds a hash and the bitmap of each expected row,
    /// and reads the items again only to name missing rows.
    fn item_keys(&mut self, document: DocumentId, collection: BlockId, indexed: &IndexedSchema) {
        let indexer = ItemIndexer { collection, indexed, keys: self.extractor.keys };
        let source = self.source;
        let expected = |visit: &mut dyn FnMut(Vec<u8>, IndexBitmap)| {
            items_of(source, document, collection, &mut |item, properties| {
                indexer.rows(item.id, (&item.data.inline, properties), &|_| true, visit);
            })
        };
        let mut unmatched = HashMap::new();
        let note = &mut |key: Vec<u8>, bitmap| {
            unmatched.insert(edge_hash(&key), bitmap);
        };
        // If an item does not decode, a row that follows from none may be its.
        let is_whole = expected(note).unwrap_or(false);
        let columns = keyspaces::columns(collection);
        self.rows_within(
            ITEM_KEYS.name,
            &columns,
            &keyspaces::prefix_end(columns),
            &mut |check, key, value| {
                keyspaces::parse_item_key(key).ok_or_else(|| records::corrupt(key))?;
                let (expected, found) =
                    (unmatched.remove(&edge_hash(key)), IndexBitmap::read(key, value));
                match (expected, &found) {
                    (None, _) if is_whole => {
                        check.found(Invariant::ItemIndex, RowName(key), "it follows from no item");
                    }
                    (Some(expected), Ok(found)) if expected != *found => {
                        check.found(
                            Invariant::ItemIndex,
                            RowName(key),
                            "its bitmap differs from that of the item",
                        );
                    }
                    _ => {}
                }
                found.map(drop)
            },
        );
        if !unmatched.is_empty() && !self.is_canceled {
            let missing = &mut |key: Vec<u8>, _| {
                if unmatched.remove(&edge_hash(&key)).is_some() {
                    self.found(Invariant::ItemIndex, RowName(&key), "is missing");
                }
            };
            drop(expected(missing));
        }
    }
}
