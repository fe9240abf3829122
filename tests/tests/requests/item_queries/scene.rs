//! Two related collections that are asked, as JSON.

use leafbase::{
    AddItems, BlockId, Connection, CountItems, CreateCollection, Error, QueryItems, ReplaceSchema,
    Space, UpdateItems,
};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::{Value, json};

/// Things, which relate to people and to each other.
pub struct Scene {
    pub notes: Connection,
    pub things: BlockId,
    pub people: BlockId,
}

pub fn options() -> Value {
    json!([{"name": "todo"}, {"name": "done"}, {"name": "Later"}])
}

impl Scene {
    pub fn new() -> Self {
        // A Wednesday, the fourth of March.
        let clock = FixedClock::at(1_772_582_400_000);
        Self::over(Space::builder().clock(clock).ids(SequentialIds::new(1)).in_memory().unwrap())
    }

    pub fn over(space: Space) -> Self {
        let notes = space.connect();
        let home = notes.create_document("Home").unwrap().id();
        let create = |schema: Value| {
            let body = json!({"schema": schema, "position": {"position": "end", "pageId": home}})
                .to_string();
            notes.create_collection(space.read_json::<CreateCollection>(&body).unwrap()).unwrap().id
        };
        let people = create(json!({"name": "People", "properties": []}));
        let things = create(
            json!({"name": "Things", "contentPropDetails": {"key": "name", "name": "Name"}, "properties": [
            {"name": "Note", "type": "text"}, {"name": "Site", "type": "url"}, {"name": "Mail", "type": "email"},
            {"name": "Phone", "type": "phone"}, {"name": "Size", "type": "number"}, {"name": "Done", "type": "boolean"},
            {"name": "Due", "type": "date"}, {"name": "State", "type": "singleSelect", "options": options()},
            {"name": "Tags", "type": "multiSelect", "options": options()},
            {"name": "Owner", "type": "relation", "targetCollectionId": people, "inverseKey": "owns"},
            {"name": "Peers", "type": "relation", "targetCollectionId": "self", "inverseKey": "peers"}]}),
        );
        Self { notes, things, people }
    }

    /// Adds items, and gives their IDs.
    pub fn add(&self, collection: BlockId, items: &[Value]) -> Vec<BlockId> {
        let body = json!({"collectionId": collection, "items": items}).to_string();
        let request: AddItems = self.notes.space().read_json(&body).unwrap();
        self.notes.add_items(request).unwrap().iter().map(|item| item.id).collect()
    }

    pub fn update(
        &self,
        collection: BlockId,
        item: &Value,
        properties: &Value,
    ) -> Result<(), Error> {
        let update = json!({"id": item, "properties": properties});
        let body = json!({"collectionId": collection, "itemsToUpdate": [update]}).to_string();
        self.notes
            .update_items(self.notes.space().read_json::<UpdateItems>(&body).unwrap())
            .map(drop)
    }

    pub fn schema(&self, collection: BlockId) -> Value {
        serde_json::to_value(self.notes.schema(collection).unwrap()).unwrap()
    }

    pub fn replace(&self, collection: BlockId, schema: &Value) {
        let body = json!({"collectionId": collection, "schema": schema, "dropUnconvertible": true})
            .to_string();
        self.notes
            .replace_schema(self.notes.space().read_json::<ReplaceSchema>(&body).unwrap())
            .unwrap();
    }

    /// The items of a collection as replies show them, without their pages.
    pub fn items(&self, collection: BlockId) -> Vec<Value> {
        let all = self.notes.items(leafbase::GetItems::of(collection).depth(0)).unwrap();
        all.iter().map(|item| serde_json::to_value(item).unwrap()).collect()
    }

    /// The reply to a query of `collection` that has these fields, too.
    pub fn query(&self, collection: BlockId, fields: &Value) -> Result<Value, Error> {
        let request: QueryItems = self.notes.space().read_json(&of(collection, fields))?;
        Ok(serde_json::to_value(self.notes.query_items(request)?).unwrap())
    }

    pub fn count(&self, collection: BlockId, fields: &Value) -> Result<Value, Error> {
        let request: CountItems = self.notes.space().read_json(&of(collection, fields))?;
        Ok(serde_json::to_value(self.notes.count_items(request)?).unwrap())
    }

    /// All pages of a query, each of so many items.
    pub fn pages(&self, collection: BlockId, fields: &Value, limit: usize) -> Vec<Value> {
        let (mut found, mut fields) = (Vec::new(), fields.clone());
        fields["limit"] = json!(limit);
        fields["maxDepth"] = json!(0);
        loop {
            let page = self.query(collection, &fields).unwrap();
            let items = page["items"].as_array().unwrap();
            assert!(
                items.len() <= limit && (items.len() == limit || page["nextCursor"].is_null()),
                "{fields}"
            );
            found.extend(items.iter().cloned());
            match &page["nextCursor"] {
                Value::Null => return found,
                cursor => fields["cursor"] = cursor.clone(),
            }
            assert!(!items.is_empty(), "a cursor leads to something");
        }
    }
}

fn of(collection: BlockId, fields: &Value) -> String {
    let mut body = fields.clone();
    body["collectionId"] = json!(collection);
    body.to_string()
}

/// The names of things; `_` for one without.
pub fn titles(items: &[Value]) -> String {
    let names = items.iter().map(|item| item["name"].as_str().unwrap());
    names.map(|name| if name.is_empty() { "_" } else { name }).collect::<Vec<_>>().join(" ")
}
