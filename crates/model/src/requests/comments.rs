//! Requests of the comment operations.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::{ReadOnlyField, Refused, one_or_many, optional_one_or_many};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{BlockId, Comment, CommentId, DocumentId, Error, Result};

/// A comment to add. As JSON: `{"blockId": "..", "content": ".."}`. A comment of a reply is one to
/// add as well: a new one, by the author of the call.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", from = "CommentDraftJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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

/// The JSON of a [`CommentDraft`], with the read-only fields of replies.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "CommentDraft"))]
#[expect(dead_code, reason = "read-only fields are accepted and ignored")]
struct CommentDraftJson {
    /// The block to comment on.
    block_id: BlockId,
    /// The content: inline markdown.
    content: String,
    #[serde(default)]
    id: ReadOnlyField,
    #[serde(default)]
    author: ReadOnlyField,
    #[serde(default)]
    created_at: ReadOnlyField,
    #[serde(default)]
    last_modified_at: ReadOnlyField,
    #[serde(default)]
    last_modified_by: ReadOnlyField,
    #[serde(default)]
    resolved_at: ReadOnlyField,
    #[serde(default)]
    resolved_by: ReadOnlyField,
}

impl From<CommentDraftJson> for CommentDraft {
    fn from(CommentDraftJson { block_id, content, .. }: CommentDraftJson) -> Self {
        Self { block_id, content }
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

/// Where the listed comments are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommentSource {
    /// On these blocks.
    Blocks(Vec<BlockId>),
    /// On any block of this document.
    Document(DocumentId),
}

impl From<BlockId> for CommentSource {
    fn from(block: BlockId) -> Self {
        Self::Blocks(vec![block])
    }
}

impl From<DocumentId> for CommentSource {
    fn from(document: DocumentId) -> Self {
        Self::Document(document)
    }
}

/// Lists comments. As JSON: `{"documentId": ".."}` or `{"blockIds": [".."]}`, with `resolved`:
/// `true` for resolved comments only, `false` for open ones only.
///
/// ```
/// use leafbase_model::{DocumentId, ListComments};
/// # let trip = DocumentId::NIL;
/// let json = r#"{"documentId": "00000000000000000000000000", "resolved": false}"#;
/// assert_eq!(ListComments::of(trip).open(), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "ListCommentsJson", into = "ListCommentsJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListComments {
    /// Where they are.
    pub source: CommentSource,
    /// Whether only resolved or only open comments are listed; all if absent.
    pub resolved: Option<bool>,
}

impl ListComments {
    /// The comments of a document or on a block.
    pub fn of(source: impl Into<CommentSource>) -> Self {
        Self { source: source.into(), resolved: None }
    }

    /// The comments on these blocks.
    pub fn on(blocks: impl IntoIterator<Item = BlockId>) -> Self {
        Self { source: CommentSource::Blocks(blocks.into_iter().collect()), resolved: None }
    }

    /// Leaves out resolved comments.
    pub fn open(mut self) -> Self {
        self.resolved = Some(false);
        self
    }

    /// Leaves out open comments.
    pub fn resolved(mut self) -> Self {
        self.resolved = Some(true);
        self
    }
}

/// The JSON of a [`ListComments`]: exactly one of `blockIds` and `documentId`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "ListComments"))]
struct ListCommentsJson {
    /// The blocks. Either these or `documentId`.
    #[serde(default, deserialize_with = "optional_one_or_many")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<OneOrMany<BlockId>>"))]
    block_ids: Option<Vec<BlockId>>,
    /// The document. Either this or `blockIds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document_id: Option<DocumentId>,
    /// `true` for resolved comments only, `false` for open ones only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolved: Option<bool>,
}

impl From<ListComments> for ListCommentsJson {
    fn from(ListComments { source, resolved }: ListComments) -> Self {
        let (block_ids, document_id) = match source {
            CommentSource::Blocks(blocks) => (Some(blocks), None),
            CommentSource::Document(document) => (None, Some(document)),
        };
        Self { block_ids, document_id, resolved }
    }
}

impl TryFrom<ListCommentsJson> for ListComments {
    type Error = Refused;

    fn try_from(json: ListCommentsJson) -> Result<Self, Refused> {
        let source = match (json.block_ids, json.document_id) {
            (Some(blocks), None) => CommentSource::Blocks(blocks),
            (None, Some(document)) => CommentSource::Document(document),
            _ => {
                let message = "name exactly one of blockIds and documentId";
                return Err(Error::validation(message).into());
            }
        };
        Ok(Self { source, resolved: json.resolved })
    }
}

/// A comment with its block. As JSON: the fields of a [`Comment`], and `blockId`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedComment {
    /// The block that it is on.
    pub block_id: BlockId,
    /// The comment.
    pub comment: Comment,
}

impl Serialize for ListedComment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("blockId", &self.block_id)?;
        self.comment.write(&mut map)?;
        map.end()
    }
}

/// An update of a comment: absent fields stay unchanged. As JSON: `{"id": "..", "content": "..",
/// "resolved": true}`.
///
/// A comment of a reply is an update that changes nothing: what else replies have is ignored.
///
/// ```
/// use leafbase_model::{CommentId, CommentPatch};
/// # let comment = CommentId::NIL;
/// let json = r#"{"id": "00000000000000000000000000", "content": "at noon", "author": "Ada"}"#;
/// assert_eq!(CommentPatch::of(comment).with_content("at noon"), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "CommentPatchJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CommentPatch {
    /// The comment.
    pub id: CommentId,
    /// The new content: inline markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// `true` resolves the comment, `false` opens it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<bool>,
}

impl CommentPatch {
    /// An update of `comment` that changes nothing yet.
    pub fn of(comment: CommentId) -> Self {
        Self { id: comment, content: None, resolved: None }
    }

    /// Sets the content.
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }

    /// Resolves the comment, or opens it again.
    pub fn with_resolved(mut self, resolved: bool) -> Self {
        self.resolved = Some(resolved);
        self
    }
}

/// The JSON of a [`CommentPatch`], with the read-only fields of replies.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "CommentPatch"))]
#[expect(dead_code, reason = "read-only fields are accepted and ignored")]
struct CommentPatchJson {
    /// The comment.
    id: CommentId,
    /// The new content: inline markdown.
    #[serde(default)]
    content: Option<String>,
    /// `true` resolves the comment, `false` opens it again.
    #[serde(default)]
    resolved: Option<bool>,
    #[serde(default)]
    block_id: ReadOnlyField,
    #[serde(default)]
    author: ReadOnlyField,
    #[serde(default)]
    created_at: ReadOnlyField,
    #[serde(default)]
    last_modified_at: ReadOnlyField,
    #[serde(default)]
    last_modified_by: ReadOnlyField,
    #[serde(default)]
    resolved_at: ReadOnlyField,
    #[serde(default)]
    resolved_by: ReadOnlyField,
}

impl From<CommentPatchJson> for CommentPatch {
    fn from(CommentPatchJson { id, content, resolved, .. }: CommentPatchJson) -> Self {
        Self { id, content, resolved }
    }
}

/// Updates comments. As JSON: `{"comments": [{"id": "..", "resolved": true}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct UpdateComments {
    /// The updates, at most one for each comment.
    pub comments: Vec<CommentPatch>,
}

impl UpdateComments {
    /// Makes these updates.
    pub fn new(comments: impl IntoIterator<Item = CommentPatch>) -> Self {
        Self { comments: comments.into_iter().collect() }
    }
}

/// Deletes comments. As JSON: `{"commentIds": [".."]}`; a single ID needs no array.
///
/// ```
/// use leafbase_model::{CommentId, DeleteComments};
/// # let comment = CommentId::NIL;
/// let json = r#"{"commentIds": "00000000000000000000000000"}"#; // or an array
/// assert_eq!(DeleteComments::from(comment), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct DeleteComments {
    /// The comments to delete.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<CommentId>"))]
    pub comment_ids: Vec<CommentId>,
}

impl DeleteComments {
    /// Deletes these comments.
    pub fn new(comment_ids: impl IntoIterator<Item = CommentId>) -> Self {
        Self { comment_ids: comment_ids.into_iter().collect() }
    }
}

impl From<CommentId> for DeleteComments {
    fn from(comment: CommentId) -> Self {
        Self::new([comment])
    }
}
