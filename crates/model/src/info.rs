//! What a connection says of its space.

use crate::{SpaceId, Timestamp};

/// What a connection says of its space: who it is, what time it is there, and how a host links to a
/// block.
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
    /// How to link to a block.
    pub url_templates: UrlTemplates,
}

/// The space that a connection is to, and its present.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpaceInfo {
    /// Its ID.
    pub id: SpaceId,
    /// Its name.
    pub name: String,
    /// The IANA name of the zone that its days are counted in.
    #[serde(rename = "timezone")]
    pub zone: String,
    /// The present there, RFC 3339 with the zone's offset.
    pub time: String,
    /// Today's date there in words, as daily notes are titled.
    pub friendly_date: String,
}

/// The present in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct UtcInfo {
    /// The instant.
    pub time: Timestamp,
}

/// URLs that open a block in an app: `{blockId}` stands for the block's ID.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct UrlTemplates {
    /// The URL for the host's app.
    pub app: String,
}
