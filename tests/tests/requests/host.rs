//! A host that passes JSON straight through, as a server of tools would: a request in, a reply or
//! an error out.

use std::collections::BTreeMap;

use leafbase::json::FromJson;
use leafbase::{
    Author, BlockData, BlockId, BlockKind, BlockType, Connection, ContentProperty, DocumentId,
    Edit, Error, Fetch, Limits, Schema, Space, Stamp, json,
};
use leafbase_model::{BlockRecord, InsertTarget, Subtrees};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::Value;

/// A space of two documents, in one of which a block of every type is named for it: `@text`,
/// `@page` (with `@child` in it), `@image`, .. `@root` is the document, `@other` another one.
pub struct Host {
    pub notes: Connection,
    names: BTreeMap<String, BlockId>,
}

pub type Outcome = Result<Value, Error>;

impl Host {
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub fn with_limits(limits: Limits) -> Self {
        let builder =
            Space::builder().clock(FixedClock::default()).ids(SequentialIds::new(1)).limits(limits);
        let mut host =
            Self { notes: builder.in_memory().unwrap().connect(), names: BTreeMap::new() };
        let root = host.notes.create_document("root").unwrap().id();
        host.name("root", root.root());
        let other = host.notes.create_document("other").unwrap().id();
        host.name("other", other.root());
        let numbered = |number: u128| BlockId::from_bytes((0xF0_0000 + number).to_be_bytes());
        let mut after = None;
        for (number, block_type) in BlockType::ALL.iter().enumerate() {
            let id = numbered(number as u128);
            host.name(block_type.as_str(), id);
            // It comes into the collection, which has to be there.
            if *block_type == BlockType::CollectionItem {
                continue;
            }
            host.put(id, *block_type, InsertTarget { document: root, parent: root.root(), after });
            after = Some(id);
        }
        let collection = host.id("collection");
        host.give_schema(root, collection);
        let item = host.id("collectionItem");
        host.put(
            item,
            BlockType::CollectionItem,
            InsertTarget { document: root, parent: collection, after: None },
        );
        let child = BlockId::from_bytes(0xF1_0000_u128.to_be_bytes());
        host.put(
            child,
            BlockType::Text,
            InsertTarget { document: root, parent: host.id("page"), after: None },
        );
        host.name("child", child);
        host
    }

    /// The collection is one of items without properties.
    fn give_schema(&self, document: DocumentId, collection: BlockId) {
        let content = ContentProperty { key: "title".to_owned(), name: "Title".to_owned() };
        let (key, name) = ("collection".to_owned(), BlockType::Collection.as_str().to_owned());
        let after = Some(Box::new(Schema { key, name, content, properties: Vec::new() }));
        let edit = Edit::SetSchema { document, collection, before: None, after, quiet: false };
        self.notes.space().apply(&Author::ANONYMOUS, &[edit]).unwrap();
    }

    /// Blocks of every type, those included that have operations of their own.
    fn put(&self, id: BlockId, block_type: BlockType, target: InsertTarget) {
        let stamp = Stamp { by: Author::ANONYMOUS, ..Stamp::default() };
        let mut data = BlockData::new(BlockKind::empty(block_type));
        if block_type == BlockType::Table {
            data.inline = "| a |\n| --- |\n| b |".to_owned();
        } else if block_type.has_own_markdown() {
            block_type.as_str().clone_into(&mut data.inline);
        }
        let block = BlockRecord { id, rev: 1, created: stamp.clone(), modified: stamp, data };
        let edit = Edit::Insert { target, subtrees: Subtrees::one(block) };
        self.notes.space().apply(&Author::ANONYMOUS, &[edit]).unwrap();
    }

    pub fn name(&mut self, name: &str, id: BlockId) {
        self.names.insert(name.to_owned(), id);
    }

    pub fn id(&self, name: &str) -> BlockId {
        self.names[name]
    }

    pub fn document(&self) -> DocumentId {
        DocumentId::of_root(self.id("root"))
    }

    /// The request of this JSON, in which `@name` stands for the ID of that block.
    pub fn request<T: FromJson>(&self, body: &str) -> Result<T, Error> {
        json::from_str(&self.with_ids(body), self.notes.space().limits())
    }

    fn with_ids(&self, body: &str) -> String {
        let mut text = body.to_owned();
        for (name, id) in self.names.iter().rev() {
            text = text.replace(&format!("\"@{name}\""), &format!("\"{id}\""));
        }
        text
    }

    /// Passes a request on.
    pub fn ask(&self, operation: &str, body: &str) -> Outcome {
        let text = self.with_ids(body);
        let (notes, limits) = (&self.notes, self.notes.space().limits());
        let reply = match operation {
            "insert" => serde_json::to_value(notes.insert_blocks(json::from_str(&text, limits)?)?),
            "update" => serde_json::to_value(notes.update_blocks(json::from_str(&text, limits)?)?),
            "delete" => serde_json::to_value(notes.delete_blocks(json::from_str(&text, limits)?)?),
            "move" => serde_json::to_value(notes.move_blocks(json::from_str(&text, limits)?)?),
            "fetch" => serde_json::to_value(notes.fetch(json::from_str(&text, limits)?)?),
            "create" => {
                let page = json::from_str(&text, limits)?;
                let made = notes.create_document_of(page, leafbase::Destination::Unsorted)?;
                serde_json::to_value(notes.fetch(Fetch::new(made.id()))?)
            }
            other => panic!("no operation {other}"),
        };
        Ok(reply.unwrap())
    }

    /// What comes of a request in one line: the items without IDs and revs, or the code and the
    /// path of the error.
    pub fn line(&self, operation: &str, body: &str) -> String {
        match self.ask(operation, body) {
            Ok(reply) => shown(reply),
            Err(error) => wrong(&error),
        }
    }

    /// Everything in the space, metadata included.
    pub fn dump(&self) -> String {
        let documents = self.notes.documents().unwrap();
        let fetch = |id: DocumentId| self.notes.fetch(Fetch::new(id).with_metadata()).unwrap();
        let documents: Vec<_> =
            documents.into_iter().map(|document| fetch(document.id())).collect();
        serde_json::to_string_pretty(&documents).unwrap()
    }

    /// Asserts the outcome of each request; one that is refused leaves no trace.
    pub fn table(&self, rows: &[(&str, &str, &str)]) {
        for (operation, body, expected) in rows {
            let before = self.dump();
            let found = self.line(operation, body);
            assert_eq!(found, *expected, "{operation} {body}");
            if !expected.starts_with(['{', '[']) {
                assert_eq!(self.dump(), before, "{operation} {body} left a trace");
            }
        }
    }
}

pub fn wrong(error: &Error) -> String {
    format!("{} {}", error.code(), error.path()).trim_end().to_owned()
}

fn shown(mut reply: Value) -> String {
    let mut waiting = vec![&mut reply];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| name != "id" && name != "rev");
                waiting.extend(fields.values_mut());
            }
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    match &reply["items"] {
        Value::Null => reply.to_string(),
        items => items.to_string(),
    }
}
