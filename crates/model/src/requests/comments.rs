//! Requests of the comment operations.

use crate::{BlockId, CommentId};

/// A comment to add. As JSON: `{"blockId": "..", "content": ".."}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct CommentDraft {
    /// The block to comment on.
    pub block_id: BlockId,
    /// The content: inline markdown.
    pub content: String,
}

impl CommentDraft {
    /// A comment on `block`.
    pub fn new(block: impl Into<BlockId>, content: impl Into<String>) -> Self {
        Self { block_id: block.into(), content: content.into() }
    }
}

/// Adds comments to blocks. As JSON: `{"comments": [{"blockId": "..", "content": ".."}]}`.
///
/// ```
/// use leafbase_model::{AddComments, BlockId, CommentDraft};
/// # let block = BlockId::NIL;
/// let json = r#"{"comments": [{"blockId": "00000000000000000000000000", "content": "when?"}]}"#;
/// assert_eq!(AddComments::new([CommentDraft::new(block, "when?")]), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct AddComments {
    /// The comments; those on the same block keep this order.
    pub comments: Vec<CommentDraft>,
}

impl AddComments {
    /// Adds these comments.
    pub fn new(comments: impl IntoIterator<Item = CommentDraft>) -> Self {
        Self { comments: comments.into_iter().collect() }
    }
}

/// A comment that was added. As JSON: `{"commentId": ".."}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct AddedComment {
    /// The comment ID.
    pub comment_id: CommentId,
}
