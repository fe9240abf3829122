//! The settings of a space: what its connections share and a call may change.

/// The settings of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SpaceSettings {
    /// The name.
    pub name: String,
    /// The IANA name of the time zone in which the space counts days.
    #[serde(rename = "timezone")]
    pub zone: String,
}
