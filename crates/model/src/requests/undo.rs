//! The request of an undo.

use crate::json::one_or_many;
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;

/// Undoes changes, the newest first. As JSON: `{"sequences": [12, 13]}`.
///
/// ```
/// use leafbase_model::UndoChanges;
/// assert_eq!(UndoChanges::from(12), serde_json::from_str(r#"{"sequences": [12]}"#)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UndoChanges {
    /// The sequence numbers of the changes.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<u64>"))]
    pub sequences: Vec<u64>,
}

impl UndoChanges {
    /// Undoes a group of changes as one.
    pub fn new(sequences: impl IntoIterator<Item = u64>) -> Self {
        Self { sequences: sequences.into_iter().collect() }
    }
}

impl From<u64> for UndoChanges {
    fn from(sequence: u64) -> Self {
        Self::new([sequence])
    }
}
