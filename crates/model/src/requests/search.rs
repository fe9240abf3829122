//! Requests of searches: across documents, and within one.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::collections::DocumentFilterMode;
use super::documents::DocumentFilter;
use super::search_weights::SearchWeights;
use super::{Paging, given, write_texts};
use crate::json::{Object, deserialize_by, missing_field, wire_enum};
use crate::{
    BlockId, BuiltInLocation, DayRange, DocumentId, Error, FolderId, Limits, QueryEmbedding, Result,
};

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

wire_enum! {
    /// What the results of a search are.
    SearchGroup {
        /// Documents, each with a snippet.
        #[default]
        Document = "document",
        /// Blocks, each with a snippet of its own.
        Block = "block",
    }
}

/// Searches documents by terms, by patterns, or by both. As JSON: `include`, `title` and `exclude`
/// (one text or several), `termMode`, `regexps` (one or several), `documentIds` with
/// `documentFilterMode`, or the fields of a [`DocumentFilter`] with `folderIds`; `weights`;
/// `group`; `embedding`, a [`QueryEmbedding`]; `fetchMetadata`; and the fields of a [`Paging`].
///
/// A text of `include` has terms, and phrases in quotation marks; its last term may be a prefix.
/// Without patterns and an embedding at least one term is required.
///
/// ```
/// use leafbase_model::SearchDocuments;
/// let json = r#"{"include": "\"night train\" lis", "regexps": "\\d{2}:\\d{2}"}"#;
/// let request: SearchDocuments = serde_json::from_str(json)?;
/// assert_eq!(request, SearchDocuments::words("\"night train\" lis").matching(r"\d{2}:\d{2}"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SearchDocuments {
    /// The texts with the search terms.
    pub include: Vec<String>,
    /// How many of the terms are required.
    pub term_mode: TermMode,
    /// Terms that the title must have, all of them. They are search terms, too.
    pub title: Vec<String>,
    /// Words and phrases, of which the documents have none. Case, accents and width are ignored,
    /// and neither prefixes nor inflections count.
    pub exclude: Vec<String>,
    /// Patterns, of which at least one must match a block.
    pub regexps: Vec<String>,
    /// The documents named by the request; all if absent.
    pub document_ids: Option<Vec<DocumentId>>,
    /// The meaning of `document_ids`; without them it has no effect.
    pub mode: Option<DocumentFilterMode>,
    /// Filters, exclusive with `document_ids`.
    pub filter: DocumentFilter,
    /// What counts how much; without terms it has no effect.
    pub weights: SearchWeights,
    /// Whether the results are documents or blocks.
    pub group: SearchGroup,
    /// A vector that those of blocks and documents are compared with.
    pub embedding: Option<QueryEmbedding>,
    /// Whether matches include the times of creation and modification of their documents.
    pub metadata: bool,
    /// The page of results: at most [`Limits::SEARCH_PAGE`], and without a limit
    /// [`Limits::SEARCH_RESULTS`].
    pub paging: Paging,
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

    /// Requires these terms in the title, and searches for them.
    pub fn titled(mut self, text: impl Into<String>) -> Self {
        self.title.push(text.into());
        self
    }

    /// Excludes documents with this word or phrase.
    pub fn without(mut self, text: impl Into<String>) -> Self {
        self.exclude.push(text.into());
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

    /// Sets what counts how much in the scores of documents.
    pub const fn weighted(mut self, weights: SearchWeights) -> Self {
        self.weights = weights;
        self
    }

    /// Makes each matching block a result.
    pub const fn by_block(mut self) -> Self {
        self.group = SearchGroup::Block;
        self
    }

    /// Compares the vectors of blocks and documents with this one. Beside words, each document is
    /// ranked by its ranks in both results.
    pub fn near(mut self, embedding: QueryEmbedding) -> Self {
        self.embedding = Some(embedding);
        self
    }

    /// Includes the times of creation and modification.
    pub fn with_metadata(mut self) -> Self {
        self.metadata = true;
        self
    }

    /// Limits the number of results in a reply.
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
    /// [`crate::ErrorKind::Validation`] for a search without terms, patterns and an embedding, for
    /// exclusive filters, at `limit` for 0, at `weights` if [`SearchWeights::check`] refuses them,
    /// at `embedding` for a vector without a direction, and at `group` for blocks by an embedding;
    /// [`crate::ErrorKind::LimitExceeded`] at `limit` for more than [`Limits::SEARCH_PAGE`].
    pub fn check(&self) -> Result<()> {
        self.paging.check()?;
        self.weights.check().map_err(|error| error.at("weights"))?;
        if let Some(limit) = self.paging.limit.filter(|limit| *limit > Limits::SEARCH_PAGE) {
            let error = Error::limit("results of a reply", Limits::SEARCH_PAGE, limit);
            return Err(error.at("limit"));
        }
        if let Some(embedding) = &self.embedding {
            embedding.check().map_err(|error| error.at("embedding"))?;
            if self.group == SearchGroup::Block {
                let message = "a search with an embedding has documents as results";
                return Err(Error::validation(message).at("group"));
            }
        } else if self.include.is_empty() && self.title.is_empty() && self.regexps.is_empty() {
            let message = "a search needs a text in include, a pattern in regexps or an embedding";
            return Err(Error::validation(message).at("include"));
        }
        check_exclusive(self.document_ids.is_some(), &self.filter)
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
        take_query_weights(&mut object)?;
        let read = Self {
            include: object.any_number("include")?,
            term_mode: object.or_default("termMode")?,
            title: object.any_number("title")?,
            exclude: object.any_number("exclude")?,
            regexps: object.any_number("regexps")?,
            document_ids: object.one_or_many("documentIds")?,
            mode: object.optional("documentFilterMode")?,
            filter: DocumentFilter::take(&mut object, "folderIds")?,
            weights: object.or_default("weights")?,
            group: object.or_default("group")?,
            embedding: object.optional("embedding")?,
            metadata: object.or_default("fetchMetadata")?,
            paging: Paging::take(&mut object)?,
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
        write_texts(&mut map, "title", &self.title)?;
        write_texts(&mut map, "exclude", &self.exclude)?;
        write_texts(&mut map, "regexps", &self.regexps)?;
        given(&mut map, "documentIds", self.document_ids.as_ref())?;
        given(&mut map, "documentFilterMode", self.mode.as_ref())?;
        self.filter.write(&mut map, "folderIds", false)?;
        let weights = Some(&self.weights);
        given(&mut map, "weights", weights.filter(|given| **given != SearchWeights::default()))?;
        given(&mut map, "group", (self.group != SearchGroup::default()).then_some(&self.group))?;
        given(&mut map, "embedding", self.embedding.as_ref())?;
        given(&mut map, "fetchMetadata", self.metadata.then_some(&true))?;
        self.paging.write(&mut map)?;
        map.end()
    }
}

/// Weights in a query string, `weights.title=2`, as the object that JSON has.
fn take_query_weights(object: &mut Object) -> Result<()> {
    let named = object.split_off(|name| name.starts_with(WEIGHTS_PREFIX));
    if named.is_empty() {
        return Ok(());
    }
    let mut weights = object.object("weights")?;
    weights.extend(named.into_iter().map(|(name, value)| {
        (name.strip_prefix(WEIGHTS_PREFIX).unwrap_or_default().to_owned(), value)
    }));
    object.set("weights", Value::Object(weights));
    Ok(())
}

const WEIGHTS_PREFIX: &str = "weights.";

/// Searches blocks by patterns: those of a document or of one of its pages, or of all documents
/// that filters select. As JSON: `blockId` or `documentId`, or else `documentIds` with
/// `documentFilterMode`, or the fields of a [`DocumentFilter`] with `folderIds`; `pattern` (one or
/// several), `caseSensitive`, `beforeBlockCount`, `afterBlockCount`, and the fields of a
/// [`Paging`].
///
/// ```
/// use leafbase_model::{BlockId, SearchBlocks};
/// let page: BlockId = "01K9Z3VW5R00000000000000A7".parse()?;
/// let json = r#"{
///     "blockId": "01K9Z3VW5R00000000000000A7", "pattern": "colou?r", "afterBlockCount": 0
/// }"#;
/// let request: SearchBlocks = serde_json::from_str(json)?;
/// assert_eq!(request, SearchBlocks::new(page, "colou?r").context(5, 0));
///
/// let request: SearchBlocks = serde_json::from_str(r#"{"pattern": "colou?r", "tags": "art"}"#)?;
/// assert_eq!(request, SearchBlocks::everywhere("colou?r").tagged("art"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchBlocks {
    /// The root of the subtree to search; without it, documents are searched.
    pub within: Option<BlockId>,
    /// Whether the request names it as a document, by `documentId`.
    pub by_document: bool,
    /// The documents named by the request; all if absent.
    pub document_ids: Option<Vec<DocumentId>>,
    /// The meaning of `document_ids`; without them it has no effect.
    pub mode: Option<DocumentFilterMode>,
    /// Filters, exclusive with `document_ids`.
    pub filter: DocumentFilter,
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
        Self { within: Some(within.into()), ..Self::everywhere(pattern) }
    }

    /// The same search of all documents.
    pub fn everywhere(pattern: impl Into<String>) -> Self {
        let patterns = vec![pattern.into()];
        Self { patterns, before: Self::CONTEXT, after: Self::CONTEXT, ..Self::default() }
    }

    /// Restricts a search of all documents to these.
    pub fn within_documents(mut self, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        self.document_ids = Some(documents.into_iter().collect());
        self.mode = None;
        self
    }

    /// Excludes these documents from a search of all.
    pub fn without_documents(mut self, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        self.document_ids = Some(documents.into_iter().collect());
        self.mode = Some(DocumentFilterMode::Exclude);
        self
    }

    /// Restricts a search of all documents to a built-in location.
    pub fn at(mut self, location: BuiltInLocation) -> Self {
        self.filter.location = Some(location);
        self
    }

    /// Restricts a search of all documents to a folder and its subfolders.
    pub fn within_folder(mut self, folder: FolderId) -> Self {
        self.filter.folders.get_or_insert_default().push(folder.into());
        self
    }

    /// Restricts a search of all documents to those with this tag, too.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.filter.tags.push(tag.into());
        self
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

    /// The field that names the subtree to search, for errors.
    pub const fn within_field(&self) -> &'static str {
        if self.by_document { "documentId" } else { "blockId" }
    }

    /// Validates a request that was built in code.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] for no pattern, for exclusive filters, and at `limit` for
    /// 0; [`crate::ErrorKind::LimitExceeded`] for more context blocks than
    /// [`Limits::CONTEXT_BLOCKS`].
    pub fn check(&self) -> Result<()> {
        if self.patterns.is_empty() {
            return Err(missing_field("pattern"));
        }
        if self.within.is_some() && self.selects_documents() {
            let message = "blockId and documentId cannot be combined with filters";
            return Err(Error::validation(message).at(self.within_field()));
        }
        check_exclusive(self.document_ids.is_some(), &self.filter)?;
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

    /// Whether it names documents or filters them.
    fn selects_documents(&self) -> bool {
        self.document_ids.is_some() || self.filter != DocumentFilter::default()
    }

    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let block: Option<BlockId> = object.optional("blockId")?;
        let document: Option<DocumentId> = object.optional("documentId")?;
        if block.is_some() && document.is_some() {
            let message = "name at most one of blockId and documentId";
            return Err(Error::validation(message).at("blockId"));
        }
        let read = Self {
            // A document is searched as the subtree of its root block.
            within: block.or_else(|| document.map(DocumentId::root)),
            by_document: document.is_some(),
            document_ids: object.one_or_many("documentIds")?,
            mode: object.optional("documentFilterMode")?,
            filter: DocumentFilter::take(&mut object, "folderIds")?,
            patterns: object.any_number("pattern")?,
            case_sensitive: object.or_default("caseSensitive")?,
            before: object.optional("beforeBlockCount")?.unwrap_or(Self::CONTEXT),
            after: object.optional("afterBlockCount")?.unwrap_or(Self::CONTEXT),
            paging: Paging::take(&mut object)?,
        };
        object.finish()?;
        read.check()?;
        Ok(read)
    }
}

impl Serialize for SearchBlocks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Defaults are omitted, so that a round trip keeps the request short.
        let changed = |count: &usize| *count != Self::CONTEXT;
        let mut map = serializer.serialize_map(None)?;
        given(&mut map, self.within_field(), self.within.as_ref())?;
        given(&mut map, "documentIds", self.document_ids.as_ref())?;
        given(&mut map, "documentFilterMode", self.mode.as_ref())?;
        self.filter.write(&mut map, "folderIds", false)?;
        write_texts(&mut map, "pattern", &self.patterns)?;
        given(&mut map, "caseSensitive", self.case_sensitive.then_some(&true))?;
        given(&mut map, "beforeBlockCount", Some(&self.before).filter(|count| changed(count)))?;
        given(&mut map, "afterBlockCount", Some(&self.after).filter(|count| changed(count)))?;
        self.paging.write(&mut map)?;
        map.end()
    }
}

/// Refuses named documents beside locations: combining them would silently hide some of the names.
pub(super) fn check_exclusive(has_documents: bool, filter: &DocumentFilter) -> Result<()> {
    let excluded = |path: &str, other: &str| {
        Err(Error::validation(format!("{path} cannot be combined with {other}")).at(path))
    };
    match (has_documents, filter.location, &filter.folders) {
        (true, Some(_), _) => excluded("documentIds", "location"),
        (true, _, Some(_)) => excluded("documentIds", "folderIds"),
        (false, Some(_), Some(_)) => excluded("folderIds", "location"),
        _ => Ok(()),
    }
}

deserialize_by!(SearchDocuments: Self::read, SearchBlocks: Self::read);
