//! Items as replies show them: values by the schema, related items by their titles.

mod columns;
mod titles;

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use leafbase_collections::{ReadCollections, inverted, related};
use leafbase_model::{
    Block, BlockData, BlockId, BlockKind, BlockRecord, Content, Error, Item, ItemFields, ItemValue, ItemValues,
    Properties, Property, PropertyKey, PropertyValue, RelatedItem, Relation, Result, Schema,
};
use leafbase_store::{ItemRow, RowValue};

use self::columns::{Column, Columns, Source};
use self::titles::Titles;
use crate::scope::links::Links;
use crate::tree::Tree;

/// A look-up of what names an item costs about as much as reading so many items in a range.
pub(super) const ITEMS_PER_LOOKUP: u64 = 16;

/// The schemas and titles that a reply needs, each read once.
pub(crate) struct Shower<'t, 'a> {
    tree: &'t Tree<'a>,
    /// Of the collections whose items are shown as blocks.
    tables: HashMap<BlockId, Table>,
    titles: Titles,
    links: Links<'t, 'a>,
}

impl<'t, 'a> Shower<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>) -> Self {
        Self { tree, tables: HashMap::new(), titles: Titles::default(), links: Links::new(tree) }
    }

    /// The items as replies show them, in this order, without their pages. All are of `collection`.
    pub(crate) fn items(
        &mut self,
        collection: BlockId,
        schema: &Schema,
        records: Vec<BlockRecord>,
    ) -> Result<Vec<Item>> {
        let without_page = |BlockRecord { id, data, .. }: BlockRecord| (id, data, Content::None);
        self.show(collection, schema, records.into_iter().map(without_page))
    }

    /// The items as replies show them, in this order, with their pages. All are of `collection`.
    pub(crate) fn items_with_pages(
        &mut self,
        collection: BlockId,
        schema: &Schema,
        items: Vec<Block>,
    ) -> Result<Vec<Item>> {
        let with_page = |Block { id, data, content, .. }: Block| (id, data, content);
        self.show(collection, schema, items.into_iter().map(with_page))
    }

    fn show(
        &mut self,
        collection: BlockId,
        schema: &Schema,
        items: impl ExactSizeIterator<Item = (BlockId, BlockData, Content)>,
    ) -> Result<Vec<Item>> {
        let mut table = self.table(collection, schema, items.len())?;
        items.map(|(id, data, content)| self.item(&mut table, id, data, content)).collect()
    }

    /// How items of `collection` are shown one by one, so many of them.
    pub(super) fn table(&mut self, collection: BlockId, schema: &Schema, items: usize) -> Result<Table> {
        let content_key = schema.content.key.as_str().into();
        Ok(Table { collection, content_key, columns: self.columns(collection, schema, items)? })
    }

    fn item(&mut self, table: &mut Table, id: BlockId, mut data: BlockData, content: Content) -> Result<Item> {
        self.links.hide(&mut data)?;
        let BlockData { kind: BlockKind::CollectionItem { properties }, markdown: title, .. } = data else {
            return Err(no_item(id));
        };
        let properties = self.owned_values(table, id, properties)?;
        Ok(Item { id, content_key: table.content_key.clone(), title, properties, content })
    }

    /// An item as it lies in the store, without its page: where all is seen, for links in it stay as they are.
    pub(super) fn row(&mut self, table: &mut Table, row: &ItemRow<'_>) -> Result<Item> {
        let count = table.columns.hold(row.values(), RowValue::read)?;
        let (id, content_key, title) = (row.id, table.content_key.clone(), row.title.to_owned());
        Ok(Item { id, content_key, title, properties: self.values(table, id, count)?, content: Content::None })
    }

    /// What an item of `collection` with these values, whose links are hidden already, shows where it is shown as a block.
    pub(crate) fn fields(&mut self, collection: BlockId, item: BlockId, values: Properties) -> Result<ItemFields> {
        let mut table = if let Some(known) = self.tables.remove(&collection) {
            known
        } else {
            let schema = self.tree.schema(collection)?.ok_or_else(|| no_schema(collection))?;
            self.table(collection, &schema, 1)?
        };
        let properties = self.owned_values(&mut table, item, values)?;
        let fields = ItemFields { content_key: table.content_key.clone(), properties };
        self.tables.insert(collection, table);
        Ok(fields)
    }

    /// Where the values of each property are found, for so many items.
    fn columns(&mut self, collection: BlockId, schema: &Schema, items: usize) -> Result<Columns> {
        let column = |property: &Property| {
            let (key, relation) = (property.key.as_str(), property.kind.relation());
            let source = match relation {
                Some(relation) => self.source(collection, key, relation, items)?,
                None => Source::Own,
            };
            Ok(Column { key: key.into(), target: relation.map(|relation| relation.target), source, held: None })
        };
        Ok(Columns::new(schema.properties.iter().map(column).collect::<Result<_>>()?))
    }

    fn source(&mut self, collection: BlockId, key: &str, relation: &Relation, items: usize) -> Result<Source> {
        let is_symmetric = relation.is_symmetric(collection, key);
        if relation.owner && !is_symmetric {
            return Ok(Source::Own);
        }
        let lookups = u64::try_from(items).unwrap_or(u64::MAX);
        let owners = self.tree.reader().item_index(relation.target)?.map_or(0, |index| index.items());
        if owners > lookups.saturating_mul(ITEMS_PER_LOOKUP) {
            return Ok(Source::Lookup);
        }
        let inverse = relation.inverse_key.as_deref().unwrap_or(key);
        let titles = &mut self.titles;
        let inverted =
            inverted_by(self.tree, relation.target, inverse, &mut |owner| titles.learn(owner.id, owner.title))?;
        Ok(Source::Inverted(inverted))
    }

    /// By item, those of `owner` that name it under `key`: one pass over the items of `owner`.
    pub(super) fn inverted(&self, owner: BlockId, key: &str) -> Result<HashMap<BlockId, BTreeSet<BlockId>>> {
        inverted_by(self.tree, owner, key, &mut |_| ())
    }

    fn owned_values(&mut self, table: &mut Table, item: BlockId, own: Properties) -> Result<ItemValues> {
        let count = table.columns.hold(own.into_iter().map(Ok), Ok)?;
        self.values(table, item, count)
    }

    /// What an item shows whose own values the columns hold: at most so many values.
    fn values(&mut self, table: &mut Table, item: BlockId, count: usize) -> Result<ItemValues> {
        let (collection, mut values) = (table.collection, Vec::with_capacity(count));
        for (place, column) in (0..).zip(&mut table.columns.all) {
            let held = column.held.take();
            let shown = match (&column.source, held) {
                (Source::Own, None) => None,
                (Source::Own, Some(PropertyValue::Relations(items))) => self.relations(column, items)?,
                (Source::Own, Some(value)) => Some(ItemValue::Value(value)),
                (Source::Lookup, _) => self.relations(column, related(self.tree, collection, &column.key, item)?)?,
                (Source::Inverted(holders), held) => self.relations(column, united(holders.get(&item), held))?,
            };
            values.extend(shown.map(|shown| (place, shown)));
        }
        Ok(ItemValues::new(table.columns.keys.clone(), values))
    }

    /// What a relation to these items shows; nothing for none.
    fn relations(&mut self, column: &Column, items: impl IntoIterator<Item = BlockId>) -> Result<Option<ItemValue>> {
        let items = items.into_iter();
        let mut shown = Vec::with_capacity(items.size_hint().0);
        for block_id in items {
            // Only relations have items.
            let mut title = self.titles.of(self.tree, column.target.unwrap_or_default(), block_id)?;
            self.links.hide(&mut title)?;
            shown.push(RelatedItem { block_id, title });
        }
        Ok((!shown.is_empty()).then_some(ItemValue::Relations(shown)))
    }
}

/// By item, those of `owner` that name it under `key`; each of `owner` is shown to `see`.
fn inverted_by(
    tree: &Tree<'_>,
    owner: BlockId,
    key: &str,
    see: &mut dyn FnMut(ItemRow<'_>),
) -> Result<HashMap<BlockId, BTreeSet<BlockId>>> {
    let mut owners = Vec::new();
    tree.reader().item_rows(owner, None, &mut |row| {
        if let Some(held) = row.value(key)? {
            let id = row.id;
            see(row);
            owners.push((id, Properties::from_iter([(key.to_owned(), held)])));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(inverted(owners.iter().map(|(id, values)| (*id, values)), key))
}

/// A collection whose items are shown.
pub(super) struct Table {
    collection: BlockId,
    content_key: PropertyKey,
    columns: Columns,
}

/// Those that name an item, and those that it names: by ID, each once.
fn united(holders: Option<&BTreeSet<BlockId>>, held: Option<PropertyValue>) -> BTreeSet<BlockId> {
    let mut all = holders.cloned().unwrap_or_default();
    if let Some(PropertyValue::Relations(items)) = held {
        all.extend(items);
    }
    all
}

fn no_item(id: BlockId) -> Error {
    Error::corrupted(format_args!("block {id} stands for an item, but there is no such item"))
}

fn no_schema(collection: BlockId) -> Error {
    Error::corrupted(format_args!("collection {collection} has items but no schema"))
}
