//! Requests on ranges of siblings: copies, shifts and orders.

use super::queries::Direction;
use crate::BlockId;
use crate::json::{is_default, or_default, wire_enum};

wire_enum! {
    /// Where a range of siblings is shifted to.
    ShiftDirection {
        /// Past the siblings before it.
        #[default]
        Up = "up",
        /// Past the siblings after it.
        Down = "down",
    }
}

wire_enum! {
    /// What children are ordered by.
    BlockOrder {
        /// What they say, whatever the case; numbers in it by value.
        #[default]
        Text = "text",
        /// When they were created.
        Created = "createdAt",
        /// Open tasks, done ones, canceled ones, and blocks that are not tasks.
        TaskState = "taskState",
    }
}

/// Copies a range of siblings. As JSON: `{"firstId": "..", "lastId": ".."}`.
///
/// ```
/// use leafbase_model::{BlockId, DuplicateBlocks};
/// let json = r#"{"firstId": "00000000000000000000000000"}"#;
/// assert_eq!(DuplicateBlocks::from(BlockId::NIL), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct DuplicateBlocks {
    /// The first block of the range.
    pub first_id: BlockId,
    /// The last one, a sibling that is not before it; defaults to the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_id: Option<BlockId>,
}

impl From<BlockId> for DuplicateBlocks {
    fn from(first_id: BlockId) -> Self {
        Self { first_id, last_id: None }
    }
}

impl DuplicateBlocks {
    /// Copies the siblings from the first to the last.
    pub fn range(first_id: BlockId, last_id: BlockId) -> Self {
        Self { first_id, last_id: Some(last_id) }
    }
}

/// Shifts a range of siblings past its neighbor. As JSON: `{"firstId": "..", "lastId": "..",
/// "direction": "down"}`.
///
/// ```
/// use leafbase_model::{BlockId, ShiftBlocks};
/// let json = r#"{"firstId": "00000000000000000000000000", "direction": "down"}"#;
/// assert_eq!(ShiftBlocks::from(BlockId::NIL).down(), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct ShiftBlocks {
    /// The first block of the range.
    pub first_id: BlockId,
    /// The last one, a sibling that is not before it; defaults to the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_id: Option<BlockId>,
    /// Whether it goes up, which is the default, or down.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub direction: ShiftDirection,
}

impl From<BlockId> for ShiftBlocks {
    fn from(first_id: BlockId) -> Self {
        Self { first_id, last_id: None, direction: ShiftDirection::Up }
    }
}

impl ShiftBlocks {
    /// Shifts the siblings from the first to the last up.
    pub fn range(first_id: BlockId, last_id: BlockId) -> Self {
        Self { last_id: Some(last_id), ..Self::from(first_id) }
    }

    /// Shifts down.
    pub fn down(mut self) -> Self {
        self.direction = ShiftDirection::Down;
        self
    }
}

/// Sorts the children of a page. As JSON: `{"parentId": "..", "by": "text", "direction":
/// "descending"}`.
///
/// ```
/// use leafbase_model::{BlockId, BlockOrder, SortBlocks};
/// let json = r#"{"parentId": "00000000000000000000000000", "by": "createdAt"}"#;
/// assert_eq!(SortBlocks::of(BlockId::NIL).by(BlockOrder::Created), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct SortBlocks {
    /// The page or the document whose children are sorted.
    pub parent_id: BlockId,
    /// What they are ordered by; defaults to the text.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub by: BlockOrder,
    /// The direction; defaults to ascending.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub direction: Direction,
}

impl SortBlocks {
    /// Sorts the children of a page or a document by text.
    pub fn of(parent: impl Into<BlockId>) -> Self {
        Self { parent_id: parent.into(), ..Self::default() }
    }

    /// Sets what they are ordered by.
    pub fn by(mut self, order: BlockOrder) -> Self {
        self.by = order;
        self
    }

    /// Sorts the greatest first.
    pub fn descending(mut self) -> Self {
        self.direction = Direction::Descending;
        self
    }
}
