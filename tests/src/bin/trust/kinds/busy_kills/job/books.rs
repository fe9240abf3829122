//! Items of a collection, each related to a person: added, changed and deleted.

use std::collections::{BTreeMap, BTreeSet};

use leafbase::{
    AddItems, BlockId, Connection, CreateCollection, DeleteItems, GetItems, Item, ItemDraft,
    ItemUpdate, ItemValue, ListCollections, PropertyDraft, PropertyKind, Relation, Result,
    SchemaDraft, UpdateItems,
};

use super::{FIRST, Job, missing, words};

/// People that books are related to.
const PEOPLE: u64 = 3;

/// Makes both collections.
pub fn prepare_books(notes: &Connection) -> Result<()> {
    let home = notes.create_document(Job::Books.name())?.id();
    let people = SchemaDraft::new("People", []);
    let people = notes.create_collection(CreateCollection::new(people, home))?.id;
    notes.add_items(AddItems::new(people, (0..PEOPLE).map(|n| ItemDraft::new(person(n)))))?;
    let properties = [
        PropertyDraft::new("Note", PropertyKind::Text),
        PropertyDraft::new("By", Relation::to(people).with_inverse("wrote").into()),
    ];
    let books = SchemaDraft::new("Books", properties);
    notes.create_collection(CreateCollection::new(books, home)).map(drop)
}

fn person(number: u64) -> String {
    format!("person {number}")
}

fn book_title(number: u64) -> String {
    format!("book {number:06}")
}

/// The note that a call writes, and the person that it relates the book to.
fn book_fields(number: u64) -> (String, u64) {
    (words(number, 5), number % PEOPLE)
}

/// The books after the call `last`, and which of them each person wrote.
pub fn books(last: u64) -> Vec<String> {
    let mut books: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    for call in FIRST..=last {
        match call % 8 {
            2 | 6 => drop(books.insert(call - 1, book_fields(call))),
            3 => drop(books.insert(call - 3, book_fields(call))),
            7 => drop(books.remove(&(call - 3))),
            _ => drop(books.insert(call, book_fields(call))),
        }
    }
    let written = |by: u64| {
        let of = books.iter().filter(|(_, book)| book.1 == by);
        let titles: BTreeSet<String> = of.map(|(number, _)| book_title(*number)).collect();
        format!("{} wrote {titles:?}", person(by))
    };
    let told = |(number, (note, by)): (&u64, &(String, u64))| {
        format!("{}: {note} by {:?}", book_title(*number), [person(*by)])
    };
    books.iter().map(told).chain((0..PEOPLE).map(written)).collect()
}

struct Library {
    books: BlockId,
    people: BlockId,
}

impl Library {
    fn find(notes: &Connection) -> Result<Self> {
        let collections = notes.list_collections(ListCollections::default())?;
        let named = |name: &str| {
            let found = collections.iter().find(|collection| collection.name == name);
            found.map(|collection| collection.id).ok_or_else(|| missing(name))
        };
        Ok(Self { books: named("Books")?, people: named("People")? })
    }

    fn item(notes: &Connection, collection: BlockId, title: &str) -> Result<BlockId> {
        let items = notes.items(GetItems::of(collection))?.items;
        let found = items.iter().find(|item| item.title == title);
        found.map(|item| item.id).ok_or_else(|| missing(title))
    }
}

pub fn write_book(notes: &Connection, number: u64) -> Result<()> {
    let Library { books, people } = Library::find(notes)?;
    let (note, by) = book_fields(number);
    let by = Library::item(notes, people, &person(by))?.to_string();
    let update = |book: u64| {
        let item = Library::item(notes, books, &book_title(book))?;
        let update = ItemUpdate::of(item).with("note", note.clone()).with("by", by.clone());
        notes.update_items(UpdateItems::new(books, [update])).map(drop)
    };
    match number % 8 {
        2 | 6 => update(number - 1),
        3 => update(number - 3),
        7 => {
            let item = Library::item(notes, books, &book_title(number - 3))?;
            notes.delete_items(DeleteItems::new(books, [item])).map(drop)
        }
        _ => {
            let item = ItemDraft::new(book_title(number)).with("note", note.clone());
            notes.add_items(AddItems::new(books, [item.with("by", by.clone())])).map(drop)
        }
    }
}

fn related(item: &Item, key: &str) -> Vec<String> {
    item.related(key).iter().map(|related| related.title.to_string()).collect()
}

pub fn found_books(notes: &Connection) -> Result<Vec<String>> {
    let Library { books, people } = Library::find(notes)?;
    let told = |item: &Item| {
        let note = match item.property("note") {
            Some(ItemValue::Value(value)) => serde_json::to_value(value).unwrap_or_default(),
            _ => serde_json::Value::Null,
        };
        let note = note.as_str().unwrap_or_default();
        format!("{}: {note} by {:?}", item.title, related(item, "by"))
    };
    let written = |item: &Item| {
        let titles: BTreeSet<String> = related(item, "wrote").into_iter().collect();
        format!("{} wrote {titles:?}", item.title)
    };
    let mut found: Vec<String> = notes.items(GetItems::of(books))?.items.iter().map(told).collect();
    found.sort_unstable();
    found.extend(notes.items(GetItems::of(people))?.items.iter().map(written));
    Ok(found)
}
