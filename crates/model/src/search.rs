//! What searches give.

use std::ops::Range;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::requests::given;
use crate::{BlockId, DocumentId, Timestamp};

/// A document that a search found.
///
/// As JSON: `{"exposedDocumentId", "markdown", "highlights": [{"start", "end"}], "blockIds",
/// "score"}`, and `createdAt` and `lastModifiedAt` on request.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchMatch {
    /// The document.
    pub document_id: DocumentId,
    /// A piece of its text around the hits, which stand between `**`.
    pub markdown: String,
    /// Where the hits are in `markdown`, without the asterisks: bytes, in order.
    pub highlights: Vec<Range<usize>>,
    /// The blocks that have hits, in reading order.
    pub block_ids: Vec<BlockId>,
    /// How relevant it is: greater is more. It compares documents of one search alone.
    pub score: f64,
    /// When it was made and last changed, if the request asked for it.
    pub times: Option<(Timestamp, Timestamp)>,
}

impl Serialize for SearchMatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("exposedDocumentId", &self.document_id)?;
        map.serialize_entry("markdown", &self.markdown)?;
        map.serialize_entry("highlights", &self.highlights)?;
        map.serialize_entry("blockIds", &self.block_ids)?;
        map.serialize_entry("score", &self.score)?;
        given(&mut map, "createdAt", self.times.as_ref().map(|(created, _)| created))?;
        given(&mut map, "lastModifiedAt", self.times.as_ref().map(|(_, modified)| modified))?;
        map.end()
    }
}

/// A page that a block stands in. As JSON: `{"id", "content"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PathStep {
    /// The page.
    pub id: BlockId,
    /// Its title.
    pub content: String,
}

/// A block near a match. As JSON: `{"blockId", "markdown"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextBlock {
    /// The block.
    pub block_id: BlockId,
    /// What it says.
    pub markdown: String,
}

/// A block of a document that patterns match.
///
/// As JSON: `{"blockId", "markdown", "ranges": [{"start", "end"}], "pageBlockPath": [{"id",
/// "content"}], "beforeBlocks", "afterBlocks"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BlockMatch {
    /// The block.
    pub block_id: BlockId,
    /// What it says.
    pub markdown: String,
    /// Where the hits are in `markdown`: bytes, in order, at most [`crate::Limits::RANGES`]. What
    /// matches without taking a letter is nowhere.
    pub ranges: Vec<Range<usize>>,
    /// The pages that it stands in, the document's root first.
    #[serde(rename = "pageBlockPath")]
    pub path: Vec<PathStep>,
    /// The blocks before it in reading order, the nearest last.
    #[serde(rename = "beforeBlocks")]
    pub before: Vec<ContextBlock>,
    /// The blocks after it, the nearest first.
    #[serde(rename = "afterBlocks")]
    pub after: Vec<ContextBlock>,
}
