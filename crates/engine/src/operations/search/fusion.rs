//! Fusion of the results of words and of vectors: a document's score is the sum of the reciprocals
//! of its ranks in both.
//!
//! A rank is one plus the number of documents with a better score, so it changes with writes to
//! others. Under a cursor it must not: the order of documents that are not written stays. So the
//! cursor has, for each list, a curve that gives the rank of a score on the first page: exact for
//! the first ranks, and interpolated between samples after them, where one rank more or less
//! changes the score by less than a hundredth. All pages rank by the curve, the first one
//! included.

use std::collections::HashSet;

use leafbase_model::{
    BlockId, DocumentId, Error, NearestBlock, QueryEmbedding, Result, SearchDocuments, invariant,
};
use leafbase_search::{DocumentRank, Hit, HitList, ParsedQuery, RankPosition};
use leafbase_store::QuantizedVector;

use super::cursor::SearchCursor;
use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::embedding_matrix::{NearestEmbedding, NearestList, QueryVector};
use crate::core::tree::Tree;
use crate::operations::cursor_text::{read_cursor, write_cursor};

/// The constant of reciprocal rank fusion: the first ranks count about the same.
const RANK_OFFSET: f64 = 60.0;
/// Ranks that a curve has exactly.
const EXACT_RANKS: usize = 128;
/// After them, the share of a rank up to the next sample.
const SAMPLE_SHARE: usize = 8;

/// The ranks that scores had in one list when the first page was read.
#[derive(Clone, Debug, Default, PartialEq)]
struct RankCurve {
    documents: u32,
    /// The sampled positions.
    positions: Vec<usize>,
    /// The scores there, in descending order.
    scores: Vec<f32>,
}

/// The sampled positions of a list, from 0 on: the last one is always among them.
fn sampled(documents: usize) -> impl Iterator<Item = usize> {
    let next = move |position: &usize| {
        let step = if *position < EXACT_RANKS { 1 } else { *position / SAMPLE_SHARE };
        let last = documents.checked_sub(1)?;
        (*position < last).then(|| (position + step).min(last))
    };
    std::iter::successors((documents > 0).then_some(0), next)
}

impl RankCurve {
    fn new(mut scores: Vec<f32>) -> Self {
        scores.sort_unstable_by(|one, other| other.total_cmp(one));
        let positions: Vec<usize> = sampled(scores.len()).collect();
        let kept = positions.iter().filter_map(|position| scores.get(*position).copied());
        let kept = kept.collect();
        // A cursor with other scores would be refused.
        debug_assert!(
            scores.is_sorted_by(|one, other| one >= other),
            "scores are numbers, the best first"
        );
        let documents = u32::try_from(scores.len()).unwrap_or(u32::MAX);
        Self { documents, positions, scores: kept }
    }

    /// The rank of a score, from 1 on. A better score never has a greater one.
    fn rank(&self, score: f32) -> f64 {
        let better = self.scores.partition_point(|sample| *sample > score);
        let Some(before) = better.checked_sub(1) else { return 1.0 };
        let after = |position: usize| f64::from(u32::try_from(position).unwrap_or(u32::MAX)) + 1.0;
        match (self.positions.get(before..=better), self.scores.get(before..=better)) {
            // Of adjacent positions the rank is exact: the score is below the upper one.
            (Some([before, at]), _) if *at == before + 1 => after(*at),
            (Some([before, at]), Some([upper, lower])) => {
                let share = f64::from(upper - score) / f64::from(upper - lower);
                after(*before) + share * (after(*at) - after(*before))
            }
            // Below all of them.
            _ => f64::from(self.documents) + 1.0,
        }
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.documents.to_be_bytes());
        bytes.extend(self.scores.iter().flat_map(|score| score.to_be_bytes()));
    }

    /// Reads a curve from the front of `bytes`.
    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (documents, rest) = bytes.split_first_chunk::<4>()?;
        let documents = u32::from_be_bytes(*documents);
        let positions: Vec<usize> = sampled(usize::try_from(documents).ok()?).collect();
        let (scores, rest) = rest.split_at_checked(positions.len().checked_mul(4)?)?;
        *bytes = rest;
        let scores = scores.chunks_exact(4).filter_map(|score| score.first_chunk::<4>());
        let scores: Vec<f32> = scores.map(|score| f32::from_be_bytes(*score)).collect();
        let is_sorted = scores.is_sorted_by(|one, other| one >= other);
        is_sorted.then_some(Self { documents, positions, scores })
    }
}

/// The ranks of a search by words and a vector on its first page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FusionRanks {
    /// Of documents with all terms.
    complete: RankCurve,
    /// Of documents that lack terms, which come after them.
    lacking: RankCurve,
    vectors: RankCurve,
}

impl FusionRanks {
    fn new(hits: &[Hit], nearest: &[NearestEmbedding]) -> Self {
        let of = |lacks_terms: bool| {
            let hits = hits.iter().filter(|hit| hit.rank.lacks_terms == lacks_terms);
            RankCurve::new(hits.map(|hit| narrow(hit.rank.score)).collect())
        };
        let similarities = nearest.iter().map(|one| one.similarity).collect();
        let vectors = RankCurve::new(similarities);
        Self { complete: of(false), lacking: of(true), vectors }
    }

    fn score(&self, words: Option<&DocumentRank>, similarity: Option<f32>) -> f64 {
        let words = words.map(|rank| {
            let score = narrow(rank.score);
            if rank.lacks_terms {
                // After all documents that have every term, whatever its score.
                f64::from(self.complete.documents) + self.lacking.rank(score)
            } else {
                self.complete.rank(score)
            }
        });
        let vectors = similarity.map(|similarity| self.vectors.rank(similarity));
        let ranks = words.into_iter().chain(vectors);
        ranks.map(|rank| 1.0 / (RANK_OFFSET + rank)).sum()
    }
}

/// A score as a curve has it.
#[expect(clippy::cast_possible_truncation, reason = "scores that become equal have one rank")]
const fn narrow(score: f64) -> f32 {
    score as f32
}

/// Separates the cursor of the search from the ranks.
const SEPARATOR: char = '.';

/// Appends the ranks of the first page to a cursor.
pub(super) fn write_ranks(cursor: String, ranks: Option<&FusionRanks>) -> String {
    let Some(FusionRanks { complete, lacking, vectors }) = ranks else { return cursor };
    let mut bytes = Vec::new();
    for curve in [complete, lacking, vectors] {
        curve.encode(&mut bytes);
    }
    format!("{cursor}{SEPARATOR}{}", write_cursor(&bytes))
}

/// Reads a cursor with the ranks of the first page, if it has any.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Validation`] at `cursor` for one of another search.
pub(super) fn read_ranks(
    fingerprint: u64,
    text: &str,
) -> Result<(SearchCursor, Option<FusionRanks>)> {
    let (cursor, ranks) = match text.split_once(SEPARATOR) {
        Some((cursor, ranks)) => (cursor, Some(ranks)),
        None => (text, None),
    };
    let decode = |bytes: Vec<u8>| {
        let mut rest = bytes.as_slice();
        let [complete, lacking, vectors] = [(); 3].map(|()| RankCurve::decode(&mut rest));
        let ranks = FusionRanks { complete: complete?, lacking: lacking?, vectors: vectors? };
        rest.is_empty().then_some(ranks)
    };
    let foreign = || Error::validation("the cursor is not of this search").at("cursor");
    let ranks = ranks.map(|ranks| read_cursor(ranks).and_then(decode).ok_or_else(foreign));
    Ok((SearchCursor::read(fingerprint, cursor)?, ranks.transpose()?))
}

/// The position before all hits of words, with the statistics of the first page: all of them are
/// fused on every page.
pub(super) fn before_all(cursor: &SearchCursor) -> RankPosition {
    let document = DocumentId::of_root(BlockId::NIL);
    let last = DocumentRank { lacks_terms: false, score: f64::INFINITY, document };
    RankPosition { last, statistics: cursor.position.statistics.clone() }
}

/// The nearest vectors of the documents that a search may return, and what fused them with words.
#[derive(Debug, Default)]
pub(super) struct Fusion {
    /// By document.
    nearest: Vec<NearestEmbedding>,
    /// `None` without words.
    pub(super) ranks: Option<FusionRanks>,
}

impl Fusion {
    /// The nearest block of a document.
    pub(super) fn nearest(&self, document: DocumentId) -> Option<NearestBlock> {
        let found = self.nearest.binary_search_by_key(&document, |one| one.document).ok()?;
        self.nearest.get(found).map(|one| NearestBlock::new(one.block, one.similarity))
    }

    /// Fuses the nearest vectors with the hits of words: all that come after `after`, or the best
    /// `limit` of them. Without words the similarity is the score. `ranks` are those of the first
    /// page.
    pub(super) fn of(
        nearest: Vec<NearestEmbedding>,
        words: Option<HitList>,
        query: &ParsedQuery,
        (after, limit): (Option<&RankPosition>, usize),
        ranks: Option<FusionRanks>,
    ) -> Result<(Self, HitList)> {
        let HitList { mut hits, statistics, stop_words, .. } = words.unwrap_or_default();
        // As the nearest vectors are sorted.
        hits.sort_unstable_by_key(|hit| hit.rank.document);
        let ranks =
            (!query.is_empty()).then(|| ranks.unwrap_or_else(|| FusionRanks::new(&hits, &nearest)));
        let mut ranked = fused(&hits, &nearest, ranks.as_ref())?;
        let total = ranked.len();
        if let Some(RankPosition { last, .. }) = after {
            ranked.retain(|(rank, _)| last.order(rank).is_lt());
        }
        let order = |one: &RankedHit, other: &RankedHit| one.0.order(&other.0);
        if limit < ranked.len() {
            ranked.select_nth_unstable_by(limit, order);
            ranked.truncate(limit);
        }
        ranked.sort_unstable_by(order);
        let lacked = (0..query.clause_count()).filter(|clause| !stop_words.contains(clause));
        let lacked: Vec<usize> = lacked.collect();
        let hit = |(rank, hit): RankedHit| match hit.and_then(|index| hits.get(index)) {
            Some(hit) => Hit { rank, ..hit.clone() },
            None => Hit { rank, missing: lacked.clone(), corrected: Vec::new() },
        };
        let hits = ranked.into_iter().map(hit).collect();
        Ok((Self { nearest, ranks }, HitList { hits, total, statistics, stop_words }))
    }
}

/// A document with its rank, and the index of its hit of words.
type RankedHit = (DocumentRank, Option<usize>);

/// All documents of both lists, which are sorted by document.
fn fused(
    hits: &[Hit],
    nearest: &[NearestEmbedding],
    ranks: Option<&FusionRanks>,
) -> Result<Vec<RankedHit>> {
    invariant!(ranks.is_some() || hits.is_empty(), "the results of words are fused by their ranks");
    // Both lists are merged.
    debug_assert!(hits.is_sorted_by_key(|hit| hit.rank.document), "hits are by document");
    debug_assert!(
        nearest.is_sorted_by(|one, other| one.document < other.document),
        "a document has one nearest vector"
    );
    let score = |words: Option<&Hit>, similarity: Option<f32>| match ranks {
        Some(ranks) => ranks.score(words.map(|hit| &hit.rank), similarity),
        None => similarity.map_or(0.0, f64::from),
    };
    let mut found = Vec::with_capacity(hits.len().max(nearest.len()));
    let mut words = hits.iter().enumerate().peekable();
    let mut vectors = nearest.iter().peekable();
    loop {
        let next =
            [words.peek().map(|(_, hit)| hit.rank.document), vectors.peek().map(|v| v.document)];
        let Some(document) = next.into_iter().flatten().min() else { return Ok(found) };
        let hit = words.next_if(|(_, hit)| hit.rank.document == document);
        let vector = vectors.next_if(|vector| vector.document == document);
        let score = score(hit.map(|(_, hit)| hit), vector.map(|vector| vector.similarity));
        let rank = DocumentRank { lacks_terms: false, score, document };
        found.push((rank, hit.map(|(index, _)| index)));
    }
}

impl<A: AccessScope> Connection<A> {
    /// The nearest vector of each of `documents`, which are sorted, that has any.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Validation`] at `embedding.vector` for a vector of another
    /// number of components than those of the model; errors of the store.
    pub(super) fn nearest(
        &self,
        tree: &Tree<'_>,
        embedding: &QueryEmbedding,
        documents: &[DocumentId],
    ) -> Result<Vec<NearestEmbedding>> {
        let QueryEmbedding { model, vector, .. } = embedding;
        let query = QueryVector::new(&QuantizedVector::nearest_to(vector));
        let expects = |dimensions: u64| {
            let found = vector.len();
            let message = format!(
                "the vectors of the model have {dimensions} components, and this one has {found}"
            );
            Err(Error::validation(message).at("embedding.vector"))
        };
        if tree.is_unrestricted() {
            let reader = tree.full_reader()?;
            let Some(matrix) = self.space.embeddings().matrix(reader, model)? else {
                return Ok(Vec::new());
            };
            let dimensions = matrix.record.dimensions;
            if dimensions != vector.len() as u64 {
                return expects(dimensions);
            }
            let threads = self.space.search_threads();
            return matrix.nearest(reader, model, &query, documents, threads);
        }
        // Document by document: the bundles of others are not read, as they may be damaged.
        let mut found = NearestList::default();
        for document in documents {
            for stored in visible_embeddings(tree, model, *document)? {
                if stored.vector.components.len() != vector.len() {
                    return expects(stored.vector.components.len() as u64);
                }
                found.add_stored(*document, &query, &stored);
            }
        }
        Ok(found.0)
    }
}

/// The vectors of a document of the scope, or of a page that is shown as one.
fn visible_embeddings(
    tree: &Tree<'_>,
    model: &str,
    document: DocumentId,
) -> Result<Vec<leafbase_store::StoredEmbedding>> {
    if !tree.can_see_document(document)? {
        return Ok(Vec::new());
    }
    let (reader, stored_in) = (tree.reader_of(document)?, tree.stored_in(document)?);
    let mut stored = reader.embeddings_in(model, stored_in)?;
    if stored_in != document && !stored.is_empty() {
        let blocks = reader.subtree_texts(document.root())?;
        // The document around the page has vectors that the scope must not see.
        let blocks: HashSet<BlockId> = blocks.iter().map(|block| block.id).collect();
        stored.retain(|embedding| blocks.contains(&embedding.block));
    }
    Ok(stored)
}

/// Whether a request compares vectors.
pub(super) const fn has_embedding(request: &SearchDocuments) -> bool {
    request.embedding.is_some()
}

#[cfg(test)]
mod tests {
    use leafbase_search::RankingStatistics;

    use super::*;

    fn curve(documents: u16, score: impl Fn(u16) -> f32) -> RankCurve {
        RankCurve::new((0..documents).map(score).collect())
    }

    #[test]
    fn the_first_ranks_are_exact_and_the_others_near() {
        for documents in [0, 1, 2, 127, 128, 129, 130, 1_000, 40_000] {
            let curve = curve(documents, |position| 1.0 / (1.0 + f32::from(position)));
            for position in 0..documents {
                let rank = curve.rank(1.0 / (1.0 + f32::from(position)));
                let exact = f64::from(position) + 1.0;
                let error = (1.0 / (RANK_OFFSET + rank) - 1.0 / (RANK_OFFSET + exact)).abs();
                let is_exact = usize::from(position) <= EXACT_RANKS;
                let bound = if is_exact { 0.0 } else { 0.1 / (RANK_OFFSET + exact) };
                assert!(error <= bound, "{documents} {position} {rank}");
            }
            assert!(
                (curve.rank(-1.0)
                    - f64::from(documents.max(1))
                    - f64::from(u8::from(documents > 0)))
                .abs()
                    < 1e-9
            );
        }
    }

    #[test]
    fn equal_scores_have_one_rank_and_better_ones_no_greater_one() {
        let curve = curve(1_000, |position| f32::from(position / 10));
        let ranks: Vec<f64> =
            (0..120_u16).rev().map(|score| curve.rank(f32::from(score))).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
        assert_eq!(curve.rank(99.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(curve.rank(98.0).to_bits(), 11.0_f64.to_bits());
    }

    #[test]
    fn ranks_read_back() {
        let ranks = FusionRanks {
            complete: curve(300, f32::from),
            lacking: RankCurve::default(),
            vectors: curve(1, f32::from),
        };
        let last = DocumentRank {
            lacks_terms: false,
            score: 0.1,
            document: DocumentId::of_root(BlockId::NIL),
        };
        let position = RankPosition { last, statistics: RankingStatistics::default() };
        let total = super::super::cursor::SearchTotal::new(3, true);
        let cursor = SearchCursor { log_end: None, total, position, block: None, now: None };
        let text = write_ranks(cursor.write(9), Some(&ranks));
        assert_eq!(read_ranks(9, &text).unwrap(), (cursor.clone(), Some(ranks)));
        for end in 0..text.len() {
            let read = read_ranks(9, text.get(..end).unwrap());
            // Without the ranks it is the cursor of a search without words.
            assert!(read.is_err() || read.unwrap() == (cursor.clone(), None));
        }
    }
}
