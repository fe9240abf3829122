//! Collections of the model: indexes by brute force, and valid edits of schemas and items from
//! random numbers.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, ContentProperty, Day, Edit, InsertTarget,
    Properties, Property, PropertyKind, PropertyType, PropertyValue, Relation, Schema,
    SelectOption, SubtreeNode, Subtrees,
};
use leafbase_store::{
    CollectionEntry, IndexBitmap, IndexedColumn, ItemIndex, ItemRow, RowValue, SpaceReader,
    ValueView,
};

use super::{Maker, Naive, pick, stamp};

/// Minimal sort keys: they sort as values do, and no key is a prefix of another.
pub fn keys(kind: &PropertyKind, value: &PropertyValue) -> Vec<Vec<u8>> {
    let text = |text: &str| [text.to_lowercase().as_bytes(), &[0]].concat();
    match (kind, value) {
        (PropertyKind::Relation(_), _) => unreachable!("relations are not indexed"),
        (_, PropertyValue::Relations(_)) => vec![],
        (_, PropertyValue::Options(names)) => names.iter().map(|name| text(name)).collect(),
        (_, PropertyValue::Text(words)) if words.is_empty() => vec![],
        // A different length for each type, so that rows of a wrong type differ.
        (PropertyKind::SingleSelect(_), PropertyValue::Text(name)) => {
            vec![[&b"o"[..], &text(name)].concat()]
        }
        (_, PropertyValue::Text(words)) => vec![text(words.get(..256).unwrap_or(words))],
        // Numbers of these tests are not negative.
        (_, PropertyValue::Number(number)) => vec![number.to_bits().to_be_bytes().to_vec()],
        (_, PropertyValue::Boolean(value)) => vec![vec![u8::from(*value)]],
        (_, PropertyValue::Date(day)) => vec![(day.epoch_days() + 1_000).to_be_bytes().to_vec()],
    }
}

pub fn properties(block: &BlockRecord) -> &Properties {
    match &block.data.kind {
        BlockKind::CollectionItem { properties } => properties,
        other => panic!("{other:?} is not an item"),
    }
}

fn is_item(block: &BlockRecord) -> bool {
    matches!(block.data.kind, BlockKind::CollectionItem { .. })
}

impl Naive {
    /// The rows of a column: sort key and item.
    fn column(&self, collection: BlockId, column: IndexedColumn<'_>) -> Vec<(Vec<u8>, BlockId)> {
        let schema = &self.schemas[&collection];
        let mut rows = vec![];
        for item in self.children(collection) {
            let block = &self.blocks[item];
            let found = match column {
                IndexedColumn::Title => {
                    keys(&PropertyKind::Text, &PropertyValue::Text(block.data.inline.clone()))
                }
                IndexedColumn::Property(key) => {
                    let kind = &schema.property(key).unwrap().kind;
                    properties(block).get(key).map(|value| keys(kind, value)).unwrap_or_default()
                }
            };
            rows.extend(found.into_iter().map(|key| (key, *item)));
        }
        rows.sort();
        rows.dedup();
        rows
    }

    pub fn collections_agree(&self, reader: SpaceReader<'_>) {
        let mut expected: Vec<_> = self
            .schemas
            .keys()
            .map(|id| CollectionEntry {
                collection: *id,
                document: self.standing[id].0,
                items: self.children(*id).len() as u64,
            })
            .collect();
        expected.sort_by_key(|entry| (entry.document, entry.collection));
        assert_eq!(reader.collections().unwrap(), expected);
        for document in self.documents.keys() {
            let here: Vec<_> =
                expected.iter().filter(|entry| entry.document == *document).copied().collect();
            assert_eq!(reader.collections_of(*document).unwrap(), here);
            for depth in [1, 2, usize::MAX] {
                let limit = (depth < usize::MAX).then_some(depth);
                let shown = reader.subtree_without_items(document.root(), limit).unwrap();
                assert_eq!(shown, without_items(self.subtree(document.root(), depth)));
            }
        }
        for (id, schema) in &self.schemas {
            assert_eq!(reader.schema(*id).unwrap().as_ref(), Some(schema));
            assert_eq!(reader.subtree_without_items(*id, None).unwrap().0.len(), 1);
            self.items_agree(reader, *id);
            let index = reader.item_index(*id).unwrap().unwrap();
            assert_eq!(index.items(), self.children(*id).len() as u64);
            assert!(!index.has(IndexedColumn::Property("none")));
            let bitmaps = self.bitmaps(&index, *id);
            self.column_agrees(&index, *id, IndexedColumn::Title, &bitmaps);
            for property in &schema.properties {
                let column = IndexedColumn::Property(&property.key);
                assert_eq!(index.has(column), property.kind.relation().is_none());
                if index.has(column) {
                    self.column_agrees(&index, *id, column, &bitmaps);
                }
            }
        }
    }

    fn items_agree(&self, reader: SpaceReader<'_>, collection: BlockId) {
        let items = self.children(collection);
        for after in std::iter::once(None).chain((0..items.len()).step_by(3).map(Some)) {
            let mut found = vec![];
            let after_item = after.map(|index| items[index]);
            let visit = &mut |item: BlockRecord| {
                found.push(item.id);
                assert_eq!(Some(&item), self.blocks.get(&item.id));
                Ok(ControlFlow::Continue(()))
            };
            reader.items(collection, after_item, visit).unwrap();
            let mut rows = vec![];
            let visit = &mut |row: ItemRow<'_>| {
                rows.push(row.id);
                self.row_agrees(&row);
                Ok(ControlFlow::Continue(()))
            };
            reader.item_rows(collection, after_item, visit).unwrap();
            for row in rows.iter().take(2) {
                let id = reader.item_row(*row, |row| {
                    self.row_agrees(&row);
                    Ok(row.id)
                });
                assert_eq!(id.unwrap(), Some(*row));
            }
            assert_eq!(found, items[after.map_or(0, |index| index + 1)..]);
            assert_eq!(rows, found);
        }
    }

    fn row_agrees(&self, row: &ItemRow<'_>) {
        let BlockData { kind: BlockKind::CollectionItem { properties }, inline: markdown, .. } =
            &self.blocks[&row.id].data
        else {
            panic!("{} is no item", row.id)
        };
        assert_eq!(row.title, markdown);
        let read = |held: leafbase_model::Result<(&[u8], RowValue<'_>)>| {
            let (key, value) = held.unwrap();
            (String::from_utf8(key.to_vec()).unwrap(), value.read().unwrap())
        };
        assert_eq!(&row.values().map(read).collect::<Properties>(), properties);
        assert_eq!(&row.properties(None).unwrap(), properties);
        let viewed = |held: leafbase_model::Result<(&[u8], RowValue<'_>)>| {
            let (key, value) = held.unwrap();
            (
                String::from_utf8(key.to_vec()).unwrap(),
                owned(row.value_at(value.at()).view().unwrap()),
            )
        };
        assert_eq!(&row.values().map(viewed).collect::<Properties>(), properties);
        for step in 1..4 {
            let some = || properties.iter().step_by(step);
            let keys: Vec<_> =
                some().map(|(key, _)| key.to_owned()).chain(["zzz".to_owned()]).collect();
            let some =
                some().map(|(key, value)| (key.to_owned(), value.clone())).collect::<Properties>();
            assert_eq!(row.properties(Some(&keys)).unwrap(), some);
        }
        for key in ["", "pages", "zzz"].into_iter().chain(properties.iter().map(|(key, _)| key)) {
            assert_eq!(row.value(key).unwrap().as_ref(), properties.get(key));
        }
    }

    /// The bitmaps of all items: exactly the selects and booleans that are set.
    fn bitmaps(
        &self,
        index: &ItemIndex<'_>,
        collection: BlockId,
    ) -> BTreeMap<BlockId, IndexBitmap> {
        let none = |item: &BlockId| (*item, IndexBitmap::default());
        let mut bitmaps: BTreeMap<_, _> = self.children(collection).iter().map(none).collect();
        assert_eq!(index.bitmap(IndexedColumn::Title, b"key"), None);
        for property in &self.schemas[&collection].properties {
            let column = IndexedColumn::Property(&property.key);
            let kind = &property.kind;
            let is_signed = matches!(
                kind,
                PropertyKind::SingleSelect(_)
                    | PropertyKind::MultiSelect(_)
                    | PropertyKind::Boolean
            );
            assert_eq!(index.bitmap(column, b"key").is_some(), is_signed);
            if !is_signed {
                continue;
            }
            for (key, item) in self.column(collection, column) {
                let bitmap = bitmaps.get_mut(&item).unwrap();
                *bitmap = bitmap.with(index.bitmap(column, &key).unwrap());
            }
        }
        bitmaps
    }

    fn column_agrees(
        &self,
        index: &ItemIndex<'_>,
        collection: BlockId,
        column: IndexedColumn<'_>,
        bitmaps: &BTreeMap<BlockId, IndexBitmap>,
    ) {
        let rows = self.column(collection, column);
        let bound =
            |at: usize| rows.get(at).map(|(key, item)| [key.as_slice(), item.as_bytes()].concat());
        let middle =
            [(0, rows.len()), (rows.len() / 3, rows.len() / 2), (rows.len() / 2, rows.len() / 3)];
        for (from, to) in middle {
            let expected: Vec<BlockId> =
                rows.get(from..to).unwrap_or_default().iter().map(|(_, item)| *item).collect();
            let (from, to) = (bound(from).filter(|_| from > 0).unwrap_or_default(), bound(to));
            for backwards in [false, true] {
                let mut found = vec![];
                let visit = &mut |item, bitmap| {
                    assert!(bitmap == bitmaps[&item]);
                    found.push(item);
                    Ok(ControlFlow::Continue(()))
                };
                index.scan(column, &from, to.as_deref(), backwards, visit).unwrap();
                if backwards {
                    found.reverse();
                }
                assert_eq!(found, expected, "{column:?} backwards: {backwards}");
            }
            for at_most in [0, 1, 3, usize::MAX] {
                let count = index.count(column, &from, to.as_deref(), at_most).unwrap();
                assert_eq!(count, expected.len().min(at_most));
            }
        }
    }

    /// The edits that must precede the removal of the blocks.
    pub fn schema_removals(&self, gone: &[BlockId]) -> Vec<Edit> {
        let schemas = self.schemas.iter().filter(|(id, _)| gone.contains(id));
        let removed = schemas.map(|(id, schema)| Edit::SetSchema {
            document: self.standing[id].0,
            collection: *id,
            before: Some(Box::new(schema.clone())),
            after: None,
            quiet: false,
        });
        removed.collect()
    }
}

fn without_items(subtrees: Subtrees) -> Subtrees {
    let mut hidden_below = None;
    let shown = subtrees.0.into_iter().filter(|node| {
        if hidden_below.is_some_and(|depth| node.depth > depth) {
            return false;
        }
        hidden_below = matches!(node.block.data.kind, BlockKind::Collection).then_some(node.depth);
        true
    });
    Subtrees(shown.collect())
}

fn kind(seed: u32, collection: BlockId, key: &str) -> PropertyKind {
    let options =
        || (0..seed % 4).map(|number| SelectOption::new(format!("Option {number}"))).collect();
    match PropertyType::ALL[seed as usize % PropertyType::ALL.len()] {
        PropertyType::Text => PropertyKind::Text,
        PropertyType::Number => PropertyKind::Number,
        PropertyType::Boolean => PropertyKind::Boolean,
        PropertyType::Date => PropertyKind::Date,
        PropertyType::Url => PropertyKind::Url,
        PropertyType::Email => PropertyKind::Email,
        PropertyType::Phone => PropertyKind::Phone,
        PropertyType::SingleSelect => PropertyKind::SingleSelect(options()),
        PropertyType::MultiSelect => PropertyKind::MultiSelect(options()),
        // It is its own inverse.
        PropertyType::Relation => PropertyKind::Relation(Relation {
            owner: true,
            ..Relation::to(collection).with_inverse(key)
        }),
    }
}

fn value(kind: &PropertyKind, seed: u32) -> Option<PropertyValue> {
    let number = seed / 5 % 40;
    Some(match kind {
        _ if seed.is_multiple_of(5) => return None,
        PropertyKind::Number => PropertyValue::Number(f64::from(number)),
        PropertyKind::Boolean => PropertyValue::Boolean(number.is_multiple_of(2)),
        PropertyKind::Date => PropertyValue::Date(Day::from_epoch_days(i64::from(number))),
        PropertyKind::MultiSelect(_) => PropertyValue::Options(
            (0..number % 4).map(|option| format!("Option {}", option * number)).collect(),
        ),
        PropertyKind::Relation(_) => return None,
        _ if number == 7 => PropertyValue::Text("long ".repeat(90)),
        _ => PropertyValue::Text(format!("Word {number}")),
    })
}

fn property(key: &str, seed: u32, collection: BlockId) -> Property {
    Property {
        key: key.to_owned(),
        name: format!("Name {seed}"),
        kind: kind(seed, collection, key),
    }
}

fn some_values(schema: &Schema, seed: u32) -> Properties {
    let values = (0..).zip(&schema.properties).filter_map(|(index, property): (u32, _)| {
        Some((
            property.key.clone(),
            value(&property.kind, seed.wrapping_mul(17).wrapping_add(index * 101))?,
        ))
    });
    values.collect()
}

impl Maker {
    fn item(&mut self, schema: &Schema, seed: u32) -> BlockRecord {
        let kind = BlockKind::CollectionItem { properties: some_values(schema, seed) };
        let data = BlockData { inline: format!("Title {}", seed % 50), ..BlockData::new(kind) };
        let stamp = stamp(i64::from(seed % 9));
        BlockRecord {
            id: BlockId::from_bytes(self.id()),
            rev: 1,
            created: stamp.clone(),
            modified: stamp,
            data,
        }
    }

    /// Items at `depth`, some with a block on their pages.
    fn items(&mut self, naive: &Naive, schema: &Schema, depth: u16, seed: u32) -> Vec<SubtreeNode> {
        let mut nodes = vec![];
        for index in 0..seed % 30 {
            nodes.push(SubtreeNode {
                depth,
                block: self.item(schema, seed.wrapping_add(index * 37)),
            });
            if index.is_multiple_of(5) {
                let block = self.block(naive, seed.wrapping_add(index));
                nodes.push(SubtreeNode { depth: depth + 1, block });
            }
        }
        nodes
    }

    /// Edits of a collection, in order.
    pub fn collection_edits(&mut self, naive: &Naive, [kind, a, b, seed]: [u32; 4]) -> Vec<Edit> {
        let Some((id, schema)) =
            pick(&naive.schemas.iter().collect::<Vec<_>>(), a).filter(|_| kind % 8 > 1)
        else {
            return self.new_collection(naive, a, b, seed);
        };
        let (document, items) = (naive.standing[id].0, naive.children(*id));
        let at = usize::try_from(b).unwrap() % (items.len() + 1);
        let target = InsertTarget {
            document,
            parent: *id,
            after: at.checked_sub(1).map(|before| items[before]),
        };
        match (kind % 8, pick(items, b)) {
            (2, _) => {
                let subtrees = Subtrees(self.items(naive, schema, 0, seed));
                if subtrees.0.is_empty() { vec![] } else { vec![Edit::Insert { target, subtrees }] }
            }
            (3, Some(item)) => {
                let mut data = naive.blocks[&item].data.clone();
                let values = BlockKind::CollectionItem { properties: some_values(schema, seed) };
                if seed.is_multiple_of(3) {
                    data.inline = format!("Title {}", seed % 50);
                } else {
                    data.kind = values;
                }
                vec![update(naive, item, data)]
            }
            (4, _) if seed.is_multiple_of(2) => taken_along(naive, *id, b).into_iter().collect(),
            (4, Some(item)) => {
                let from = naive.slot_of(item);
                let after = target.after.filter(|after| *after != item);
                vec![Edit::Move { block: item, from, to: InsertTarget { after, ..target } }]
            }
            (5, _) => {
                let name = format!("Named {seed}");
                let data = BlockData { inline: name.clone(), ..naive.blocks[id].data.clone() };
                vec![update(naive, *id, data), set(naive, *id, Schema { name, ..schema.clone() })]
            }
            (6 | 7, _) => replaced(naive, *id, schema, b, seed),
            _ => vec![],
        }
    }

    fn new_collection(&mut self, naive: &Naive, a: u32, b: u32, seed: u32) -> Vec<Edit> {
        let Some(target) = Self::target(naive, a, b) else { return vec![] };
        let mut block = self.block(naive, 1);
        block.data =
            BlockData { inline: format!("List {b}"), ..BlockData::new(BlockKind::Collection) };
        let collection = block.id;
        let properties = ["a", "b", "c", "d"].iter().zip([seed, b, seed / 9, b / 9]);
        let schema = Schema {
            key: format!("list_{b}"),
            name: block.data.inline.clone(),
            content: ContentProperty { key: "title".to_owned(), name: "Title".to_owned() },
            properties: properties.map(|(key, seed)| property(key, seed, collection)).collect(),
        };
        let mut nodes = vec![SubtreeNode { depth: 0, block }];
        nodes.extend(self.items(naive, &schema, 1, seed));
        let after = Some(Box::new(schema));
        vec![
            Edit::Insert { target, subtrees: Subtrees(nodes) },
            Edit::SetSchema {
                document: target.document,
                collection,
                before: None,
                after,
                quiet: false,
            },
        ]
    }
}

/// A collection, or its page, moves to another document.
fn taken_along(naive: &Naive, id: BlockId, number: u32) -> Option<Edit> {
    let (document, parent) = naive.standing[&id];
    let has_parent = |block: &BlockId| naive.standing[block].1.is_some();
    let block =
        parent.filter(|parent| number.is_multiple_of(3) && has_parent(parent)).unwrap_or(id);
    let block = if is_movable(&naive.blocks[&block]) { block } else { id };
    let others = naive.parents().into_iter().filter(|other| naive.standing[other].0 != document);
    let parent = pick(&others.collect::<Vec<_>>(), number)?;
    let to = InsertTarget {
        document: naive.standing[&parent].0,
        parent,
        after: naive.children(parent).last().copied(),
    };
    Some(Edit::Move { block, from: naive.slot_of(block), to })
}

/// Columns are removed, added, retyped and reordered, after items change.
fn replaced(naive: &Naive, id: BlockId, schema: &Schema, b: u32, seed: u32) -> Vec<Edit> {
    let mut properties = schema.properties.clone();
    let at = usize::try_from(b).unwrap() % properties.len().max(1);
    let touched = properties.get(at).map(|property| property.key.clone());
    match (seed % 4, properties.get_mut(at)) {
        (0, Some(_)) => drop(properties.remove(at)),
        (1, Some(changed)) => changed.kind = kind(b, id, &changed.key),
        (2, _) => {
            let key =
                ["a", "b", "c", "d", "e", "f"].iter().find(|key| schema.property(key).is_none());
            properties.extend(key.map(|key| property(key, b, id)));
        }
        _ => properties.reverse(),
    }
    let after = Schema { properties, ..schema.clone() };
    let mut edits = vec![];
    for item in naive.children(id) {
        let block = &naive.blocks[item];
        let mut values = properties_of(block);
        if let Some(key) = touched.as_ref().filter(|_| seed % 4 < 2) {
            let kind = after.property(key).map(|property| &property.kind);
            let kept = schema
                .property(key)
                .zip(after.property(key))
                .is_some_and(|(a, b)| a.kind == b.kind);
            if !kept {
                values.set(
                    key,
                    kind.and_then(|kind| {
                        value(kind, seed.wrapping_add(item.to_bytes()[15].into()))
                    }),
                );
            }
        }
        let data = BlockData {
            kind: BlockKind::CollectionItem { properties: values },
            ..block.data.clone()
        };
        if data != block.data {
            edits.push(update(naive, *item, data));
        }
    }
    edits.push(set(naive, id, after));
    edits
}
fn properties_of(block: &BlockRecord) -> Properties {
    properties(block).clone()
}

fn update(naive: &Naive, id: BlockId, data: BlockData) -> Edit {
    let before = naive.blocks[&id].clone();
    let after = BlockRecord { rev: before.rev + 1, data, ..before.clone() };
    Edit::Update {
        document: naive.standing[&id].0,
        before: Box::new(before),
        after: Box::new(after),
    }
}

pub fn set(naive: &Naive, collection: BlockId, after: Schema) -> Edit {
    let before = naive.schemas.get(&collection).cloned().map(Box::new);
    let (document, after) = (naive.standing[&collection].0, Some(Box::new(after)));
    Edit::SetSchema {
        document,
        collection,
        before,
        after,
        quiet: naive.schemas.len().is_multiple_of(2),
    }
}

/// Whether a block may change and move like any other.
pub fn is_plain(block: &BlockRecord) -> bool {
    !is_item(block) && !matches!(block.data.kind, BlockKind::Collection)
}

/// Whether a block may move anywhere.
pub fn is_movable(block: &BlockRecord) -> bool {
    !is_item(block)
}

/// A value read from its row.
fn owned(value: ValueView<'_>) -> PropertyValue {
    match value {
        ValueView::Text(text) => PropertyValue::Text(text.to_owned()),
        ValueView::Number(number) => PropertyValue::Number(number),
        ValueView::Boolean(value) => PropertyValue::Boolean(value),
        ValueView::Date(day) => PropertyValue::Date(day),
        ValueView::Options(options) => {
            PropertyValue::Options(options.map(|option| option.unwrap().to_owned()).collect())
        }
        ValueView::Relations(items) => {
            PropertyValue::Relations(items.map(Result::unwrap).collect())
        }
    }
}
