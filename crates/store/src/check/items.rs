//! Checks of the values of items, and of the indexes that follow from them: one collection after
//! the other.

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

/// Hands each item of a collection that can be read to `visit`; whether there are others.
fn items_of(
    source: &dyn Read,
    document: DocumentId,
    collection: BlockId,
    visit: &mut dyn FnMut(&BlockRecord, &Properties),
) -> Result<bool> {
    let (start, mut authors, mut is_whole) =
        (keyspaces::parent_runs(document, collection), AuthorCache::default(), true);
    source.scan(KeyRange::half_open(&start, &keyspaces::end_of(start)), &mut |key, value| {
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
    })?;
    Ok(is_whole)
}

/// The items that may have one related item at most, and have one, by the key of the relation.
type SingleLinks = HashSet<(String, BlockId)>;

/// What values must be in a collection.
struct ValueCheck<'c> {
    blocks: &'c CheckedBlocks,
    schemas: &'c SchemaMap,
    collection: BlockId,
    taken: SingleLinks,
}

impl ValueCheck<'_> {
    /// What is wrong with a value of an item; none if it is in order.
    fn fault(
        &mut self,
        item: BlockId,
        property: Option<&Property>,
        value: &PropertyValue,
    ) -> Option<String> {
        let Some(property) = property else {
            return Some("the schema has no such property".to_owned());
        };
        if !property.kind.has_form(value) {
            return Some(format!("it is no value of type {}", property.kind.property_type()));
        }
        match (property.kind.relation(), value) {
            (Some(relation), PropertyValue::Relations(items)) => {
                self.relation_fault(item, &property.key, relation, items)
            }
            _ => None,
        }
    }

    fn relation_fault(
        &mut self,
        item: BlockId,
        key: &str,
        relation: &Relation,
        items: &[BlockId],
    ) -> Option<String> {
        if !relation.owner {
            return Some("the other end owns the relation".to_owned());
        }
        if let Some(stray) =
            items.iter().find(|other| !self.blocks.is_item_of(**other, relation.target))
        {
            return Some(format!("{stray} is no item of the other collection"));
        }
        let is_symmetric = relation.is_symmetric(self.collection, key);
        let is_single = other_end(self.schemas, relation).is_some_and(|other| other.single);
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
        is_over.then(|| "an item has more than one related item, and may have one".to_owned())
    }
}

impl SpaceCheck<'_> {
    /// ValueCheck are as the schemas say, and so are the rows of the indexes, where nothing else
    /// is.
    pub(super) fn items(&mut self, blocks: &CheckedBlocks, schemas: &SchemaMap) {
        let mut from = vec![ITEM_KEYS.tag];
        for (id, numbered) in schemas {
            let columns = keyspaces::columns(*id);
            self.stray_item_keys(&from, &columns);
            if let Some((document, ..)) = blocks.run_of(*id) {
                self.values(document, *id, numbered, blocks, schemas);
                self.item_keys(document, *id, numbered);
            } else {
                self.stray_item_keys(&columns, &keyspaces::end_of(columns));
            }
            from = keyspaces::end_of(columns).to_vec();
        }
        self.stray_item_keys(&from, &keyspaces::end_of([ITEM_KEYS.tag]));
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
        numbered: &IndexedSchema,
        blocks: &CheckedBlocks,
        schemas: &SchemaMap,
    ) {
        let mut values = ValueCheck { blocks, schemas, collection, taken: SingleLinks::new() };
        let read = items_of(self.source, document, collection, &mut |item, properties| {
            self.report.items += 1;
            for (key, value) in properties.iter() {
                if let Some(message) = values.fault(item.id, numbered.schema.property(key), value) {
                    self.found(
                        Invariant::Value,
                        format_args!("block {}", item.id),
                        format_args!("{key:?}: {message}"),
                    );
                }
            }
        });
        // What cannot be read was told with the blocks.
        drop(read);
    }

    /// The rows of one collection's indexes: only a hash of each and its bitmap are held, and
    /// their items are read again if some are missing.
    fn item_keys(&mut self, document: DocumentId, collection: BlockId, numbered: &IndexedSchema) {
        let indexer = ItemIndexer { collection, numbered, keys: self.extractor.keys };
        let source = self.source;
        let expected = |visit: &mut dyn FnMut(Vec<u8>, IndexBitmap)| {
            items_of(source, document, collection, &mut |item, properties| {
                indexer.rows(item.id, (&item.data.markdown, properties), &|_| true, visit);
            })
        };
        let mut said = HashMap::new();
        let note = &mut |key: Vec<u8>, bitmap| {
            said.insert(edge_hash(&key), bitmap);
        };
        let is_whole = expected(note).unwrap_or_default();
        let columns = keyspaces::columns(collection);
        self.rows_within(
            ITEM_KEYS.name,
            &columns,
            &keyspaces::end_of(columns),
            &mut |check, key, value| {
                keyspaces::read_item_key(key).ok_or_else(|| records::damaged(key))?;
                let (expected, found) =
                    (said.remove(&edge_hash(key)), IndexBitmap::read(key, value));
                match (expected, &found) {
                    (None, _) if is_whole => {
                        check.found(Invariant::ItemIndex, RowName(key), "no item says so")
                    }
                    (Some(expected), Ok(found)) if expected != *found => {
                        check.found(
                            Invariant::ItemIndex,
                            RowName(key),
                            "its bitmap is not that of the item",
                        );
                    }
                    _ => {}
                }
                found.map(drop)
            },
        );
        if !said.is_empty() && !self.broken_off {
            let missing = &mut |key: Vec<u8>, _| {
                if said.remove(&edge_hash(&key)).is_some() {
                    self.found(Invariant::ItemIndex, RowName(&key), "is missing");
                }
            };
            drop(expected(missing));
        }
    }
}
