//! Two spaces that are alike for a scoped connection: in one of them its collections are related to
//! a hidden and to a trashed one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase::json::FromJson;
use leafbase::{
    AccessScope, BlockId, Clock, Connection, DocumentId, Error, Fetch, GetItems, IdSource,
    ListScopedDocuments, Scope, Scoped, Space, Timestamp, json,
};
use serde::Serialize;
use serde_json::{Value, json};

/// The time and the IDs of the call at hand: the same in both spaces, whatever is done between
/// calls.
#[derive(Clone, Debug, Default)]
struct Present(Arc<[AtomicU64; 2]>);

impl Present {
    fn begin(&self, call: u64) {
        self.0[0].store(call, Ordering::Relaxed);
        self.0[1].store(0, Ordering::Relaxed);
    }
}

impl IdSource for Present {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        let (call, number) =
            (self.0[0].load(Ordering::Relaxed), self.0[1].fetch_add(1, Ordering::Relaxed) + 1);
        (u128::from(call) << 64 | u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ call))
            .to_be_bytes()
    }
}

impl Clock for Present {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(
            1_767_225_600_000 + 1_000 * i64::try_from(self.0[0].load(Ordering::Relaxed)).unwrap(),
        )
    }
}

/// A space whose blocks have names: `"@name"` stands for an ID in requests.
pub struct World {
    pub all: Connection,
    pub scope: Scope,
    present: Present,
    calls: u64,
    hidden: u64,
    names: BTreeMap<String, BlockId>,
}

/// The number of the first call that is hidden: those before are the same in every space.
const HIDDEN: u64 = 1 << 32;

impl World {
    /// Books at home and people in a club, both of which are seen, and documents that are not:
    /// `@secret`, and `@bin`, which is in the scope and in the trash. If it `is_related`, books
    /// have a relation that they own with each of two collections there, and one that those own.
    pub fn new(is_related: bool) -> Self {
        let present = Present::default();
        let space =
            Space::builder().ids(present.clone()).clock(present.clone()).in_memory().unwrap();
        let (all, scope) = (space.connect(), space.scope([]));
        let mut world = Self { all, scope, present, calls: 0, hidden: 0, names: BTreeMap::new() };
        for title in ["home", "club", "secret", "bin"] {
            world.begin();
            let document = world.all.create_document(title).unwrap().id();
            world.names.insert(title.to_owned(), document.root());
        }
        world.scope.add(["home", "club", "bin"].map(|title| DocumentId::of_root(world.id(title))));
        world.made("create", &collection("people", "club", json!([])), "people");
        world.made("create", &collection("books", "home", books(json!([]))), "books");
        for (list, title) in
            [("people", "ada"), ("people", "bob"), ("books", "dune"), ("books", "emma")]
        {
            let item =
                json!({"collectionId": at(list), "items": [{"title": title, "properties": {}}]});
            world.made("add", &item, title);
        }
        let related = json!({"note": "a note", "state": "open", "by": ["@ada"], "like": ["@emma"]});
        world.all_does("update", &update("books", "dune", related));
        if is_related {
            world.relate();
        }
        world.all_does("trash", &json!({"documentIds": "@bin"}));
        world
    }

    /// Relates books to hidden collections, at both kinds of ends.
    fn relate(&mut self) {
        self.hidden_made(
            "create",
            &collection("vault", "secret", json!([relation("Holds", "books", "extra")])),
            "vault",
        );
        self.hidden_made(
            "create",
            &collection("waste", "bin", json!([relation("Lost", "books", "lost")])),
            "waste",
        );
        self.hidden_made(
            "create",
            &collection("guards", "secret", json!([relation("Guards", "people", "guard")])),
            "guards",
        );
        let mut kept =
            vec![relation("Kept", "vault", "keeps"), relation("Thrown", "waste", "thrown")];
        kept[1]["single"] = json!(true);
        let mut schema = serde_json::to_value(self.all.schema(self.id("books")).unwrap()).unwrap();
        let properties = schema["properties"].as_array_mut().unwrap();
        for (place, property) in [0, 4].into_iter().zip(kept) {
            properties.insert(place, property);
        }
        let replacement = json!({"collectionId": "@books", "schema": schema});
        // At the time of the last call that is seen: the document of the books says when they got
        // columns of their own.
        self.present.begin(self.calls);
        ask_all(&self.all, "replace", self.body(&replacement)).unwrap();
        for (list, title, values) in [
            ("vault", "gold", json!({"holds": ["@dune"], "keeps": ["@emma", "@dune"]})),
            ("vault", "silver", json!({"holds": ["@dune", "@emma"]})),
            ("waste", "peel", json!({"lost": ["@dune"], "thrown": ["@dune"]})),
            ("guards", "dog", json!({"guards": ["@ada", "@bob"]})),
        ] {
            let item = json!({"collectionId": at(list), "items": [{"title": title, "properties": values}]});
            self.hidden_made("add", &item, title);
        }
    }

    pub fn guest(&self) -> Connection<Scoped> {
        self.scope.connect()
    }

    /// A scope that contains every document, the hidden ones as well.
    pub fn unguarded(&self) -> Connection<Scoped> {
        let documents = self.all.documents().unwrap();
        self.all.space().scope(documents.iter().map(leafbase::Document::id)).connect()
    }

    pub fn id(&self, name: &str) -> BlockId {
        self.names[name]
    }

    pub fn name(&mut self, name: &str, id: &Value) {
        self.names.insert(name.to_owned(), id.as_str().unwrap().parse().unwrap());
    }

    fn begin(&mut self) {
        self.calls += 1;
        self.present.begin(self.calls);
    }

    fn made(&mut self, operation: &str, body: &Value, name: &str) {
        let made = self.all_does(operation, body);
        let id = made.pointer("/items/0/id").unwrap_or(&made["id"]).clone();
        self.name(name, &id);
    }

    fn hidden_made(&mut self, operation: &str, body: &Value, name: &str) {
        let made = self.hidden_does(operation, body);
        let id = made.pointer("/items/0/id").unwrap_or(&made["id"]).clone();
        self.name(name, &id);
    }

    /// What the full space is asked, in every space alike.
    pub fn all_does(&mut self, operation: &str, body: &Value) -> Value {
        self.begin();
        ask_all(&self.all, operation, self.body(body))
            .unwrap_or_else(|error| panic!("{operation} {body}: {error}"))
    }

    /// What the full space is asked in this one alone.
    pub fn hidden_does(&mut self, operation: &str, body: &Value) -> Value {
        self.hidden += 1;
        self.present.begin(HIDDEN + self.hidden);
        let done = ask_all(&self.all, operation, self.body(body));
        done.unwrap_or_else(|error| panic!("{operation} {body}: {error}"))
    }

    /// All that a scoped connection is shown, times included.
    pub fn view(&self, guest: &Connection<Scoped>) -> String {
        let mut shown =
            vec![told(guest.list_documents(ListScopedDocuments::new().with_metadata()).unwrap())];
        let documents = guest.documents().unwrap();
        for document in documents.iter().filter(|document| !document.is_deleted) {
            shown.push(told(guest.fetch(Fetch::new(document.id).with_metadata()).unwrap()));
            shown.push(told(guest.fetch_markdown(Fetch::new(document.id)).unwrap()));
        }
        for listed in guest.list_collections(leafbase::ListCollections::default()).unwrap().iter() {
            shown.push(told(listed));
            for format in ["schema", "json-schema-items"] {
                let body = json!({"collectionId": listed.id, "format": format});
                shown.push(ask(guest, "schema", body.to_string()).unwrap());
            }
            for depth in [0, -1] {
                let body = json!({"collectionId": listed.id, "maxDepth": depth});
                shown.push(ask(guest, "items", body.to_string()).unwrap());
            }
            for item in guest.items(listed.id).unwrap().items {
                shown.push(told(guest.fetch(Fetch::new(item.id).with_metadata()).unwrap()));
            }
        }
        shown.iter().map(|part| part.to_string() + "\n").collect()
    }

    /// What a scoped connection is answered: the reply, or the error, as JSON.
    pub fn guest_does(
        &mut self,
        guest: &Connection<Scoped>,
        operation: &str,
        body: &Value,
    ) -> Value {
        self.begin();
        match ask(guest, operation, self.body(body)) {
            Ok(reply) => reply,
            Err(error) => json!({"error": serde_json::to_value(&error).unwrap()}),
        }
    }

    pub fn body(&self, body: &Value) -> String {
        let named = self.names.iter().rev();
        named.fold(body.to_string(), |text, (name, id)| {
            text.replace(&format!("\"@{name}\""), &format!("\"{id}\""))
        })
    }

    pub fn with_names(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, id)| {
            text.replace(&id.to_string(), &format!("@{name}"))
        })
    }

    /// The keys of a collection as the full space has them, marks as `*`.
    pub fn keys(&self, collection: &str) -> String {
        let schema = self.all.schema(self.id(collection)).unwrap();
        let keys: Vec<_> =
            schema.properties.iter().map(|property| unmarked(&property.key)).collect();
        keys.join(" ")
    }

    /// The titles that an item is related to, as the full space has them.
    pub fn related(&self, list: &str, item: &str, key: &str) -> String {
        let items = self.all.items(GetItems::of(self.id(list)).depth(0)).unwrap().items;
        let item = items.iter().find(|found| found.id == self.id(item)).unwrap();
        item.related(key).iter().map(|other| other.title.as_str()).collect::<Vec<_>>().join(" ")
    }

    pub fn check(&self) {
        let report = self.all.space().check().unwrap();
        assert!(report.is_clean(), "{report:#?}");
    }
}

/// A key, with `*` for the mark that a scoped writer's key has.
pub fn unmarked(key: &str) -> String {
    let is_mark =
        |mark: &str| mark.len() == 6 && mark.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match key.rsplit_once('_') {
        Some((start, mark)) if is_mark(mark) => format!("{start}_*"),
        _ => key.to_owned(),
    }
}

pub fn at(name: &str) -> String {
    format!("@{name}")
}

pub fn update(list: &str, item: &str, properties: Value) -> Value {
    json!({"collectionId": at(list), "itemsToUpdate": [{"id": at(item), "properties": properties}]})
}

pub fn relation(name: &str, target: &str, inverse: &str) -> Value {
    let target = if target == "self" { target.to_owned() } else { at(target) };
    json!({"name": name, "type": "relation", "targetCollectionId": target, "inverseKey": inverse})
}

pub fn collection(name: &str, home: &str, properties: Value) -> Value {
    json!({"schema": {"name": name, "properties": properties}, "position": {"position": "end", "pageId": at(home)}})
}

/// Columns of books, and then these.
pub fn books(more: Value) -> Value {
    let mut columns = json!([
        {"key": "note", "name": "Note", "type": "text"},
        {"key": "state", "name": "State", "type": "select", "options": [{"name": "open"}, {"name": "done"}]},
        {"key": "by", "name": "By", "type": "relation", "targetCollectionId": "@people", "inverseKey": "wrote"},
        {"key": "like", "name": "Like", "type": "relation", "targetCollectionId": "self", "inverseKey": "like"},
    ]);
    columns.as_array_mut().unwrap().extend(more.as_array().unwrap().clone());
    columns
}

/// Does an operation that the full space alone has, or one that both kinds of connections have.
fn ask_all(notes: &Connection, operation: &str, body: String) -> Result<Value, Error> {
    match operation {
        "trash" => Ok(told(notes.delete_documents(read::<leafbase::DeleteDocuments>(&body)?)?)),
        "purge" => Ok(told(notes.purge_documents(read(&body)?)?)),
        "restore" => Ok(told(notes.move_documents(read(&body)?)?)),
        _ => ask(notes, operation, body),
    }
}

fn read<T: FromJson>(body: &str) -> Result<T, Error> {
    json::from_str(body, &leafbase::Limits::default())
}

fn told(reply: impl Serialize) -> Value {
    serde_json::to_value(reply).unwrap()
}

/// Does an operation that both kinds of connections have.
fn ask<S: AccessScope>(
    notes: &Connection<S>,
    operation: &str,
    body: String,
) -> Result<Value, Error> {
    let body = body.as_str();
    Ok(match operation {
        "list" => told(notes.list_collections(read(body)?)?),
        "create" => told(notes.create_collection(read(body)?)?),
        "schema" => told(notes.collection_schema(read(body)?)?),
        "replace" => told(notes.replace_schema(read(body)?)?),
        "items" => told(notes.items(read::<GetItems>(body)?)?),
        "add" => told(notes.add_items(read(body)?)?),
        "update" => told(notes.update_items(read(body)?)?),
        "delete" => told(notes.delete_items(read(body)?)?),
        "query" => told(notes.query_items(read(body)?)?),
        "count" => told(notes.count_items(read(body)?)?),
        "update blocks" => told(notes.update_blocks(read(body)?)?),
        "delete blocks" => told(notes.delete_blocks(read(body)?)?),
        "move blocks" => told(notes.move_blocks(read(body)?)?),
        "markdown" => told(notes.fetch_markdown(read(body)?)?),
        other => panic!("no operation {other}"),
    })
}
