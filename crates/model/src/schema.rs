//! Schemas of collections: columns, their types, and what each type holds.
//!
//! A request gives a [`SchemaDraft`], whose keys may be left out; the store keeps a [`Schema`], where each property has one.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json, wire_enum};
use crate::{BlockId, Color, Error, Result};

wire_enum! {
    /// The type of a property.
    PropertyType {
        /// Text.
        #[default]
        Text = "text",
        /// A finite number.
        Number = "number",
        /// Yes or no; `checkbox` is read, too.
        Boolean = "boolean" | "checkbox",
        /// A day.
        Date = "date",
        /// A web address; `link` is read, too.
        Url = "url" | "link",
        /// An e-mail address.
        Email = "email",
        /// A phone number.
        Phone = "phone",
        /// One of the options; `select` is read, too.
        SingleSelect = "singleSelect" | "select",
        /// Any of the options.
        MultiSelect = "multiSelect",
        /// Items of a collection, which know of it by the inverse property.
        Relation = "relation",
    }
}

impl PropertyType {
    /// Whether properties of this type have options.
    pub const fn has_options(self) -> bool {
        matches!(self, Self::SingleSelect | Self::MultiSelect)
    }
}

/// A choice of a select property. As JSON: `{"name": "Open", "color": "#0060c0"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectOption {
    /// Its name, by which items choose it.
    pub name: String,
    /// Its colour as given.
    pub color: Option<Color>,
}

impl SelectOption {
    /// An option without a colour.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), color: None }
    }
}

/// What a property of each type holds beyond key and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// Text.
    Text,
    /// A finite number.
    Number,
    /// Yes or no.
    Boolean,
    /// A day.
    Date,
    /// A web address.
    Url,
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// One of these options.
    SingleSelect(Vec<SelectOption>),
    /// Any of these options.
    MultiSelect(Vec<SelectOption>),
    /// Items of another collection, or of the same.
    Relation {
        /// The collection.
        target: BlockId,
        /// The key of the property there that shows the other side.
        inverse_key: Option<String>,
    },
}

impl PropertyKind {
    /// The type.
    pub const fn property_type(&self) -> PropertyType {
        match self {
            Self::Text => PropertyType::Text,
            Self::Number => PropertyType::Number,
            Self::Boolean => PropertyType::Boolean,
            Self::Date => PropertyType::Date,
            Self::Url => PropertyType::Url,
            Self::Email => PropertyType::Email,
            Self::Phone => PropertyType::Phone,
            Self::SingleSelect(_) => PropertyType::SingleSelect,
            Self::MultiSelect(_) => PropertyType::MultiSelect,
            Self::Relation { .. } => PropertyType::Relation,
        }
    }

    /// The options of a select; none for any other type.
    pub fn options(&self) -> &[SelectOption] {
        match self {
            Self::SingleSelect(options) | Self::MultiSelect(options) => options,
            _ => &[],
        }
    }
}

/// A column of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The key of its values in items. It never changes, not even when the name does.
    pub key: String,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: PropertyKind,
}

/// The property that an item's title stands under.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ContentProperty {
    /// Its key.
    pub key: String,
    /// Its name.
    pub name: String,
}

/// What the items of a collection look like.
///
/// As JSON: `{"key", "name", "contentPropDetails": {"key", "name"}, "properties": [{"key", "name", "type", ..}]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Schema {
    /// The collection's key.
    pub key: String,
    /// The collection's name.
    pub name: String,
    /// Where an item's title stands.
    #[serde(rename = "contentPropDetails")]
    pub content: ContentProperty,
    /// The columns, in order.
    pub properties: Vec<Property>,
}

impl Schema {
    /// The property of this key.
    pub fn property(&self, key: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.key == key)
    }
}

/// A column as a request gives it: without a key, one is made from the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyDraft {
    /// The key of an existing property, or one wanted for a new one.
    pub key: Option<String>,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: PropertyKind,
}

impl PropertyDraft {
    /// A new property, whose key is made from its name.
    pub fn new(name: impl Into<String>, kind: PropertyKind) -> Self {
        Self { key: None, name: name.into(), kind }
    }
}

impl From<Property> for PropertyDraft {
    fn from(property: Property) -> Self {
        Self { key: Some(property.key), name: property.name, kind: property.kind }
    }
}

/// The property of the title as a request gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentPropertyDraft {
    /// Its key, if one is wanted.
    pub key: Option<String>,
    /// Its name.
    pub name: String,
}

/// A schema as a request gives it: keys may be left out, and so may where the title stands. The properties are always all of them.
///
/// ```
/// use leafbase_model::{PropertyType, SchemaDraft};
/// let schema: SchemaDraft = serde_json::from_str(
///     r#"{"name": "Books", "properties": [{"name": "Read", "type": "checkbox"}]}"#,
/// )?;
/// assert_eq!(schema.properties[0].kind.property_type(), PropertyType::Boolean);
/// let error = serde_json::from_str::<SchemaDraft>(
///     r#"{"name": "Books", "properties": [{"name": "Read", "type": "date", "options": []}]}"#,
/// ).unwrap_err();
/// assert_eq!(error.to_string(), "properties[0].options: a property of type date has no such field");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaDraft {
    /// The collection's key, if one is wanted.
    pub key: Option<String>,
    /// The collection's name.
    pub name: String,
    /// Where an item's title stands.
    pub content: Option<ContentPropertyDraft>,
    /// The columns, in order.
    pub properties: Vec<PropertyDraft>,
}

impl From<Schema> for SchemaDraft {
    fn from(schema: Schema) -> Self {
        let content = ContentPropertyDraft { key: Some(schema.content.key), name: schema.content.name };
        let properties = schema.properties.into_iter().map(PropertyDraft::from).collect();
        Self { key: Some(schema.key), name: schema.name, content: Some(content), properties }
    }
}

impl FromJson for SelectOption {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self { name: object.required("name")?, color: object.optional("color")? };
        object.finish()?;
        Ok(read)
    }
}

impl FromJson for PropertyDraft {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let (key, name) = (object.optional("key")?, object.required("name")?);
        let property_type: PropertyType = object.required("type")?;
        let kind = kind_of(property_type, &mut object)?;
        object.finish()?;
        Ok(Self { key, name, kind })
    }
}

fn kind_of(property_type: PropertyType, object: &mut Object) -> Result<PropertyKind> {
    let options: Option<Vec<SelectOption>> = object.optional("options")?;
    let target: Option<BlockId> = object.optional("targetCollectionId")?;
    let inverse_key: Option<String> = object.optional("inverseKey")?;
    let is_relation = property_type == PropertyType::Relation;
    let misplaced = [
        ("options", options.is_some() && !property_type.has_options()),
        ("targetCollectionId", target.is_some() && !is_relation),
        ("inverseKey", inverse_key.is_some() && !is_relation),
    ];
    if let Some((name, _)) = misplaced.into_iter().find(|(_, wrong)| *wrong) {
        return Err(Error::validation(format!("a property of type {property_type} has no such field")).at(name));
    }
    let options = options.unwrap_or_default();
    Ok(match property_type {
        PropertyType::Text => PropertyKind::Text,
        PropertyType::Number => PropertyKind::Number,
        PropertyType::Boolean => PropertyKind::Boolean,
        PropertyType::Date => PropertyKind::Date,
        PropertyType::Url => PropertyKind::Url,
        PropertyType::Email => PropertyKind::Email,
        PropertyType::Phone => PropertyKind::Phone,
        PropertyType::SingleSelect => PropertyKind::SingleSelect(options),
        PropertyType::MultiSelect => PropertyKind::MultiSelect(options),
        PropertyType::Relation => PropertyKind::Relation {
            target: target.ok_or_else(|| Error::validation("is missing").at("targetCollectionId"))?,
            inverse_key,
        },
    })
}

impl FromJson for ContentPropertyDraft {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self { key: object.optional("key")?, name: object.required("name")? };
        object.finish()?;
        Ok(read)
    }
}

impl FromJson for SchemaDraft {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            key: object.optional("key")?,
            name: object.required("name")?,
            content: object.optional("contentPropDetails")?,
            properties: object.required("properties")?,
        };
        object.finish()?;
        Ok(read)
    }
}

deserialize_through_json!(SelectOption, PropertyDraft, ContentPropertyDraft, SchemaDraft);

impl Serialize for SelectOption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        if let Some(color) = self.color {
            map.serialize_entry("color", &color.to_string())?;
        }
        map.end()
    }
}

impl Serialize for Property {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("key", &self.key)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("type", &self.kind.property_type())?;
        match &self.kind {
            PropertyKind::SingleSelect(options) | PropertyKind::MultiSelect(options) if !options.is_empty() => {
                map.serialize_entry("options", options)?;
            }
            PropertyKind::Relation { target, inverse_key } => {
                map.serialize_entry("targetCollectionId", target)?;
                if let Some(key) = inverse_key {
                    map.serialize_entry("inverseKey", key)?;
                }
            }
            _ => {}
        }
        map.end()
    }
}
