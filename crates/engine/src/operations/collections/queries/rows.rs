//! The rows of a query, read from where its plan says.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use leafbase_collections::{
    AccessPath, ColumnRef, IndexRange, IndexStatistics, ReadCollections, index_keys, related,
};
use leafbase_model::{
    BlockData, BlockId, BlockKind, Error, Properties, PropertyType, Result, Schema,
};
use leafbase_store::{IndexedColumn, ItemIndex, ItemRow, SpaceReader};
use leafbase_tree_ops::ReadTree;

use super::sieve::{Sieve, Step};
use crate::core::tree::Tree;
use crate::operations::collections::showing::ITEMS_PER_LOOKUP;

/// What is called for each item, and tells how many it has found by now; `Break` ends the reading.
pub(super) type Visit<'v> = &'v mut dyn FnMut(ItemRow<'_>) -> Result<ControlFlow<(), usize>>;

/// The items of one collection.
pub(super) struct Rows<'a> {
    pub(super) tree: &'a Tree<'a>,
    pub(super) collection: BlockId,
    pub(super) schema: Schema,
    reader: &'a SpaceReader<'a>,
    pub(super) index: ItemIndex<'a>,
}

impl<'a> Rows<'a> {
    /// Those of a collection that the connection sees; `reader` is the tree's.
    pub(super) fn of(
        tree: &'a Tree<'a>,
        reader: &'a SpaceReader<'a>,
        collection: BlockId,
    ) -> Result<Self> {
        let missing = || Error::not_found().at("collectionId");
        let schema = ReadCollections::schema(tree, collection)?.ok_or_else(missing)?;
        let index = reader.item_index(collection)?.ok_or_else(missing)?;
        Ok(Self { tree, collection, schema, reader, index })
    }

    /// Hands the items of this access to `visit`, in its order, but for those that the sieve holds
    /// back.
    pub(super) fn each(
        &self,
        access: &AccessPath,
        sieve: &mut Sieve<'_>,
        visit: Visit<'_>,
    ) -> Result<()> {
        match access {
            AccessPath::All => {
                self.reader.item_rows(self.collection, None, &mut |item| Ok(forget(visit(item)?)))
            }
            AccessPath::Index { column, ranges, backwards, then_empty } => {
                let is_done = self.ranges(column, ranges, *backwards, (sieve, visit))?.is_break();
                if is_done || !then_empty { Ok(()) } else { self.empty(column, sieve, visit) }
            }
            AccessPath::Related { key, items } => self.related(key, items, visit),
        }
    }

    fn ranges(
        &self,
        column: &ColumnRef,
        ranges: &[IndexRange],
        backwards: bool,
        (sieve, visit): (&mut Sieve<'_>, Visit<'_>),
    ) -> Result<ControlFlow<()>> {
        let mut flow = ControlFlow::Continue(());
        for IndexRange { from, to } in ranges {
            self.index.scan(
                indexed(column),
                from,
                to.as_deref(),
                backwards,
                &mut |id, bitmap| {
                    flow = match sieve.step(&self.index, id, bitmap)? {
                        Step::Skip => ControlFlow::Continue(()),
                        Step::Look => sieve.found(self.item(id, visit)?),
                        Step::Leave => ControlFlow::Break(()),
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

    /// The items that have no key in the index of this column: among few, if the sieve knows of
    /// them.
    fn empty(&self, column: &ColumnRef, sieve: &mut Sieve<'_>, visit: Visit<'_>) -> Result<()> {
        let mut look = |item: ItemRow<'_>| {
            if self.has_key(column, &item)? { Ok(ControlFlow::Continue(0)) } else { visit(item) }
        };
        let most = usize::try_from(self.count_all() / ITEMS_PER_LOOKUP).unwrap_or(usize::MAX);
        let Some(few) = sieve.within(&self.index, most)? else {
            return self
                .reader
                .item_rows(self.collection, None, &mut |item| Ok(forget(look(item)?)));
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

    /// What stands at the other end of these items: an ID of something else leads nowhere.
    fn related(&self, key: &str, items: &BTreeSet<BlockId>, visit: Visit<'_>) -> Result<()> {
        let relation = self.schema.property(key).and_then(|property| property.kind.relation());
        let Some((target, inverse)) =
            relation.and_then(|end| Some((end.target, end.inverse_key.as_deref()?)))
        else {
            return Ok(());
        };
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

    /// How many there are.
    pub(super) fn count_all(&self) -> u64 {
        self.index.items()
    }

    /// How many items another collection has.
    pub(super) fn count_of(&self, collection: BlockId) -> Result<u64> {
        Ok(self.reader.item_index(collection)?.map_or(0, |index| index.items()))
    }

    /// Hands an item to `visit`.
    pub(super) fn item(&self, id: BlockId, visit: Visit<'_>) -> Result<ControlFlow<(), usize>> {
        let missing =
            || Error::corrupted(format_args!("item {id} is indexed, but there is no such item"));
        self.reader.item_row(id, visit)?.ok_or_else(missing)
    }
}

/// The values of an item as they are kept.
pub(super) fn values(item: BlockId, data: &BlockData) -> Result<&Properties> {
    match &data.kind {
        BlockKind::CollectionItem { properties } => Ok(properties),
        _ => Err(Error::corrupted(format_args!(
            "block {item} stands in a collection, but is no item"
        ))),
    }
}

fn forget(flow: ControlFlow<(), usize>) -> ControlFlow<()> {
    flow.map_continue(drop)
}

pub(super) fn indexed(column: &ColumnRef) -> IndexedColumn<'_> {
    match column {
        ColumnRef::Title => IndexedColumn::Title,
        ColumnRef::Property(key) => IndexedColumn::Property(key),
    }
}

impl IndexStatistics for Rows<'_> {
    fn is_indexed(&self, column: &ColumnRef) -> bool {
        self.index.has(indexed(column))
    }

    /// What is asked for is what is shown: texts are kept in the index as they are stored.
    fn is_in_order(&self, column: &ColumnRef) -> bool {
        let kind =
            |key: &str| self.schema.property(key).map(|property| property.kind.property_type());
        let is_text = match column {
            ColumnRef::Title => true,
            ColumnRef::Property(key) => matches!(
                kind(key),
                Some(
                    PropertyType::Text
                        | PropertyType::Url
                        | PropertyType::Email
                        | PropertyType::Phone
                )
            ),
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
