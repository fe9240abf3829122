//! Requests that follow links.

use serde_json::Value;

use crate::json::{Object, deserialize_by};
use crate::requests::blocks::MaxDepth;
use crate::{Block, BlockId, DocumentId, Paging, Result};

/// Lists the links to a block and to the blocks below it. As JSON: `{"id": "..", "within": false,
/// "limit": 50, "cursor": ".."}`; `within` defaults to true.
///
/// ```
/// use leafbase_model::{BackLinks, BlockId};
/// let json = r#"{"id": "00000000000000000000000000", "within": false, "limit": 50}"#;
/// assert_eq!(BackLinks::to(BlockId::NIL).only_itself().limit(50), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct BackLinks {
    /// The target: a block, a page or a document.
    pub id: BlockId,
    /// Whether links to the blocks below the target are listed, too; defaults to true.
    #[serde(skip_serializing_if = "is_true")]
    #[cfg_attr(feature = "schemars", schemars(default = "yes"))]
    pub within: bool,
    /// The page of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
const fn is_true(value: &bool) -> bool {
    *value
}

#[cfg(feature = "schemars")]
const fn yes() -> bool {
    true
}

impl BackLinks {
    /// Lists the links to this block, page or document, and to the blocks below it.
    pub fn to(target: impl Into<BlockId>) -> Self {
        Self { id: target.into(), within: true, paging: Paging::default() }
    }

    /// Excludes links to the blocks below the target.
    pub const fn only_itself(mut self) -> Self {
        self.within = false;
        self
    }

    /// Limits the number of links.
    pub const fn limit(mut self, links: usize) -> Self {
        self.paging.limit = Some(links);
        self
    }

    /// Continues at the cursor of the previous reply.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }

    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let id = object.required("id")?;
        let within = object.optional("within")?.unwrap_or(true);
        let paging = Paging::take(&mut object)?;
        object.finish()?;
        Ok(Self { id, within, paging })
    }
}

deserialize_by!(BackLinks: Self::read);

impl From<BlockId> for BackLinks {
    fn from(target: BlockId) -> Self {
        Self::to(target)
    }
}

impl From<DocumentId> for BackLinks {
    fn from(target: DocumentId) -> Self {
        Self::to(target)
    }
}

/// Lists the blocks that say a title without a link. As JSON: `{"id": "..", "limit": 50, "cursor":
/// ".."}`.
///
/// ```
/// use leafbase_model::{BlockId, UnlinkedMentions};
/// let json = r#"{"id": "00000000000000000000000000", "limit": 50}"#;
/// assert_eq!(UnlinkedMentions::of(BlockId::NIL).limit(50), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct UnlinkedMentions {
    /// The document or page whose title is looked for.
    pub id: BlockId,
    /// The page of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

impl UnlinkedMentions {
    /// Lists the blocks that say the title of this document or page.
    pub fn of(target: impl Into<BlockId>) -> Self {
        Self { id: target.into(), paging: Paging::default() }
    }

    /// Limits the number of blocks.
    pub const fn limit(mut self, blocks: usize) -> Self {
        self.paging.limit = Some(blocks);
        self
    }

    /// Continues at the cursor of the previous reply.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }

    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let id = object.required("id")?;
        let paging = Paging::take(&mut object)?;
        object.finish()?;
        Ok(Self { id, paging })
    }
}

deserialize_by!(UnlinkedMentions: Self::read);

impl From<BlockId> for UnlinkedMentions {
    fn from(target: BlockId) -> Self {
        Self::of(target)
    }
}

impl From<DocumentId> for UnlinkedMentions {
    fn from(target: DocumentId) -> Self {
        Self::of(target)
    }
}

/// Resolves the embeds of a block, a page or a document, and those of their targets. As JSON:
/// `{"id": "..", "maxDepth": 2}`.
///
/// ```
/// use leafbase_model::{BlockId, ResolveEmbeds};
/// let json = r#"{"id": "00000000000000000000000000", "maxDepth": 2}"#;
/// assert_eq!(ResolveEmbeds::of(BlockId::NIL).depth(2), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct ResolveEmbeds {
    /// The block, page or document whose embeds are resolved.
    pub id: BlockId,
    /// The number of levels of targets to read: 0 for none, so that the embeds of the block alone
    /// are listed; unlimited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<MaxDepth>"))]
    pub max_depth: Option<usize>,
}

impl ResolveEmbeds {
    /// Resolves the embeds of this block, page or document to any depth.
    pub fn of(block: impl Into<BlockId>) -> Self {
        Self { id: block.into(), max_depth: None }
    }

    /// Limits the levels of targets to read.
    pub const fn depth(mut self, levels: usize) -> Self {
        self.max_depth = Some(levels);
        self
    }

    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let id = object.required("id")?;
        let MaxDepth(max_depth) = object.or_default("maxDepth")?;
        object.finish()?;
        Ok(Self { id, max_depth })
    }
}

deserialize_by!(ResolveEmbeds: Self::read);

impl From<BlockId> for ResolveEmbeds {
    fn from(block: BlockId) -> Self {
        Self::of(block)
    }
}

impl From<DocumentId> for ResolveEmbeds {
    fn from(document: DocumentId) -> Self {
        Self::of(document)
    }
}

/// A block that shows another one in its place. As JSON: `{"rootId", "blockId", "name",
/// "targetId", "candidates": [..], "cycle": [..]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ResolvedEmbed {
    /// The requested block, or the target, in which the embedding block was found.
    pub root_id: BlockId,
    /// The embedding block.
    pub block_id: BlockId,
    /// What it names: a title, or the address of a block.
    pub name: String,
    /// The block, page or document that it shows. None if there is none, or more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_id: Option<BlockId>,
    /// The documents of an ambiguous title, by ID.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub candidates: Vec<DocumentId>,
    /// If showing the target here would end in a cycle: its roots, from the target to
    /// [`Self::root_id`], each embedding the next one; the first [`crate::Limits::CYCLE_ROOTS`] of
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub cycle: Vec<BlockId>,
}

impl ResolvedEmbed {
    /// An embed of `name` that is not resolved.
    #[doc(hidden)]
    pub const fn new(root: BlockId, block: BlockId, name: String) -> Self {
        Self {
            root_id: root,
            block_id: block,
            name,
            target_id: None,
            candidates: Vec::new(),
            cycle: Vec::new(),
        }
    }
}

/// The embeds of a block and of their targets. As JSON: `{"embeds": [..], "targets": [..]}`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct EmbedGraph {
    /// The embeds of the requested block in reading order, then of each target.
    pub embeds: Vec<ResolvedEmbed>,
    /// The targets that were read, each once, with their descendants; without the requested block.
    pub targets: Vec<Block>,
}
