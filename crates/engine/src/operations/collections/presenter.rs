//! The presenter of items: values by schema, related items with their titles.

mod columns;
mod table;
mod titles;

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use leafbase_collections::{ReadCollections, inverse_index, related};
use leafbase_model::{
    Block, BlockData, BlockId, BlockKind, BlockRecord, Content, Error, Item, ItemFields, ItemValue,
    Properties, Property, PropertyValue, RelatedItem, Relation, Result, Schema, SharedText,
    invariant,
};
use leafbase_store::{ItemRow, RowValue, ValueView};

use self::columns::{Columns, PresentedColumn, PropertySource};
pub(super) use self::table::ItemTable;
pub(super) use self::titles::ITEMS_PER_LOOKUP;
use self::titles::Titles;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;

/// Presents the items of a reply; reads each schema and title once.
pub(crate) struct ItemPresenter<'t, 'a> {
    tree: &'t Tree<'a>,
    /// Tables of the collections whose items are returned as blocks.
    tables: HashMap<BlockId, ItemTable>,
    titles: Titles,
    links: LinkRedactor<'t, 'a>,
}

impl<'t, 'a> ItemPresenter<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>) -> Self {
        Self {
            tree,
            tables: HashMap::new(),
            titles: Titles::default(),
            links: LinkRedactor::new(tree),
        }
    }

    /// Presents items of `collection`, in this order, without their pages.
    pub(crate) fn items(
        &mut self,
        collection: BlockId,
        schema: &Schema,
        records: Vec<BlockRecord>,
    ) -> Result<Vec<Item>> {
        let without_page =
            |BlockRecord { id, rev, data, .. }: BlockRecord| ((id, rev), data, Content::None);
        self.show(collection, schema, records.into_iter().map(without_page))
    }

    /// As [`Self::items`].
    pub(super) fn plain_items(
        &mut self,
        collection: BlockId,
        schema: &Schema,
        items: Vec<PlainItem>,
    ) -> Result<Vec<Item>> {
        if !self.tree.is_unrestricted() {
            let with_data =
                |item: PlainItem| ((item.id, item.rev), item.into_data(), Content::None);
            return self.show(collection, schema, items.into_iter().map(with_data));
        }
        let mut table = self.table(collection, schema, items.len())?;
        for PlainItem { id, rev, title, values } in items {
            self.values(&mut table, id, values)?;
            table.put((id, rev), title, Content::None);
        }
        Ok(table.finish())
    }

    /// Presents items of `collection`, in this order, with their pages.
    pub(crate) fn items_with_pages(
        &mut self,
        collection: BlockId,
        schema: &Schema,
        items: Vec<Block>,
    ) -> Result<Vec<Item>> {
        let with_page = |Block { id, rev, data, content, .. }: Block| ((id, rev), data, content);
        self.show(collection, schema, items.into_iter().map(with_page))
    }

    fn show(
        &mut self,
        collection: BlockId,
        schema: &Schema,
        items: impl ExactSizeIterator<Item = (ItemRev, BlockData, Content)>,
    ) -> Result<Vec<Item>> {
        let mut table = self.table(collection, schema, items.len())?;
        for (item, data, content) in items {
            self.item(&mut table, item, data, content)?;
        }
        Ok(table.finish())
    }

    /// A table that will present `items` items of `collection` one by one.
    pub(super) fn table(
        &mut self,
        collection: BlockId,
        schema: &Schema,
        items: usize,
    ) -> Result<ItemTable> {
        Ok(ItemTable::new(collection, schema, self.columns(collection, schema, items)?, items))
    }

    fn item(
        &mut self,
        table: &mut ItemTable,
        (id, rev): ItemRev,
        mut data: BlockData,
        content: Content,
    ) -> Result<()> {
        self.links.redact(&mut data)?;
        let BlockData { kind: BlockKind::CollectionItem { properties }, inline: title, .. } = data
        else {
            return Err(no_item(id));
        };
        self.values(table, id, properties)?;
        table.put((id, rev), title, content);
        Ok(())
    }

    /// Presents an item from its stored row, without its page.
    pub(super) fn row(&mut self, table: &mut ItemTable, row: &ItemRow<'_>) -> Result<()> {
        if !self.tree.is_unrestricted() {
            // Links are counted over all texts of an item, so it is redacted as a whole.
            let data = PlainItem::read(row)?.into_data();
            return self.item(table, (row.id, row.rev), data, Content::None);
        }
        self.row_values(table, row)?;
        table.put((row.id, row.rev), row.title.to_owned(), Content::None);
        Ok(())
    }

    /// The fields of an item that is returned as a block; its links are already redacted.
    pub(crate) fn fields(
        &mut self,
        collection: BlockId,
        item: BlockId,
        values: Properties,
    ) -> Result<ItemFields> {
        let mut table = if let Some(known) = self.tables.remove(&collection) {
            known
        } else {
            let schema = self.tree.schema(collection)?.ok_or_else(|| no_schema(collection))?;
            self.table(collection, &schema, 1)?
        };
        self.values(&mut table, item, values)?;
        let fields = ItemFields {
            content_key: table.content_key.clone(),
            properties: table.values_of_one(),
        };
        self.tables.insert(collection, table);
        Ok(fields)
    }

    /// The sources of all properties, for `items` items.
    fn columns(&mut self, collection: BlockId, schema: &Schema, items: usize) -> Result<Columns> {
        let column = |property: &Property| {
            let (key, relation) = (property.key.as_str(), property.kind.relation());
            let source = match relation {
                Some(relation) => self.source(collection, key, relation, items)?,
                None => PropertySource::Own,
            };
            Ok(PresentedColumn {
                key: key.into(),
                target: relation.map(|relation| relation.target),
                source,
                held: None,
                at: None,
            })
        };
        Ok(Columns::new(schema.properties.iter().map(column).collect::<Result<_>>()?))
    }

    fn source(
        &mut self,
        collection: BlockId,
        key: &str,
        relation: &Relation,
        items: usize,
    ) -> Result<PropertySource> {
        let is_symmetric = relation.is_symmetric(collection, key);
        if relation.owner && !is_symmetric {
            return Ok(PropertySource::Own);
        }
        // Few items: look up the back links of each. Many: scan the owner's collection once.
        let lookups = u64::try_from(items).unwrap_or(u64::MAX);
        let owners = self
            .tree
            .reader_at(relation.target)?
            .item_index(relation.target)?
            .map_or(0, |index| index.items());
        if owners > lookups.saturating_mul(ITEMS_PER_LOOKUP) {
            return Ok(PropertySource::Lookup);
        }
        let inverse = relation.inverse_key.as_deref().unwrap_or(key);
        let titles = &mut self.titles;
        let inverse = read_inverse(self.tree, relation.target, inverse, &mut |owner| {
            // The scan passes every title anyway: cache it for the presented relations.
            titles.learn(owner.id, owner.title);
        })?;
        Ok(PropertySource::Inverted(inverse))
    }

    /// The inverse of a relation: by item, the items of `owner` that store it. One scan of `owner`.
    pub(super) fn inverse(
        &self,
        owner: BlockId,
        key: &str,
    ) -> Result<HashMap<BlockId, BTreeSet<BlockId>>> {
        read_inverse(self.tree, owner, key, &mut |_| ())
    }

    /// Adds the values of an item.
    fn values(&mut self, table: &mut ItemTable, item: BlockId, own: Properties) -> Result<()> {
        let count = table.columns.hold(own);
        table.reserve(count);
        let values = &mut table.values;
        for (place, column) in (0..).zip(&mut table.columns.all) {
            let shown = match (&column.source, column.held.take()) {
                (PropertySource::Own, None) => None,
                (PropertySource::Own, Some(PropertyValue::Relations(items))) => {
                    self.relations(column, items.into_iter().map(Ok))?
                }
                (PropertySource::Own, Some(value)) => Some(ItemValue::Value(value)),
                (_, held) => self.related(table.collection, column, item, held)?,
            };
            values.extend(shown.map(|shown| (place, shown)));
        }
        Ok(())
    }

    /// As [`Self::values`], from a stored row. Each value is built in its final place and never
    /// moved.
    fn row_values(&mut self, table: &mut ItemTable, row: &ItemRow<'_>) -> Result<()> {
        let count = table.columns.find(row)?;
        table.reserve(count);
        let values = &mut table.values;
        for (place, column) in (0..).zip(&table.columns.all) {
            let mut put = |value| values.push((place, ItemValue::Value(value)));
            let held = column.at.map(|at| row.value_at(at));
            // Relations that other items store are looked up; they may have no stored value here.
            let (PropertySource::Own, Some(value)) = (&column.source, held) else {
                if !matches!(column.source, PropertySource::Own) {
                    let held = held.map(RowValue::read).transpose()?;
                    let shown = self.related(table.collection, column, row.id, held)?;
                    values.extend(shown.map(|shown| (place, shown)));
                }
                continue;
            };
            match value.view()? {
                ValueView::Text(text) => put(PropertyValue::Text(text.to_owned())),
                ValueView::Number(number) => put(PropertyValue::Number(number)),
                ValueView::Boolean(value) => put(PropertyValue::Boolean(value)),
                ValueView::Date(day) => put(PropertyValue::Date(day)),
                ValueView::Options(options) => {
                    put(PropertyValue::Options(listed(options, str::to_owned)?));
                }
                ValueView::Relations(items) => {
                    values.extend(self.relations(column, items)?.map(|shown| (place, shown)));
                }
            }
        }
        Ok(())
    }

    /// The value of a relation that other items store; for a symmetric one united with the item's
    /// own.
    fn related(
        &mut self,
        collection: BlockId,
        column: &PresentedColumn,
        item: BlockId,
        held: Option<PropertyValue>,
    ) -> Result<Option<ItemValue>> {
        match &column.source {
            PropertySource::Inverted(holders) => {
                self.relations(column, united(holders.get(&item), held).into_iter().map(Ok))
            }
            _ => self.relations(
                column,
                related(self.tree, collection, &column.key, item)?.into_iter().map(Ok),
            ),
        }
    }

    /// The title of a related item, redacted.
    fn redacted_title(&self, title: SharedText) -> Result<SharedText> {
        if self.tree.is_unrestricted() {
            return Ok(title);
        }
        let mut shown = title.as_str().to_owned();
        self.links.redact(&mut shown)?;
        Ok(shown.into())
    }

    /// The value of a relation to these items. `None` if there are none. IDs that are not items,
    /// left by damage, are dropped.
    fn relations(
        &mut self,
        column: &PresentedColumn,
        items: impl Iterator<Item = Result<BlockId>>,
    ) -> Result<Option<ItemValue>> {
        let mut shown = Vec::with_capacity(items.size_hint().0);
        for item in items {
            let block_id = item?;
            let Some(target) = column.target else {
                invariant!("property {:?} with related items is a relation", column.key)
            };
            if let Some(title) = self.titles.of(self.tree, target, block_id)? {
                shown.push(RelatedItem { block_id, title: self.redacted_title(title)? });
            }
        }
        Ok((!shown.is_empty()).then_some(ItemValue::Relations(shown)))
    }
}

/// An item's ID and revision.
type ItemRev = (BlockId, u64);

/// An item without its page.
pub(super) struct PlainItem {
    pub(super) id: BlockId,
    rev: u64,
    title: String,
    values: Properties,
}

impl PlainItem {
    pub(super) fn read(row: &ItemRow<'_>) -> Result<Self> {
        let (title, values) = (row.title.to_owned(), row.properties(None)?);
        Ok(Self { id: row.id, rev: row.rev, title, values })
    }

    /// The item as block data.
    pub(super) fn into_data(self) -> BlockData {
        let kind = BlockKind::CollectionItem { properties: self.values };
        BlockData { inline: self.title, ..BlockData::new(kind) }
    }
}

/// Collects into a list of exact capacity.
fn listed<T, U>(entries: impl Iterator<Item = Result<T>>, make: impl Fn(T) -> U) -> Result<Vec<U>> {
    // The record states the number of entries, so no reallocation happens.
    let mut list = Vec::with_capacity(entries.size_hint().0);
    for entry in entries {
        list.push(make(entry?));
    }
    Ok(list)
}

/// The inverse of a relation; passes each item of `owner` to `see`.
fn read_inverse(
    tree: &Tree<'_>,
    owner: BlockId,
    key: &str,
    see: &mut dyn FnMut(ItemRow<'_>),
) -> Result<HashMap<BlockId, BTreeSet<BlockId>>> {
    let mut owners = Vec::new();
    tree.reader_at(owner)?.item_rows(owner, None, &mut |row| {
        if let Some(held) = row.value(key)? {
            let id = row.id;
            see(row);
            owners.push((id, Properties::from_iter([(key.to_owned(), held)])));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(inverse_index(owners.iter().map(|(id, values)| (*id, values)), key))
}

/// Unites the items that name an item with those that it names: by ID, deduplicated.
fn united(holders: Option<&BTreeSet<BlockId>>, held: Option<PropertyValue>) -> BTreeSet<BlockId> {
    let mut all = holders.cloned().unwrap_or_else(BTreeSet::new);
    if let Some(PropertyValue::Relations(items)) = held {
        all.extend(items);
    }
    all
}

fn no_item(id: BlockId) -> Error {
    Error::corrupted(format_args!("block {id} represents an item that does not exist"))
}

fn no_schema(collection: BlockId) -> Error {
    Error::corrupted(format_args!("collection {collection} has items but no schema"))
}
