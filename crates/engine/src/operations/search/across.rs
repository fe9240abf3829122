//! Search across documents, by terms, by patterns, or by both.

use std::cmp::Reverse;

use leafbase_model::{
    ChangePosition, CorrectedTerm, DocumentId, Error, ErrorKind, Items, Limits, Result,
    SearchDocuments, SearchMatch, invariant,
};
use leafbase_search::{
    Attributes, Highlighter, Hit, HitList, IndexSnapshot, Languages, ParsedQuery, SearchDocument,
    SearchOverlay, TermCorrection,
};
use leafbase_tree_ops::ReadTree;

use super::filters::{self, Filters};
use super::match_counts::MatchCounter;
use super::patterns::{PatternSet, PatternSetMatcher};
use super::snippets;
use super::texts::VisibleTexts;
use crate::core::access::{AccessScope, Unbatched};
use crate::core::connection::Connection;
use crate::core::search_index::documents::DocumentTexts;
use crate::core::search_index::indexer::SearchSnapshot;
use crate::core::visibility::Visibility;

/// Documents that a search returns at most.
const MAX_RESULTS: usize = Limits::SEARCH_RESULTS;

/// A parsed search request.
struct SearchQuery {
    terms: ParsedQuery,
    /// `None` without patterns.
    patterns: Option<PatternSet>,
}

/// The outcome of a query of the index.
struct IndexMatches {
    /// Documents that match the terms, the best first; `None` without terms.
    hits: Option<HitList>,
    /// Documents that a pattern can match, sorted by ID; `None` without patterns.
    candidates: Option<Vec<DocumentId>>,
}

impl<A: Unbatched> Connection<A> {
    /// Searches documents by terms, by regular expressions, or by both. Returns the twenty most
    /// relevant documents, each with a snippet of its text. Every write that returned before the
    /// call is searched.
    ///
    /// Documents with all words come first, in any block, in the title or in comments; then those
    /// with most of them, by weight ([`SearchMatch::missing_terms`]). Rare words weigh more, and
    /// words that most documents have weigh nothing next to others, so that a sentence or a
    /// question is a query. With [`SearchDocuments::all_words`] all words are required, and with
    /// [`SearchDocuments::any_word`] scores alone decide. Case, accents and width are ignored, and
    /// words match their inflections ([`SpaceBuilder::languages`](crate::SpaceBuilder::languages)).
    /// The last word of a text matches as a prefix. Quotation marks make a phrase. A query without
    /// letters and digits matches nothing.
    ///
    /// A word of at least four letters that no document has is read as the words of documents that
    /// are like it: an edit away, or two from eight letters on ([`SearchMatch::corrected`]). A
    /// misspelt beginning of the last word is read as another one from five letters on. Phrases are
    /// never corrected.
    ///
    /// In scripts without spaces each pair of adjacent characters counts, and pairs in a row count
    /// more. A document has such a run if it has half of its pairs.
    ///
    /// A pattern matches within one block, in the markdown that replies show, ignoring case unless
    /// it contains `(?-i)`. One of several patterns has to match. Without words, documents are
    /// ordered by the number of matching blocks. Ties are ordered by ID.
    ///
    /// Without a filter all documents but those in the trash are searched; the inbox never is.
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
    /// Proportional to the documents that have the rarest word, the dirty documents (those written
    /// since the index caught up), and the snippets. The first search of a space reads its index
    /// once, or the whole space if there is none. A pattern reads every document that has its
    /// required trigrams, or all documents if it requires none. On a scoped connection the cost is
    /// proportional to its documents among these; the visible part of an index is computed once per
    /// state of both, and a pattern reads every document with block links. The steps of patterns
    /// are counted and bounded, so that the outcome is the same on every machine. If a pattern
    /// reads more than 256 documents, threads share them, which end with the call: see
    /// [`SpaceBuilder::search_threads`](crate::SpaceBuilder::search_threads).
    ///
    /// # Errors
    /// - [`crate::ErrorKind::Validation`] if [`SearchDocuments::check`] refuses the request, and on
    ///   a scoped connection at `location`, `folderIds` and the days of a
    ///   [`crate::DocumentFilter`], which belong to the full space.
    /// - [`crate::ErrorKind::LimitExceeded`] at `include` for more than 32 texts, at `include[n]`
    ///   for one of more than 256 bytes, at `regexps` for more than 8 patterns, at `documentIds`
    ///   and `folderIds` for more than [`crate::Limits::blocks_per_request`], and at a pattern that
    ///   exceeds its step budget.
    /// - [`crate::ErrorKind::InvalidPattern`] at the pattern.
    /// - [`crate::ErrorKind::NotFound`] at `documentIds[n]` and `folderIds[n]`.
    /// - For days, the errors of [`Connection::list_documents`].
    ///
    /// An index that is missing, corrupt or of another space is rebuilt, which is not an error.
    pub fn search(&self, request: impl Into<SearchDocuments>) -> Result<Items<SearchMatch>> {
        let (request, visibility) = (request.into(), self.visibility());
        let _operation = self.operation("search");
        self.search_as(&request, &visibility).map_err(|error| visibility.redact_error(error))
    }

    fn search_as(
        &self,
        request: &SearchDocuments,
        visibility: &Visibility,
    ) -> Result<Items<SearchMatch>> {
        request.check()?;
        self.check_ids("documentIds", request.document_ids.as_ref())?;
        self.check_ids("folderIds", request.filter.folders.as_ref())?;
        filters::check(request, visibility)?;
        let query = SearchQuery::parse(request, self.space.indexer().languages())?;
        let (snapshot, matches) = self.query_index(request, &query, visibility)?;
        let tree = snapshot.space.tree();
        let texts = VisibleTexts::new(&tree);
        let mut matcher = query.patterns.as_ref().map(PatternSet::matcher);
        let (hits, stop_words) =
            matches.hits.map_or_else(Default::default, |list| (Some(list.hits), list.stop_words));
        let found = match (hits, matches.candidates, &mut matcher) {
            (None, None, _) => Vec::new(),
            (Some(hits), Some(candidates), Some(matcher)) => {
                retain_matching(&texts, hits, &candidates, matcher)?
            }
            (None, Some(candidates), Some(matcher)) => {
                let counter = MatchCounter {
                    snapshot: &snapshot.space,
                    threads: self.space.search_threads(),
                };
                rank_by_matches(&counter, &candidates, matcher)?
            }
            // Hits without patterns are ranked and limited already.
            (hits, ..) => hits.into_iter().flatten().collect(),
        };
        let corrected = query.terms.corrected(found.iter().flat_map(|hit| &hit.corrected));
        let shown_terms = corrected.without(&stop_words);
        let presenter = MatchPresenter {
            texts: &texts,
            terms: &query.terms,
            highlighter: shown_terms.highlighter(),
            metadata: request.metadata,
        };
        let shown = found.into_iter().map(|hit| presenter.present(hit, matcher.as_mut()));
        shown.filter_map(Result::transpose).collect::<Result<_>>().map(Items)
    }
}

impl<A: AccessScope> Connection<A> {
    /// The documents that pass the filters of a search and in which its patterns can match, with
    /// the position at which the log ended.
    pub(crate) fn pattern_candidates(
        &self,
        search: &SearchDocuments,
    ) -> Result<(Vec<DocumentId>, ChangePosition)> {
        let query = SearchQuery::parse(search, self.space.indexer().languages())?;
        let (snapshot, matches) = self.query_index(search, &query, &self.visibility())?;
        let Some(candidates) = matches.candidates else {
            invariant!("a search with patterns has candidates");
        };
        Ok((candidates, snapshot.space.tree().full_reader()?.last_position()?))
    }

    /// Queries the index. If it fails, it is rebuilt, and the query is retried once.
    fn query_index(
        &self,
        request: &SearchDocuments,
        query: &SearchQuery,
        visibility: &Visibility,
    ) -> Result<(SearchSnapshot, IndexMatches)> {
        let (store, now, indexer) = (self.space.store()?, self.space.now(), self.space.indexer());
        let mut has_failed = false;
        loop {
            let newest = self.newest_visibility(visibility)?;
            let snapshot = indexer.snapshot(&store, &newest)?;
            if !self.sees_as(visibility, &snapshot.space)? {
                continue;
            }
            // Filters name folders and days, so they are resolved in the same snapshot.
            let filters = Filters::read(&snapshot.space.tree(), request, now)?;
            let filter = |document: &Attributes| filters.accepts(document);
            match snapshot.search(&filter, |index, overlay| query.run(index, overlay)) {
                Ok(matches) => return Ok((snapshot, matches)),
                // A rebuild does not repair a broken invariant.
                Err(error) if has_failed || error.kind() == ErrorKind::Internal => {
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
        let terms = ParsedQuery::in_languages(&request.include, request.term_mode, languages)?;
        let patterns = (!request.regexps.is_empty())
            .then(|| PatternSet::new("regexps", &request.regexps, false));
        Ok(Self { terms, patterns: patterns.transpose()? })
    }

    fn run(&self, index: &IndexSnapshot, overlay: &SearchOverlay<'_>) -> Result<IndexMatches> {
        // A pattern may reject any hit, so its hits cannot be limited before.
        let limit = if self.patterns.is_none() { MAX_RESULTS } else { usize::MAX };
        let hits = (!self.terms.is_empty()).then(|| index.search(&self.terms, overlay, limit));
        let candidates =
            self.patterns.as_ref().map(|patterns| pattern_candidates(patterns, index, overlay));
        Ok(IndexMatches { hits: hits.transpose()?, candidates: candidates.transpose()? })
    }
}

/// The documents of the index and of the overlay that one of the patterns can match, sorted by ID.
fn pattern_candidates(
    patterns: &PatternSet,
    index: &IndexSnapshot,
    overlay: &SearchOverlay<'_>,
) -> Result<Vec<DocumentId>> {
    let queries = patterns.trigram_queries();
    let mut candidates = index.candidates(&queries, overlay)?;
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

/// The best hits that a pattern matches.
fn retain_matching(
    texts: &VisibleTexts<'_, '_>,
    hits: Vec<Hit>,
    candidates: &[DocumentId],
    matcher: &mut PatternSetMatcher<'_>,
) -> Result<Vec<Hit>> {
    let mut found = Vec::new();
    for hit in hits {
        if found.len() >= MAX_RESULTS {
            break;
        }
        let may_match = candidates.binary_search(&hit.document).is_ok();
        if may_match && !texts.count_matches(&[hit.document], matcher)?.is_empty() {
            found.push(hit);
        }
    }
    Ok(found)
}

/// The documents with the most matching blocks.
fn rank_by_matches(
    counter: &MatchCounter<'_>,
    candidates: &[DocumentId],
    matcher: &mut PatternSetMatcher<'_>,
) -> Result<Vec<Hit>> {
    let counts = counter.count(candidates, matcher)?;
    let mut found: Vec<_> =
        counts.into_iter().map(|(document, count)| (Reverse(count), document)).collect();
    found.sort_unstable();
    found.truncate(MAX_RESULTS);
    let score = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    Ok(found
        .into_iter()
        .map(|(Reverse(count), document)| Hit {
            document,
            score: score(count),
            missing: Vec::new(),
            corrected: Vec::new(),
        })
        .collect())
}

/// Turns hits into the matches of a reply.
struct MatchPresenter<'s, 't, 'a> {
    texts: &'s VisibleTexts<'t, 'a>,
    terms: &'s ParsedQuery,
    /// Of the terms without stop words.
    highlighter: Highlighter<'s>,
    metadata: bool,
}

impl MatchPresenter<'_, '_, '_> {
    /// The match of a document; `None` if the document is not visible, whatever the index has.
    fn present(
        &self,
        Hit { document, score, missing: lacked, corrected }: Hit,
        matcher: Option<&mut PatternSetMatcher<'_>>,
    ) -> Result<Option<SearchMatch>> {
        let tree = self.texts.tree;
        let record =
            if self.metadata || !tree.is_unrestricted() { tree.document(document)? } else { None };
        if record.is_none() && !tree.is_unrestricted() {
            return Ok(None);
        }
        // A pattern may match any text; terms only those that pass the prefilter.
        let texts = match matcher {
            Some(_) => self.texts.document(document)?,
            None if tree.stored_in(document)? != document => self.texts.document(document)?,
            None => DocumentTexts::read_candidates(
                tree.reader_of(document)?,
                document,
                &self.highlighter,
            )?,
        };
        let shown = snippets::snippet(&texts, &self.highlighter, matcher)?;
        let missing = || Error::corrupted(format_args!("document {document}"));
        let times = self.metadata.then(|| {
            record.map(|record| (record.created_at, record.modified_at)).ok_or_else(missing)
        });
        Ok(Some(SearchMatch {
            document_id: document,
            markdown: shown.markdown,
            highlights: shown.highlights,
            block_ids: shown.blocks,
            score,
            missing_terms: lacked.iter().map(|term| self.terms.source(*term).to_owned()).collect(),
            corrected: corrected.into_iter().map(corrected_term).collect(),
            times: times.transpose()?,
        }))
    }
}

fn corrected_term(correction: TermCorrection) -> CorrectedTerm {
    CorrectedTerm { term: correction.term, read_as: correction.read_as }
}
