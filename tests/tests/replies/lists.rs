//! Tasks, items, schemas, comments, documents and folders, sent back as they came.

use leafbase::{
    AddComments, AddItems, AddTasks, BlockData, BlockDraft, BlockId, CommentDraft, Connection,
    CreateCollection, DayRef, Fetch, GetItems, GetSchema, ListComments, ListDocuments, ListTasks,
    ReplaceSchema, SchemaFormat, Space, TaskDestination, TaskDraft, TaskScope, UpdateBlocks,
    UpdateComments, UpdateDocuments, UpdateFolders, UpdateItems, UpdateTasks,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{cases, content_of};

const SCHEMA: &str = r####"{"name": "Books", "contentPropDetails": {"name": "Book"}, "properties": [
    {"name": "Pages", "type": "number"}, {"name": "Read", "type": "boolean"},
    {"name": "Due", "type": "date"}, {"name": "Site", "type": "url"},
    {"name": "State", "type": "singleSelect", "options": [{"name": "new", "color": "#ff0000"}, {"name": "old"}]},
    {"name": "Tags", "type": "multiSelect", "options": ["a", "b"]},
    {"name": "Note", "type": "text"}, {"name": "Sequel", "type": "relation"}]}"####;

/// A space with one thing of each kind that an operation returns.
struct Shelf {
    space: Space,
    notes: Connection,
    books: BlockId,
}

fn call(space: &Space, operation: &str, request: &Value) -> Result<Value, String> {
    let (notes, body) = (space.connect(), request.to_string());
    macro_rules! calls {
        ($($method:ident($request:ty))*) => {
            match operation {
                $(stringify!($method) => space
                    .read_json::<$request>(&body)
                    .and_then(|request| notes.$method(request))
                    .map(|reply| serde_json::to_value(reply).unwrap()),)*
                _ => unreachable!("{operation}"),
            }
        };
    }
    let reply = calls!(
        create_collection(CreateCollection) collection_schema(GetSchema)
        replace_schema(ReplaceSchema) add_items(AddItems) update_items(UpdateItems)
        update_tasks(UpdateTasks) list_comments(ListComments) update_comments(UpdateComments)
        update_documents(UpdateDocuments) update_folders(UpdateFolders) update_blocks(UpdateBlocks)
    );
    reply.map_err(|error| format!("{operation}: {error} for {request}"))
}

fn shelf(words: &[String], number: i32) -> Shelf {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let folder = notes.create_folder("Home", None).unwrap();
    let home = notes.create_document("Home").unwrap().id();
    let within = BlockDraft::new(BlockData::page(format!("In {}", words[0])));
    notes.create_document_of(within, folder.id).unwrap();
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let create = |schema: &Value| {
        let request = json!({"schema": schema, "position": {"pageId": home}});
        call(&space, "create_collection", &request).unwrap()["id"].clone()
    };
    // A relation needs a target: the collection itself.
    let relation = schema["properties"].as_array_mut().unwrap().pop().unwrap();
    let books = create(&schema);
    let mut stored =
        call(&space, "collection_schema", &json!({"collectionId": books, "format": "schema"}))
            .unwrap();
    let mut relation = relation;
    relation["targetCollectionId"] = books.clone();
    stored["properties"].as_array_mut().unwrap().push(relation);
    call(&space, "replace_schema", &json!({"collectionId": books, "schema": stored})).unwrap();
    let shown =
        call(&space, "collection_schema", &json!({"collectionId": books, "format": "schema"}))
            .unwrap();
    let key = |name: &str| {
        let properties = shown["properties"].as_array().unwrap();
        let found = properties.iter().find(|property| property["name"] == name);
        let found = found.unwrap_or_else(|| panic!("{name} in {shown}"));
        found["key"].as_str().unwrap().to_owned()
    };
    let first = json!({"title": words[0], "properties": {
        key("Pages"): number, key("Read"): true, key("Due"): "2026-03-01",
        key("Site"): "https://x.example", key("State"): "new", key("Tags"): ["a", "b"],
        key("Note"): words[1]}});
    let added = call(&space, "add_items", &json!({"collectionId": books, "items": [first]}));
    let first = added.unwrap()["items"][0]["id"].clone();
    let second = json!({"title": words[2], "properties": {key("Sequel"): [first]},
        "content": [{"type": "text", "markdown": words[1]}]});
    call(&space, "add_items", &json!({"collectionId": books, "items": [second]})).unwrap();
    notes
        .add_tasks(AddTasks::new([
            TaskDraft::new(&words[0]).due(DayRef::Tomorrow),
            TaskDraft::new(&words[1]).at(TaskDestination::DailyNote(DayRef::Today)),
            TaskDraft::new(&words[2]).at(home),
        ]))
        .unwrap();
    let comment = CommentDraft::new(home.root(), format!("why {}", words[0]));
    notes.add_comments(AddComments::new([comment])).unwrap();
    let books = books.as_str().unwrap().parse().unwrap();
    Shelf { space, notes, books }
}

impl Shelf {
    /// Everything that operations return, with the operation that takes it back.
    fn replies(&self) -> Vec<(&'static str, Value)> {
        let (notes, books) = (&self.notes, self.books);
        fn shown(reply: impl serde::Serialize) -> Value {
            serde_json::to_value(reply).unwrap()
        }
        let items = shown(notes.items(GetItems::of(books)).unwrap())["items"].clone();
        let shallow = shown(notes.items(GetItems::of(books).depth(0)).unwrap())["items"].clone();
        let schema =
            shown(notes.collection_schema(GetSchema::new(books, SchemaFormat::Schema)).unwrap());
        let open = shown(notes.tasks(ListTasks::new(TaskScope::Open)).unwrap())["items"].clone();
        let listing = ListDocuments::new().with_metadata();
        let documents = shown(notes.list_documents(listing).unwrap())["items"].clone();
        let comments = notes.documents().unwrap().into_iter().flat_map(|document| {
            let request = json!({"documentId": document.id()});
            let listed = call(&self.space, "list_comments", &request).unwrap();
            listed["items"].as_array().unwrap().clone()
        });
        let comments: Vec<Value> = comments.collect();
        let folders = shown(notes.folders().unwrap())["items"].clone();
        let blocks: Vec<Value> = items
            .as_array()
            .unwrap()
            .iter()
            .map(|item| {
                let id: BlockId = serde_json::from_value(item["id"].clone()).unwrap();
                shown(notes.fetch(Fetch::new(id).with_metadata()).unwrap())
            })
            .chain([shown(notes.fetch(Fetch::new(books).with_metadata()).unwrap())])
            .collect();
        vec![
            ("update_items", json!({"collectionId": books, "itemsToUpdate": items})),
            ("update_items", json!({"collectionId": books, "itemsToUpdate": shallow})),
            ("replace_schema", json!({"collectionId": books, "schema": schema})),
            ("update_tasks", json!({"tasksToUpdate": open})),
            ("update_documents", json!({"documents": documents})),
            ("update_folders", json!({"folders": folders})),
            ("update_comments", json!({"comments": comments})),
            ("update_blocks", json!({"blocks": blocks})),
        ]
    }
}

fn words() -> impl Strategy<Value = String> {
    proptest::sample::select(
        &["a", "# a", "- a", " a ", "[a](https://x.example)", "\\# a", "*a* `b`", "&#32;b"][..],
    )
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases() / 5, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn lists_can_be_sent_back(words in proptest::collection::vec(words(), 3), number in -9..9_i32) {
        let shelf = shelf(&words, number);
        let before = shelf.replies();
        let sequence = shelf.space.stats().unwrap().sequence;
        for (operation, request) in &before {
            let first = request.as_object().unwrap().values().next_back().unwrap();
            prop_assert!(!first.as_array().is_some_and(Vec::is_empty), "{operation} has something");
            let answered = call(&shelf.space, operation, request);
            prop_assert!(answered.is_ok(), "{:?}", answered);
            prop_assert_eq!(shelf.space.stats().unwrap().sequence, sequence, "{} writes", operation);
        }
        prop_assert_eq!(shelf.replies(), before.clone());

        let (_, request) = &before[0];
        let copy = json!({"collectionId": shelf.books, "items": request["itemsToUpdate"]});
        let added = call(&shelf.space, "add_items", &copy).unwrap();
        let shown = shelf.notes.items(GetItems::of(shelf.books)).unwrap();
        for (item, given) in shown[2..].iter().zip(request["itemsToUpdate"].as_array().unwrap()) {
            let item = serde_json::to_value(item).unwrap();
            prop_assert_eq!(&item["book"], &given["book"]);
            let contents = [&item, given].map(|item| content_of(&json!({"content": item["content"]})));
            prop_assert_eq!(&contents[0], &contents[1]);
        }
        prop_assert_eq!(added["items"].as_array().unwrap().len(), 2);
    }
}

/// A reply with one field changed changes that field.
#[test]
fn a_changed_field_of_a_reply_is_changed() {
    let shelf = shelf(&["a".into(), "b".into(), "c".into()], 3);
    let changed = |operation: &str, list: &str, name: &str, value: Value| {
        let (_, mut request) =
            shelf.replies().into_iter().find(|(known, _)| *known == operation).unwrap();
        let entry = request[list].as_array().unwrap().iter().position(|entry| {
            (operation != "update_folders" || entry.get("rev").is_some())
                && entry.get(name).is_some_and(|held| *held != value)
        });
        request[list][entry.unwrap()][name] = value.clone();
        call(&shelf.space, operation, &request).unwrap();
        let (_, after) =
            shelf.replies().into_iter().find(|(known, _)| *known == operation).unwrap();
        assert_eq!(after[list][entry.unwrap()][name], value, "{operation}");
    };
    changed("update_documents", "documents", "title", json!("Elsewhere"));
    changed("update_folders", "folders", "name", json!("Away"));
    changed("update_comments", "comments", "content", json!("because"));
    changed("update_tasks", "tasksToUpdate", "markdown", json!("- [ ] other"));
    changed("update_items", "itemsToUpdate", "book", json!("Dune"));
}

/// A revision that is not the present one is refused, wherever a reply has one.
#[test]
fn a_stale_reply_is_refused() {
    let shelf = shelf(&["a".into(), "b".into(), "c".into()], 3);
    let mut compared = 0;
    for (operation, request) in shelf.replies() {
        for (list, entries) in request.as_object().unwrap() {
            let entries = entries.as_array().into_iter().flatten().enumerate();
            for (index, _) in entries.filter(|(_, entry)| entry.get("rev").is_some()) {
                let mut stale = request.clone();
                stale[list][index]["rev"] = json!(77);
                let refused = call(&shelf.space, operation, &stale).unwrap_err();
                assert!(refused.contains("revision") || refused.contains("rev"), "{refused}");
                compared += 1;
            }
        }
    }
    assert!(compared > 8, "{compared}");
}

/// The title of an item has a key of its own, whatever fields blocks have.
#[test]
fn an_item_whose_title_is_named_like_a_block_field_can_be_sent_back() {
    for (name, key) in [("URL", "url_2"), ("Text", "text_2"), ("Uploaded", "uploaded_2")] {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let home = notes.create_document("Home").unwrap().id();
        let schema = json!({"name": "B", "contentPropDetails": {"name": name}, "properties": []});
        let request = json!({"schema": schema, "position": {"pageId": home}});
        let books = call(&space, "create_collection", &request).unwrap()["id"].clone();
        let items = json!({"collectionId": books, "items": [{"title": "a"}]});
        let added = call(&space, "add_items", &items).unwrap();
        let id: BlockId = added["items"][0]["id"].as_str().unwrap().parse().unwrap();
        let fetched = || serde_json::to_value(notes.fetch(Fetch::new(id).with_text()).unwrap());
        let mut item = fetched().unwrap();
        assert_eq!(item[key], "a");
        call(&space, "update_blocks", &json!({"blocks": [item]})).unwrap();
        assert_eq!(fetched().unwrap(), item);
        item[key] = json!("b");
        item.as_object_mut().unwrap().remove("text");
        call(&space, "update_blocks", &json!({"blocks": [item]})).unwrap();
        assert_eq!(fetched().unwrap()[key], "b");
    }
}
