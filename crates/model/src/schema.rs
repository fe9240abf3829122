//! Schemas of collections: properties, their types, and the configuration of each type.
//!
//! A request has a [`SchemaDraft`], whose keys are optional; the store keeps a [`Schema`], in which
//! every property has a key.

use serde_json::Value;

use crate::json::{Object, Refused, deserialize_by, from_text, missing_field, wire_enum};
use crate::{BlockId, Color, Error, PropertyValue, Result};

wire_enum! {
    /// The type of a property.
    PropertyType {
        /// Text.
        #[default]
        Text = "text",
        /// A finite number.
        Number = "number",
        /// True or false; alias `checkbox`.
        Boolean = "boolean" | "checkbox",
        /// A day.
        Date = "date",
        /// A URL; alias `link`.
        Url = "url" | "link",
        /// An e-mail address.
        Email = "email",
        /// A phone number.
        Phone = "phone",
        /// One of the options; alias `select`.
        SingleSelect = "singleSelect" | "select",
        /// Any number of the options.
        MultiSelect = "multiSelect",
        /// Related items of a collection, with an inverse property at the other end.
        Relation = "relation",
    }
}

impl PropertyType {
    /// Whether properties of this type have options.
    pub const fn has_options(self) -> bool {
        matches!(self, Self::SingleSelect | Self::MultiSelect)
    }
}

/// An option of a select property. As JSON: `{"name": "Open", "color": "#0060c0"}`; requests also
/// take the name alone, and a color by its name among those of highlights, such as `blue`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SelectOption {
    /// The name, by which items refer to the option.
    pub name: String,
    /// The color as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
}

deserialize_by!(SelectOption: Self::read);

impl SelectOption {
    /// An option without a color.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), color: None }
    }

    fn read(value: Value) -> Result<Self> {
        if let Value::String(name) = value {
            return Ok(Self::new(name));
        }
        let mut object = Object::new(value)?;
        let name = object.required("name")?;
        let color: Option<OptionColor> = object.optional("color")?;
        object.finish()?;
        Ok(Self { name, color: color.map(|color| color.0) })
    }
}

/// The color of an option in a request: `#rrggbb`, or the name of a color of highlights.
struct OptionColor(Color);

/// The colors of highlights by name; a gradient counts as its color.
pub(crate) const HIGHLIGHT_COLORS: [(&str, [u8; 3]); 14] = [
    ("yellow", [0xff, 0xd6, 0x0a]),
    ("green", [0x34, 0xc7, 0x59]),
    ("mint", [0x00, 0xc7, 0xbe]),
    ("cyan", [0x32, 0xad, 0xe6]),
    ("blue", [0x00, 0x7a, 0xff]),
    ("purple", [0xaf, 0x52, 0xde]),
    ("pink", [0xff, 0x2d, 0x55]),
    ("red", [0xff, 0x3b, 0x30]),
    ("gray", [0x8e, 0x8e, 0x93]),
    ("gradient-blue", [0x00, 0x7a, 0xff]),
    ("gradient-purple", [0xaf, 0x52, 0xde]),
    ("gradient-red", [0xff, 0x3b, 0x30]),
    ("gradient-yellow", [0xff, 0xd6, 0x0a]),
    ("gradient-brown", [0xa2, 0x84, 0x5e]),
];

impl std::str::FromStr for OptionColor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match HIGHLIGHT_COLORS.into_iter().find(|(name, _)| *name == text) {
            Some((_, rgb)) => Ok(Self(Color::from_rgb(rgb))),
            None => text.parse().map(Self),
        }
    }
}

from_text!(OptionColor: "a color");

/// The configuration of a property, by type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// Text.
    Text,
    /// A finite 64-bit floating-point number. Integers up to 2^64 without an exact representation
    /// are refused; larger ones, and numbers with a fraction or an exponent, are rounded. Negative
    /// zero is normalized.
    Number,
    /// True or false.
    Boolean,
    /// A day.
    Date,
    /// A URL.
    Url,
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// One of these options.
    SingleSelect(Vec<SelectOption>),
    /// Any number of these options.
    MultiSelect(Vec<SelectOption>),
    /// Items of another collection, or of the same one.
    Relation(Relation),
}

/// One end of a two-way relation. As JSON, within a property: `targetCollectionId`, `inverseKey`,
/// and `single` if true. In a request, the target `self` is the collection of the property.
///
/// # Which end holds it
/// The end that is declared first owns the relation: its items store the related IDs, and the
/// inverse end, which is created with it, is derived from them. Both ends read and write alike. The
/// record of an item grows with the relations it stores, and each change rewrites all of its
/// related IDs. Therefore declare a relation at the end with fewer related items: for projects and
/// tasks, declare `project` on the tasks, with [`Self::single`], rather than `tasks` on the
/// projects.
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
/// The owning end keeps the order of the request and appends items that are related from the
/// inverse end. The inverse end, and both ends of a symmetric relation, are ordered by ID.
///
/// # How it ends
/// A schema that drops one end drops the other end with its values, also within one collection,
/// even if the request still names the other end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation {
    /// The collection of the related items.
    pub target: BlockId,
    /// The key of the inverse property in that collection. Stored schemas always have one; the
    /// property's own key makes a relation within one collection symmetric.
    pub inverse_key: Option<String>,
    /// Whether an item has at most one related item.
    pub single: bool,
    /// Whether the items of this end store the relation. Not part of the JSON: the end that was
    /// declared first remains the owner.
    pub owner: bool,
}

impl Relation {
    /// The target of a relation within one collection, in a draft: a collection that is not created
    /// yet has no ID. Serialized as `self`.
    pub const ITSELF: BlockId = BlockId::from_bytes([0xff; 16]);

    /// A relation to the items of `target`, with a generated inverse property.
    pub fn to(target: BlockId) -> Self {
        Self { target, inverse_key: None, single: false, owner: false }
    }

    /// A relation among the items of a collection.
    pub fn to_itself() -> Self {
        Self::to(Self::ITSELF)
    }

    /// Sets the key of the inverse property.
    pub fn with_inverse(mut self, key: impl Into<String>) -> Self {
        self.inverse_key = Some(key.into());
        self
    }

    /// Allows at most one related item.
    pub fn single(mut self) -> Self {
        self.single = true;
        self
    }

    /// Whether the property `key` of `collection`, which has this relation, is its own inverse.
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
        let options = options.unwrap_or_default();
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

    /// The property type.
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

    /// The options of a select; empty for other types.
    pub fn options(&self) -> &[SelectOption] {
        match self {
            Self::SingleSelect(options) | Self::MultiSelect(options) => options,
            Self::Text
            | Self::Number
            | Self::Boolean
            | Self::Date
            | Self::Url
            | Self::Email
            | Self::Phone
            | Self::Relation(_) => &[],
        }
    }

    /// The relation; `None` for other types.
    pub const fn relation(&self) -> Option<&Relation> {
        match self {
            Self::Relation(relation) => Some(relation),
            Self::Text
            | Self::Number
            | Self::Boolean
            | Self::Date
            | Self::Url
            | Self::Email
            | Self::Phone
            | Self::SingleSelect(_)
            | Self::MultiSelect(_) => None,
        }
    }
}

/// A property: a column of a collection.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(into = "PropertyJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(from = "PropertyJson"))]
pub struct Property {
    /// The key of its values in items. Immutable, even if the name changes.
    pub key: String,
    /// The display name.
    pub name: String,
    /// The type with its configuration.
    pub kind: PropertyKind,
}

/// The property that holds the title of an item.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ContentProperty {
    /// The key.
    pub key: String,
    /// The display name.
    pub name: String,
}

/// The schema of a collection: the properties of its items.
///
/// As JSON: `{"key", "name", "contentPropDetails": {"key", "name"}, "properties": [{"key", "name",
/// "type", ..}]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Schema {
    /// The key of the collection.
    pub key: String,
    /// The name of the collection.
    pub name: String,
    /// The property of the titles.
    #[serde(rename = "contentPropDetails")]
    pub content: ContentProperty,
    /// The properties, in display order.
    pub properties: Vec<Property>,
}

impl Schema {
    /// What a purge leaves of a schema in the change log: nothing.
    pub fn redacted() -> Self {
        let content = ContentProperty { key: String::new(), name: String::new() };
        Self { key: String::new(), name: String::new(), content, properties: Vec::new() }
    }

    /// Whether a purge redacted the schema: every other one has a key.
    pub const fn is_redacted(&self) -> bool {
        self.key.is_empty()
    }

    /// The property with this key.
    pub fn property(&self, key: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.key == key)
    }
}

/// A property in a request. Without a key, one is derived from the name.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "PropertyJson", into = "PropertyJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PropertyDraft {
    /// The key of an existing property, or the desired key of a new one.
    pub key: Option<String>,
    /// The display name.
    pub name: String,
    /// The type with its configuration.
    pub kind: PropertyKind,
}

impl PropertyDraft {
    /// A new property, whose key is derived from its name.
    pub fn new(name: impl Into<String>, kind: PropertyKind) -> Self {
        Self { key: None, name: name.into(), kind }
    }
}

impl From<Property> for PropertyDraft {
    /// Requests cannot choose the owning end of a relation.
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

/// The property of the titles, in a request.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct ContentPropertyDraft {
    /// The desired key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The display name.
    pub name: String,
}

/// A schema in a request. Keys and the content property are optional; the list of properties is
/// always complete.
///
/// ```
/// use leafbase_model::{PropertyType, SchemaDraft};
/// let schema: SchemaDraft = serde_json::from_str(
///     r#"{"name": "Books", "properties": [{"name": "Read", "type": "checkbox"}]}"#,
/// )?;
/// assert_eq!(schema.properties[0].kind.property_type(), PropertyType::Boolean);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct SchemaDraft {
    /// The desired key of the collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The name of the collection.
    pub name: String,
    /// The property of the titles.
    #[serde(rename = "contentPropDetails", default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentPropertyDraft>,
    /// The properties, in display order.
    pub properties: Vec<PropertyDraft>,
}

impl SchemaDraft {
    /// A schema with this name and these properties; keys are derived from the names.
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

/// The JSON of a property: `options` with a select, the fields after it with a relation.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "Property"))]
struct PropertyJson {
    /// The key of its values in items; a request for a new property may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The name that is shown.
    name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    property_type: PropertyType,
    /// The options of a select.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<Vec<SelectOption>>,
    /// The related collection; `self` for the collection of the property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target_collection_id: Option<RelationTargetId>,
    /// The key of the inverse property in the related collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inverse_key: Option<String>,
    /// Whether an item relates to at most one other; defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    single: Option<bool>,
}

/// The ID of a related collection; `self` stands for [`Relation::ITSELF`].
#[derive(Clone, Copy)]
pub(crate) struct RelationTargetId(BlockId);

const ITSELF_NAME: &str = "self";

impl std::fmt::Display for RelationTargetId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == Relation::ITSELF { f.write_str(ITSELF_NAME) } else { self.0.fmt(f) }
    }
}

impl std::str::FromStr for RelationTargetId {
    type Err = Error;

    /// A malformed ID is [`BlockId::NIL`], which no block has.
    fn from_str(text: &str) -> Result<Self> {
        // `self` before IDs: it is not a valid ID.
        let id = if text == ITSELF_NAME { Ok(Relation::ITSELF) } else { text.parse() };
        Ok(Self(id.unwrap_or(BlockId::NIL)))
    }
}

impl serde::Serialize for RelationTargetId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

from_text!(RelationTargetId: "an ID");

impl PropertyJson {
    fn new(key: Option<String>, name: String, kind: PropertyKind) -> Self {
        let property_type = kind.property_type();
        let (options, relation) = match kind {
            PropertyKind::SingleSelect(options) | PropertyKind::MultiSelect(options) => {
                // Defaults are omitted, as in blocks.
                (Some(options).filter(|options| !options.is_empty()), None)
            }
            PropertyKind::Relation(relation) => (None, Some(relation)),
            PropertyKind::Text
            | PropertyKind::Number
            | PropertyKind::Boolean
            | PropertyKind::Date
            | PropertyKind::Url
            | PropertyKind::Email
            | PropertyKind::Phone => (None, None),
        };
        let target_collection_id = relation.as_ref().map(|to| RelationTargetId(to.target));
        // `owner` has no JSON: a request cannot choose the owning end.
        let single = relation.as_ref().and_then(|to| to.single.then_some(true));
        let inverse_key = relation.and_then(|to| to.inverse_key);
        debug_assert!(
            options.is_none() || property_type.has_options(),
            "only selects have options"
        );
        debug_assert_eq!(target_collection_id.is_some(), property_type == PropertyType::Relation);
        Self { key, name, property_type, options, target_collection_id, inverse_key, single }
    }

    /// Refuses fields that the type does not have.
    fn check_fields(&self) -> Result<()> {
        let is_relation = self.property_type == PropertyType::Relation;
        // Refused rather than ignored: the client meant another type.
        let misplaced = [
            ("options", self.options.is_some() && !self.property_type.has_options()),
            ("targetCollectionId", self.target_collection_id.is_some() && !is_relation),
            ("inverseKey", self.inverse_key.is_some() && !is_relation),
            ("single", self.single.is_some() && !is_relation),
        ];
        match misplaced.into_iter().find(|(_, is_misplaced)| *is_misplaced) {
            None => Ok(()),
            Some((name, _)) => Err(Error::validation(format!(
                "a property of type {} has no field {name}",
                self.property_type
            ))
            .at(name)),
        }
    }
}

impl From<Property> for PropertyJson {
    fn from(Property { key, name, kind }: Property) -> Self {
        Self::new(Some(key), name, kind)
    }
}

impl From<PropertyDraft> for PropertyJson {
    fn from(PropertyDraft { key, name, kind }: PropertyDraft) -> Self {
        Self::new(key, name, kind)
    }
}

impl TryFrom<PropertyJson> for PropertyDraft {
    type Error = Refused;

    fn try_from(json: PropertyJson) -> Result<Self, Refused> {
        json.check_fields()?;
        let single = json.single == Some(true);
        let relation = json.target_collection_id.map(|RelationTargetId(target)| Relation {
            target,
            inverse_key: json.inverse_key,
            single,
            owner: false,
        });
        // Misplaced fields were refused above: what can be missing is the target of a relation.
        let kind = PropertyKind::from_parts(json.property_type, json.options, relation)
            .ok_or_else(|| missing_field("targetCollectionId"))?;
        debug_assert_eq!(kind.property_type(), json.property_type);
        Ok(Self { key: json.key, name: json.name, kind })
    }
}
