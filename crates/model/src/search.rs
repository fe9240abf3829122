//! Search results.

use std::ops::{Deref, Range};

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::is_default;
use crate::requests::given;
use crate::{BlockId, DocumentId, NearestBlock, Timestamp};

/// A document that matches a search, or a block of it.
///
/// As JSON: `{"documentId", "markdown", "highlights": [{"start", "end"}], "blockIds", "score"}`,
/// `exposedDocumentId` with the value of `documentId`, `blockId` of a block, `missingTerms` and
/// `corrected` if there are any, `nearest` in a search with an embedding, and `createdAt` and
/// `lastModifiedAt` on request.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchMatch {
    /// The document.
    pub document_id: DocumentId,
    /// The block, if blocks are the results; that of the title is the root of the document.
    pub block_id: Option<BlockId>,
    /// An excerpt of the text, with matches between `**`.
    pub markdown: String,
    /// The byte ranges of the matches in `markdown`, without the asterisks, in order.
    pub highlights: Vec<Range<usize>>,
    /// The blocks with matches, in reading order.
    pub block_ids: Vec<BlockId>,
    /// The relevance score of the document. Comparable on the pages of one search, and there among
    /// documents that have all terms, and among those that lack some.
    pub score: f64,
    /// The terms of the query that the document lacks, as they were written.
    pub missing_terms: Vec<String>,
    /// The terms of the query that no document has, with the like ones that this document has.
    pub corrected: Vec<CorrectedTerm>,
    /// The nearest of its blocks, if the request has an embedding and the document vectors.
    pub nearest: Option<NearestBlock>,
    /// The times of creation and of the last modification, if the request asked for them.
    pub times: Option<(Timestamp, Timestamp)>,
}

impl Serialize for SearchMatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("documentId", &self.document_id)?;
        map.serialize_entry("exposedDocumentId", &self.document_id)?;
        given(&mut map, "blockId", self.block_id.as_ref())?;
        map.serialize_entry("markdown", &self.markdown)?;
        map.serialize_entry("highlights", &self.highlights)?;
        map.serialize_entry("blockIds", &self.block_ids)?;
        map.serialize_entry("score", &self.score)?;
        let missing = Some(&self.missing_terms).filter(|terms| !terms.is_empty());
        given(&mut map, "missingTerms", missing)?;
        let corrected = Some(&self.corrected).filter(|terms| !terms.is_empty());
        given(&mut map, "corrected", corrected)?;
        given(&mut map, "nearest", self.nearest.as_ref())?;
        given(&mut map, "createdAt", self.times.as_ref().map(|(created, _)| created))?;
        given(&mut map, "lastModifiedAt", self.times.as_ref().map(|(_, modified)| modified))?;
        map.end()
    }
}

/// A term of a search that no document has, and was read as another one. As JSON: `{"term", "as"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CorrectedTerm {
    /// The term as it was written.
    pub term: String,
    /// The term that it was read as, folded; of the last term possibly a prefix.
    #[serde(rename = "as")]
    pub read_as: String,
}

/// A page of the documents or blocks that match a search. Dereferences to the slice of its items.
///
/// As JSON: `{"items": [..], "total": 3}`, with `"totalIsLowerBound": true` and `nextCursor` where
/// they apply.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SearchPage {
    /// The documents, the best first, or their blocks.
    pub items: Vec<SearchMatch>,
    /// The number of results on all pages when the first one was read, at most
    /// [`crate::Limits::SEARCH_TOTAL`].
    pub total: usize,
    /// Whether there may be more results than the total.
    #[serde(default, skip_serializing_if = "is_default")]
    pub total_is_lower_bound: bool,
    /// The cursor of the next page; `None` on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Deref for SearchPage {
    type Target = [SearchMatch];

    fn deref(&self) -> &[SearchMatch] {
        &self.items
    }
}

impl IntoIterator for SearchPage {
    type Item = SearchMatch;
    type IntoIter = std::vec::IntoIter<SearchMatch>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a> IntoIterator for &'a SearchPage {
    type Item = &'a SearchMatch;
    type IntoIter = std::slice::Iter<'a, SearchMatch>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// An ancestor page of a block. As JSON: `{"id", "content"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PathStep {
    /// The page.
    pub id: BlockId,
    /// The title.
    pub content: String,
}

/// A context block of a match. As JSON: `{"blockId", "markdown"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextBlock {
    /// The block.
    pub block_id: BlockId,
    /// Its markdown.
    pub markdown: String,
}

/// A block that matches a pattern.
///
/// As JSON: `{"documentId", "blockId", "rev", "markdown", "ranges": [{"start", "end"}],
/// "pageBlockPath": [{"id", "content"}], "beforeBlocks", "afterBlocks"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BlockMatch {
    /// Its document.
    pub document_id: DocumentId,
    /// The block.
    pub block_id: BlockId,
    /// Its revision, which an update of it may expect.
    pub rev: u64,
    /// Its markdown.
    pub markdown: String,
    /// The byte ranges of the matches in `markdown`, in order, at most [`crate::Limits::RANGES`].
    /// Empty matches have no range.
    pub ranges: Vec<Range<usize>>,
    /// The ancestor pages, from the root of the document.
    #[serde(rename = "pageBlockPath")]
    pub path: Vec<PathStep>,
    /// The preceding blocks in reading order, the nearest last.
    #[serde(rename = "beforeBlocks")]
    pub before: Vec<ContextBlock>,
    /// The following blocks, the nearest first.
    #[serde(rename = "afterBlocks")]
    pub after: Vec<ContextBlock>,
}
