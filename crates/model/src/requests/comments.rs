//! The comment operations.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json};
use crate::{BlockId, CommentId, Result};

/// A comment that is to be made. As JSON: `{"blockId": "..", "content": ".."}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommentDraft {
    /// The block that it is on.
    pub block_id: BlockId,
    /// What it says: inline markdown.
    pub content: String,
}

impl CommentDraft {
    /// A comment on `block`.
    pub fn new(block: impl Into<BlockId>, content: impl Into<String>) -> Self {
        Self { block_id: block.into(), content: content.into() }
    }
}

impl FromJson for CommentDraft {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read =
            Self { block_id: object.required("blockId")?, content: object.required("content")? };
        object.finish()?;
        Ok(read)
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddComments {
    /// The comments; those on the same block stay in this order.
    pub comments: Vec<CommentDraft>,
}

impl AddComments {
    /// Adds these comments.
    pub fn new(comments: impl IntoIterator<Item = CommentDraft>) -> Self {
        Self { comments: comments.into_iter().collect() }
    }
}

impl FromJson for AddComments {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let comments = object.required("comments")?;
        object.finish()?;
        Ok(Self { comments })
    }
}

impl Serialize for AddComments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("comments", &self.comments)?;
        map.end()
    }
}

/// A comment that was added. As JSON: `{"commentId": ".."}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedComment {
    /// Its ID.
    pub comment_id: CommentId,
}

deserialize_through_json!(CommentDraft, AddComments);
