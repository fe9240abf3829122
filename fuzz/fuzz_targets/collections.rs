//! Any schemas, items and queries as JSON are taken or refused: what is refused changes nothing,
//! what is taken reads back as it was told, and every law of the store holds.
#![no_main]

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use leafbase::json::{self, FromJson};
use leafbase::{
    BlockId, Connection, CountItems, CreateCollection, DocumentId, Error, ErrorKind, Fetch,
    GetItems, GetSchema, Limits, ListCollections, QueryItems, ReplaceSchema, SchemaDraft,
    SchemaFormat, SchemaReply, SearchIndexing, Space,
};
use leafbase_store::kv::MemoryStore;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

use tables::Asking;

mod tables;

const REQUESTS: usize = 8;

struct Base {
    store: MemoryStore,
    document: DocumentId,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let store = Arc::new(MemoryStore::new());
        let space = Space::builder().over(store.clone(), true).expect("a space");
        let document = space.connect().create_document("Home").expect("a document").id();
        Base { store: store.copy(), document }
    })
}

fuzz_target!(|bytes: &[u8]| {
    let builder = Space::builder().search_indexing(SearchIndexing::OnDemand);
    let space = builder.over(Arc::new(base().store.copy()), false).expect("a space");
    let mut tables = Tables { notes: space.connect(), collections: Vec::new(), items: Vec::new() };
    let mut bytes = Unstructured::new(bytes);
    for _ in 0..REQUESTS {
        if bytes.is_empty() || tables.request(&mut bytes).is_err() {
            break;
        }
    }
    tables.look();
    let report = space.check().expect("it is checked");
    assert!(report.is_clean(), "{report:?}");
});

struct Tables {
    notes: Connection,
    collections: Vec<String>,
    items: Vec<String>,
}

/// A request as a host passes it on.
fn read<T: FromJson>(body: &Value) -> leafbase::Result<T> {
    json::from_str(&body.to_string(), &Limits::default())
}

impl Tables {
    fn request(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let which = if self.collections.is_empty() { 0 } else { bytes.int_in_range(0..=11)? };
        let mut asking = Asking { bytes, collections: &self.collections, items: &self.items };
        let id = asking.collection()?;
        let known: Option<BlockId> = id.as_str().and_then(|id| id.parse().ok());
        let schema = known.and_then(|id| self.notes.schema(id).ok());
        let body = match which {
            0 | 1 => {
                json!({"schema": asking.schema()?, "position": {"position": "end", "pageId": base().document}})
            }
            2..=4 => {
                let count = asking.bytes.int_in_range(0..=3)?;
                let items = (0..count).map(|_| asking.fields(schema.as_ref()).map(Value::from));
                let items = items.collect::<Result<Vec<_>>>()?;
                json!({"collectionId": id, "items": items, "allowNewSelectOptions": asking.bytes.arbitrary::<bool>()?})
            }
            5 | 6 => {
                let mut fields = asking.fields(schema.as_ref())?;
                fields.insert("id".to_owned(), asking.item()?);
                let new_options: bool = asking.bytes.arbitrary()?;
                json!({"collectionId": id, "itemsToUpdate": [fields], "allowNewSelectOptions": new_options})
            }
            7 | 8 => {
                let schema = match &schema {
                    Some(schema) => asking.changed(schema)?,
                    None => asking.schema()?,
                };
                json!({"collectionId": id, "schema": schema, "dropUnconvertible": asking.bytes.arbitrary::<bool>()?})
            }
            9 => json!({"collectionId": id, "idsToDelete": [asking.item()?]}),
            _ => json!({"collectionId": id, "filter": asking.filter(schema.as_ref(), 0)?}),
        };
        self.ask(which, &body);
        Ok(())
    }

    fn ask(&mut self, which: i32, body: &Value) {
        let (notes, before) = (self.notes.clone(), self.notes.last_sequence());
        let outcome = match which {
            0 | 1 => read(body).and_then(|request: CreateCollection| self.create(request)),
            2..=4 => read(body).and_then(|request| notes.add_items(request)).map(|added| {
                self.items.extend(added.iter().map(|item| item.id.to_string()));
                for item in added.iter() {
                    let told = notes.fetch(Fetch::new(item.id)).expect("it is there");
                    assert_eq!(told.data.inline, item.title, "{body}");
                }
            }),
            5 | 6 => read(body).and_then(|request| notes.update_items(request)).map(drop),
            7 | 8 => read(body).and_then(|request| self.replace(request)),
            9 => read(body).and_then(|request| notes.delete_items(request)).map(|deleted| {
                let gone: BTreeSet<_> = deleted.iter().map(ToString::to_string).collect();
                self.items.retain(|item| !gone.contains(item));
            }),
            _ => read(body).and_then(|request| self.query(request)),
        };
        if let Err(error) = outcome {
            refused(body, &error);
            assert_eq!(notes.last_sequence(), before, "{body}: {error:?}");
        }
    }

    fn create(&mut self, request: CreateCollection) -> leafbase::Result<()> {
        let made = self.notes.create_collection(request)?;
        self.collections.push(made.id.to_string());
        assert_eq!(self.notes.schema(made.id).as_ref(), Ok(&made.schema));
        Ok(())
    }

    fn replace(&self, request: ReplaceSchema) -> leafbase::Result<()> {
        let made = self.notes.replace_schema(request)?;
        assert_eq!(self.notes.schema(made.id).as_ref(), Ok(&made.schema));
        let again = ReplaceSchema::new(made.id, SchemaDraft::from(made.schema.clone()));
        let again = self.notes.replace_schema(again).expect("a schema that is shown is taken");
        assert_eq!(again.schema, made.schema);
        Ok(())
    }

    /// What is counted is what is found, and what is not found is what the opposite finds.
    fn query(&self, request: QueryItems) -> leafbase::Result<()> {
        let (id, filter) = (request.collection_id, request.filter.clone());
        let found = self.notes.query_items(request)?.items.len() as u64;
        let count = |filter| {
            self.notes
                .count_items(CountItems::of(id).filtered(filter))
                .expect("a count")
                .count
        };
        assert_eq!(count(filter.clone()), found);
        let opposite = filter.map(|filter| leafbase::ItemFilter::Not(Box::new(filter)));
        assert_eq!(found + opposite.map_or(0, |opposite| count(Some(opposite))), count(None));
        Ok(())
    }

    /// Looks at all that there is.
    fn look(&self) {
        let listed = self.notes.list_collections(ListCollections::default()).expect("a list");
        let listed: Vec<_> = listed.iter().map(|collection| collection.id.to_string()).collect();
        assert_eq!(listed.iter().collect::<BTreeSet<_>>(), self.collections.iter().collect());
        let mut all = BTreeSet::new();
        for id in self.collections.iter().filter_map(|id| id.parse::<BlockId>().ok()) {
            let (schema, items) =
                (schema(&self.notes, id), told(self.notes.items(GetItems::of(id))).items);
            for item in &items {
                assert!(
                    item.properties.iter().all(|(key, _)| schema.property(key).is_some()),
                    "{item:?}"
                );
                all.insert(item.id.to_string());
            }
        }
        assert_eq!(all, self.items.iter().cloned().collect());
    }
}

fn told<T: Debug>(answer: leafbase::Result<T>) -> T {
    answer.expect("what is there can be read")
}

/// The schema, which the JSON Schema has all of.
fn schema(notes: &Connection, id: BlockId) -> leafbase::Schema {
    let SchemaReply::JsonSchema(shown) =
        told(notes.collection_schema(GetSchema::new(id, SchemaFormat::JsonSchemaItems)))
    else {
        panic!("another format")
    };
    let (schema, shown) = (told(notes.schema(id)), shown.to_string());
    for property in &schema.properties {
        assert!(
            shown.contains(&Value::from(property.key.as_str()).to_string()),
            "{shown} lacks {}",
            property.key
        );
    }
    schema
}

fn refused(body: &Value, error: &Error) {
    let expected = [
        ErrorKind::NotFound,
        ErrorKind::Validation,
        ErrorKind::RuleViolation,
        ErrorKind::SchemaMismatch,
        ErrorKind::LimitExceeded,
        ErrorKind::InvalidMarkdown,
    ];
    assert!(expected.contains(&error.kind()), "{body}: {error:?}");
}
