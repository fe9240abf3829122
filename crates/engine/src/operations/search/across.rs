//! The search across documents: by words, by patterns, or by both.

use std::cmp::Reverse;

use leafbase_model::{
    DocumentId, Error, Items, Limits, Result, SearchDocuments, SearchMatch, TermMode,
};
use leafbase_search::{
    Attributes, Highlighter, Hit, IndexSnapshot, ParsedQuery, SearchDocument, SearchOverlay,
};
use leafbase_tree_ops::ReadTree;

use super::filters::{self, Filters};
use super::match_counts::MatchCounter;
use super::patterns::{PatternSet, PatternSetMatcher};
use super::snippets;
use super::texts::VisibleTexts;
use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::search_index::documents::DocumentTexts;
use crate::core::search_index::indexer::SearchSnapshot;
use crate::core::visibility::Visibility;

/// The most documents that a search gives.
pub(super) const MOST: usize = Limits::SEARCH_RESULTS;

/// What is asked for.
pub(super) struct Asked {
    pub(super) terms: ParsedQuery,
    /// None if there are no patterns.
    patterns: Option<PatternSet>,
}

/// What the index tells.
pub(super) struct Told {
    /// Documents that have the words, the best first; none if there are only patterns.
    pub(super) hits: Option<Vec<Hit>>,
    /// Documents that a pattern may match in, by ID; none if there are only words.
    candidates: Option<Vec<DocumentId>>,
}

impl<A: AccessScope> Connection<A> {
    /// Finds documents by words, by regular expressions, or by both: the twenty most relevant ones,
    /// each with a piece of its text around what was found. It sees every write that returned
    /// before it began.
    ///
    /// All words have to occur in a document, in whatever blocks, in its title or in comments; with
    /// [`SearchDocuments::any_word`] one is enough. Case, accents and width don't matter, English
    /// words are found in their other forms, and the last word of a text may be the beginning of
    /// one. Words between quotation marks have to stand together. A text of signs alone asks for
    /// nothing, and nothing but such texts finds nothing.
    ///
    /// A pattern matches within one block, in the markdown that replies show, whatever the case
    /// unless it says `(?-i)`. Of several one has to match. Without words, the documents come first
    /// in which most blocks match. Documents that are equal are ordered by ID.
    ///
    /// Without a filter everything is searched but the trash, and the inbox never is.
    ///
    /// A scoped connection searches what it is shown, as if there were nothing else: what is found,
    /// in which order, the scores and what a pattern may cost go by its documents alone, and links
    /// to others are searched as the placeholders that stand for them. Where a block link leads is
    /// no word, on any connection.
    ///
    /// ```
    /// use leafbase::{Position, SearchDocuments, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip to Lisbon")?;
    /// notes.insert_markdown("- [ ] passports\n- [ ] train at 22:10", Position::end_of(trip.id()))?;
    ///
    /// let found = notes.search("passport lis")?;
    /// assert_eq!((found[0].document_id, found[0].markdown.as_str()), (trip.id(), "**passports**"));
    /// let found = notes.search(SearchDocuments::words("train").matching(r"\b\d\d:\d\d\b"))?;
    /// assert_eq!(found[0].markdown, "**train** at **22:10**");
    /// assert_eq!(found[0].highlights.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    ///
    /// By the documents that have the rarest of the words, those written since the index caught up,
    /// and what is shown. The first search of a space reads its index once, or all of the space if
    /// there is none. A pattern reads every document that has the letters that it requires; one
    /// that requires no three letters in a row reads all. On a scoped connection it costs by its
    /// documents among these, and what is seen of an index is found out once for each state of
    /// both; a pattern reads every document with block links. It is bounded by counted steps, so
    /// that its outcome is the same on every machine. Where a pattern reads more than 256
    /// documents, the call shares them out among threads that end before it does: see
    /// [`SpaceBuilder::search_threads`](crate::SpaceBuilder::search_threads).
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] for what [`SearchDocuments::check`] refuses;
    /// [`crate::ErrorKind::LimitExceeded`] at `include` for more than 32 texts, at `include[n]` for
    /// one of more than 256 bytes, at `regexps` for more than 8 patterns, at `documentIds` and
    /// `folderIds` for more than [`crate::Limits::blocks_per_request`], and at the pattern that
    /// takes too many steps; [`crate::ErrorKind::InvalidPattern`] at the pattern;
    /// [`crate::ErrorKind::NotFound`] at `documentIds[n]` and `folderIds[n]`; of days what
    /// [`Connection::list_documents`] says. On a scoped connection [`crate::ErrorKind::Validation`]
    /// at `location`, `folderIds`, `dailyNoteDateGte` and `dailyNoteDateLte`: they would tell of
    /// what it is not shown. An index that is missing, damaged or another space's is no error: it
    /// is made anew.
    pub fn search(&self, request: impl Into<SearchDocuments>) -> Result<Items<SearchMatch>> {
        let (request, seen) = (request.into(), self.visibility());
        let _operation = self.operation("search");
        self.search_as(&request, &seen).map_err(|error| seen.redact_error(error))
    }

    fn search_as(
        &self,
        request: &SearchDocuments,
        seen: &Visibility,
    ) -> Result<Items<SearchMatch>> {
        request.check()?;
        self.check_ids("documentIds", request.document_ids.as_ref())?;
        self.check_ids("folderIds", request.filter.folders.as_ref())?;
        filters::check(request, seen)?;
        let asked = Asked::read(request)?;
        let (snapshot, told) = self.told(request, &asked, seen)?;
        let tree = snapshot.space.tree();
        let reading = VisibleTexts::new(&tree);
        let mut matcher = asked.patterns.as_ref().map(PatternSet::matcher);
        let found = match (told.hits, told.candidates, &mut matcher) {
            (None, None, _) => Vec::new(),
            (Some(hits), Some(candidates), Some(matcher)) => {
                both(&reading, hits, &candidates, matcher)?
            }
            (None, Some(candidates), Some(matcher)) => {
                let parts = MatchCounter {
                    snapshot: &snapshot.space,
                    threads: self.space.search_threads(),
                };
                by_blocks(&parts, &candidates, matcher)?
            }
            (hits, ..) => hits.unwrap_or_default(),
        };
        let showing = Showing {
            reading: &reading,
            highlighter: asked.terms.highlighter(),
            metadata: request.metadata,
        };
        let shown = found.into_iter().map(|hit| showing.shown(hit, matcher.as_mut()));
        shown.filter_map(Result::transpose).collect::<Result<_>>().map(Items)
    }

    /// Asks the index. One that fails is made anew, and asked again.
    fn told(
        &self,
        request: &SearchDocuments,
        asked: &Asked,
        seen: &Visibility,
    ) -> Result<(SearchSnapshot, Told)> {
        let (store, now, indexer) = (self.space.store()?, self.space.now(), self.space.indexer());
        let mut has_failed = false;
        loop {
            let snapshot = indexer.snapshot(&store, seen)?;
            let filters = Filters::read(&snapshot.space.tree(), request, now)?;
            let accepts = |document: &Attributes| filters.accepts(document);
            match snapshot.search(&accepts, |view, scope| asked.ask(view, scope)) {
                Ok(told) => return Ok((snapshot, told)),
                Err(error) if has_failed => return Err(error),
                Err(error) => indexer.invalidate(&snapshot, &error),
            }
            has_failed = true;
        }
    }
}

impl Asked {
    fn read(request: &SearchDocuments) -> Result<Self> {
        let terms = ParsedQuery::new(&request.include, request.term_mode == TermMode::Any)?;
        let patterns = (!request.regexps.is_empty())
            .then(|| PatternSet::new("regexps", &request.regexps, false));
        Ok(Self { terms, patterns: patterns.transpose()? })
    }

    fn ask(&self, view: &IndexSnapshot, scope: &SearchOverlay<'_>) -> Result<Told> {
        let most = if self.patterns.is_none() { MOST } else { usize::MAX };
        let hits =
            (!self.terms.is_empty()).then(|| view.search(&self.terms, scope, most)).transpose()?;
        let candidates =
            self.patterns.as_ref().map(|patterns| candidates(patterns, view, scope)).transpose()?;
        Ok(Told { hits, candidates })
    }
}

/// The documents in which one of the patterns may match, by ID: what has the letters that it
/// requires, in the index or changed since.
fn candidates(
    patterns: &PatternSet,
    view: &IndexSnapshot,
    scope: &SearchOverlay<'_>,
) -> Result<Vec<DocumentId>> {
    let queries = patterns.trigram_queries();
    let mut candidates = view.candidates(&queries, scope)?;
    let varies = |document: &SearchDocument| scope.subset.is_some() && document.varies();
    let may_match = |document: &SearchDocument| {
        (scope.filter)(document.attributes())
            && (varies(document) || queries.iter().any(|query| document.may_match(query)))
    };
    let fresh = scope.dirty.iter().filter(|document| may_match(document));
    candidates.extend(fresh.map(|document| document.id()));
    candidates.sort_unstable();
    Ok(candidates)
}

/// The best documents that have the words, and in which a pattern matches.
fn both(
    reading: &VisibleTexts<'_, '_>,
    hits: Vec<Hit>,
    candidates: &[DocumentId],
    matcher: &mut PatternSetMatcher<'_>,
) -> Result<Vec<Hit>> {
    let mut found = Vec::new();
    for hit in hits {
        if found.len() >= MOST {
            break;
        }
        let may_match = candidates.binary_search(&hit.document).is_ok();
        if may_match && !reading.count_matches(&[hit.document], matcher)?.is_empty() {
            found.push(hit);
        }
    }
    Ok(found)
}

/// The documents in which most blocks match.
fn by_blocks(
    parts: &MatchCounter<'_>,
    candidates: &[DocumentId],
    matcher: &mut PatternSetMatcher<'_>,
) -> Result<Vec<Hit>> {
    let counts = parts.count(candidates, matcher)?;
    let mut found: Vec<_> =
        counts.into_iter().map(|(document, count)| (Reverse(count), document)).collect();
    found.sort_unstable();
    found.truncate(MOST);
    let score = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    Ok(found
        .into_iter()
        .map(|(Reverse(count), document)| Hit { document, score: score(count) })
        .collect())
}

/// Shows what was found.
struct Showing<'s, 't, 'a> {
    reading: &'s VisibleTexts<'t, 'a>,
    highlighter: Highlighter<'s>,
    metadata: bool,
}

impl Showing<'_, '_, '_> {
    /// What is shown of a document; nothing of one that is not seen, whatever the index says.
    fn shown(
        &self,
        Hit { document, score }: Hit,
        matcher: Option<&mut PatternSetMatcher<'_>>,
    ) -> Result<Option<SearchMatch>> {
        let tree = self.reading.tree;
        let record =
            if self.metadata || !tree.is_unrestricted() { tree.document(document)? } else { None };
        if record.is_none() && !tree.is_unrestricted() {
            return Ok(None);
        }
        // Patterns are matched on every text.
        let texts = match matcher {
            Some(_) => self.reading.document(document)?,
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
            times: times.transpose()?,
        }))
    }
}
