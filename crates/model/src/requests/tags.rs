//! Tags: the request of their list, and its entries.

use serde_json::Value;

use crate::json::{Object, deserialize_by};
use crate::{Paging, Result};

/// Lists the tags of texts and of front matter. As JSON: `{"prefix": "travel/", "limit": 50,
/// "cursor": ".."}`.
///
/// ```
/// use leafbase_model::ListTags;
/// let json = r#"{"prefix": "travel/", "limit": 50}"#;
/// assert_eq!(ListTags::new().starting("travel/").limit(50), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct ListTags {
    /// Prefix of the tags, in either case; a sigma at its end may be a final one or not.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub prefix: String,
    /// The page of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

impl ListTags {
    /// Lists all tags.
    pub fn new() -> Self {
        Self::default()
    }

    /// Restricts the list to tags that begin with `prefix`.
    pub fn starting(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Limits the number of tags.
    pub const fn limit(mut self, tags: usize) -> Self {
        self.paging.limit = Some(tags);
        self
    }

    /// Continues at the cursor of the previous reply.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }

    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let prefix = object.or_default("prefix")?;
        let paging = Paging::take(&mut object)?;
        object.finish()?;
        Ok(Self { prefix, paging })
    }
}

deserialize_by!(ListTags: Self::read);

/// A tag with the number of its documents. As JSON: `{"tag", "documentCount"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TagCount {
    /// The tag without its number sign, as the block that was created first writes it.
    pub tag: String,
    /// How many documents outside of the trash have it.
    pub document_count: u64,
}

impl TagCount {
    /// A tag with the number of its documents.
    pub fn new(tag: impl Into<String>, document_count: u64) -> Self {
        Self { tag: tag.into(), document_count }
    }
}

/// A tag as it is compared: without number sign, outer blanks and slashes, in lowercase.
///
/// ```
/// assert_eq!(leafbase_model::fold_tag(" #Travel/Lisbon/"), "travel/lisbon");
/// ```
pub fn fold_tag(tag: &str) -> String {
    tag.trim().trim_start_matches('#').trim().trim_end_matches('/').to_lowercase()
}
