//! Search across documents, by terms, by patterns, or by both.

use std::collections::HashSet;

use leafbase_model::{
    ChangePosition, DocumentId, Error, ErrorKind, Result, SearchDocuments, SearchGroup, SearchPage,
    TermMode, Timestamp, invariant,
};
use leafbase_pattern::TrigramQuery;
use leafbase_search::{
    Attributes, HitList, IndexSnapshot, Languages, MAX_QUERY_TERM_BYTES, MAX_QUERY_TERMS,
    ParsedQuery, RankPosition, RankingOptions, ScoreFactor, SearchDocument, SearchOverlay,
};

use super::cursor::{self, SearchCursor, SearchTotal};
use super::filters::{self, Filters};
use super::fusion::{self, Fusion};
use super::match_counts::MatchCounter;
use super::match_presenter::{MatchSource, SearchResults};
use super::patterns::PatternSet;
use super::ranked_hits::{PageRequest, RankedHits};
use super::score_boost::ScoreBoost;
use super::texts::VisibleTexts;
use crate::core::access::{AccessScope, Unbatched};
use crate::core::connection::Connection;
use crate::core::search_index::end_of_log;
use crate::core::search_index::indexer::SearchSnapshot;
use crate::core::tree::Tree;
use crate::core::visibility::Visibility;

/// A parsed search request.
struct SearchQuery {
    terms: ParsedQuery,
    /// `None` without patterns.
    patterns: Option<PatternSet>,
    /// Terms that titles must have; `None` without any.
    title: Option<ParsedQuery>,
    /// Phrases that documents must not have; `None` without any.
    exclude: Option<ParsedQuery>,
    /// Whether vectors are compared.
    has_embedding: bool,
}

/// The outcome of a query of the index.
struct IndexMatches {
    /// Documents that match the terms, the best first; `None` without terms.
    hits: Option<HitList>,
    /// Documents that a pattern can match, sorted by ID; `None` without patterns.
    candidates: Option<Vec<DocumentId>>,
    /// Documents whose vectors are compared, sorted by ID.
    compared: Vec<DocumentId>,
}

impl<A: Unbatched> Connection<A> {
    /// Searches documents by terms, by regular expressions, or by both. Returns the most relevant
    /// documents, each with a snippet of its text: twenty, or the limit of the request, with a
    /// cursor that continues. Every write that returned before the call is searched.
    ///
    /// Documents with all words come first, in any block, in the title or in comments; then those
    /// with most of them, by weight ([`crate::SearchMatch::missing_terms`]). Rare words weigh more,
    /// and words that most documents have weigh nothing next to others, so that a sentence or a
    /// question is a query. Two words in a row count more where a document has them in a row. With
    /// [`SearchDocuments::all_words`] all words are required, and with
    /// [`SearchDocuments::any_word`] scores alone decide. Case, accents and width are ignored, and
    /// words match their inflections ([`SpaceBuilder::languages`](crate::SpaceBuilder::languages)).
    /// The last word of a text matches as a prefix. Quotation marks make a phrase. A query without
    /// letters and digits matches nothing.
    ///
    /// A word of at least four letters that no document has is read as the words of documents that
    /// are like it: an edit away, or two from eight letters on ([`crate::SearchMatch::corrected`]).
    /// A misspelt beginning of the last word is read as another one from five letters on. Phrases
    /// are never corrected.
    ///
    /// In scripts without spaces each pair of adjacent characters counts, and pairs in a row count
    /// more. A document has such a run if it has half of its pairs.
    ///
    /// A pattern matches within one block, in the markdown that replies show, ignoring case unless
    /// it contains `(?-i)`. One of several patterns has to match. Without words, documents are
    /// ordered by the number of matching blocks. Ties are ordered by ID.
    ///
    /// Titles can be required to have terms, and documents with a word or phrase be excluded.
    /// [`SearchDocuments::from_query_text`] reads both, and filters, from a text as people type it.
    ///
    /// [`SearchDocuments::weights`] set how much title, headings and body count, and what recent
    /// documents and those with many links to them gain. With [`SearchDocuments::by_block`] each
    /// matching block is a result: the blocks of the best document first, and in it those with the
    /// most distinct matches.
    ///
    /// With [`SearchDocuments::embedding`] the vectors that the host stored
    /// ([`Connection::put_embeddings`](crate::Connection::put_embeddings)) are compared with that
    /// of the query, exactly, by the cosine of their angle; the nearest one of each document
    /// counts, be it of a block or of the document itself, stale or not
    /// ([`crate::SearchMatch::nearest`]). Without words they alone decide. Beside words, each
    /// document that either finds is ranked by the sum of 1 / (60 + rank) over both results.
    /// Filters, patterns and required or excluded terms hold for all. A model without vectors finds
    /// nothing.
    ///
    /// Without a filter all documents but those in the trash are searched; the inbox never is.
    ///
    /// The order does not depend on the limit, and the total counts the documents of all pages when
    /// the first one is read. The cursor has the statistics of the first page, so that later writes
    /// do not change how other documents rank: over all pages, each document that is not written
    /// in the meantime is returned once. One that is written may be returned again, or not at all.
    /// With a weight of links, a document to which links were added or removed counts as written.
    ///
    /// A scoped connection searches its visible documents as if there were no others: results,
    /// their order, scores and the cost of patterns depend on these alone. Links to other documents
    /// are searched as their placeholders. The target of a block link is not a word, on any
    /// connection.
    ///
    /// ```
    /// use leafbase::{Position, SearchDocuments, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip to Lisbon")?;
    /// notes
    ///     .insert_markdown("- [ ] passports\n- [ ] train at 22:10", Position::end_of(trip.id()))?;
    ///
    /// let found = notes.search("passport lis")?;
    /// assert_eq!(
    ///     (found[0].document_id, found[0].markdown.as_str()),
    ///     (trip.id(), "**passports**"),
    /// );
    /// let found = notes.search(SearchDocuments::words("train").matching(r"\b\d\d:\d\d\b"))?;
    /// assert_eq!(found[0].markdown, "**train** at **22:10**");
    /// assert_eq!(found[0].highlights.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    ///
    /// Proportional to the documents of all its words, prefixes and exclusions, the dirty documents
    /// (those written since the index caught up), and the snippets. Each page costs as much as the
    /// first one, but for the total: with words and patterns, the first page also matches the
    /// documents that come after it, up to the total's bound or the end of the step budget, and
    /// with results by block it reads the documents after it, up to that bound. A weight of links
    /// looks up the links to each document found, and its names. A cursor has about fifty
    /// characters for each word. The first search of a space reads its index once, or the whole
    /// space if there is none. A pattern reads every document that has its required trigrams, or
    /// all documents if it requires none. On a scoped connection the cost is
    /// proportional to its documents among these; the visible part of an index is computed once per
    /// state of both, and a pattern reads every document with block links. The steps of patterns
    /// are counted and bounded, so that the outcome is the same on every machine. If a pattern
    /// reads more than 256 documents, threads share them, which end with the call: see
    /// [`SpaceBuilder::search_threads`](crate::SpaceBuilder::search_threads). With an embedding,
    /// also to the vectors of the documents that pass the filters; the first such search reads all
    /// vectors of the model into memory
    /// ([`SpaceBuilder::embedding_cache`](crate::SpaceBuilder::embedding_cache)), later ones what
    /// changed.
    ///
    /// # Errors
    /// - [`crate::ErrorKind::Validation`] if [`SearchDocuments::check`] refuses the request (at
    ///   `weights` among others), at `cursor` for a cursor of another search or kind of connection,
    ///   and on a scoped connection
    ///   at `location`, `folderIds` and the days of a [`crate::DocumentFilter`], which belong to
    ///   the full space.
    ///   At `embedding.vector` for another number of components than the vectors of the model have.
    /// - [`crate::ErrorKind::HistoryGone`] at `cursor` if the log does not reach back to it, or if
    ///   it belongs to another history of the space. Scoped connections accept it.
    /// - [`crate::ErrorKind::LimitExceeded`] at `limit`, at `include`, `title` and `exclude` for
    ///   more than 32 texts, at `include[n]` and the like for one of more than 256 bytes, at
    ///   `regexps` for more than 8 patterns, at a pattern of more than
    ///   [`crate::Limits::PATTERN_BYTES`] bytes or one that exceeds its step budget, and at
    ///   `documentIds` and `folderIds` for more than [`crate::Limits::blocks_per_request`].
    /// - [`crate::ErrorKind::InvalidPattern`] at the pattern.
    /// - [`crate::ErrorKind::NotFound`] at `documentIds[n]` and `folderIds[n]`.
    /// - For days, the errors of [`Connection::list_documents`].
    ///
    /// An index that is missing, corrupt or of another space is rebuilt, which is not an error.
    pub fn search(&self, request: impl Into<SearchDocuments>) -> Result<SearchPage> {
        let (request, visibility) = (request.into(), self.visibility());
        let _operation = self.operation("search");
        self.search_as(&request, &visibility).map_err(|error| visibility.redact_error(error))
    }

    fn search_as(&self, request: &SearchDocuments, visibility: &Visibility) -> Result<SearchPage> {
        request.check()?;
        self.check_ids("documentIds", request.document_ids.as_ref())?;
        self.check_ids("folderIds", request.filter.folders.as_ref())?;
        filters::check(request, visibility)?;
        let fingerprint = || cursor::fingerprint(request, !visibility.is_unrestricted());
        let cursor = request.paging.cursor.as_deref();
        let cursor = cursor.map(|text| fusion::read_ranks(fingerprint()?, text)).transpose()?;
        let (cursor, ranks) = cursor.unzip();
        let query = SearchQuery::parse(request, self.space.indexer().languages())?;
        let page = PageRequest::new(request, cursor.as_ref());
        // Ages count from the first page, so that documents do not change places in between.
        let now = cursor.as_ref().and_then(|cursor| cursor.now);
        let now = now.unwrap_or_else(|| self.space.now());
        let all = cursor.as_ref().map(fusion::before_all);
        let found = PageRequest { after: all.as_ref(), ..PageRequest::ALL };
        let found = if query.has_embedding { found } else { page };
        let (snapshot, mut matches) =
            self.query_index(request, &query, (found, now), visibility)?;
        let tree = snapshot.space.tree();
        let mut fusion = Fusion::default();
        if let Some(embedding) = &request.embedding {
            let nearest = self.nearest(&tree, embedding, &matches.compared)?;
            // A pattern may reject any of them.
            let limit = if query.patterns.is_none() { page.limit + 1 } else { usize::MAX };
            let (words, first) = (matches.hits.take(), ranks.flatten());
            let (fused, hits) =
                Fusion::of(nearest, words, &query.terms, (page.after, limit), first)?;
            (fusion, matches.hits) = (fused, Some(hits));
        }
        check_history(&tree, cursor.as_ref())?;
        let texts = VisibleTexts::new(&tree);
        let mut matcher = query.patterns.as_ref().map(PatternSet::matcher);
        let (list, candidates) = (matches.hits, matches.candidates);
        let stop_words = list.as_ref().map(|list| list.stop_words.clone()).unwrap_or_default();
        let statistics = list.as_ref().map(|list| list.statistics.clone()).unwrap_or_default();
        let ranked = match (list, &mut matcher) {
            (Some(list), None) => RankedHits::of_terms(list, page),
            (list, Some(matcher)) => {
                let candidates = candidates.unwrap_or_default();
                if let Some(list) = list {
                    RankedHits::of_both(&texts, list.hits, &candidates, page, matcher)?
                } else {
                    let threads = self.space.search_threads();
                    let counter = MatchCounter { snapshot: &snapshot.space, threads };
                    RankedHits::of_patterns(&counter, &candidates, page, matcher)?
                }
            }
            (None, None) => RankedHits::default(),
        };
        // A document has the words that others were read as only if its own hit names them.
        let hits = ranked.hits.iter().chain(&ranked.rest);
        let corrected = query.terms.corrected(hits.flat_map(|hit| &hit.corrected));
        let shown_terms = corrected.without(&stop_words);
        let source = MatchSource {
            snapshot: &snapshot.space,
            terms: &query.terms,
            shown_terms: &shown_terms,
            metadata: request.metadata,
            fusion: &fusion,
            threads: self.space.search_threads(),
        };
        let presenter = source.presenter(&texts);
        if tree.is_unrestricted() {
            let documents = ranked.hits.iter().map(|hit| hit.rank.document);
            tree.full_reader()?.prefetch_documents(documents);
        }
        let SearchResults { items, total: counted, next } = match request.group {
            SearchGroup::Document => presenter.documents(ranked, page, matcher.as_mut())?,
            SearchGroup::Block => presenter.blocks(ranked, page, matcher.as_mut())?,
        };
        let total = cursor.as_ref().map_or(counted, |cursor| cursor.total);
        let next = next.map(|(last, block)| {
            let (log_end, position) = (log_end(&tree)?, RankPosition { last, statistics });
            let now = Some(now).filter(|_| request.weights.recency > 0.0);
            let cursor = SearchCursor { log_end, total, position, block, now };
            let cursor = cursor.write(fingerprint()?);
            Ok::<_, Error>(fusion::write_ranks(cursor, fusion.ranks.as_ref()))
        });
        let SearchTotal { results: total, is_lower_bound: total_is_lower_bound } = total;
        Ok(SearchPage { items, total, total_is_lower_bound, next_cursor: next.transpose()? })
    }
}

/// Refuses a cursor whose log does not continue in this space.
///
/// # Errors
/// [`ErrorKind::HistoryGone`] at `cursor`.
fn check_history(tree: &Tree<'_>, cursor: Option<&SearchCursor>) -> Result<()> {
    match cursor.and_then(|cursor| cursor.log_end).filter(|_| tree.is_unrestricted()) {
        Some(end) => {
            tree.full_reader()?.check_position(end).map_err(|error| error.at("cursor")).map(drop)
        }
        None => Ok(()),
    }
}

/// Where the log ends now, for the next cursor; `None` on a scoped connection.
fn log_end(tree: &Tree<'_>) -> Result<Option<ChangePosition>> {
    if tree.is_unrestricted() { end_of_log(tree.full_reader()?).map(Some) } else { Ok(None) }
}

impl<A: AccessScope> Connection<A> {
    /// The documents that pass the filters of a search and in which its patterns can match, with
    /// the position at which the log ended.
    pub(crate) fn pattern_candidates(
        &self,
        search: &SearchDocuments,
    ) -> Result<(Vec<DocumentId>, ChangePosition)> {
        let query = SearchQuery::parse(search, self.space.indexer().languages())?;
        let now = self.space.now();
        let (snapshot, matches) =
            self.query_index(search, &query, (PageRequest::ALL, now), &self.visibility())?;
        let Some(candidates) = matches.candidates else {
            invariant!("a search with patterns has candidates");
        };
        Ok((candidates, snapshot.space.tree().full_reader()?.last_position()?))
    }

    /// Queries the index, with ages as of a time. If it fails, it is rebuilt, and the query is
    /// retried once.
    fn query_index(
        &self,
        request: &SearchDocuments,
        query: &SearchQuery,
        (page, first_page): (PageRequest<'_>, Timestamp),
        visibility: &Visibility,
    ) -> Result<(SearchSnapshot, IndexMatches)> {
        let (store, now, indexer) = (self.space.store()?, self.space.now(), self.space.indexer());
        let mut has_failed = false;
        loop {
            let newest = self.newest_visibility(visibility)?;
            let snapshot = indexer.snapshot(&store, &newest)?;
            if !self.sees_as(visibility, &snapshot.space)? {
                // A write moved a document into a folder of the scope, or out of one, after the
                // visibility was read.
                continue;
            }
            // Filters name folders and days, so they are resolved in the same snapshot.
            let tree = snapshot.space.tree();
            let filters = Filters::read(&tree, request, now)?;
            let filter = |document: &Attributes| filters.accepts(document);
            let boost = ScoreBoost::new(&tree, request.weights, first_page);
            let outcome = snapshot
                .search(&filter, |index, overlay| query.run(page, (index, overlay), &boost));
            // A rebuild does not repair the store, or a broken invariant.
            let is_final = has_failed || boost.has_failed();
            drop(boost);
            match outcome {
                Ok(matches) => return Ok((snapshot, matches)),
                Err(error) if is_final || error.kind() == ErrorKind::Internal => {
                    return Err(error);
                }
                Err(error) => indexer.invalidate(&snapshot, &error),
            }
            has_failed = true;
        }
    }
}

impl SearchQuery {
    fn parse(request: &SearchDocuments, languages: &Languages) -> Result<Self> {
        check_texts("include", &request.include)?;
        check_texts("title", &request.title)?;
        check_texts("exclude", &request.exclude)?;
        let texts: Vec<&String> = request.include.iter().chain(&request.title).collect();
        let terms = ParsedQuery::in_languages(&texts, request.term_mode, languages);
        let patterns = (!request.regexps.is_empty())
            .then(|| PatternSet::new("regexps", &request.regexps, false));
        let title = (!request.title.is_empty())
            .then(|| ParsedQuery::in_languages(&request.title, TermMode::All, languages));
        let exclude = (!request.exclude.is_empty()).then(|| ParsedQuery::phrases(&request.exclude));
        let has_embedding = fusion::has_embedding(request);
        Ok(Self { terms, patterns: patterns.transpose()?, title, exclude, has_embedding })
    }

    fn run(
        &self,
        page: PageRequest<'_>,
        (index, overlay): (&IndexSnapshot, &SearchOverlay<'_>),
        boost: &ScoreBoost<'_, '_>,
    ) -> Result<IndexMatches> {
        let titled = self.title.as_ref().map(|title| index.titled(title, overlay)).transpose()?;
        let excluded = self.exclude.as_ref().map(|phrases| {
            let found = index.search(phrases, overlay, usize::MAX)?;
            Ok::<HashSet<DocumentId>, Error>(
                found.hits.iter().map(|hit| hit.rank.document).collect(),
            )
        });
        let excluded = excluded.transpose()?;
        let filter = |document: &Attributes| {
            (overlay.filter)(document)
                && titled.as_ref().is_none_or(|titled| titled.contains(&document.id))
                && excluded.as_ref().is_none_or(|excluded| !excluded.contains(&document.id))
        };
        let SearchOverlay { dirty, dirty_ids, subset, .. } = *overlay;
        let overlay = &SearchOverlay { dirty, dirty_ids, filter: &filter, subset };
        // A pattern may reject any hit, so its hits cannot be limited before.
        let limit = if self.patterns.is_none() { page.index_limit() } else { usize::MAX };
        let factor = |document: &Attributes| boost.factor(document);
        let weights = *boost.weights();
        let boost: Option<ScoreFactor<'_>> = if boost.is_needed() { Some(&factor) } else { None };
        let options = RankingOptions { after: page.after, weights, boost };
        let hits = (!self.terms.is_empty())
            .then(|| index.search_ranked(&self.terms, overlay, options, limit));
        let candidates =
            self.patterns.as_ref().map(|patterns| pattern_candidates(patterns, index, overlay));
        let compared =
            if self.has_embedding { documents(index, overlay, &[&ANY_TEXT])? } else { Vec::new() };
        Ok(IndexMatches { hits: hits.transpose()?, candidates: candidates.transpose()?, compared })
    }
}

/// Refuses more or longer texts than a query has.
fn check_texts(field: &str, texts: &[String]) -> Result<()> {
    if texts.len() > MAX_QUERY_TERMS {
        return Err(Error::limit("terms of a search", MAX_QUERY_TERMS, texts.len()).at(field));
    }
    match texts.iter().enumerate().find(|(_, text)| text.len() > MAX_QUERY_TERM_BYTES) {
        Some((index, text)) => {
            let error = Error::limit("bytes of a term", MAX_QUERY_TERM_BYTES, text.len());
            Err(error.at(format_args!("{field}[{index}]")))
        }
        None => Ok(()),
    }
}

/// The documents of the index and of the overlay that one of the patterns can match, sorted by ID.
fn pattern_candidates(
    patterns: &PatternSet,
    index: &IndexSnapshot,
    overlay: &SearchOverlay<'_>,
) -> Result<Vec<DocumentId>> {
    documents(index, overlay, &patterns.trigram_queries())
}

/// Any text has these trigrams.
const ANY_TEXT: TrigramQuery = TrigramQuery::Unrestricted;

/// The documents of the index and of the overlay that have the trigrams of one of `queries`, sorted
/// by ID.
fn documents(
    index: &IndexSnapshot,
    overlay: &SearchOverlay<'_>,
    queries: &[&TrigramQuery],
) -> Result<Vec<DocumentId>> {
    let mut candidates = index.candidates(queries, overlay)?;
    // Scoped readers see other texts of such a document than the ones that were analyzed.
    let varies = |document: &SearchDocument| overlay.subset.is_some() && document.varies();
    let may_match = |document: &SearchDocument| {
        (overlay.filter)(document.attributes())
            && (varies(document) || queries.iter().any(|query| document.may_match(query)))
    };
    let dirty = overlay.dirty.iter().filter(|document| may_match(document));
    candidates.extend(dirty.map(|document| document.id()));
    candidates.sort_unstable();
    invariant!(
        candidates.is_sorted_by(|one, other| one < other),
        "a document is in the index or in the overlay"
    );
    Ok(candidates)
}
