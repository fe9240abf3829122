//! The documents of a page of a search, by rank.

use leafbase_model::{DocumentId, ErrorKind, Limits, Result, SearchDocuments, SearchGroup};
use leafbase_search::{DocumentRank, Hit, HitList, RankPosition};

use super::cursor::{BlockPosition, SearchCursor, SearchTotal};
use super::match_counts::MatchCounter;
use super::patterns::PatternSetMatcher;
use super::texts::VisibleTexts;

/// The page that a request asks for.
#[derive(Clone, Copy)]
pub(super) struct PageRequest<'c> {
    /// The position after the previous page.
    pub(super) after: Option<&'c RankPosition>,
    /// In a search for blocks: where the previous page ended within a document.
    pub(super) block: Option<BlockPosition>,
    /// Results on it.
    pub(super) limit: usize,
    /// What the results are.
    pub(super) group: SearchGroup,
}

impl<'c> PageRequest<'c> {
    pub(super) fn new(request: &SearchDocuments, cursor: Option<&'c SearchCursor>) -> Self {
        Self {
            after: cursor.map(|cursor| &cursor.position),
            block: cursor.and_then(|cursor| cursor.block),
            limit: request.paging.limit.unwrap_or(Limits::SEARCH_RESULTS),
            group: request.group,
        }
    }

    /// All documents.
    pub(super) const ALL: Self =
        Self { after: None, block: None, limit: usize::MAX, group: SearchGroup::Document };

    pub(super) const fn is_first(&self) -> bool {
        self.after.is_none()
    }

    /// The documents that the page needs from the index: one more than it has results tells whether
    /// there is a next page, and each document has a block at least. The first page counts the
    /// blocks of all, and one that begins within a document skips any number of them.
    pub(super) const fn index_limit(&self) -> usize {
        match self.group {
            SearchGroup::Block if self.is_first() || self.block.is_some() => usize::MAX,
            SearchGroup::Block | SearchGroup::Document => self.limit.saturating_add(1),
        }
    }

    /// Whether the page has a document that ranks after the position. If it begins within one, only
    /// documents that were written since rank before that: with them the page could end before it,
    /// and the next page would repeat its first blocks.
    fn includes(&self, rank: &DocumentRank) -> bool {
        self.block.is_none_or(|BlockPosition { rank: within, .. }| {
            rank.document == within.document || within.order(rank).is_lt()
        })
    }
}

/// The hits of a page, and the documents after it.
#[derive(Default)]
pub(super) struct RankedHits {
    pub(super) hits: Vec<Hit>,
    /// Documents after the page, in order, as far as they were read. A pattern may match them.
    pub(super) rest: Vec<Hit>,
    /// Documents known to match, those before the page included; a page with documents that a
    /// pattern may match counts its own.
    known: usize,
    /// The matching blocks of all documents, if they were counted.
    pub(super) known_blocks: Option<usize>,
    /// Whether a known document comes after the page.
    pub(super) has_more: bool,
}

impl RankedHits {
    /// The page of the best hits of terms, of which the index gave more.
    pub(super) fn of_terms(list: HitList, page: PageRequest<'_>) -> Self {
        let HitList { mut hits, total, .. } = list;
        hits.retain(|hit| page.includes(&hit.rank));
        let rest = hits.split_off(page.limit.min(hits.len()));
        let has_more = !rest.is_empty();
        Self { hits, rest, known: total, known_blocks: None, has_more }
    }

    /// The page of the best hits that a pattern matches. `candidates` is sorted.
    pub(super) fn of_both(
        texts: &VisibleTexts<'_, '_>,
        hits: Vec<Hit>,
        candidates: &[DocumentId],
        page: PageRequest<'_>,
        matcher: &mut PatternSetMatcher<'_>,
    ) -> Result<Self> {
        let may_match = |hit: &Hit| {
            page.includes(&hit.rank) && candidates.binary_search(&hit.rank.document).is_ok()
        };
        let mut hits = hits.into_iter().filter(may_match);
        let mut found = Vec::new();
        while found.len() < page.limit
            && let Some(hit) = hits.next()
        {
            if !texts.count_matches(&[hit.rank.document], matcher)?.is_empty() {
                found.push(hit);
            }
        }
        let known = found.len();
        Ok(Self { hits: found, rest: hits.collect(), known, known_blocks: None, has_more: false })
    }

    /// The page of the documents with the most matching blocks.
    pub(super) fn of_patterns(
        counter: &MatchCounter<'_>,
        candidates: &[DocumentId],
        page: PageRequest<'_>,
        matcher: &mut PatternSetMatcher<'_>,
    ) -> Result<Self> {
        let counts = counter.count(candidates, matcher)?;
        let known = counts.len();
        let known_blocks = Some(counts.iter().map(|(_, count)| count).sum());
        let rank = |(document, count): (DocumentId, usize)| {
            let score = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
            DocumentRank { lacks_terms: false, score, document }
        };
        let mut ranks: Vec<DocumentRank> = counts.into_iter().map(rank).collect();
        if let Some(RankPosition { last, .. }) = page.after {
            ranks.retain(|rank| last.order(rank).is_lt() && page.includes(rank));
        }
        ranks.sort_unstable_by(DocumentRank::order);
        let has_more = ranks.len() > page.limit;
        ranks.truncate(page.limit);
        let hits =
            ranks.into_iter().map(|rank| Hit { rank, missing: Vec::new(), corrected: Vec::new() });
        Ok(Self { hits: hits.collect(), rest: Vec::new(), known, known_blocks, has_more })
    }

    /// The total of the first page, and whether documents come after the page. Matches the
    /// remaining documents as far as the answer needs.
    pub(super) fn count_rest(
        self,
        texts: &VisibleTexts<'_, '_>,
        page: PageRequest<'_>,
        matcher: Option<&mut PatternSetMatcher<'_>>,
    ) -> Result<(SearchTotal, bool)> {
        let Self { rest, known, has_more, .. } = self;
        let Some(matcher) = matcher.filter(|_| !rest.is_empty()) else {
            return Ok((SearchTotal::new(known, true), has_more));
        };
        // Later pages have the total of the first one.
        let enough = if page.is_first() { Limits::SEARCH_TOTAL + 1 } else { known + 1 };
        let (mut counted, mut is_complete) = (known, true);
        for hit in rest {
            if counted >= enough {
                break;
            }
            match texts.count_matches(&[hit.rank.document], matcher) {
                Ok(matches) => counted += usize::from(!matches.is_empty()),
                // The page is complete: the next one may go on, with a budget of its own.
                Err(error) if error.kind() == ErrorKind::LimitExceeded => {
                    is_complete = false;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok((SearchTotal::new(counted, is_complete), counted > known || !is_complete))
    }
}
