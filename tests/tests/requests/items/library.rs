//! A space at noon of Sunday, 2026-03-01, with books in one document and people in another, where
//! requests name items by their titles: `@Ada`.

use std::collections::BTreeMap;

use leafbase::json::FromJson;
use leafbase::{
    BlockId, CollectionSchema, DeleteDocuments, Error, Item, ItemsPage, Limits, PropertyKind,
    Schema, Space, Timestamp, json,
};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::{Value, json};

/// A property of every type, and relations: with people, one of which edits a book, and of books
/// with each other.
fn books() -> Value {
    json!({"name": "Books", "contentPropDetails": {"key": "name", "name": "Name"}, "properties": [
        {"name": "Note", "type": "text"},
        {"name": "Pages", "type": "number"},
        {"name": "Read", "type": "checkbox"},
        {"name": "Due", "type": "date"},
        {"name": "Web", "type": "link"},
        {"name": "Mail", "type": "email"},
        {"name": "Call", "type": "phone"},
        {"name": "State", "type": "select", "options": [{"name": "open"}, {"name": "done"}]},
        {"name": "Tags", "type": "multiSelect", "options": [{"name": "novel"}, {"name": "poem"}]},
        {"name": "By", "type": "relation", "targetCollectionId": "@people", "inverseKey": "wrote"},
        {"name": "Editor", "type": "relation", "targetCollectionId": "@people", "inverseKey": "edited", "single": true},
        {"name": "Sequel", "type": "relation", "targetCollectionId": "self", "inverseKey": "prequel", "single": true},
        {"name": "Like", "type": "relation", "targetCollectionId": "self", "inverseKey": "like"},
    ]})
}

pub struct Library {
    pub notes: leafbase::Connection,
    names: BTreeMap<String, String>,
}

/// What comes of a request.
#[derive(Debug)]
pub enum Reply {
    Items(Vec<Item>),
    Ids(Vec<BlockId>),
}

/// A request's operation and collection, what it gives, and what comes of it.
pub type Step<'a> = (&'a str, &'a str, &'a str);

/// A property, an item, the property of the other end, and the item that is related.
type Pair = (String, String, String, String);

impl Library {
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub fn with_limits(limits: Limits) -> Self {
        let noon: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let clock = FixedClock::at(noon.as_millis().unsigned_abs());
        let builder = Space::builder().clock(clock).ids(SequentialIds::new(1)).limits(limits);
        let mut library =
            Self { notes: builder.in_memory().unwrap().connect(), names: BTreeMap::new() };
        for (document, name, schema) in [
            ("attic", "people", json!({"name": "People", "properties": []})),
            ("home", "books", books()),
        ] {
            let id = library.notes.create_document(document).unwrap().id().to_string();
            library.name(document, &id);
            let request = json!({"schema": schema, "position": {"pageId": id, "position": "end"}});
            let made: CollectionSchema = library
                .notes
                .create_collection(library.request(&request.to_string()).unwrap())
                .unwrap();
            library.name(name, &made.id.to_string());
        }
        library
    }

    pub fn name(&mut self, name: &str, id: &str) {
        self.names.insert(name.to_owned(), id.to_owned());
    }

    pub fn id<T: std::str::FromStr<Err = Error>>(&self, name: &str) -> T {
        self.names[name].parse().unwrap()
    }

    /// The request of this JSON, in which `@name` stands for the ID of that name.
    pub fn request<T: FromJson>(&self, body: &str) -> Result<T, Error> {
        let mut text = body.to_owned();
        for (name, id) in &self.names {
            text = text.replace(&format!("\"@{name}\""), &format!("\"{id}\""));
        }
        json::from_str(&text, self.notes.space().limits())
    }

    /// Passes a request on as a host does: `add books` with the items, `add+ books` with leave to
    /// add options, `update`, `delete`, and `items` with what stands beside the collection.
    pub fn ask(&self, operation: &str, body: &str) -> Result<Reply, Error> {
        let (verb, collection) = operation.split_once(' ').unwrap();
        let with = |list: &str| {
            let flag = if verb.ends_with('+') { r#","allowNewSelectOptions":true"# } else { "" };
            format!(r#"{{"collectionId":"@{collection}","{list}":{body}{flag}}}"#)
        };
        let notes = &self.notes;
        Ok(match verb.trim_end_matches('+') {
            "add" => Reply::Items(notes.add_items(self.request(&with("items"))?)?.0),
            "update" => Reply::Items(notes.update_items(self.request(&with("itemsToUpdate"))?)?.0),
            "delete" => Reply::Ids(notes.delete_items(self.request(&with("idsToDelete"))?)?.0),
            "items" => {
                let rest = if body.is_empty() { String::new() } else { format!(",{body}") };
                let request = format!(r#"{{"collectionId":"@{collection}"{rest}}}"#);
                Reply::Items(notes.items(self.request::<leafbase::GetItems>(&request)?)?.items)
            }
            other => panic!("no operation {other}"),
        })
    }

    /// What comes of a request in one line; items that it shows are named by their titles.
    pub fn line(&mut self, operation: &str, body: &str) -> String {
        match self.ask(operation, body) {
            Ok(Reply::Items(items)) => {
                let names = items.iter().map(|item| (item.title.clone(), item.id.to_string()));
                self.names.extend(names);
                items.iter().map(shown).collect::<Vec<_>>().join(" ")
            }
            Ok(Reply::Ids(ids)) => {
                ids.iter().map(|id| self.name_of(*id)).collect::<Vec<_>>().join(" ")
            }
            Err(error) => format!("{} {error}", error.code()),
        }
    }

    /// Asserts what comes of each request. After each the space is sound and both ends of every
    /// relation are equal; after one that is refused nothing has changed.
    pub fn run(&mut self, steps: &[Step<'_>]) {
        for (operation, body, expected) in steps {
            let before = self.dump();
            let found = self.line(operation, body);
            assert_eq!(found, *expected, "{operation} {body}");
            self.check();
            if found.chars().take(4).all(|letter| letter.is_ascii_uppercase()) {
                assert_eq!(self.dump(), before, "{operation} {body} left a trace");
            }
        }
    }

    /// All that is in the documents of the collections, changes of the space included.
    pub fn dump(&self) -> String {
        let all = |name: &str| self.ask(&format!("items {name}"), "").unwrap();
        let schemas = ["books", "people"].map(|name| self.schema(name));
        let last = self.notes.space().stats().unwrap().sequence;
        format!("{:?} {:?} {schemas:?} {last:?}", all("books"), all("people"))
    }

    pub fn schema(&self, name: &str) -> Schema {
        self.notes.schema(self.id(name)).unwrap()
    }

    pub fn items(&self, name: &str) -> ItemsPage<Item> {
        let request = leafbase::GetItems::of(self.id(name)).depth(0);
        self.notes.items(request).unwrap()
    }

    pub fn trash(&self, document: &str) {
        self.notes
            .delete_documents(DeleteDocuments::from(self.id::<leafbase::DocumentId>(document)))
            .unwrap();
    }

    /// That the space is sound, and that each pair of related items is seen from both ends.
    pub fn check(&self) {
        assert_eq!(self.notes.space().check().unwrap().problems, []);
        assert!(one_sided(&self.pairs()).is_empty(), "{:?}", one_sided(&self.pairs()));
    }

    fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for name in ["books", "people"] {
            let schema = self.schema(name);
            let relations = schema.properties.iter().filter_map(|property| match &property.kind {
                PropertyKind::Relation(relation) => Some((property, relation)),
                _ => None,
            });
            for (property, relation) in relations {
                let here = format!("{}.{}", self.id::<BlockId>(name), property.key);
                let there =
                    format!("{}.{}", relation.target, relation.inverse_key.as_ref().unwrap());
                for item in &self.items(name) {
                    for other in item.related(&property.key) {
                        let (item, other) = (item.id.to_string(), other.block_id.to_string());
                        pairs.push((here.clone(), item, there.clone(), other));
                    }
                }
            }
        }
        pairs
    }

    fn name_of(&self, id: BlockId) -> String {
        let found = self.names.iter().find(|(_, known)| **known == id.to_string());
        found.map_or_else(|| id.to_string(), |(name, _)| name.clone())
    }
}

/// `Dune(pages=412 by=Ada&Bob)[text, page[..]]`: the values in the order of the reply.
fn shown(item: &Item) -> String {
    let json = serde_json::to_value(item).unwrap();
    let values = item
        .properties
        .iter()
        .map(|(key, _)| format!("{key}={}", value_shown(&json["properties"][key])));
    let values = values.collect::<Vec<_>>().join(" ");
    let values = if values.is_empty() { values } else { format!("({values})") };
    format!("{}{values}{}", item.title, content_shown(&json))
}

fn value_shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(value_shown).collect::<Vec<_>>().join("&"),
        Value::Object(fields) => match &fields["relations"] {
            Value::Array(related) => related
                .iter()
                .map(|item| item["title"].as_str().unwrap())
                .collect::<Vec<_>>()
                .join("&"),
            other => panic!("{other}"),
        },
        other => other.to_string(),
    }
}

fn content_shown(block: &Value) -> String {
    match (&block["content"], &block["contentPreview"]) {
        (Value::Array(blocks), _) => {
            let shown = |block: &Value| {
                block["markdown"].as_str().unwrap_or("?").to_owned() + &content_shown(block)
            };
            format!("[{}]", blocks.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        (_, Value::String(preview)) => format!("..{preview}"),
        _ => String::new(),
    }
}

/// The pairs that are not seen from their other end.
fn one_sided(pairs: &[Pair]) -> Vec<&Pair> {
    let turned = |(property, item, inverse, other): &Pair| {
        let pair: Pair = (inverse.clone(), other.clone(), property.clone(), item.clone());
        pair
    };
    pairs.iter().filter(|pair| !pairs.contains(&turned(pair))).collect()
}

/// Control: an end that does not show a pair is noticed.
#[test]
fn a_pair_that_one_end_alone_shows_is_noticed() {
    let mut library = Library::new();
    library.run(&[
        ("add people", r#"[{"title":"Ada"}]"#, "Ada"),
        ("add books", r#"[{"name":"Dune","properties":{"by":"@Ada"}}]"#, "Dune(by=Ada)"),
    ]);
    let mut pairs = library.pairs();
    assert_eq!((pairs.len(), one_sided(&pairs).len()), (2, 0));
    pairs.pop();
    assert_eq!(one_sided(&pairs).len(), 1);
}
