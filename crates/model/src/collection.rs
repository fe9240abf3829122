//! Collections and their items as replies show them.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::requests::given;
use crate::{
    BlockId, Content, DocumentId, ItemValues, PropertyKey, PropertyValue, Result, Schema,
    SharedText,
};

/// A collection in a list. As JSON: `{"id", "name", "itemCount", "documentId"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Collection {
    /// Its block.
    pub id: BlockId,
    /// Its name: inline markdown.
    pub name: String,
    /// How many items it has.
    pub item_count: u64,
    /// The document that it is in.
    pub document_id: DocumentId,
}

/// A collection that was made, or whose schema was replaced. As JSON: `{"id", "name", "schema"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CollectionSchema {
    /// Its block.
    pub id: BlockId,
    /// Its name: inline markdown.
    pub name: String,
    /// Its schema as it is kept, every property with its key.
    pub schema: Schema,
}

/// A schema in the format that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaReply {
    /// To be changed and given back.
    Schema(Schema),
    /// JSON Schema 2020-12 of requests that add or update items.
    JsonSchema(serde_json::Value),
}

impl Serialize for SchemaReply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Schema(schema) => schema.serialize(serializer),
            Self::JsonSchema(schema) => schema.serialize(serializer),
        }
    }
}

/// An item of a related collection. As JSON: `{"blockId", "title"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RelatedItem {
    /// Its block.
    pub block_id: BlockId,
    /// Its title: inline markdown.
    pub title: SharedText,
}

/// The value of a property as a reply shows it. The two ends of a relation look alike, whichever
/// owns it.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemValue {
    /// What is kept; never relations.
    Value(PropertyValue),
    /// Related items, one or more. As JSON: `{"relations": [{"blockId", "title"}]}`.
    Relations(Vec<RelatedItem>),
}

impl Serialize for ItemValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Relations(items) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("relations", items)?;
                map.end()
            }
        }
    }
}

/// What the schema of a collection makes of an item that is shown as a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemFields {
    /// The key that its title stands under: that of the schema's content property.
    pub content_key: PropertyKey,
    /// Its values by key, in the order of the schema; the two ends of a relation look alike.
    pub properties: ItemValues,
}

/// A row of a collection.
///
/// As JSON: `{"id", "properties", "content"}`, and the title under the content key of the schema.
/// Properties without a value are left out, and so is what is empty of them all; `content` is as in
/// a [`crate::Block`], and there is none at depth 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its block.
    pub id: BlockId,
    /// The key that its title stands under: that of the schema's content property.
    pub content_key: PropertyKey,
    /// Its title: inline markdown.
    pub title: String,
    /// Its values by key, in the order of the schema.
    pub properties: ItemValues,
    /// The blocks of its page.
    pub content: Content,
}

impl Item {
    /// The value under `key`.
    pub fn property(&self, key: &str) -> Option<&ItemValue> {
        self.properties.get(key)
    }

    /// The items that the property of this key relates it to.
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
        given(&mut map, "properties", (!self.properties.is_empty()).then_some(&self.properties))?;
        match &self.content {
            Content::None => {}
            Content::Blocks(blocks) => map.serialize_entry("content", blocks)?,
            Content::Preview(text) => map.serialize_entry("contentPreview", text)?,
        }
        map.end()
    }
}

/// How many items have one value. As JSON: `{"value", "count"}`, the value `null` for items that
/// have none.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ItemGroup {
    /// What they have in common.
    pub value: Option<GroupValue>,
    /// How many they are.
    pub count: u64,
}

/// What the items of a group have in common. An item with several options or relations is in
/// several groups.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum GroupValue {
    /// This value; an option of a multiple select is a text.
    Value(PropertyValue),
    /// A relation to this item.
    Related(RelatedItem),
}

/// The reply to [`crate::CountItems`]. As JSON: `{"count", "groups"}`; groups only if they were
/// asked for.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ItemCounts {
    /// How many items there are.
    pub count: u64,
    /// How many of each value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<ItemGroup>>,
}
