//! The results of a page, as replies show them: documents or blocks, each with a snippet. Many
//! documents that terms alone found are read on several threads: each is shown by itself.

use leafbase_model::{
    BlockId, CorrectedTerm, DocumentId, Error, ErrorKind, Limits, Result, SearchMatch, Timestamp,
};
use leafbase_search::{DocumentRank, Highlighter, Hit, ParsedQuery, TermCorrection};
use leafbase_tree_ops::ReadTree;

use super::cursor::{BlockPosition, SearchTotal};
use super::fusion::Fusion;
use super::patterns::PatternSetMatcher;
use super::ranked_hits::{PageRequest, RankedHits};
use super::snippets::{self, MatchedBlock, Snippet};
use super::texts::VisibleTexts;
use crate::core::search_index::documents::DocumentTexts;
use crate::core::tree::VisibleSnapshot;
use crate::support::shares::map_shares;

/// The fewest documents that a thread is started for: reading them takes about ten times as long as
/// starting it.
const MIN_DOCUMENTS_PER_THREAD: usize = 128;

/// What the matches of a reply are made of, on any thread.
#[derive(Clone, Copy)]
pub(super) struct MatchSource<'s> {
    pub(super) snapshot: &'s VisibleSnapshot,
    pub(super) terms: &'s ParsedQuery,
    /// The terms without stop words, and with the words that others were read as.
    pub(super) shown_terms: &'s ParsedQuery,
    pub(super) metadata: bool,
    pub(super) fusion: &'s Fusion,
    /// Threads to use, the calling one included.
    pub(super) threads: usize,
}

impl<'s> MatchSource<'s> {
    pub(super) fn presenter<'t, 'a>(
        self,
        texts: &'s VisibleTexts<'t, 'a>,
    ) -> MatchPresenter<'s, 't, 'a> {
        MatchPresenter { source: self, texts, highlighter: self.shown_terms.highlighter() }
    }

    /// The matches of documents, without patterns.
    fn matches(self, hits: &[Hit]) -> Result<Vec<SearchMatch>> {
        let tree = self.snapshot.tree();
        self.presenter(&VisibleTexts::new(&tree)).matches(hits, None)
    }
}

/// Turns hits into the matches of a reply, on one thread.
pub(super) struct MatchPresenter<'s, 't, 'a> {
    source: MatchSource<'s>,
    texts: &'s VisibleTexts<'t, 'a>,
    highlighter: Highlighter<'s>,
}

/// The results of a page.
pub(super) struct SearchResults {
    pub(super) items: Vec<SearchMatch>,
    /// The number of results, as of this page.
    pub(super) total: SearchTotal,
    /// The rank after which the next page starts, and where within a document after it.
    pub(super) next: Option<(DocumentRank, Option<BlockPosition>)>,
}

/// A document that is shown.
struct ShownDocument {
    texts: DocumentTexts,
    /// The times of creation and of the last modification, if the request asked for them.
    times: Option<(Timestamp, Timestamp)>,
}

impl MatchPresenter<'_, '_, '_> {
    /// The page of documents.
    pub(super) fn documents(
        &self,
        mut ranked: RankedHits,
        page: PageRequest<'_>,
        mut matcher: Option<&mut PatternSetMatcher<'_>>,
    ) -> Result<SearchResults> {
        let hits = std::mem::take(&mut ranked.hits);
        let last = hits.last().map(|hit| hit.rank);
        let items = match &mut matcher {
            Some(matcher) => self.matches(&hits, Some(matcher))?,
            None => self.matches_in_parallel(&hits)?,
        };
        // Snippets come first, so that the steps of a page do not depend on the rest.
        let (total, has_more) = ranked.count_rest(self.texts, page, matcher)?;
        let next = last.filter(|_| has_more).map(|last| (last, None));
        Ok(SearchResults { items, total, next })
    }

    /// The matches of documents, in their order.
    fn matches(
        &self,
        hits: &[Hit],
        mut matcher: Option<&mut PatternSetMatcher<'_>>,
    ) -> Result<Vec<SearchMatch>> {
        let mut items = Vec::with_capacity(hits.len());
        for hit in hits {
            let document = hit.rank.document;
            let Some(shown) = self.read(document, matcher.is_some())? else { continue };
            let mut snippet =
                snippets::snippet(&shown.texts, &self.highlighter, matcher.as_deref_mut())?;
            // A document that was found by its vectors alone shows the nearest text.
            let nearest = self.source.fusion.nearest(document);
            if let Some(nearest) = nearest.filter(|_| snippet.blocks.is_empty()) {
                snippet = snippets::of_block(&self.texts.document(document)?, nearest.block_id);
            }
            items.push(self.present(hit, None, snippet, shown.times));
        }
        Ok(items)
    }

    /// The matches of documents, in their order, without patterns: a share on each thread.
    fn matches_in_parallel(&self, hits: &[Hit]) -> Result<Vec<SearchMatch>> {
        let threads = self.source.threads.min(hits.len() / MIN_DOCUMENTS_PER_THREAD).max(1);
        if threads == 1 {
            return self.matches(hits, None);
        }
        let source = self.source;
        let shares = map_shares(hits, threads, "leafbase-search", |share| source.matches(share));
        let mut items = Vec::with_capacity(hits.len());
        for share in shares {
            items.append(&mut share?);
        }
        Ok(items)
    }

    /// The page of blocks: those of the best document first, and in it those with the most distinct
    /// matches, in reading order.
    pub(super) fn blocks(
        &self,
        ranked: RankedHits,
        page: PageRequest<'_>,
        mut matcher: Option<&mut PatternSetMatcher<'_>>,
    ) -> Result<SearchResults> {
        let RankedHits { hits, rest, known_blocks, mut has_more, .. } = ranked;
        let mut hits = hits.into_iter().chain(rest);
        let mut last = page.after.map_or(DocumentRank::FIRST, |position| position.last);
        let (mut items, mut within, mut counted) = (Vec::new(), None, 0);
        while items.len() < page.limit
            && let Some(hit) = hits.next()
        {
            let document = hit.rank.document;
            let Some(shown) = self.read(document, matcher.is_some())? else { continue };
            let blocks = self.ranked_blocks(&shown.texts, matcher.as_deref_mut())?;
            counted += blocks.len();
            let done = page.block.filter(|position| position.rank.document == document);
            let done = done.and_then(|position| {
                blocks.iter().position(|matched| matched.block == position.block)
            });
            // A block that is gone since the last page restarts its document, so that none is
            // skipped.
            let mut blocks = blocks.into_iter().skip(done.map_or(0, |done| done + 1));
            let room = page.limit - items.len();
            for matched in blocks.by_ref().take(room) {
                let block = matched.block;
                items.push(self.present(&hit, Some(block), matched.snippet(), shown.times));
                within = Some(BlockPosition { rank: hit.rank, block });
            }
            if blocks.next().is_some() {
                has_more = true;
            } else {
                (last, within) = (hit.rank, None);
            }
        }
        has_more |= within.is_some();
        let mut is_complete = true;
        // Later pages have the total of the first one.
        let is_counting = page.is_first() && known_blocks.is_none();
        for hit in hits {
            if has_more && (!is_counting || counted > Limits::SEARCH_TOTAL) {
                break;
            }
            let Some(shown) = self.read(hit.rank.document, matcher.is_some())? else { continue };
            match self.ranked_blocks(&shown.texts, matcher.as_deref_mut()) {
                Ok(blocks) => {
                    counted += blocks.len();
                    has_more |= !blocks.is_empty();
                }
                // The page is complete: the next one may go on, with a budget of its own.
                Err(error) if error.kind() == ErrorKind::LimitExceeded => {
                    (is_complete, has_more) = (false, true);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        let total = SearchTotal::new(known_blocks.unwrap_or(counted), is_complete);
        Ok(SearchResults { items, total, next: has_more.then_some((last, within)) })
    }

    /// The texts of a document; `None` if it is not visible, whatever the index has.
    fn read(&self, document: DocumentId, has_patterns: bool) -> Result<Option<ShownDocument>> {
        let tree = self.texts.tree;
        let record = if self.source.metadata || !tree.is_unrestricted() {
            tree.document(document)?
        } else {
            None
        };
        if record.is_none() && !tree.is_unrestricted() {
            return Ok(None);
        }
        // A pattern may match any text; terms only those that pass the prefilter.
        let texts = if has_patterns || tree.stored_in(document)? != document {
            self.texts.document(document)?
        } else {
            DocumentTexts::read_candidates(tree.reader_of(document)?, document, &self.highlighter)?
        };
        let missing = || Error::corrupted(format_args!("document {document}"));
        let times = self.source.metadata.then(|| {
            record.map(|record| (record.created_at, record.modified_at)).ok_or_else(missing)
        });
        Ok(Some(ShownDocument { texts, times: times.transpose()? }))
    }

    /// The matching blocks of a document, the best first. A document that terms alone found has one
    /// at least: its title.
    fn ranked_blocks<'d>(
        &self,
        texts: &'d DocumentTexts,
        matcher: Option<&mut PatternSetMatcher<'_>>,
    ) -> Result<Vec<MatchedBlock<'d>>> {
        let has_patterns = matcher.is_some();
        let mut blocks = snippets::matched_blocks(texts, &self.highlighter, matcher, usize::MAX)?;
        if has_patterns && !blocks.iter().any(|matched| matched.has_pattern) {
            return Ok(Vec::new());
        }
        if blocks.is_empty() {
            blocks.extend(texts.blocks().next().map(MatchedBlock::without_matches));
        }
        // Stable, so that equal ones stay in reading order.
        blocks.sort_by_key(|matched| std::cmp::Reverse(matched.rank()));
        Ok(blocks)
    }

    fn present(
        &self,
        hit: &Hit,
        block: Option<BlockId>,
        shown: Snippet,
        times: Option<(Timestamp, Timestamp)>,
    ) -> SearchMatch {
        let missing = hit.missing.iter().map(|term| self.source.terms.source(*term).to_owned());
        SearchMatch {
            document_id: hit.rank.document,
            block_id: block,
            markdown: shown.markdown,
            highlights: shown.highlights,
            block_ids: shown.blocks,
            score: hit.rank.score,
            missing_terms: missing.collect(),
            corrected: hit.corrected.iter().cloned().map(corrected_term).collect(),
            nearest: self.source.fusion.nearest(hit.rank.document),
            times,
        }
    }
}

fn corrected_term(correction: TermCorrection) -> CorrectedTerm {
    CorrectedTerm { term: correction.term, read_as: correction.read_as }
}
