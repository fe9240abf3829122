//! Collections and their items in replies.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{
    BlockId, Content, DocumentId, ItemValue, ItemValues, PropertyKey, PropertyValue, RelatedItem,
    Result, Schema,
};

/// An entry in a list of collections. As JSON: `{"id", "name", "itemCount", "documentId"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Collection {
    /// The ID of the collection block.
    pub id: BlockId,
    /// The name: inline markdown.
    pub name: String,
    /// The number of items.
    pub item_count: u64,
    /// The document that contains the collection.
    pub document_id: DocumentId,
}

/// The reply to a creation of a collection or a replacement of its schema. As JSON: `{"id",
/// "collectionBlockId", "name", "schema"}`, with the same ID twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionSchema {
    /// The ID of the collection block.
    pub id: BlockId,
    /// The name: inline markdown.
    pub name: String,
    /// The schema as stored: every property has a key.
    pub schema: Schema,
}

impl Serialize for CollectionSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("collectionBlockId", &self.id)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("schema", &self.schema)?;
        map.end()
    }
}

/// A schema in the requested format.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum SchemaReply {
    /// The schema itself, which a request may edit and send back.
    Schema(Schema),
    /// The JSON Schema 2020-12 of requests that add or update items.
    JsonSchema(serde_json::Value),
}

/// An item: a row of a collection.
///
/// As JSON: `{"id", "properties", "content"}`, with the title under the content key of the schema.
/// Empty values and empty `properties` are omitted; `content` is that of a [`crate::Block`], absent
/// at depth 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The ID of the item's block.
    pub id: BlockId,
    /// The revision of the item's block: 1 on creation, incremented by each change of its title or
    /// its values, except for changes caused by the other end of a relation.
    pub rev: u64,
    /// The content key of the schema, under which the title is serialized.
    pub content_key: PropertyKey,
    /// The title: inline markdown.
    pub title: String,
    /// Property values by key, in schema order.
    pub properties: ItemValues,
    /// The blocks of the item's page.
    pub content: Content,
}

impl Item {
    /// The value under `key`.
    pub fn property(&self, key: &str) -> Option<&ItemValue> {
        self.properties.get(key)
    }

    /// The related items under the property `key`; empty for any other property.
    pub fn related(&self, key: &str) -> &[RelatedItem] {
        match self.property(key) {
            Some(ItemValue::Relations(items)) => items,
            _ => &[],
        }
    }
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry(&self.content_key, &self.title)?;
        // Always present: clients read values by key without a check.
        map.serialize_entry("properties", &self.properties)?;
        // No key at depth 0; an empty page that was read in full has an empty array.
        match &self.content {
            Content::None => {}
            Content::Blocks(blocks) => map.serialize_entry("content", blocks)?,
            Content::Preview(text) => map.serialize_entry("contentPreview", text)?,
        }
        map.serialize_entry("rev", &self.rev)?;
        map.end()
    }
}

/// The number of items with one value. As JSON: `{"value", "count"}`; the value is `null` for items
/// without a value.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ItemGroup {
    /// The common value.
    pub value: Option<GroupValue>,
    /// The number of items.
    pub count: u64,
}

/// The common value of a group. An item with several options or relations counts in several groups.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum GroupValue {
    /// A value; an option of a multiple select is a text.
    Value(PropertyValue),
    /// A relation to this item.
    Related(RelatedItem),
}

/// The reply to [`crate::CountItems`]. As JSON: `{"count", "groups"}`; groups only if requested.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ItemCounts {
    /// The number of items.
    pub count: u64,
    /// The number of items per value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<ItemGroup>>,
}
