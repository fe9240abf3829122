//! A space of collections whose blocks have names.

use std::collections::BTreeMap;

use leafbase::json::FromJson;
use leafbase::{
    Author, BlockData, BlockId, BlockKind, Change, Connection, DocumentId, Edit, Error, Fetch,
    Limits, ListCollections, Properties, PropertyKind, PropertyValue, Relation, Space, Stamp, json,
};
use leafbase_model::{BlockRecord, InsertTarget, Subtrees};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::{Value, json};

/// A space with named blocks: in requests and outcomes `@name` stands for an ID.
pub struct Shelf {
    pub notes: Connection,
    names: BTreeMap<String, BlockId>,
}

impl Shelf {
    /// Two documents, `@library` and `@club`.
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub fn with_limits(limits: Limits) -> Self {
        let builder =
            Space::builder().clock(FixedClock::default()).ids(SequentialIds::new(1)).limits(limits);
        let mut shelf =
            Self { notes: builder.in_memory().unwrap().connect(), names: BTreeMap::new() };
        for title in ["library", "club"] {
            let document = shelf.notes.create_document(title).unwrap().id();
            shelf.name(title, document.root());
        }
        shelf
    }

    /// The same with books and people, which have no columns yet, in a document each, and two items
    /// in each: `@b1`, `@b2`, `@p1`, `@p2`.
    pub fn of_books() -> Self {
        let mut shelf = Self::new();
        for (name, home, item) in [("books", "library", "b"), ("people", "club", "p")] {
            shelf.create(name, home, json!([]));
            for number in ["1", "2"] {
                shelf.put(&format!("{item}{number}"), name);
            }
        }
        shelf
    }

    pub fn name(&mut self, name: &str, id: BlockId) {
        self.names.insert(name.to_owned(), id);
    }

    pub fn id(&self, name: &str) -> BlockId {
        self.names[name]
    }

    pub fn document(&self, name: &str) -> DocumentId {
        self.notes.document_of(self.id(name)).unwrap()
    }

    pub fn request<T: FromJson>(&self, body: &Value) -> Result<T, Error> {
        let mut text = body.to_string();
        for (name, id) in self.names.iter().rev() {
            text = text.replace(&format!("\"@{name}\""), &format!("\"{id}\""));
        }
        json::from_str(&text, self.notes.space().limits())
    }

    pub fn ask(&self, operation: &str, body: &Value) -> Result<Value, Error> {
        let notes = &self.notes;
        let reply = match operation {
            "list" => serde_json::to_value(notes.list_collections(self.request(body)?)?),
            "create" => serde_json::to_value(notes.create_collection(self.request(body)?)?),
            "schema" => serde_json::to_value(notes.collection_schema(self.request(body)?)?),
            "replace" => serde_json::to_value(notes.replace_schema(self.request(body)?)?),
            other => panic!("no operation {other}"),
        };
        Ok(reply.unwrap())
    }

    /// What comes of a request in one line: the reply, or the code of the error with path and
    /// message.
    pub fn line(&self, operation: &str, body: &Value) -> String {
        match self.ask(operation, body) {
            Ok(reply) => self.with_names(&reply.to_string()),
            Err(error) => self.with_names(&format!("{} {error}", error.code())),
        }
    }

    pub fn with_names(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, id)| {
            text.replace(&id.to_string(), &format!("@{name}"))
        })
    }

    pub fn create(&mut self, name: &str, home: &str, properties: Value) {
        let body = json!({"schema": schema(name, properties), "position": end(home)});
        let made = self.notes.create_collection(self.request(&body).unwrap()).unwrap();
        self.name(name, made.id);
    }

    /// Gives a collection these properties.
    pub fn replace(&self, collection: &str, properties: Value) -> String {
        self.line("replace", &replacement(collection, properties))
    }

    pub fn replace_dropping(&self, collection: &str, properties: Value) -> String {
        let mut body = replacement(collection, properties);
        body["dropUnconvertible"] = json!(true);
        self.line("replace", &body)
    }

    /// An item without values at the start of a collection.
    pub fn put(&mut self, name: &str, collection: &str) {
        let id = BlockId::from_bytes((0xC0_0000_u128 + self.names.len() as u128).to_be_bytes());
        let stamp = Stamp { by: Author::ANONYMOUS, ..Stamp::default() };
        let kind = BlockKind::CollectionItem { properties: Properties::default() };
        let data = BlockData { inline: name.to_owned(), ..BlockData::new(kind) };
        let block = BlockRecord { id, rev: 1, created: stamp.clone(), modified: stamp, data };
        let target = InsertTarget {
            document: self.document(collection),
            parent: self.id(collection),
            after: None,
        };
        self.apply(&[Edit::Insert { target, subtrees: Subtrees::one(block) }]);
        self.name(name, id);
    }

    pub fn apply(&self, edits: &[Edit]) {
        self.notes.space().apply(&Author::ANONYMOUS, edits).unwrap();
    }

    /// What an item holds; in `values` relations are arrays of names.
    pub fn set(&self, item: &str, values: Value) {
        let Value::Object(values) = values else { panic!("no object") };
        let before = self.record(item);
        let read = |(key, value): (String, Value)| (key, self.value(&value));
        let kind = BlockKind::CollectionItem { properties: values.into_iter().map(read).collect() };
        let data = BlockData { kind, ..before.data.clone() };
        let after = BlockRecord { rev: before.rev + 1, data, ..before.clone() };
        let (before, after) = (Box::new(before), Box::new(after));
        self.apply(&[Edit::Update { document: self.document(item), before, after }]);
    }

    pub fn value(&self, value: &Value) -> PropertyValue {
        match value {
            Value::Bool(value) => PropertyValue::Boolean(*value),
            Value::Number(number) => PropertyValue::Number(number.as_f64().unwrap()),
            Value::String(text) => {
                text.strip_prefix("day ").map_or(PropertyValue::Text(text.clone()), |day| {
                    PropertyValue::Date(day.parse().unwrap())
                })
            }
            Value::Array(names) => {
                let names: Vec<_> = names.iter().map(|name| name.as_str().unwrap()).collect();
                match names[0].starts_with('@') {
                    true => PropertyValue::Relations(
                        names.iter().map(|name| self.id(&name[1..])).collect(),
                    ),
                    false => PropertyValue::Options(
                        names.iter().map(|name| (*name).to_owned()).collect(),
                    ),
                }
            }
            other => panic!("no value {other}"),
        }
    }

    /// The block as the change log has it last.
    pub fn record(&self, name: &str) -> BlockRecord {
        let mut found = None;
        for change in self.notes.changes_since(0) {
            for edit in change.unwrap().edits {
                match edit {
                    Edit::Insert { subtrees, .. } => {
                        found = subtrees
                            .0
                            .into_iter()
                            .map(|node| node.block)
                            .find(|block| block.id == self.id(name))
                            .or(found)
                    }
                    Edit::Update { after, .. } if after.id == self.id(name) => found = Some(*after),
                    _ => {}
                }
            }
        }
        found.unwrap()
    }

    /// What an item holds, as JSON with names.
    pub fn held(&self, item: &str) -> String {
        let block = self.notes.fetch(Fetch::new(self.id(item)).depth(0)).unwrap();
        let BlockKind::CollectionItem { properties } = block.data.kind else { panic!("no item") };
        self.with_names(&serde_json::to_string(&properties).unwrap())
    }

    /// The columns of a collection: `key>inverse`, with `*` at the end that owns it and `1` at one
    /// that takes one item.
    pub fn columns(&self, collection: &str) -> String {
        let shown = |property: leafbase::Property| match property.kind {
            PropertyKind::Relation(Relation { owner, single, inverse_key, .. }) => {
                let (owner, single) = (if owner { "*" } else { "" }, if single { "1" } else { "" });
                format!("{}{owner}{single}>{}", property.key, inverse_key.unwrap())
            }
            _ => property.key,
        };
        let schema = self.notes.schema(self.id(collection)).unwrap();
        schema.properties.into_iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    pub fn check(&self) {
        let report = self.notes.space().check().unwrap();
        assert!(report.is_clean(), "{report:?}");
    }

    pub fn dump(&self) -> String {
        dump(&self.notes)
    }

    pub fn last_change(&self) -> Change {
        self.notes.changes_since(self.notes.last_sequence().unwrap() - 1).next().unwrap().unwrap()
    }

    /// What the last write did, in order: `items` and `schemas` by name.
    pub fn last_edits(&self) -> String {
        let told = |edit: &Edit| match edit {
            Edit::SetSchema { collection, .. } => format!("schema {collection}"),
            Edit::Update { after, .. } => format!("update {}", after.id),
            Edit::Insert { subtrees, .. } => {
                format!("insert {}", subtrees.0[0].block.data.inline)
            }
            other => panic!("{other:?}"),
        };
        self.with_names(&self.last_change().edits.iter().map(told).collect::<Vec<_>>().join(", "))
    }

    /// Undoes what was written after `sequence`, and redoes it; asserts that the states between are
    /// as they were.
    pub fn undo_to(&self, sequence: u64, state: &str) {
        let (changes, after) = (
            self.notes.changes_since(sequence).map(Result::unwrap).collect::<Vec<_>>(),
            self.dump(),
        );
        for change in changes.iter().rev() {
            self.apply(&change.inverse().unwrap());
            self.check();
        }
        assert_eq!(self.dump(), state);
        for change in &changes {
            self.apply(&change.edits);
            self.check();
        }
        assert_eq!(self.dump(), after);
    }
}

/// Everything: documents, collections with their schemas, all blocks, items among them, with
/// metadata; without the revisions of documents, which an undo increments.
pub fn dump(notes: &Connection) -> String {
    let shown = |id: BlockId| {
        serde_json::to_string(&notes.fetch(Fetch::new(id).with_metadata()).unwrap()).unwrap()
    };
    let mut documents = notes.documents().unwrap();
    documents.0.iter_mut().for_each(|document| document.record.rev = 1);
    let mut parts = vec![serde_json::to_string(&documents).unwrap()];
    parts.extend(documents.iter().map(|document| shown(document.id().root())));
    for collection in notes.list_collections(ListCollections::default()).unwrap() {
        parts.push(format!("{collection:?} {:?}", notes.schema(collection.id).unwrap()));
        parts.extend(
            notes.items(collection.id).unwrap().items.into_iter().map(|item| shown(item.id)),
        );
    }
    parts.join("\n")
}

pub fn schema(name: &str, properties: Value) -> Value {
    json!({"name": name, "properties": properties})
}

pub fn end(page: &str) -> Value {
    json!({"position": "end", "pageId": format!("@{page}")})
}

pub fn replacement(collection: &str, properties: Value) -> Value {
    json!({"collectionId": format!("@{collection}"), "schema": schema(collection, properties)})
}

pub fn column(name: &str, property_type: &str) -> Value {
    json!({"name": name, "type": property_type})
}

pub fn select(name: &str, property_type: &str, options: &[&str]) -> Value {
    let options: Vec<_> = options.iter().map(|name| json!({"name": name})).collect();
    with(column(name, property_type), json!({"options": options}))
}

pub fn relation(name: &str, target: &str) -> Value {
    with(column(name, "relation"), json!({"targetCollectionId": target}))
}

/// A property with more fields.
pub fn with(mut property: Value, fields: Value) -> Value {
    property.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    property
}
