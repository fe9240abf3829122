//! Schemas of collections: columns, their types, and what each type holds.
//!
//! A request gives a [`SchemaDraft`], whose keys may be left out; the store keeps a [`Schema`],
//! where each property has one.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json, wire_enum};
use crate::requests::given;
use crate::{BlockId, Color, Error, PropertyValue, Result};

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
    /// A finite number of 64 bits floating point. A whole number that this does not hold as it is,
    /// is refused, up to 2^64; of a larger one, and of one that JSON writes with a fraction or an
    /// exponent, the nearest is kept. -0 is 0.
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
    Relation(Relation),
}

/// One end of a two-way relation. As JSON, beside the other fields of a property:
/// `targetCollectionId`, `inverseKey`, and `single` where it is true. In a request the target
/// `self` is the collection that the property is of.
///
/// # Which end holds it
/// The end that was declared first: its items hold the IDs, and the other end, which is made along
/// with it, is read from there. Both show the same, and either can be set. Yet an item that holds a
/// relation grows with it, and each change of it writes all its related IDs. So declare a relation
/// at the end whose items have few related ones: of projects and their tasks `project` on the
/// tasks, with [`Self::single`], and not `tasks` on the projects.
///
/// ```
/// use leafbase_model::{BlockId, PropertyDraft, Relation, SchemaDraft};
/// # let projects = BlockId::NIL;
/// let project = Relation::to(projects).with_inverse("tasks").single();
/// let tasks = SchemaDraft::new("Tasks", [PropertyDraft::new("Project", project.into())]);
/// # assert_eq!(tasks.properties.len(), 1);
/// ```
///
/// # In which order related items are
/// At the end that holds the relation in the order that a request gave; one that is related from
/// the other end joins as the last. At the other end they are by ID, and so they are at both of a
/// symmetric relation.
///
/// # How it ends
/// A schema that leaves one end out takes the other along, and what they show; within one
/// collection, too, where a request may name the other end still.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation {
    /// The collection whose items are related.
    pub target: BlockId,
    /// The key of the property there that shows the other end. In a schema that is kept there
    /// always is one; its own key makes a relation of a collection with itself symmetric.
    pub inverse_key: Option<String>,
    /// Whether an item has one related item at most.
    pub single: bool,
    /// Whether the relation is stored in the items of this end, and not in those of the other. It
    /// is no part of the JSON: the end that was declared first owns the relation, and stays its
    /// owner.
    pub owner: bool,
}

impl Relation {
    /// The target of a relation within one collection, in a draft: a collection that is only made
    /// has no ID yet. Written `self`.
    pub const ITSELF: BlockId = BlockId::from_bytes([0xff; 16]);

    /// A relation with the items of `target`; the property at the other end is made.
    pub fn to(target: BlockId) -> Self {
        Self { target, inverse_key: None, single: false, owner: false }
    }

    /// A relation of the items of a collection with each other.
    pub fn to_itself() -> Self {
        Self::to(Self::ITSELF)
    }

    /// The same relation with this key of the property at the other end.
    pub fn with_inverse(mut self, key: impl Into<String>) -> Self {
        self.inverse_key = Some(key.into());
        self
    }

    /// The same relation with one related item at most.
    pub fn single(mut self) -> Self {
        self.single = true;
        self
    }

    /// Whether the property `key` of `collection`, which has this relation, is its own other end.
    pub fn is_symmetric(&self, collection: BlockId, key: &str) -> bool {
        self.target == collection && self.inverse_key.as_deref() == Some(key)
    }
}

impl From<Relation> for PropertyKind {
    fn from(relation: Relation) -> Self {
        Self::Relation(relation)
    }
}

impl PropertyKind {
    /// The kind of a type with its data. `None` unless exactly the types that have options get
    /// options, and relations get a relation; a select without options has none yet.
    pub fn from_parts(
        property_type: PropertyType,
        options: Option<Vec<SelectOption>>,
        relation: Option<Relation>,
    ) -> Option<Self> {
        if relation.is_some() != (property_type == PropertyType::Relation)
            || (options.is_some() && !property_type.has_options())
        {
            return None;
        }
        let options = options.unwrap_or_else(Vec::new);
        Some(match property_type {
            PropertyType::Text => Self::Text,
            PropertyType::Number => Self::Number,
            PropertyType::Boolean => Self::Boolean,
            PropertyType::Date => Self::Date,
            PropertyType::Url => Self::Url,
            PropertyType::Email => Self::Email,
            PropertyType::Phone => Self::Phone,
            PropertyType::SingleSelect => Self::SingleSelect(options),
            PropertyType::MultiSelect => Self::MultiSelect(options),
            PropertyType::Relation => Self::Relation(relation?),
        })
    }

    /// Whether `value` has the form in which values of the type are stored. Options and targets are
    /// not compared.
    pub fn has_form(&self, value: &PropertyValue) -> bool {
        match self {
            Self::Text | Self::Url | Self::Email | Self::Phone | Self::SingleSelect(_) => {
                matches!(value, PropertyValue::Text(_))
            }
            Self::Number => matches!(value, PropertyValue::Number(_)),
            Self::Boolean => matches!(value, PropertyValue::Boolean(_)),
            Self::Date => matches!(value, PropertyValue::Date(_)),
            Self::MultiSelect(_) => matches!(value, PropertyValue::Options(_)),
            Self::Relation(_) => matches!(value, PropertyValue::Relations(_)),
        }
    }

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
            Self::Relation(_) => PropertyType::Relation,
        }
    }

    /// The options of a select; none for any other type.
    pub fn options(&self) -> &[SelectOption] {
        match self {
            Self::SingleSelect(options) | Self::MultiSelect(options) => options,
            _ => &[],
        }
    }

    /// The relation, if it is one.
    pub const fn relation(&self) -> Option<&Relation> {
        match self {
            Self::Relation(relation) => Some(relation),
            _ => None,
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
/// As JSON: `{"key", "name", "contentPropDetails": {"key", "name"}, "properties": [{"key", "name",
/// "type", ..}]}`.
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
    /// Which end owns a relation is not for a request to say.
    fn from(property: Property) -> Self {
        let kind = match property.kind {
            PropertyKind::Relation(relation) => {
                PropertyKind::Relation(Relation { owner: false, ..relation })
            }
            kind => kind,
        };
        Self { key: Some(property.key), name: property.name, kind }
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

/// A schema as a request gives it: keys may be left out, and so may where the title stands. The
/// properties are always all of them.
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

impl SchemaDraft {
    /// A schema of this name and these columns; keys are made from the names.
    pub fn new(
        name: impl Into<String>,
        properties: impl IntoIterator<Item = PropertyDraft>,
    ) -> Self {
        Self {
            key: None,
            name: name.into(),
            content: None,
            properties: properties.into_iter().collect(),
        }
    }
}

impl From<Schema> for SchemaDraft {
    fn from(schema: Schema) -> Self {
        let content =
            ContentPropertyDraft { key: Some(schema.content.key), name: schema.content.name };
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
    let target: Option<RelationTarget> = object.optional("targetCollectionId")?;
    let inverse_key: Option<String> = object.optional("inverseKey")?;
    let single: Option<bool> = object.optional("single")?;
    let is_relation = property_type == PropertyType::Relation;
    let misplaced = [
        ("options", options.is_some() && !property_type.has_options()),
        ("targetCollectionId", target.is_some() && !is_relation),
        ("inverseKey", inverse_key.is_some() && !is_relation),
        ("single", single.is_some() && !is_relation),
    ];
    if let Some((name, _)) = misplaced.into_iter().find(|(_, wrong)| *wrong) {
        return Err(Error::validation(format!(
            "a property of type {property_type} has no such field"
        ))
        .at(name));
    }
    let missing = || Error::validation("is missing").at("targetCollectionId");
    let relation = match target {
        Some(RelationTarget(target)) => {
            Some(Relation { target, inverse_key, single: single == Some(true), owner: false })
        }
        None if is_relation => return Err(missing()),
        None => None,
    };
    // Misplaced fields were refused above.
    PropertyKind::from_parts(property_type, options, relation).ok_or_else(missing)
}

/// The name in requests of the collection that a property is of.
const SELF: &str = "self";

struct RelationTarget(BlockId);

impl FromJson for RelationTarget {
    fn from_json(value: Value) -> Result<Self> {
        if value.as_str() == Some(SELF) {
            Ok(Self(Relation::ITSELF))
        } else {
            BlockId::from_json(value).map(Self)
        }
    }
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

impl PropertyKind {
    fn write<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        map.serialize_entry("type", &self.property_type())?;
        match self {
            Self::SingleSelect(options) | Self::MultiSelect(options) if !options.is_empty() => {
                map.serialize_entry("options", options)
            }
            Self::Relation(relation) => relation.write(map),
            _ => Ok(()),
        }
    }
}

impl Relation {
    fn write<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        if self.target == Self::ITSELF {
            map.serialize_entry("targetCollectionId", SELF)?;
        } else {
            map.serialize_entry("targetCollectionId", &self.target)?;
        }
        given(map, "inverseKey", self.inverse_key.as_ref())?;
        given(map, "single", self.single.then_some(&true))
    }
}

impl Serialize for Property {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("key", &self.key)?;
        map.serialize_entry("name", &self.name)?;
        self.kind.write(&mut map)?;
        map.end()
    }
}

impl Serialize for PropertyDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        given(&mut map, "key", self.key.as_ref())?;
        map.serialize_entry("name", &self.name)?;
        self.kind.write(&mut map)?;
        map.end()
    }
}

impl Serialize for ContentPropertyDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        given(&mut map, "key", self.key.as_ref())?;
        map.serialize_entry("name", &self.name)?;
        map.end()
    }
}

impl Serialize for SchemaDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        given(&mut map, "key", self.key.as_ref())?;
        map.serialize_entry("name", &self.name)?;
        given(&mut map, "contentPropDetails", self.content.as_ref())?;
        map.serialize_entry("properties", &self.properties)?;
        map.end()
    }
}
