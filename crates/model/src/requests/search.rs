//! Requests of searches: across documents, and within one.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::collections::DocumentFilterMode;
use super::documents::DocumentFilter;
use super::{Paging, given, write_texts};
use crate::json::{
    Object, Refused, deserialize_by, is_default, missing_field, one_or_many, or_default, wire_enum,
};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{BlockId, BuiltInLocation, DayRange, DocumentId, Error, FolderId, Limits, Result};

wire_enum! {
    /// How many search terms a document must contain.
    TermMode {
        /// Any term; documents with all of them first, then those with most by weight.
        #[default]
        Most = "most",
        /// All terms.
        All = "all",
        /// Any term; documents with more and rarer terms rank higher.
        Any = "any",
    }
}

/// Searches documents by terms, by patterns, or by both. As JSON: `include` (one text or several),
/// `termMode`, `regexps` (one or several), `documentIds` with `documentFilterMode`, or the fields
/// of a [`DocumentFilter`] with `folderIds`; and `fetchMetadata`.
///
/// A text of `include` has terms, and phrases in quotation marks; its last term may be a prefix.
/// Without patterns at least one term is required.
///
/// ```
/// use leafbase_model::SearchDocuments;
/// let json = r#"{"include": "\"night train\" lis", "regexps": "\\d{2}:\\d{2}"}"#;
/// let request: SearchDocuments = serde_json::from_str(json)?;
/// assert_eq!(request, SearchDocuments::words("\"night train\" lis").matching(r"\d{2}:\d{2}"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchDocuments {
    /// The texts with the search terms.
    pub include: Vec<String>,
    /// How many of the terms are required.
    pub term_mode: TermMode,
    /// Patterns, of which at least one must match a block.
    pub regexps: Vec<String>,
    /// The documents named by the request; all if absent.
    pub document_ids: Option<Vec<DocumentId>>,
    /// The meaning of `document_ids`; without them it has no effect.
    pub mode: Option<DocumentFilterMode>,
    /// Filters, exclusive with `document_ids`.
    pub filter: DocumentFilter,
    /// Whether matches include the times of creation and modification.
    pub metadata: bool,
}

impl SearchDocuments {
    /// Searches for these terms and phrases.
    pub fn words(text: impl Into<String>) -> Self {
        Self { include: vec![text.into()], ..Self::default() }
    }

    /// Searches for blocks that match this pattern.
    pub fn pattern(pattern: impl Into<String>) -> Self {
        Self { regexps: vec![pattern.into()], ..Self::default() }
    }

    /// Searches for these terms and phrases, too.
    pub fn and(mut self, text: impl Into<String>) -> Self {
        self.include.push(text.into());
        self
    }

    /// Adds an alternative pattern that a block may match.
    pub fn matching(mut self, pattern: impl Into<String>) -> Self {
        self.regexps.push(pattern.into());
        self
    }

    /// Requires all terms.
    pub fn all_words(mut self) -> Self {
        self.term_mode = TermMode::All;
        self
    }

    /// Requires any term, and orders documents by score alone.
    pub fn any_word(mut self) -> Self {
        self.term_mode = TermMode::Any;
        self
    }

    /// Restricts the search to these documents.
    pub fn within_documents(mut self, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        self.document_ids = Some(documents.into_iter().collect());
        self.mode = None;
        self
    }

    /// Excludes these documents.
    pub fn without_documents(mut self, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        self.document_ids = Some(documents.into_iter().collect());
        self.mode = Some(DocumentFilterMode::Exclude);
        self
    }

    /// Restricts the search to a built-in location.
    pub fn at(mut self, location: BuiltInLocation) -> Self {
        self.filter.location = Some(location);
        self
    }

    /// Restricts the search to a folder and its subfolders.
    pub fn within_folder(mut self, folder: FolderId) -> Self {
        self.filter.folders.get_or_insert_default().push(folder.into());
        self
    }

    /// Restricts the search to documents created on these days.
    pub fn created(mut self, days: DayRange) -> Self {
        self.filter.created = days;
        self
    }

    /// Restricts the search to documents last modified on these days.
    pub fn modified(mut self, days: DayRange) -> Self {
        self.filter.modified = days;
        self
    }

    /// Restricts the search to the daily notes of these days.
    pub fn daily_notes(mut self, days: DayRange) -> Self {
        self.filter.daily_note = days;
        self
    }

    /// Restricts the search to documents with this tag, too.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.filter.tags.push(tag.into());
        self
    }

    /// Includes the times of creation and modification.
    pub fn with_metadata(mut self) -> Self {
        self.metadata = true;
        self
    }

    /// Validates a request that was built in code.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] for a search without terms and patterns, and for exclusive
    /// filters.
    pub fn check(&self) -> Result<()> {
        if self.include.is_empty() && self.regexps.is_empty() {
            let message = "a search needs a text in include or a pattern in regexps";
            return Err(Error::validation(message).at("include"));
        }
        let excluded = |name: &str| {
            Err(Error::validation(format!("documentIds cannot be combined with {name}"))
                .at("documentIds"))
        };
        // Named documents replace the filters: combining them would silently hide some of the
        // names.
        match (&self.document_ids, self.filter.location, &self.filter.folders) {
            (Some(_), Some(_), _) => excluded("location"),
            (Some(_), _, Some(_)) => excluded("folderIds"),
            (None, Some(_), Some(_)) => {
                Err(Error::validation("folderIds cannot be combined with location").at("folderIds"))
            }
            _ => Ok(()),
        }
    }
}

/// Searches for these terms and phrases.
impl From<&str> for SearchDocuments {
    fn from(text: &str) -> Self {
        Self::words(text)
    }
}

/// Searches for these terms and phrases.
impl From<String> for SearchDocuments {
    fn from(text: String) -> Self {
        Self::words(text)
    }
}

impl SearchDocuments {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            include: object.one_or_many("include")?.unwrap_or_default(),
            term_mode: object.optional("termMode")?.unwrap_or_default(),
            regexps: object.one_or_many("regexps")?.unwrap_or_default(),
            document_ids: object.one_or_many("documentIds")?,
            mode: object.optional("documentFilterMode")?,
            filter: DocumentFilter::take(&mut object, "folderIds")?,
            metadata: object.optional("fetchMetadata")?.unwrap_or_default(),
        };
        object.finish()?;
        read.check()?;
        Ok(read)
    }
}

impl Serialize for SearchDocuments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_texts(&mut map, "include", &self.include)?;
        given(
            &mut map,
            "termMode",
            (self.term_mode != TermMode::default()).then_some(&self.term_mode),
        )?;
        write_texts(&mut map, "regexps", &self.regexps)?;
        given(&mut map, "documentIds", self.document_ids.as_ref())?;
        given(&mut map, "documentFilterMode", self.mode.as_ref())?;
        self.filter.write(&mut map, "folderIds", false)?;
        given(&mut map, "fetchMetadata", self.metadata.then_some(&true))?;
        map.end()
    }
}

/// Searches the blocks of a document, or of one of its pages, by patterns. As JSON: `blockId` (or
/// `documentId`), `pattern` (one or several), `caseSensitive`, `beforeBlockCount`,
/// `afterBlockCount`, and the fields of a [`Paging`].
///
/// ```
/// use leafbase_model::{BlockId, SearchBlocks};
/// let page: BlockId = "01K9Z3VW5R00000000000000A7".parse()?;
/// let json = r#"{
///     "blockId": "01K9Z3VW5R00000000000000A7", "pattern": "colou?r", "afterBlockCount": 0
/// }"#;
/// let request: SearchBlocks = serde_json::from_str(json)?;
/// assert_eq!(request, SearchBlocks::new(page, "colou?r").context(5, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "SearchBlocksJson", into = "SearchBlocksJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SearchBlocks {
    /// The root of the subtree to search.
    pub within: BlockId,
    /// Patterns, of which at least one must match.
    pub patterns: Vec<String>,
    /// Whether the search is case-sensitive.
    pub case_sensitive: bool,
    /// The number of context blocks before a match, in reading order.
    pub before: usize,
    /// The number of context blocks after a match.
    pub after: usize,
    /// The page of matches.
    pub paging: Paging,
}

impl SearchBlocks {
    /// The default number of context blocks before and after a match.
    pub const CONTEXT: usize = 5;

    /// A case-insensitive search of a document or a page for `pattern`, with [`Self::CONTEXT`]
    /// blocks before and after each match.
    pub fn new(within: impl Into<BlockId>, pattern: impl Into<String>) -> Self {
        Self {
            within: within.into(),
            patterns: vec![pattern.into()],
            case_sensitive: false,
            before: Self::CONTEXT,
            after: Self::CONTEXT,
            paging: Paging::default(),
        }
    }

    /// Adds an alternative pattern.
    pub fn or(mut self, pattern: impl Into<String>) -> Self {
        self.patterns.push(pattern.into());
        self
    }

    /// Makes the search case-sensitive.
    pub fn case_sensitive(mut self) -> Self {
        self.case_sensitive = true;
        self
    }

    /// Sets the number of context blocks before and after each match.
    pub fn context(mut self, before: usize, after: usize) -> Self {
        (self.before, self.after) = (before, after);
        self
    }

    /// Limits the number of matches in a reply.
    pub const fn limit(mut self, limit: usize) -> Self {
        self.paging.limit = Some(limit);
        self
    }

    /// Continues at the cursor of the previous reply.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }

    /// Validates a request that was built in code.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] for no pattern, and at `limit` for 0;
    /// [`crate::ErrorKind::LimitExceeded`] for more context blocks than [`Limits::CONTEXT_BLOCKS`].
    pub fn check(&self) -> Result<()> {
        if self.patterns.is_empty() {
            return Err(missing_field("pattern"));
        }
        let context = |name: &str, count: usize| {
            let most = Limits::CONTEXT_BLOCKS;
            if count > most {
                Err(Error::limit("blocks around a match", most, count).at(name))
            } else {
                Ok(())
            }
        };
        // Bounds the reply: each match repeats its context.
        context("beforeBlockCount", self.before)?;
        context("afterBlockCount", self.after)?;
        self.paging.check()
    }
}

deserialize_by!(SearchDocuments: Self::read);

/// The JSON of a [`SearchBlocks`]: exactly one of `blockId` and `documentId`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "SearchBlocks"))]
struct SearchBlocksJson {
    /// The document or page to search. Either this or `documentId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    block_id: Option<BlockId>,
    /// The document to search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document_id: Option<DocumentId>,
    /// Patterns of which one has to match: RE2 with look-around.
    #[serde(default, deserialize_with = "one_or_many", serialize_with = "write_one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<String>"))]
    pattern: Vec<String>,
    /// Whether case matters; defaults to false.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    case_sensitive: bool,
    /// Blocks shown before a match, at most 100; defaults to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before_block_count: Option<usize>,
    /// Blocks shown after a match, at most 100; defaults to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after_block_count: Option<usize>,
    /// The maximum number of matches in the reply, 1 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    /// The `nextCursor` of the previous reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

fn write_one_or_many<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    // The short form for a single text.
    if let [one] = texts { one.serialize(serializer) } else { texts.serialize(serializer) }
}

impl From<SearchBlocks> for SearchBlocksJson {
    fn from(request: SearchBlocks) -> Self {
        // Defaults are omitted, so that a round trip keeps the request short.
        let changed = |count: usize| (count != SearchBlocks::CONTEXT).then_some(count);
        Self {
            block_id: Some(request.within),
            document_id: None,
            pattern: request.patterns,
            case_sensitive: request.case_sensitive,
            before_block_count: changed(request.before),
            after_block_count: changed(request.after),
            limit: request.paging.limit,
            cursor: request.paging.cursor,
        }
    }
}

impl TryFrom<SearchBlocksJson> for SearchBlocks {
    type Error = Refused;

    fn try_from(json: SearchBlocksJson) -> Result<Self, Refused> {
        let within = match (json.block_id, json.document_id) {
            (Some(block), None) => block,
            // A document is searched as the subtree of its root block.
            (None, Some(document)) => document.root(),
            (None, None) => return Err(missing_field("blockId").into()),
            (Some(_), Some(_)) => {
                let message = "name exactly one of blockId and documentId";
                return Err(Error::validation(message).at("blockId").into());
            }
        };
        let request = Self {
            within,
            patterns: json.pattern,
            case_sensitive: json.case_sensitive,
            before: json.before_block_count.unwrap_or(Self::CONTEXT),
            after: json.after_block_count.unwrap_or(Self::CONTEXT),
            paging: Paging { limit: json.limit, cursor: json.cursor },
        };
        request.check()?;
        Ok(request)
    }
}
