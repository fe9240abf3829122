//! The operations on collections, their schemas and their items. What an item may have only its
//! collection's schema can tell: these requests are read as far as they look the same for all.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::blocks::max_depth;
use super::{Paging, given};
use crate::json::{FromJson, Object, deserialize_through_json, one_or_many, wire_enum, wrong_type};
use crate::position::{Edge, Position, PositionTarget};
use crate::{BlockDraft, BlockId, DocumentId, Error, Result, SchemaDraft};

wire_enum! {
    /// Whether the documents that a request names are those that count, or those that don't.
    DocumentFilterMode {
        /// These alone.
        #[default]
        Include = "include",
        /// All but these.
        Exclude = "exclude",
    }
}

/// Lists collections. As JSON: `{"documentIds": [".."], "documentFilterMode": "exclude"}`; without
/// `documentIds` those of all documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListCollections {
    /// The documents; none for all.
    pub document_ids: Option<Vec<DocumentId>>,
    /// What the documents are named for, if the request says so. For scoped connections; the full
    /// space takes `include` alone.
    pub mode: Option<DocumentFilterMode>,
}

impl ListCollections {
    /// Those of these documents.
    pub fn of(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        Self { document_ids: Some(documents.into_iter().collect()), mode: None }
    }
}

impl FromJson for ListCollections {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let ids = object.take("documentIds").map(one_or_many).transpose();
        let document_ids = ids.map_err(|error| error.at("documentIds"))?;
        let mode = object.optional("documentFilterMode")?;
        object.finish()?;
        if mode.is_some() && document_ids.is_none() {
            return Err(Error::validation("needs documentIds").at("documentFilterMode"));
        }
        Ok(Self { document_ids, mode })
    }
}

impl Serialize for ListCollections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        given(&mut map, "documentIds", self.document_ids.as_ref())?;
        given(&mut map, "documentFilterMode", self.mode.as_ref())?;
        map.end()
    }
}

/// Makes a collection. As JSON: `{"schema": {..}, "position": {..}}`. Its name is the schema's.
///
/// ```
/// use leafbase_model::{CreateCollection, DocumentId, PropertyDraft, PropertyKind, SchemaDraft, SelectOption};
/// # let library = DocumentId::NIL;
/// let shelf = PropertyKind::SingleSelect(vec![SelectOption::new("Novel"), SelectOption::new("Essay")]);
/// let schema = SchemaDraft::new("Books", [PropertyDraft::new("Pages", PropertyKind::Number), PropertyDraft::new("Shelf", shelf)]);
/// let request = CreateCollection::new(schema, library); // at the end of the document
/// # assert_eq!(request.schema.properties.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateCollection {
    /// What its items look like.
    pub schema: SchemaDraft,
    /// Where it goes.
    pub position: Position,
}

impl CreateCollection {
    /// A collection with this schema, here.
    pub fn new(schema: SchemaDraft, position: impl Into<Position>) -> Self {
        Self { schema, position: position.into() }
    }
}

impl FromJson for CreateCollection {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let (schema, position) = (object.required("schema")?, object.optional("position")?);
        object.finish()?;
        Ok(Self {
            schema,
            position: position.unwrap_or(Position::Within(Edge::End, PositionTarget::Unnamed)),
        })
    }
}

impl Serialize for CreateCollection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", &self.schema)?;
        map.serialize_entry("position", &self.position)?;
        map.end()
    }
}

wire_enum! {
    /// How a schema is shown.
    SchemaFormat {
        /// JSON Schema 2020-12 that a request to add or to update items has to meet.
        #[default]
        JsonSchemaItems = "json-schema-items",
        /// The schema itself, to be changed and given back.
        Schema = "schema",
    }
}

/// Reads a schema. As JSON: `{"collectionId": "..", "format": "schema"}`. With
/// `allowNewSelectOptions` the JSON Schema is that of requests that have this flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetSchema {
    /// The collection.
    pub collection_id: BlockId,
    /// How it is shown.
    pub format: SchemaFormat,
    /// Whether the JSON Schema takes options that are new.
    pub allow_new_select_options: bool,
}

impl GetSchema {
    /// The schema of this collection in this format.
    pub fn new(collection: BlockId, format: SchemaFormat) -> Self {
        Self { collection_id: collection, format, allow_new_select_options: false }
    }
}

impl FromJson for GetSchema {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            collection_id: object.required("collectionId")?,
            format: object.optional("format")?.unwrap_or_default(),
            allow_new_select_options: flag(&mut object, NEW_OPTIONS)?,
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for GetSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("collectionId", &self.collection_id)?;
        map.serialize_entry("format", &self.format)?;
        write_flag(&mut map, NEW_OPTIONS, self.allow_new_select_options)?;
        map.end()
    }
}

const NEW_OPTIONS: &str = "allowNewSelectOptions";
const DROP: &str = "dropUnconvertible";

pub(super) fn flag(object: &mut Object, name: &str) -> Result<bool> {
    Ok(object.optional(name)?.unwrap_or_default())
}

fn write_flag<M: SerializeMap>(
    map: &mut M,
    name: &'static str,
    flag: bool,
) -> std::result::Result<(), M::Error> {
    given(map, name, flag.then_some(&true))
}

/// Gives a collection another schema: all of it, properties that are not named go with their
/// values. As JSON: `{"collectionId": "..", "schema": {..}, "dropUnconvertible": true}`.
///
/// ```
/// use leafbase_model::{BlockId, PropertyDraft, PropertyKind, ReplaceSchema, SchemaDraft};
/// # let books = BlockId::NIL;
/// let pages = PropertyDraft { key: Some("pages".to_owned()), ..PropertyDraft::new("Length", PropertyKind::Number) }; // renamed
/// let request = ReplaceSchema::new(books, SchemaDraft::new("Books", [pages])).dropping_unconvertible();
/// assert!(request.drop_unconvertible);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplaceSchema {
    /// The collection.
    pub collection_id: BlockId,
    /// What its items look like from now on.
    pub schema: SchemaDraft,
    /// Whether values that do not fit any more are dropped. Otherwise they are in the way.
    pub drop_unconvertible: bool,
}

impl ReplaceSchema {
    /// This schema for this collection, if no value is in the way.
    pub fn new(collection: BlockId, schema: impl Into<SchemaDraft>) -> Self {
        Self { collection_id: collection, schema: schema.into(), drop_unconvertible: false }
    }

    /// The same, and values that do not fit any more are dropped.
    pub fn dropping_unconvertible(mut self) -> Self {
        self.drop_unconvertible = true;
        self
    }
}

impl FromJson for ReplaceSchema {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            collection_id: object.required("collectionId")?,
            schema: object.required("schema")?,
            drop_unconvertible: flag(&mut object, DROP)?,
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for ReplaceSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("collectionId", &self.collection_id)?;
        map.serialize_entry("schema", &self.schema)?;
        write_flag(&mut map, DROP, self.drop_unconvertible)?;
        map.end()
    }
}

/// Reads the items of a collection, in its order. As JSON: `{"collectionId": "..", "maxDepth": 0,
/// "limit": 50, "cursor": ".."}`.
///
/// ```
/// use leafbase_model::{BlockId, GetItems};
/// # let books = BlockId::NIL;
/// let json = r#"{"collectionId": "00000000000000000000000000", "maxDepth": 0, "limit": 50}"#;
/// assert_eq!(GetItems::of(books).depth(0).limit(50), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetItems {
    /// The collection.
    pub collection_id: BlockId,
    /// How many levels of their pages: none for all, 0 for the properties alone.
    pub max_depth: Option<usize>,
    /// How many, and from where on.
    pub paging: Paging,
}

impl GetItems {
    /// All items of this collection, with all of their pages.
    pub fn of(collection: BlockId) -> Self {
        Self { collection_id: collection, max_depth: None, paging: Paging::default() }
    }

    /// At most so many levels of their pages.
    pub fn depth(mut self, levels: usize) -> Self {
        self.max_depth = Some(levels);
        self
    }

    /// At most so many.
    pub fn limit(mut self, items: usize) -> Self {
        self.paging.limit = Some(items);
        self
    }

    /// What follows the reply that gave this cursor.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }
}

impl From<BlockId> for GetItems {
    fn from(collection: BlockId) -> Self {
        Self::of(collection)
    }
}

impl FromJson for GetItems {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let collection_id = object.required("collectionId")?;
        let (max_depth, paging) = (max_depth(&mut object)?, Paging::take(&mut object)?);
        object.finish()?;
        Ok(Self { collection_id, max_depth, paging })
    }
}

impl Serialize for GetItems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("collectionId", &self.collection_id)?;
        given(&mut map, "maxDepth", self.max_depth.as_ref())?;
        self.paging.write(&mut map)?;
        map.end()
    }
}

/// An item that is to be made. As JSON: `{"title": "..", "properties": {"due": "2026-03-01"},
/// "content": [..]}`, the title under the content key of the schema or under `title`.
///
/// Values are checked against the schema when the item is made, and so is every other field.
///
/// ```
/// use leafbase_model::ItemDraft;
/// let item = ItemDraft::new("Dune").with("pages", 412).with("tags", vec!["novel"]);
/// let json = r#"{"title": "Dune", "properties": {"pages": 412, "tags": ["novel"]}}"#;
/// assert_eq!(item, serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemDraft {
    /// What stands beside the properties: the title, under one of its names.
    pub fields: Map<String, Value>,
    /// Values by key.
    pub properties: Map<String, Value>,
    /// The blocks of its page.
    pub content: Vec<BlockDraft>,
}

impl ItemDraft {
    /// An item with this title and no values.
    pub fn new(title: impl Into<String>) -> Self {
        Self { fields: titled(title), ..Self::default() }
    }

    /// The same item with this value, too.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.properties.insert(key.into(), value.into());
        self
    }

    /// The same item with these blocks on its page.
    pub fn with_content(mut self, content: impl IntoIterator<Item = BlockDraft>) -> Self {
        self.content = content.into_iter().collect();
        self
    }
}

fn titled(title: impl Into<String>) -> Map<String, Value> {
    Map::from_iter([("title".to_owned(), Value::String(title.into()))])
}

/// What is left of an item, which is an object.
fn rest(object: Object) -> Map<String, Value> {
    match object.rest() {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

impl FromJson for Map<String, Value> {
    fn from_json(value: Value) -> Result<Self> {
        match value {
            Value::Object(fields) => Ok(fields),
            other => Err(wrong_type("an object", &other)),
        }
    }
}

impl FromJson for ItemDraft {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let properties = object.optional("properties")?.unwrap_or_default();
        let content = object.optional("content")?.unwrap_or_default();
        Ok(Self { fields: rest(object), properties, content })
    }
}

fn write_fields<M: SerializeMap>(
    map: &mut M,
    fields: &Map<String, Value>,
    properties: &Map<String, Value>,
) -> std::result::Result<(), M::Error> {
    for (name, value) in fields {
        map.serialize_entry(name, value)?;
    }
    given(map, "properties", (!properties.is_empty()).then_some(properties))
}

impl Serialize for ItemDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_fields(&mut map, &self.fields, &self.properties)?;
        given(&mut map, "content", (!self.content.is_empty()).then_some(&self.content))?;
        map.end()
    }
}

/// Puts items at the end of a collection, in this order. As JSON:
/// `{"collectionId": "..", "items": [{..}], "allowNewSelectOptions": true}`.
///
/// ```
/// use leafbase_model::{AddItems, BlockId, ItemDraft};
/// # let books = BlockId::NIL;
/// let request = AddItems::new(books, [ItemDraft::new("Dune").with("shelf", "Novel")]).allowing_new_select_options();
/// let json = serde_json::json!({
///     "collectionId": books,
///     "items": [{"title": "Dune", "properties": {"shelf": "Novel"}}],
///     "allowNewSelectOptions": true,
/// });
/// assert_eq!(serde_json::to_value(request)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AddItems {
    /// The collection.
    pub collection_id: BlockId,
    /// The items.
    pub items: Vec<ItemDraft>,
    /// Whether an option that a select does not have yet is added to the schema. Otherwise it is
    /// refused.
    pub allow_new_select_options: bool,
}

impl AddItems {
    /// These items, with options that the schema has.
    pub fn new(collection: BlockId, items: impl IntoIterator<Item = ItemDraft>) -> Self {
        let items = items.into_iter().collect();
        Self { collection_id: collection, items, allow_new_select_options: false }
    }

    /// The same, and options that are new are added to the schema.
    pub fn allowing_new_select_options(mut self) -> Self {
        self.allow_new_select_options = true;
        self
    }
}

impl FromJson for AddItems {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            collection_id: object.required("collectionId")?,
            items: object.required("items")?,
            allow_new_select_options: flag(&mut object, NEW_OPTIONS)?,
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for AddItems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("collectionId", &self.collection_id)?;
        map.serialize_entry("items", &self.items)?;
        write_flag(&mut map, NEW_OPTIONS, self.allow_new_select_options)?;
        map.end()
    }
}

/// A change to an item: what is not given stays, and `null` clears a property. As JSON: `{"id":
/// "..", "title": "..", "properties": {"due": null}}`. Its page is changed by the block operations.
///
/// ```
/// use leafbase_model::{BlockId, ItemUpdate};
/// # let dune = BlockId::NIL;
/// let change = ItemUpdate::of(dune).with_title("Dune (1965)").with("pages", 412).with("lent_to", ());
/// let json = serde_json::json!({"id": dune, "title": "Dune (1965)", "properties": {"pages": 412, "lent_to": null}});
/// assert_eq!(serde_json::to_value(change)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemUpdate {
    /// The item.
    pub id: BlockId,
    /// What stands beside the properties: the title, under one of its names.
    pub fields: Map<String, Value>,
    /// Values by key.
    pub properties: Map<String, Value>,
}

impl ItemUpdate {
    /// A change of nothing yet.
    pub fn of(id: BlockId) -> Self {
        Self { id, ..Self::default() }
    }

    /// The same change with this title, too.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.fields.extend(titled(title));
        self
    }

    /// The same change with this value, too; `()` clears the property.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.properties.insert(key.into(), value.into());
        self
    }
}

impl FromJson for ItemUpdate {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let id = object.required("id")?;
        let properties = object.optional("properties")?.unwrap_or_default();
        Ok(Self { id, fields: rest(object), properties })
    }
}

impl Serialize for ItemUpdate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        write_fields(&mut map, &self.fields, &self.properties)?;
        map.end()
    }
}

/// Changes items. As JSON: `{"collectionId": "..", "itemsToUpdate": [{"id": ".."}],
/// "allowNewSelectOptions": true}`.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateItems {
    /// The collection.
    pub collection_id: BlockId,
    /// The changes; an item may be named once.
    pub items_to_update: Vec<ItemUpdate>,
    /// Whether an option that a select does not have yet is added to the schema. Otherwise it is
    /// refused.
    pub allow_new_select_options: bool,
}

impl UpdateItems {
    /// These changes, with options that the schema has.
    pub fn new(collection: BlockId, items: impl IntoIterator<Item = ItemUpdate>) -> Self {
        let items_to_update = items.into_iter().collect();
        Self { collection_id: collection, items_to_update, allow_new_select_options: false }
    }

    /// The same, and options that are new are added to the schema.
    pub fn allowing_new_select_options(mut self) -> Self {
        self.allow_new_select_options = true;
        self
    }
}

impl FromJson for UpdateItems {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            collection_id: object.required("collectionId")?,
            items_to_update: object.required("itemsToUpdate")?,
            allow_new_select_options: flag(&mut object, NEW_OPTIONS)?,
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for UpdateItems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("collectionId", &self.collection_id)?;
        map.serialize_entry("itemsToUpdate", &self.items_to_update)?;
        write_flag(&mut map, NEW_OPTIONS, self.allow_new_select_options)?;
        map.end()
    }
}

/// Deletes items with their pages. As JSON: `{"collectionId": "..", "idsToDelete": [".."]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteItems {
    /// The collection.
    pub collection_id: BlockId,
    /// The items.
    pub ids_to_delete: Vec<BlockId>,
}

impl DeleteItems {
    /// Deletes these items of this collection.
    pub fn new(collection: BlockId, items: impl IntoIterator<Item = BlockId>) -> Self {
        Self { collection_id: collection, ids_to_delete: items.into_iter().collect() }
    }
}

impl FromJson for DeleteItems {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let collection_id = object.required("collectionId")?;
        let ids = object
            .take("idsToDelete")
            .ok_or_else(|| Error::validation("is missing").at("idsToDelete"))?;
        let ids_to_delete = one_or_many(ids).map_err(|error| error.at("idsToDelete"))?;
        object.finish()?;
        Ok(Self { collection_id, ids_to_delete })
    }
}

deserialize_through_json!(
    ListCollections,
    CreateCollection,
    GetSchema,
    ReplaceSchema,
    GetItems,
    ItemDraft,
    AddItems,
    ItemUpdate,
    UpdateItems,
    DeleteItems,
);
