//! A space of related collections, and what holds of it after every step.

use std::collections::{BTreeMap, BTreeSet};

use leafbase::json::FromJson;
use leafbase::{
    BlockId, Connection, DeleteDocuments, DocumentId, Error, Fetch, GetItems, Item, ItemValue,
    Limits, ListTasks, PropertyKind, PropertyValue, Relation, Space, json,
};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::{Value, json};

/// A space whose blocks have names: `@name` stands for the ID in requests.
pub struct Shelves {
    pub notes: Connection,
    names: BTreeMap<String, BlockId>,
}

/// A relation from one end.
pub struct End {
    collection: BlockId,
    pub key: String,
    relation: Relation,
    /// Each item of this end with one that it is related to.
    related: BTreeSet<(BlockId, BlockId)>,
}

impl Shelves {
    /// Nothing in it but three documents: `@home`, `@club`, `@other`.
    pub fn empty() -> Self {
        Self::with_limits(Limits::default())
    }

    pub fn with_limits(limits: Limits) -> Self {
        let builder =
            Space::builder().clock(FixedClock::default()).ids(SequentialIds::new(1)).limits(limits);
        let mut shelves =
            Self { notes: builder.in_memory().unwrap().connect(), names: BTreeMap::new() };
        for title in ["home", "club", "other"] {
            let document = shelves.notes.create_document(title).unwrap().id();
            shelves.name(title, document.root());
        }
        shelves
    }

    /// Books at home, people in the club, and on the page of a book notes about books.
    ///
    /// The books own the relation with their authors, and have sequels, one each; people are
    /// friends of each other; the notes own what they are about.
    pub fn of_books() -> Self {
        let mut shelves = Self::empty();
        let relation = |name: &str, target: &str| json!({"name": name, "type": "relation", "targetCollectionId": target});
        shelves.create(
            "people",
            "home",
            json!({"name": "People", "contentPropDetails": {"name": "Name"}, "properties": [
                {"name": "Friends", "type": "relation", "targetCollectionId": "self", "inverseKey": "friends"},
            ]}),
        );
        shelves
            .run_json(
                "move_blocks",
                json!({"blockIds": ["@people"], "position": {"position": "end", "pageId": "@club"}}),
            )
            .unwrap();
        let mut sequel = relation("Sequel", "self");
        sequel["single"] = true.into();
        shelves.create(
            "books",
            "home",
            json!({"name": "Books", "properties": [
                relation("Author", "@people"), sequel, {"name": "Pages", "type": "number"},
            ]}),
        );
        shelves.add("people", &[("frank", json!({})), ("ursula", json!({"friends": ["@frank"]}))]);
        shelves.add(
            "books",
            &[
                ("messiah", json!({"author": ["@frank"]})),
                ("dune", json!({"author": ["@frank"], "sequel": ["@messiah"], "pages": 412})),
                ("omelas", json!({"author": ["@ursula", "@frank"]})),
            ],
        );
        shelves.create(
            "notes",
            "dune",
            json!({"name": "Notes", "properties": [relation("About", "@books")]}),
        );
        shelves.add(
            "notes",
            &[
                ("spice", json!({"about": ["@dune", "@messiah"]})),
                ("walk", json!({"about": ["@omelas"]})),
            ],
        );
        shelves.check();
        shelves
    }

    pub fn name(&mut self, name: &str, id: BlockId) {
        self.names.insert(name.to_owned(), id);
    }

    pub fn id(&self, name: &str) -> BlockId {
        *self.names.get(name).unwrap_or_else(|| panic!("nothing is named {name}"))
    }

    pub fn document(&self, name: &str) -> DocumentId {
        DocumentId::of_root(self.id(name))
    }

    pub fn with_ids(&self, text: &str) -> String {
        let named = self.names.iter().rev();
        named.fold(text.to_owned(), |text, (name, id)| {
            text.replace(&format!("@{name}"), &id.to_string())
        })
    }

    /// The same text with names for the IDs.
    pub fn with_names(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, id)| {
            text.replace(&id.to_string(), &format!("@{name}"))
        })
    }

    pub fn request<T: FromJson>(&self, body: &Value) -> Result<T, Error> {
        json::from_str(&self.with_ids(&body.to_string()), self.notes.space().limits())
    }

    /// The outcome of an operation, by its name.
    pub fn run_json(&self, operation: &str, body: Value) -> Result<Value, Error> {
        fn shown<T: serde::Serialize>(reply: T) -> Value {
            serde_json::to_value(reply).unwrap()
        }
        let notes = &self.notes;
        Ok(match operation {
            "fetch" => shown(notes.fetch(self.request(&body)?)?),
            "update_blocks" => shown(notes.update_blocks(self.request(&body)?)?),
            "insert_blocks" => shown(notes.insert_blocks(self.request(&body)?)?),
            "move_blocks" => shown(notes.move_blocks(self.request(&body)?)?),
            "delete_blocks" => shown(notes.delete_blocks(self.request(&body)?)?),
            "delete_items" => shown(notes.delete_items(self.request(&body)?)?),
            "update_items" => shown(notes.update_items(self.request(&body)?)?),
            "replace_schema" => shown(notes.replace_schema(self.request(&body)?)?),
            "delete_documents" => {
                shown(notes.delete_documents(self.request::<DeleteDocuments>(&body)?)?)
            }
            "move_documents" => shown(notes.move_documents(self.request(&body)?)?),
            "purge_documents" => shown(notes.purge_documents(self.request(&body)?)?),
            "tasks" => shown(notes.tasks(self.request::<ListTasks>(&body)?)?),
            "add_comments" => shown(notes.add_comments(self.request(&body)?)?),
            "create_from_template" => shown(notes.create_from_template(self.request(&body)?)?),
            other => panic!("no operation {other}"),
        })
    }

    pub fn create(&mut self, name: &str, page: &str, schema: Value) {
        let body = json!({"schema": schema, "position": {"position": "end", "pageId": format!("@{page}")}});
        let made = self.notes.create_collection(self.request(&body).unwrap()).unwrap();
        self.name(name, made.id);
    }

    /// Adds items whose titles are their names.
    pub fn add(&mut self, collection: &str, items: &[(&str, Value)]) {
        for (title, properties) in items {
            let body = json!({
                "collectionId": format!("@{collection}"), "items": [{"title": title, "properties": properties}],
            });
            let added = self.notes.add_items(self.request(&body).unwrap()).unwrap();
            self.name(title, added[0].id);
        }
    }

    pub fn items(&self, collection: BlockId) -> Vec<Item> {
        self.notes.items(GetItems::of(collection)).unwrap().items
    }

    /// The collections among what is named, as far as they exist.
    fn collections(&self) -> Vec<(&str, BlockId)> {
        let named = self.names.iter().filter(|(_, id)| self.notes.schema(**id).is_ok());
        named.map(|(name, id)| (name.as_str(), *id)).collect()
    }

    /// A line for each collection: its name with the keys of its columns, its items with what they
    /// say.
    pub fn show(&self) -> String {
        let line = |(name, id): (&str, BlockId)| {
            let schema = self.notes.schema(id).unwrap();
            let keys: Vec<_> =
                schema.properties.iter().map(|property| property.key.as_str()).collect();
            let items: Vec<_> = self.items(id).iter().map(show_item).collect();
            format!("{name}({}) {}\n", keys.join(" "), items.join(", "))
        };
        self.collections().into_iter().map(line).collect()
    }

    /// The space checks out, and the ends of relations agree.
    #[track_caller]
    pub fn check(&self) {
        let report = self.notes.space().check().unwrap();
        assert!(report.is_clean(), "{report:#?}");
        if let Some(difference) = self.difference() {
            panic!("{difference}");
        }
    }

    /// How schemas and names, or two ends of a relation differ, if any do.
    fn difference(&self) -> Option<String> {
        for (name, id) in self.collections() {
            let schema = self.notes.schema(id).unwrap();
            if schema.name != self.block(id).data.inline {
                return Some(format!("the schema of {name} is named {:?}", schema.name));
            }
        }
        self.differing(&self.ends())
    }

    /// The relations of all collections, each from both its ends.
    pub fn ends(&self) -> Vec<End> {
        let mut ends = Vec::new();
        for (_, collection) in self.collections() {
            let items = self.items(collection);
            for property in self.notes.schema(collection).unwrap().properties {
                let PropertyKind::Relation(relation) = property.kind else { continue };
                let related = |item: &Item| {
                    let others =
                        item.related(&property.key).iter().map(|other| (item.id, other.block_id));
                    others.collect::<Vec<_>>()
                };
                let related = items.iter().flat_map(related).collect();
                ends.push(End { collection, key: property.key, relation, related });
            }
        }
        ends
    }

    /// How one of these ends and its other end differ, if any do.
    pub fn differing(&self, ends: &[End]) -> Option<String> {
        let pairs: BTreeMap<_, _> =
            ends.iter().map(|end| ((end.collection, end.key.as_str()), &end.related)).collect();
        let differs = |End { relation, related, .. }: &&End| {
            let other =
                pairs.get(&(relation.target, relation.inverse_key.as_deref().unwrap_or_default()));
            let turned = other.map(|pairs| {
                pairs.iter().map(|(one, other)| (*other, *one)).collect::<BTreeSet<_>>()
            });
            turned.as_ref() != Some(related)
        };
        let End { collection, key, .. } = ends.iter().find(differs)?;
        Some(self.with_names(&format!("{key} of {collection} and its other end differ")))
    }

    pub fn block(&self, id: BlockId) -> leafbase::Block {
        self.notes.fetch(Fetch { max_depth: Some(0), ..Fetch::new(id) }).unwrap()
    }
}

fn show_item(item: &Item) -> String {
    let value = |value: &ItemValue| match value {
        ItemValue::Relations(items) => {
            items.iter().map(|item| item.title.as_str()).collect::<Vec<_>>().join("+")
        }
        ItemValue::Value(PropertyValue::Number(number)) => number.to_string(),
        ItemValue::Value(value) => format!("{value:?}"),
    };
    let values = item.properties.iter().map(|(key, shown)| format!(" {key}={}", value(shown)));
    item.title.clone() + &values.collect::<String>()
}
