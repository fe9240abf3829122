//! Requests on collections, schemas and items. The fields of an item depend on the schema of its
//! collection; deserialization checks only the structure common to all items.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::blocks::MaxDepth;
use super::{Paging, given};
use crate::json::{Object, deserialize_by, is_default, one_or_many, or_default, wire_enum};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{BlockDraft, BlockId, DocumentId, Error, Position, Result, SchemaDraft};

wire_enum! {
    /// How a request selects documents by their IDs.
    DocumentFilterMode {
        /// Only the named documents.
        #[default]
        Include = "include",
        /// All documents except for the named ones.
        Exclude = "exclude",
    }
}

/// Lists collections. As JSON: `{"documentIds": [".."], "documentFilterMode": "exclude"}`; without
/// `documentIds`, the collections of all documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct ListCollections {
    /// The documents; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<OneOrMany<DocumentId>>"))]
    pub document_ids: Option<Vec<DocumentId>>,
    /// The meaning of `documentIds`, for scoped connections; the full space accepts `include`
    /// only. Without `documentIds` it has no effect.
    #[serde(rename = "documentFilterMode", skip_serializing_if = "Option::is_none")]
    pub mode: Option<DocumentFilterMode>,
}

impl ListCollections {
    /// Lists the collections of these documents.
    pub fn of(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        Self { document_ids: Some(documents.into_iter().collect()), mode: None }
    }
}

/// Creates a collection. As JSON: `{"schema": {..}, "position": {..}}`. The collection has the name
/// of the schema.
///
/// ```
/// use leafbase_model::{CreateCollection, DocumentId, PropertyDraft, PropertyKind, SchemaDraft};
/// # let library = DocumentId::NIL;
/// let pages = PropertyDraft::new("Pages", PropertyKind::Number);
/// let author = PropertyDraft::new("Author", PropertyKind::Text);
/// let schema = SchemaDraft::new("Books", [pages, author]);
/// let request = CreateCollection::new(schema, library); // at the end of the document
/// # assert_eq!(request.schema.properties.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct CreateCollection {
    /// The schema of the collection.
    pub schema: SchemaDraft,
    /// The position of the collection block.
    #[serde(default, deserialize_with = "or_default")]
    pub position: Position,
}

impl CreateCollection {
    /// Creates a collection with this schema at `position`.
    pub fn new(schema: SchemaDraft, position: impl Into<Position>) -> Self {
        Self { schema, position: position.into() }
    }
}

wire_enum! {
    /// The format of a schema in a reply.
    SchemaFormat {
        /// The JSON Schema 2020-12 of requests that add or update items.
        #[default]
        JsonSchemaItems = "json-schema-items",
        /// The schema itself, which a request may edit and send back.
        Schema = "schema",
    }
}

/// Reads a schema. As JSON: `{"collectionId": "..", "format": "schema"}`. With
/// `allowNewSelectOptions`, the JSON Schema is the one of requests with that flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct GetSchema {
    /// The collection.
    pub collection_id: BlockId,
    /// The format of the reply.
    #[serde(default, deserialize_with = "or_default")]
    pub format: SchemaFormat,
    /// Whether the JSON Schema accepts new select options.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub allow_new_select_options: bool,
}

impl GetSchema {
    /// Reads the schema of this collection in this format.
    pub fn new(collection: BlockId, format: SchemaFormat) -> Self {
        Self { collection_id: collection, format, allow_new_select_options: false }
    }
}

/// A select option that gets another name. As JSON: `{"property": "state", "from": "Open", "to":
/// "Doing"}`. Several options may become one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct OptionRename {
    /// The key of the property.
    pub property: String,
    /// Its old name, which values have.
    pub from: String,
    /// Its name in the new schema.
    pub to: String,
}

/// Replaces the schema of a collection; properties that it omits are dropped with their values. As
/// JSON: `{"collectionId": "..", "schema": {..}, "renameOptions": [{"property": "state", "from":
/// "Open", "to": "Doing"}], "dropUnconvertible": true}`.
///
/// ```
/// use leafbase_model::{BlockId, PropertyDraft, PropertyKind, ReplaceSchema, SchemaDraft};
/// # let books = BlockId::NIL;
/// let mut pages = PropertyDraft::new("Length", PropertyKind::Number); // renamed
/// pages.key = Some("pages".to_owned());
/// let schema = SchemaDraft::new("Books", [pages]);
/// let request = ReplaceSchema::new(books, schema).dropping_unconvertible();
/// assert!(request.drop_unconvertible);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct ReplaceSchema {
    /// The collection.
    pub collection_id: BlockId,
    /// The new schema, with the keys of the properties to keep.
    pub schema: SchemaDraft,
    /// Select options that the new schema has under another name. Values follow them.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub rename_options: Vec<OptionRename>,
    /// Whether values that cannot be converted are dropped. Otherwise they cause an error.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub drop_unconvertible: bool,
}

impl ReplaceSchema {
    /// Replaces the schema if all values can be converted.
    pub fn new(collection: BlockId, schema: impl Into<SchemaDraft>) -> Self {
        Self {
            collection_id: collection,
            schema: schema.into(),
            rename_options: Vec::new(),
            drop_unconvertible: false,
        }
    }

    /// Renames a select option in the values of items: the new schema has it as `to`.
    pub fn renaming_option(
        mut self,
        property: impl Into<String>,
        from: impl Into<String>,
        to: impl Into<String>,
    ) -> Self {
        let (property, from, to) = (property.into(), from.into(), to.into());
        self.rename_options.push(OptionRename { property, from, to });
        self
    }

    /// Drops values that cannot be converted.
    pub fn dropping_unconvertible(mut self) -> Self {
        self.drop_unconvertible = true;
        self
    }
}

/// Reads the items of a collection in document order. As JSON: `{"collectionId": "..", "maxDepth":
/// 0, "limit": 50, "cursor": ".."}`.
///
/// ```
/// use leafbase_model::{BlockId, GetItems};
/// # let books = BlockId::NIL;
/// let json = r#"{"collectionId": "00000000000000000000000000", "maxDepth": 0, "limit": 50}"#;
/// assert_eq!(GetItems::of(books).depth(0).limit(50), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct GetItems {
    /// The collection.
    pub collection_id: BlockId,
    /// The number of levels of the items' pages: 0 for the properties alone; unlimited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<MaxDepth>"))]
    pub max_depth: Option<usize>,
    /// The page of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

impl GetItems {
    /// Reads all items of this collection with their whole pages.
    pub fn of(collection: BlockId) -> Self {
        Self { collection_id: collection, max_depth: None, paging: Paging::default() }
    }

    /// Limits the levels of the items' pages.
    pub fn depth(mut self, levels: usize) -> Self {
        self.max_depth = Some(levels);
        self
    }

    /// Limits the number of items.
    pub fn limit(mut self, items: usize) -> Self {
        self.paging.limit = Some(items);
        self
    }

    /// Continues at the cursor of the previous reply.
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

/// An item to add. As JSON: `{"title": "..", "properties": {"due": "2026-03-01"}, "content":
/// [..]}`, with the title under `title` or the content key of the schema.
///
/// The operation validates values and other fields against the schema.
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
    /// The fields besides properties and content: the title.
    pub fields: Map<String, Value>,
    /// Property values by key.
    pub properties: Map<String, Value>,
    /// The blocks of the item's page.
    pub content: Vec<BlockDraft>,
}

impl ItemDraft {
    /// An item with this title and no values.
    pub fn new(title: impl Into<String>) -> Self {
        Self { fields: titled(title), ..Self::default() }
    }

    /// Sets a property value.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.properties.insert(key.into(), value.into());
        self
    }

    /// Sets the blocks of the item's page.
    pub fn with_content(mut self, content: impl IntoIterator<Item = BlockDraft>) -> Self {
        self.content = content.into_iter().collect();
        self
    }
}

fn titled(title: impl Into<String>) -> Map<String, Value> {
    Map::from_iter([("title".to_owned(), Value::String(title.into()))])
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

/// Appends items to a collection. As JSON: `{"collectionId": "..", "items": [{..}],
/// "allowNewSelectOptions": true}`.
///
/// ```
/// use leafbase_model::{AddItems, BlockId, ItemDraft};
/// # let books = BlockId::NIL;
/// let dune = ItemDraft::new("Dune").with("shelf", "Novel");
/// let request = AddItems::new(books, [dune]).allowing_new_select_options();
/// let json = serde_json::json!({
///     "collectionId": books,
///     "items": [{"title": "Dune", "properties": {"shelf": "Novel"}}],
///     "allowNewSelectOptions": true,
/// });
/// assert_eq!(serde_json::to_value(request)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct AddItems {
    /// The collection.
    pub collection_id: BlockId,
    /// The items.
    pub items: Vec<ItemDraft>,
    /// Whether unknown select options are added to the schema. Otherwise they are refused.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub allow_new_select_options: bool,
}

impl AddItems {
    /// Appends these items, refusing unknown select options.
    pub fn new(collection: BlockId, items: impl IntoIterator<Item = ItemDraft>) -> Self {
        let items = items.into_iter().collect();
        Self { collection_id: collection, items, allow_new_select_options: false }
    }

    /// Adds unknown select options to the schema.
    pub fn allowing_new_select_options(mut self) -> Self {
        self.allow_new_select_options = true;
        self
    }
}

/// An update of an item: absent fields stay unchanged, `null` clears a property. As JSON: `{"id":
/// "..", "title": "..", "properties": {"due": null}}`. The block operations update its page.
///
/// ```
/// use leafbase_model::{BlockId, ItemUpdate};
/// # let dune = BlockId::NIL;
/// let change = ItemUpdate::of(dune).with("pages", 412).with("lent_to", ());
/// let json = serde_json::json!({"id": dune, "properties": {"pages": 412, "lent_to": null}});
/// assert_eq!(serde_json::to_value(change)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemUpdate {
    /// The item.
    pub id: BlockId,
    /// The expected revision of the item, for optimistic concurrency.
    pub rev: Option<u64>,
    /// The blocks of its page as a reply shows them, which have to be those that it has: the block
    /// operations change them. `None` if the request does not have them.
    pub content: Option<Vec<Value>>,
    /// The fields besides properties: the title.
    pub fields: Map<String, Value>,
    /// Property values by key.
    pub properties: Map<String, Value>,
}

impl ItemUpdate {
    /// An update that changes nothing yet.
    pub fn of(id: BlockId) -> Self {
        Self { id, ..Self::default() }
    }

    /// Makes the update conditional on this revision.
    pub fn if_rev(mut self, rev: u64) -> Self {
        self.rev = Some(rev);
        self
    }

    /// Sets the title.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.fields.extend(titled(title));
        self
    }

    /// Sets a property value; `()` clears the property.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.properties.insert(key.into(), value.into());
        self
    }
}

impl Serialize for ItemUpdate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        given(&mut map, "rev", self.rev.as_ref())?;
        given(&mut map, "content", self.content.as_ref())?;
        write_fields(&mut map, &self.fields, &self.properties)?;
        map.end()
    }
}

/// Updates items. As JSON: `{"collectionId": "..", "itemsToUpdate": [{"id": ".."}],
/// "allowNewSelectOptions": true}`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct UpdateItems {
    /// The collection.
    pub collection_id: BlockId,
    /// The updates, at most one per item.
    pub items_to_update: Vec<ItemUpdate>,
    /// Whether unknown select options are added to the schema. Otherwise they are refused.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub allow_new_select_options: bool,
}

impl UpdateItems {
    /// Applies these updates, refusing unknown select options.
    pub fn new(collection: BlockId, items: impl IntoIterator<Item = ItemUpdate>) -> Self {
        let items_to_update = items.into_iter().collect();
        Self { collection_id: collection, items_to_update, allow_new_select_options: false }
    }

    /// Adds unknown select options to the schema.
    pub fn allowing_new_select_options(mut self) -> Self {
        self.allow_new_select_options = true;
        self
    }
}

/// Deletes items with their pages. As JSON: `{"collectionId": "..", "idsToDelete": [".."]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct DeleteItems {
    /// The collection.
    pub collection_id: BlockId,
    /// The items to delete.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<BlockId>"))]
    pub ids_to_delete: Vec<BlockId>,
}

impl DeleteItems {
    /// Deletes these items of a collection.
    pub fn new(collection: BlockId, items: impl IntoIterator<Item = BlockId>) -> Self {
        Self { collection_id: collection, ids_to_delete: items.into_iter().collect() }
    }
}

impl ListCollections {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let document_ids = object.one_or_many("documentIds")?;
        let mode = object.optional("documentFilterMode")?;
        object.finish()?;
        Ok(Self { document_ids, mode })
    }
}

impl GetItems {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let collection_id = object.required("collectionId")?;
        let MaxDepth(max_depth) = object.or_default("maxDepth")?;
        let paging = Paging::take(&mut object)?;
        object.finish()?;
        Ok(Self { collection_id, max_depth, paging })
    }
}

impl ItemDraft {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        // Of an item in a reply: the copy gets an ID of its own.
        object.take_unlisted("id");
        object.take_unlisted("rev");
        if object.take_unlisted("contentPreview").is_some_and(|preview| !preview.is_null()) {
            let message = "the copy of an item needs its content, which this reply cut off";
            return Err(Error::validation(message).at("contentPreview"));
        }
        let properties = object.object("properties")?;
        let content = object.or_default("content")?;
        // The title stands under a key of the schema: unknown fields are checked by the operation.
        Ok(Self { fields: object.rest(), properties, content })
    }
}

impl ItemUpdate {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let (id, rev) = (object.required("id")?, object.optional("rev")?);
        // Stands for blocks that the reply does not have.
        object.take_unlisted("contentPreview");
        let content = object.optional("content")?;
        let properties = object.object("properties")?;
        // As for a new item, the operation checks the remaining fields against the schema.
        Ok(Self { id, rev, content, fields: object.rest(), properties })
    }
}

deserialize_by!(
    ListCollections: Self::read,
    GetItems: Self::read,
    ItemDraft: Self::read,
    ItemUpdate: Self::read,
);
