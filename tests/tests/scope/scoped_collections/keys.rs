//! The keys of the columns that a scoped writer makes: each is marked with digits that nobody can
//! have foreseen, so that no key that is hidden is hit upon.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase::{BlockId, Connection, DocumentId, IdSource, Limits, Scope, Space, Timestamp};
use serde_json::{Value, json};

use crate::world::read;

/// IDs that all end alike: in `a1b2c3`, from the last digit on.
#[derive(Clone, Debug, Default)]
struct Alike(Arc<AtomicU64>);

impl IdSource for Alike {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        let digits = ['a', '1', 'b', '2', 'c', '3'].iter().rev();
        let end = digits.fold(0, |end, digit| end * 36 + u128::from(digit.to_digit(36).unwrap()));
        let number = u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1;
        (number * 36_u128.pow(6) + end).to_be_bytes()
    }
}

/// A document that is seen, and a collection in it.
struct Scene {
    all: Connection,
    scope: Scope,
    home: DocumentId,
    books: BlockId,
}

/// `content` is the key of the titles.
fn scene(content: &str) -> Scene {
    let mut limits = Limits::default();
    limits.title = 20;
    let all = Space::builder().ids(Alike::default()).limits(limits).in_memory().unwrap().connect();
    let home = all.create_document("home").unwrap().id();
    let schema = json!({"name": "Books", "contentPropDetails": {"key": content, "name": "Title"}, "properties": []});
    let request = json!({"schema": schema, "position": {"position": "end", "pageId": home}});
    let books = all.create_collection(read(&request)).unwrap().id;
    Scene { scope: all.space().scope([home]), all, home, books }
}

impl Scene {
    /// The keys, or the code of an error, after a guest has given the collection these columns.
    fn replaced(&self, columns: &[Value]) -> String {
        let mut schema = serde_json::to_value(self.all.schema(self.books).unwrap()).unwrap();
        schema["properties"] = columns.into();
        let request = json!({"collectionId": self.books, "schema": schema});
        match self.scope.connect().replace_schema(read(&request)) {
            Ok(_) => self.keys().join(" "),
            Err(error) => format!("{} {error}", error.code()),
        }
    }

    fn keys(&self) -> Vec<String> {
        self.all
            .schema(self.books)
            .unwrap()
            .properties
            .into_iter()
            .map(|property| property.key)
            .collect()
    }
}

fn text(name: &str) -> Value {
    json!({"name": name, "type": "text"})
}

const TAKEN: &str =
    "CONFLICT schema: no free property key was found: the IDs of this space are not random";

#[test]
fn columns_get_marked_keys() {
    let scene = scene("title");
    assert_eq!(scene.replaced(&[text("To")]), "to_a1b2c3");
    let kept = json!({"key": "to_a1b2c3", "name": "To", "type": "text"});
    assert_eq!(scene.replaced(&[kept.clone(), text("From")]), "to_a1b2c3 from_a1b2c3");
    // Every key that can be made is taken: by a column, or by the titles.
    assert_eq!(scene.replaced(&[kept.clone(), text("To")]), TAKEN);
    assert_eq!(scene.replaced(&[text("to")]), TAKEN);
    assert_eq!(
        scene.all.schema(scene.books).unwrap().content.key,
        "title",
        "what is not new is not marked"
    );
    assert_eq!(self::scene("to_a1b2c3").replaced(&[text("To")]), TAKEN);
}

/// A client that got no reply sends its request again, with keys without marks, or with none.
#[test]
fn the_same_request_again_changes_nothing() {
    let scene = scene("title");
    let schema = json!({"name": "People", "properties": []});
    let people = json!({"schema": schema, "position": {"position": "end", "pageId": scene.home}});
    let people = scene.all.create_collection(read(&people)).unwrap().id;
    let by = json!({"key": "by", "name": "By", "type": "relation", "targetCollectionId": people, "inverseKey": "wrote"});
    let columns = [text("To"), json!({"key": "at", "name": "Day", "type": "date"}), by];
    let schema = json!({"name": "Books", "contentPropDetails": {"key": "name", "name": "Name"}, "properties": columns});
    let request = json!({"collectionId": scene.books, "schema": schema});
    let guest = scene.scope.connect();
    let first = guest.replace_schema(read(&request)).unwrap();
    assert_eq!(scene.keys(), ["to_a1b2c3", "at_a1b2c3", "by_a1b2c3"]);
    assert_eq!(first.schema.content.key, "name_a1b2c3");
    let item =
        json!({"title": "Emma", "properties": {"to_a1b2c3": "Ada", "at_a1b2c3": "2026-03-01"}});
    let items = json!({"collectionId": scene.books, "items": [item]});
    guest.add_items(read(&items)).unwrap();
    let before = scene.all.last_sequence().unwrap();
    assert_eq!(guest.replace_schema(read(&request)).unwrap(), first);
    assert_eq!(scene.all.last_sequence().unwrap(), before);
}

#[test]
fn marked_keys_are_no_longer_than_keys_may_be() {
    let scene = scene("title");
    assert_eq!(scene.replaced(&[text("abcdefghijklmnopqrst")]), "abcdefghijklm_a1b2c3");
    assert_eq!(scene.keys()[0].len(), 20);
}

/// A hidden column stays in a schema that is replaced without it.
#[test]
fn hidden_relations_stay_when_a_schema_is_replaced() {
    let scene = scene("title");
    let hidden = scene.all.create_document("hidden").unwrap().id();
    let related = json!({"name": "Holds", "type": "relation", "targetCollectionId": scene.books, "inverseKey": "held"});
    let request = json!({"schema": {"name": "Vault", "properties": [related]}, "position": {"position": "end", "pageId": hidden}});
    let vault = scene.all.create_collection(read(&request)).unwrap().id;
    assert!(scene.all.document_of(vault).is_ok());
    assert_eq!(scene.keys(), ["held"]);
    assert_eq!(scene.replaced(&[text("To")]), "held to_a1b2c3");
    assert_eq!(scene.replaced(&[]), "held");
    assert_eq!(scene.all.document_of(scene.books).unwrap(), scene.home);
}
