//! Iterates the rows of a query along its access path.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use leafbase_collections::{
    AccessPath, ColumnRef, IndexRange, IndexStatistics, ReadCollections, index_keys, related,
};
use leafbase_model::{
    BlockData, BlockId, BlockKind, Error, Properties, PropertyValue, Result, Schema,
};
use leafbase_store::{ItemIndex, ItemRow, SpaceReader};
use leafbase_tree_ops::ReadTree;

use super::prefilter::{IndexPrefilter, PrefilterResult, indexed};
use crate::core::tree::Tree;
use crate::operations::collections::presenter::ITEMS_PER_LOOKUP;

/// Called per item; returns the number of items found so far. `Break` ends the scan.
pub(super) type RowVisitor<'v> = &'v mut dyn FnMut(ItemRow<'_>) -> Result<ControlFlow<(), usize>>;

/// The rows of one collection.
pub(super) struct CollectionRows<'a> {
    pub(super) tree: &'a Tree<'a>,
    pub(super) collection: BlockId,
    pub(super) schema: Schema,
    reader: &'a SpaceReader<'a>,
    pub(super) index: ItemIndex<'a>,
}

impl<'a> CollectionRows<'a> {
    /// The rows of a visible collection; `reader` is that of the tree.
    pub(super) fn of(
        tree: &'a Tree<'a>,
        reader: &'a SpaceReader<'a>,
        collection: BlockId,
    ) -> Result<Self> {
        let missing = || Error::no_collection().at("collectionId");
        let schema = ReadCollections::schema(tree, collection)?.ok_or_else(missing)?;
        let index = reader.item_index(collection)?.ok_or_else(missing)?;
        Ok(Self { tree, collection, schema, reader, index })
    }

    /// Passes the items of an access path to `visit`, in order, except those that the prefilter
    /// excludes.
    pub(super) fn each(
        &self,
        access: &AccessPath,
        prefilter: &mut IndexPrefilter<'_>,
        visit: RowVisitor<'_>,
    ) -> Result<()> {
        match access {
            AccessPath::All => self
                .reader
                .item_rows(self.collection, None, &mut |item| Ok(without_count(visit(item)?))),
            AccessPath::Index { column, ranges, backwards, then_empty } => {
                let is_done =
                    self.ranges(column, ranges, *backwards, (prefilter, visit))?.is_break();
                // Items without a value sort last, after all ranges.
                if is_done || !then_empty { Ok(()) } else { self.empty(column, prefilter, visit) }
            }
            AccessPath::Related { key, items } => self.related(key, items, visit),
        }
    }

    fn ranges(
        &self,
        column: &ColumnRef,
        ranges: &[IndexRange],
        backwards: bool,
        (prefilter, visit): (&mut IndexPrefilter<'_>, RowVisitor<'_>),
    ) -> Result<ControlFlow<()>> {
        let mut flow = ControlFlow::Continue(());
        for IndexRange { from, to } in ranges {
            self.index.scan(
                indexed(column),
                from,
                to.as_deref(),
                backwards,
                &mut |id, bitmap| {
                    flow = match prefilter.step(&self.index, id, bitmap)? {
                        PrefilterResult::Skip => ControlFlow::Continue(()),
                        // The lookup decodes the row; the bitmap alone excludes most items.
                        PrefilterResult::Look => prefilter.found(self.item(id, visit)?),
                        PrefilterResult::EndScan => ControlFlow::Break(()),
                    };
                    Ok(flow)
                },
            )?;
            if flow.is_break() {
                break;
            }
        }
        Ok(flow)
    }

    /// The items without a key in the index of the column; only candidates if the prefilter knows
    /// them.
    fn empty(
        &self,
        column: &ColumnRef,
        prefilter: &mut IndexPrefilter<'_>,
        visit: RowVisitor<'_>,
    ) -> Result<()> {
        let mut look = |item: ItemRow<'_>| {
            if self.has_key(column, &item)? { Ok(ControlFlow::Continue(0)) } else { visit(item) }
        };
        let most = usize::try_from(self.count_all() / ITEMS_PER_LOOKUP).unwrap_or(usize::MAX);
        // Without an intersection the whole collection has to be scanned.
        let Some(few) = prefilter.candidates(&self.index, most)? else {
            return self
                .reader
                .item_rows(self.collection, None, &mut |item| Ok(without_count(look(item)?)));
        };
        for id in few {
            if self.item(*id, &mut look)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn has_key(&self, column: &ColumnRef, item: &ItemRow<'_>) -> Result<bool> {
        Ok(match column {
            ColumnRef::Title => !item.title.is_empty(),
            ColumnRef::Property(key) => {
                let found = self.schema.property(key).zip(item.value(key)?);
                found
                    .is_some_and(|(property, value)| !index_keys(&property.kind, &value).is_empty())
            }
        })
    }

    /// Items related to these, from the other end. IDs that are not items of the target are
    /// ignored.
    fn related(&self, key: &str, items: &BTreeSet<BlockId>, visit: RowVisitor<'_>) -> Result<()> {
        let relation = self.schema.property(key).and_then(|property| property.kind.relation());
        let Some((target, inverse)) =
            relation.and_then(|end| Some((end.target, end.inverse_key.as_deref()?)))
        else {
            return Ok(());
        };
        // Sorted and deduplicated: an item can be related to several of the requested ones.
        let mut found = BTreeSet::new();
        for item in items {
            if self.is_item_of(*item, target)? {
                found.extend(related(self.tree, target, inverse, *item)?);
            }
        }
        for id in found {
            if self.item(id, visit)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn is_item_of(&self, item: BlockId, collection: BlockId) -> Result<bool> {
        Ok(self.tree.locate(item)?.is_some_and(|located| located.parent == Some(collection)))
    }

    /// The number of items.
    pub(super) fn count_all(&self) -> u64 {
        self.index.items()
    }

    /// The number of items of another collection.
    pub(super) fn count_of(&self, collection: BlockId) -> Result<u64> {
        Ok(self.reader.item_index(collection)?.map_or(0, |index| index.items()))
    }

    /// Passes an item to `visit`.
    pub(super) fn item(
        &self,
        id: BlockId,
        visit: RowVisitor<'_>,
    ) -> Result<ControlFlow<(), usize>> {
        let missing =
            || Error::corrupted(format_args!("item {id} is indexed, but there is no such item"));
        self.reader.item_row(id, visit)?.ok_or_else(missing)
    }
}

/// The stored values of an item.
pub(super) fn values(item: BlockId, data: &BlockData) -> Result<&Properties> {
    match &data.kind {
        BlockKind::CollectionItem { properties } => Ok(properties),
        _ => Err(Error::corrupted(format_args!(
            "block {item} is a child of a collection, but not an item"
        ))),
    }
}

fn without_count(flow: ControlFlow<(), usize>) -> ControlFlow<()> {
    flow.map_continue(drop)
}

impl IndexStatistics for CollectionRows<'_> {
    fn is_indexed(&self, column: &ColumnRef) -> bool {
        self.index.has(indexed(column))
    }

    /// The index contains texts as stored, the query sorts them as redacted.
    fn is_in_order(&self, column: &ColumnRef) -> bool {
        let is_text = match column {
            ColumnRef::Title => true,
            ColumnRef::Property(key) => self.schema.property(key).is_some_and(|property| {
                // A select sorts by the rank of its options, not by their text.
                !property.kind.property_type().has_options()
                    && property.kind.has_form(&PropertyValue::Text(String::new()))
            }),
        };
        self.is_indexed(column) && (self.tree.is_unrestricted() || !is_text)
    }

    fn count(&self, column: &ColumnRef, range: &IndexRange, at_most: usize) -> Result<usize> {
        self.index.count(indexed(column), &range.from, range.to.as_deref(), at_most)
    }

    fn items(&self) -> Result<u64> {
        Ok(self.count_all())
    }
}
