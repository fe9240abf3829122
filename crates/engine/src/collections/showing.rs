//! Items as replies show them: values by the schema, related items by their titles.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use leafbase_collections::{ReadCollections, inverted, related};
use leafbase_model::{
    Block, BlockData, BlockId, BlockKind, BlockRecord, Content, Error, Item, ItemFields, ItemValue, Properties,
    Property, PropertyValue, RelatedItem, Relation, Result, Schema,
};
use leafbase_tree_ops::ReadTree;

use crate::sight::Sight;
use crate::tree::Tree;

/// A look-up of what names an item costs about as much as reading so many items in a range.
pub(super) const ITEMS_PER_LOOKUP: u64 = 16;

/// The schemas and titles that a reply needs, each read once.
pub(crate) struct Shower<'t, 'a, S> {
    tree: &'t Tree<'a, S>,
    schemas: HashMap<BlockId, Schema>,
    titles: HashMap<BlockId, String>,
}

impl<'t, 'a, S: Sight> Shower<'t, 'a, S> {
    pub(crate) fn new(tree: &'t Tree<'a, S>) -> Self {
        Self { tree, schemas: HashMap::new(), titles: HashMap::new() }
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
        let shown = self.table(collection, schema, items.len())?;
        items.map(|(id, data, content)| self.row(&shown, id, data, content)).collect()
    }

    /// How items of `collection` are shown one by one with [`Self::row`], so many of them.
    pub(super) fn table<'s>(&self, collection: BlockId, schema: &'s Schema, items: usize) -> Result<Table<'s>> {
        Ok(Table { collection, content_key: &schema.content.key, columns: self.columns(collection, schema, items)? })
    }

    pub(super) fn row(&mut self, shown: &Table<'_>, id: BlockId, data: BlockData, content: Content) -> Result<Item> {
        let BlockData { kind: BlockKind::CollectionItem { properties }, markdown: title, .. } = data else {
            return Err(no_item(id));
        };
        let properties = self.values(shown.collection, &shown.columns, id, properties)?;
        Ok(Item { id, content_key: shown.content_key.to_owned(), title, properties, content })
    }

    /// What an item of `collection` with these values shows where it is shown as a block.
    pub(crate) fn fields(&mut self, collection: BlockId, item: BlockId, values: Properties) -> Result<ItemFields> {
        let schema = match self.schemas.remove(&collection) {
            Some(known) => known,
            None => self.tree.schema(collection)?.ok_or_else(|| no_schema(collection))?,
        };
        let columns = self.columns(collection, &schema, 1)?;
        let properties = self.values(collection, &columns, item, values)?;
        let fields = ItemFields { content_key: schema.content.key.clone(), properties };
        self.schemas.insert(collection, schema);
        Ok(fields)
    }

    /// An item that another is related to, with its title.
    pub(crate) fn related_item(&mut self, item: BlockId) -> Result<RelatedItem> {
        let title = match self.titles.entry(item) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let block = self.tree.block(item)?.ok_or_else(|| no_item(item))?;
                place.insert(block.data.markdown).clone()
            }
        };
        Ok(RelatedItem { block_id: item, title })
    }

    /// Where the values of each property are found, for so many items.
    fn columns<'s>(&self, collection: BlockId, schema: &'s Schema, items: usize) -> Result<Columns<'s>> {
        let column = |property: &'s Property| {
            let key = property.key.as_str();
            let source = match property.kind.relation() {
                Some(relation) => self.source(collection, key, relation, items)?,
                None => Source::Own,
            };
            Ok(Column { key, source })
        };
        Ok(Columns::new(schema.properties.iter().map(column).collect::<Result<_>>()?))
    }

    fn source(&self, collection: BlockId, key: &str, relation: &Relation, items: usize) -> Result<Source> {
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
        Ok(Source::Inverted(self.inverted(relation.target, inverse)?))
    }

    /// By item, those of `owner` that name it under `key`: one pass over the items of `owner`.
    pub(super) fn inverted(&self, owner: BlockId, key: &str) -> Result<HashMap<BlockId, BTreeSet<BlockId>>> {
        let mut owners = Vec::new();
        self.tree.reader().items(owner, None, &mut |record| {
            if let BlockKind::CollectionItem { mut properties } = record.data.kind {
                let held = properties.take(key);
                owners.extend(held.map(|held| (record.id, Properties::from_iter([held]))));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(inverted(owners.iter().map(|(id, values)| (*id, values)), key))
    }

    fn values(
        &mut self,
        collection: BlockId,
        columns: &Columns<'_>,
        item: BlockId,
        own: Properties,
    ) -> Result<Vec<(String, ItemValue)>> {
        let mut values = Vec::with_capacity(columns.all.len());
        for (Column { key, source }, held) in columns.all.iter().zip(columns.spread(own)) {
            let value = match (source, held) {
                (Source::Own, None) => continue,
                (Source::Own, Some((key, PropertyValue::Relations(items)))) => (key, self.relations(items)?),
                (Source::Own, Some((key, value))) => (key, Some(ItemValue::Value(value))),
                (Source::Lookup, _) => ((*key).to_owned(), self.relations(related(self.tree, collection, key, item)?)?),
                (Source::Inverted(holders), held) => {
                    ((*key).to_owned(), self.relations(united(holders.get(&item), held.map(|(_, value)| value)))?)
                }
            };
            values.extend(value.1.map(|shown| (value.0, shown)));
        }
        Ok(values)
    }

    /// What a relation to these items shows; nothing for none.
    fn relations(&mut self, items: impl IntoIterator<Item = BlockId>) -> Result<Option<ItemValue>> {
        let shown = items.into_iter().map(|item| self.related_item(item)).collect::<Result<Vec<_>>>()?;
        Ok((!shown.is_empty()).then_some(ItemValue::Relations(shown)))
    }
}

/// A collection whose items are shown.
pub(super) struct Table<'s> {
    collection: BlockId,
    content_key: &'s str,
    columns: Columns<'s>,
}

/// The properties of a collection in the order of its schema.
struct Columns<'s> {
    all: Vec<Column<'s>>,
    /// Their places in the order of their keys, in which items hold their values.
    by_key: Vec<usize>,
}

impl<'s> Columns<'s> {
    fn new(all: Vec<Column<'s>>) -> Self {
        let mut keys: Vec<_> = all.iter().enumerate().map(|(place, column)| (column.key, place)).collect();
        keys.sort_unstable();
        Self { by_key: keys.into_iter().map(|(_, place)| place).collect(), all }
    }

    /// The values of an item by column: both lists are walked once.
    fn spread(&self, own: Properties) -> Vec<Option<(String, PropertyValue)>> {
        let mut spread: Vec<_> = self.all.iter().map(|_| None).collect();
        let mut own = own.into_iter().peekable();
        for place in &self.by_key {
            let (Some(column), Some(slot)) = (self.all.get(*place), spread.get_mut(*place)) else { continue };
            while own.next_if(|(key, _)| key.as_str() < column.key).is_some() {}
            *slot = own.next_if(|(key, _)| key == column.key);
        }
        spread
    }
}

/// A property, and where its values are found.
struct Column<'s> {
    key: &'s str,
    source: Source,
}

enum Source {
    /// In the item itself: scalars, and relations at the end that owns them.
    Own,
    /// In the items that name it, looked up item by item.
    Lookup,
    /// In the items that name it, all of which were read before. Of a symmetric relation in the item itself, too.
    Inverted(HashMap<BlockId, BTreeSet<BlockId>>),
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
