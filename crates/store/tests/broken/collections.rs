//! A small collection, and a related one.

use leafbase_model::{
    BlockData, BlockId, BlockKind, ContentProperty, DocumentId, DocumentRecord, Edit, Location,
    Properties, Property, PropertyKind, PropertyValue, Relation, Schema, SelectOption, Subtrees,
    Timestamp,
};
use leafbase_store::SpaceStore;

use super::{id, node};
use crate::naive::{relaxed, stamp};

pub const SCHEMAS: u8 = 0x70;
pub const COLLECTIONS: u8 = 0x71;
pub const ITEM_KEYS: u8 = 0x72;

/// The document that [`make`] creates.
pub fn document() -> DocumentId {
    DocumentId::of_root(id(20))
}

pub fn property(key: &str, kind: impl Into<PropertyKind>) -> Property {
    Property { key: key.to_owned(), name: key.to_uppercase(), kind: kind.into() }
}

pub fn schema(name: &str, properties: impl IntoIterator<Item = Property>) -> Schema {
    let content = ContentProperty { key: "title".to_owned(), name: "Title".to_owned() };
    Schema {
        key: name.to_lowercase(),
        name: name.to_owned(),
        content,
        properties: properties.into_iter().collect(),
    }
}

pub fn relation(target: u8, inverse: &str, owner: bool) -> Relation {
    Relation { owner, ..Relation::to(id(target)).with_inverse(inverse) }
}

/// The books: pages, review, shelf, authors, and one similar book each.
pub fn books() -> Schema {
    let shelves = PropertyKind::SingleSelect(vec![SelectOption::new("A")]);
    let like = Relation { single: true, ..relation(21, "like", true) };
    let columns = [property("pages", PropertyKind::Number), property("about", PropertyKind::Text)];
    let others = [
        property("shelf", shelves),
        property("by", relation(24, "wrote", true)),
        property("like", like),
    ];
    schema("Books", columns.into_iter().chain(others))
}

/// The authors: a book has one.
pub fn authors() -> Schema {
    let wrote = Relation { single: true, ..relation(21, "by", false) };
    schema("Authors", [property("wrote", wrote)])
}

pub fn item(
    title: &str,
    values: impl IntoIterator<Item = (&'static str, PropertyValue)>,
) -> BlockData {
    let values = values.into_iter().map(|(key, value)| (key.to_owned(), value));
    let kind = BlockKind::CollectionItem { properties: values.collect::<Properties>() };
    BlockData { inline: title.to_owned(), ..BlockData::new(kind) }
}

pub fn related(items: &[u8]) -> PropertyValue {
    PropertyValue::Relations(items.iter().map(|item| id(*item)).collect())
}

fn collection(name: &str) -> BlockData {
    BlockData { inline: name.to_owned(), ..BlockData::new(BlockKind::Collection) }
}

pub fn set(collection: u8, before: Option<Schema>, after: Option<Schema>) -> Edit {
    let collection: BlockId = id(collection);
    Edit::SetSchema {
        document: document(),
        collection,
        before: before.map(Box::new),
        after: after.map(Box::new),
        quiet: false,
    }
}

/// A document of root 20: collection 21 with items 22, which 25 wrote, and 23, on whose page stands
/// text 27; collection 24 with items 25 and 26.
pub fn edits() -> Vec<Edit> {
    let time = Timestamp::from_millis(1);
    let record = DocumentRecord {
        id: document(),
        location: Location::Unsorted,
        day: None,
        created_at: time,
        modified_at: time,
        rev: 1,
    };
    let (pages, about) = (PropertyValue::Number(300.0), PropertyValue::Text("Whales".to_owned()));
    let subtrees = Subtrees(vec![
        node(0, 20, BlockData::page("Library")),
        node(1, 21, collection("Books")),
        node(2, 22, item("Moby", [("pages", pages), ("about", about), ("by", related(&[25]))])),
        node(2, 23, item("Emma", [])),
        node(3, 27, BlockData::text("text")),
        node(1, 24, collection("Authors")),
        node(2, 25, item("Herman", [])),
        node(2, 26, item("Jane", [])),
    ]);
    vec![
        Edit::CreateDocument { record, subtrees },
        set(21, None, Some(books())),
        set(24, None, Some(authors())),
    ]
}

pub fn make(space: &SpaceStore) {
    space.write(relaxed(), &stamp(3), |open| open.apply(edits())).unwrap();
}
