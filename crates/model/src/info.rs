//! Information about the space of a connection.

use crate::{SpaceId, Timestamp};

/// Information about the space of a connection: its identity, its present time, and URL templates
/// for links to blocks.
///
/// As JSON: `{"space": {"id", "name", "timezone", "time", "friendlyDate"}, "utc": {"time"},
/// "urlTemplates": {"app"}}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConnectionInfo {
    /// The space.
    pub space: SpaceInfo,
    /// The present in UTC.
    pub utc: UtcInfo,
    /// URL templates for links to blocks.
    pub url_templates: UrlTemplates,
}

/// The space of a connection and its present time.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpaceInfo {
    /// The space ID.
    pub id: SpaceId,
    /// The name.
    pub name: String,
    /// The IANA name of the time zone in which the space counts days.
    #[serde(rename = "timezone")]
    pub zone: String,
    /// The present in that time zone, RFC 3339 with offset.
    pub time: String,
    /// Today's date in words, as in the titles of daily notes.
    pub friendly_date: String,
}

/// The present in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct UtcInfo {
    /// The instant.
    pub time: Timestamp,
}

/// URL templates for links to blocks; `{blockId}` is the placeholder of the block ID.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct UrlTemplates {
    /// The URL template of the host's app.
    pub app: String,
}
