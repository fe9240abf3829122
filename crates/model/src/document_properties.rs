//! Properties of a document: what its front matter says.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::Day;

/// The front matter of a document as data. As JSON: `{"title", "aliases", "tags", "dates",
/// "values"}`; what is empty is left out.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DocumentProperties {
    /// The field `title`; the title of the document is the text of its root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Other names: the fields `aliases` and `alias`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The fields `tags` and `tag`, without number signs; those in texts are not among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The days of all fields that are a date, or begin with one, by field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dates: BTreeMap<String, Day>,
    /// All fields.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Value>,
}
