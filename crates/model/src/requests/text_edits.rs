//! Requests of an editor's keys: split and merge of texts, indentation of a range.

use crate::BlockId;
use crate::json::or_default;

/// Splits a text block in two. As JSON: `{"blockId": "..", "offset": 5}`.
///
/// ```
/// use leafbase_model::{BlockId, SplitBlock};
/// let json = r#"{"blockId": "00000000000000000000000000", "offset": 5}"#;
/// assert_eq!(SplitBlock::new(BlockId::NIL, 5), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SplitBlock {
    /// The text block.
    pub block_id: BlockId,
    /// Where the second half begins: an offset in its plain text, in bytes of UTF-8.
    pub offset: usize,
}

impl SplitBlock {
    /// Splits this block at an offset in its plain text.
    pub fn new(block_id: BlockId, offset: usize) -> Self {
        Self { block_id, offset }
    }
}

/// Merges a text block into the text block before it. As JSON: `{"blockId": ".."}`.
///
/// ```
/// use leafbase_model::{BlockId, MergeBlock};
/// let json = r#"{"blockId": "00000000000000000000000000"}"#;
/// assert_eq!(MergeBlock::from(BlockId::NIL), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MergeBlock {
    /// The second of the two blocks.
    pub block_id: BlockId,
}

impl From<BlockId> for MergeBlock {
    fn from(block_id: BlockId) -> Self {
        Self { block_id }
    }
}

/// Indents or outdents a range of siblings. As JSON: `{"firstId": "..", "lastId": "..", "levels":
/// 1}`.
///
/// ```
/// use leafbase_model::{BlockId, IndentBlocks};
/// let json = r#"{"firstId": "00000000000000000000000000", "levels": -1}"#;
/// assert_eq!(IndentBlocks::from(BlockId::NIL).by(-1), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct IndentBlocks {
    /// The first block of the range.
    pub first_id: BlockId,
    /// The last one, a sibling that is not before it; defaults to the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_id: Option<BlockId>,
    /// The levels to add, negative to take away; defaults to 1.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_one_level")]
    #[cfg_attr(feature = "schemars", schemars(with = "i8"))]
    pub levels: IndentLevels,
}

/// A number of levels of indentation: 1 unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct IndentLevels(pub i8);

impl Default for IndentLevels {
    fn default() -> Self {
        Self(1)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one_level(levels: &IndentLevels) -> bool {
    *levels == IndentLevels::default()
}

impl From<BlockId> for IndentBlocks {
    fn from(first_id: BlockId) -> Self {
        Self { first_id, last_id: None, levels: IndentLevels::default() }
    }
}

impl IndentBlocks {
    /// Indents the siblings from the first to the last by one level.
    pub fn range(first_id: BlockId, last_id: BlockId) -> Self {
        Self { last_id: Some(last_id), ..Self::from(first_id) }
    }

    /// Sets the number of levels, negative for outdenting.
    pub fn by(mut self, levels: i8) -> Self {
        self.levels = IndentLevels(levels);
        self
    }
}
