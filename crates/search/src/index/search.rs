//! Ranked search over a snapshot of the index and its overlay.

use std::collections::HashSet;

use leafbase_model::{DocumentId, Result, SearchWeights, TermMode};

use super::clause_search::{ClauseMatches, ClauseSearch, TermMatch};
use super::error::IndexFailure;
use super::overlay::SearchOverlay;
use super::score_list::{MergeMode, merge};
use super::snapshot::{DocNumber, IndexSnapshot};
use crate::document::Attributes;
use crate::parsed_query::{ParsedQuery, TermCorrection};
use crate::ranking::{DocumentRank, RankPosition, RankingStatistics};

/// A document that matches a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The document with its score. In the mode [`TermMode::Most`], that of a document which lacks
    /// terms is multiplied by the share of the query's weight that it has.
    pub rank: DocumentRank,
    /// The clauses of the query that it lacks, by index, except stop words.
    pub missing: Vec<usize>,
    /// The words that it has in place of words of the query which no document has.
    pub corrected: Vec<TermCorrection>,
}

/// The documents that match a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HitList {
    /// The best ones, in order.
    pub hits: Vec<Hit>,
    /// The number of all, those before the position included.
    pub total: usize,
    /// What ranked them.
    pub statistics: RankingStatistics,
    /// The clauses that are stop words, by index; empty if all are.
    pub stop_words: Vec<usize>,
}

/// The factor of the score of a document with these attributes.
pub type ScoreFactor<'r> = &'r dyn Fn(&Attributes) -> Result<f64>;

/// How a search ranks documents, and from where on.
#[derive(Clone, Copy, Default)]
pub struct RankingOptions<'r> {
    /// The position after which results are wanted; `None` for the first ones. Its statistics rank
    /// them: a document whose text has not changed has the same rank as before, whatever was
    /// written to others.
    pub after: Option<&'r RankPosition>,
    /// The weights of title, body and headings.
    pub weights: SearchWeights,
    /// The factor of a document's score; 1 if absent.
    pub boost: Option<ScoreFactor<'r>>,
}

impl std::fmt::Debug for RankingOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RankingOptions")
            .field("after", &self.after)
            .field("weights", &self.weights)
            .finish_non_exhaustive()
    }
}

impl IndexSnapshot {
    /// The best `limit` documents: in the mode [`TermMode::Most`] those with all terms first, then
    /// by descending score, then by ID. Reads the postings of all terms: costs time in proportion
    /// to the documents that have one.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Storage`] if the index cannot be read.
    pub fn search(
        &self,
        query: &ParsedQuery,
        overlay: &SearchOverlay<'_>,
        limit: usize,
    ) -> Result<HitList> {
        self.search_ranked(query, overlay, RankingOptions::default(), limit)
    }

    /// The best `limit` documents with weights, or after a position in the results of the same
    /// query with the same weights. Each page costs as much as the first one.
    ///
    /// # Errors
    /// As [`Self::search`], and errors of the boost.
    pub fn search_ranked(
        &self,
        query: &ParsedQuery,
        overlay: &SearchOverlay<'_>,
        options: RankingOptions<'_>,
        limit: usize,
    ) -> Result<HitList> {
        self.find_hits(query, overlay, options, limit).map_err(|IndexFailure(error)| error)
    }

    /// The documents that have all words and phrases of a query in their title, whatever its mode;
    /// none without words.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn titled(
        &self,
        query: &ParsedQuery,
        overlay: &SearchOverlay<'_>,
    ) -> Result<HashSet<DocumentId>> {
        self.find_titled(query, overlay).map_err(|IndexFailure(error)| error)
    }

    fn find_titled(
        &self,
        query: &ParsedQuery,
        overlay: &SearchOverlay<'_>,
    ) -> Result<HashSet<DocumentId>, IndexFailure> {
        let search = ClauseSearch::new(self, overlay, SearchWeights::default(), None)?;
        let mut found: Option<HashSet<DocumentId>> = None;
        for clause in &query.clauses {
            let mut here = HashSet::new();
            for (number, _) in search.in_title(clause)? {
                here.insert(search.attributes(number)?.id);
            }
            if let Some(before) = found {
                here.retain(|document| before.contains(document));
            }
            found = Some(here);
        }
        Ok(found.unwrap_or_default())
    }

    fn find_hits(
        &self,
        query: &ParsedQuery,
        overlay: &SearchOverlay<'_>,
        RankingOptions { after, weights, boost }: RankingOptions<'_>,
        limit: usize,
    ) -> Result<HitList, IndexFailure> {
        let first_page = after.map(|position| &position.statistics);
        let search = ClauseSearch::new(self, overlay, weights, first_page)?;
        let mut clauses = Vec::with_capacity(query.clauses.len());
        for clause in &query.clauses {
            let mut matches = search.clause(clause)?;
            if query.mode == TermMode::All {
                matches.documents.retain(|(_, found)| found.satisfied > 0);
                if matches.documents.is_empty() {
                    return Ok(HitList::default());
                }
            }
            clauses.push(matches);
        }
        search.add_next_words(&query.clauses, &mut clauses)?;
        let query = RankedQuery::new(query.mode, clauses);
        let mut found = Vec::new();
        for (number, matched) in query.documents() {
            let attributes = search.attributes(number)?;
            if (overlay.filter)(attributes) {
                let mut ranked = query.rank(number, attributes.id, matched);
                if let Some(boost) = boost {
                    ranked.rank.score *= boost(attributes)?;
                }
                found.push(ranked);
            }
        }
        let total = found.len();
        if let Some(RankPosition { last, .. }) = after {
            found.retain(|ranked| last.order(&ranked.rank).is_lt());
        }
        let hits = best(found, limit).into_iter().map(|ranked| query.hit(ranked));
        Ok(HitList {
            hits: hits.collect(),
            total,
            statistics: search.into_statistics(),
            stop_words: query.stop_words(),
        })
    }
}

/// A document with its rank.
#[derive(Clone, Copy, Debug)]
struct RankedDocument {
    number: DocNumber,
    rank: DocumentRank,
}

/// The best documents, sorted.
fn best(mut found: Vec<RankedDocument>, limit: usize) -> Vec<RankedDocument> {
    let order = |one: &RankedDocument, other: &RankedDocument| one.rank.order(&other.rank);
    if limit < found.len() {
        // In linear time: a page sorts no more than it returns.
        found.select_nth_unstable_by(limit, order);
        found.truncate(limit);
    }
    found.sort_unstable_by(order);
    found
}

/// The documents of each clause of a query, and how they combine.
struct RankedQuery {
    mode: TermMode,
    clauses: Vec<ClauseMatches>,
    /// Whether each clause is a stop word, which finds no document by itself.
    is_stop_word: Vec<bool>,
    /// The weight of all clauses, and their number without stop words.
    weight: f64,
    required: u32,
}

impl RankedQuery {
    fn new(mode: TermMode, clauses: Vec<ClauseMatches>) -> Self {
        let weight: f64 = clauses.iter().map(|clause| clause.weight).sum();
        // A query of nothing but stop words searches them.
        let has_stop_words = mode == TermMode::Most && weight > 0.0;
        let is_stop_word: Vec<bool> =
            clauses.iter().map(|clause| has_stop_words && clause.weight == 0.0).collect();
        let required = (0..).zip(&is_stop_word).filter(|(_, stop)| !**stop).count();
        Self { mode, clauses, is_stop_word, weight, required: saturate(required) }
    }

    fn stop_words(&self) -> Vec<usize> {
        let stop_words = self.is_stop_word.iter().enumerate();
        stop_words.filter(|(_, is_stop_word)| **is_stop_word).map(|(index, _)| index).collect()
    }

    /// What each document has of the query.
    fn documents(&self) -> Vec<(DocNumber, TermMatch)> {
        let clauses = || self.clauses.iter().zip(&self.is_stop_word);
        let required = clauses().filter(|(_, is_stop_word)| !**is_stop_word);
        let mode = match self.mode {
            TermMode::All => MergeMode::Intersection,
            TermMode::Most | TermMode::Any => MergeMode::Union,
        };
        let required = required.map(|(clause, _)| clause.documents.clone());
        let found = required.reduce(|found, more| merge(found, more, mode)).unwrap_or_default();
        let stop_words = clauses().filter(|(_, is_stop_word)| **is_stop_word);
        stop_words.fold(found, |found, (clause, _)| {
            let scores = clause.documents.iter().map(|(number, found)| {
                (*number, TermMatch { score: found.score, ..TermMatch::default() })
            });
            merge(found, scores.collect(), MergeMode::First)
        })
    }

    fn rank(&self, number: DocNumber, document: DocumentId, found: TermMatch) -> RankedDocument {
        let lacks_terms = self.mode == TermMode::Most && found.satisfied < self.required;
        let share = if self.weight > 0.0 {
            found.weight / self.weight
        } else {
            f64::from(found.satisfied) / f64::from(self.required.max(1))
        };
        let score = if lacks_terms { found.score * share } else { found.score };
        RankedDocument { number, rank: DocumentRank { lacks_terms, score, document } }
    }

    fn hit(&self, ranked: RankedDocument) -> Hit {
        let RankedDocument { number, rank } = ranked;
        let clauses = self.clauses.iter().zip(&self.is_stop_word).enumerate();
        let missing = clauses.filter(|(_, (clause, is_stop_word))| {
            !**is_stop_word && !clause.is_satisfied_by(number)
        });
        let missing = missing.map(|(index, _)| index).collect();
        Hit { rank, missing, corrected: self.corrections(number) }
    }

    fn corrections(&self, number: DocNumber) -> Vec<TermCorrection> {
        let clauses = self.clauses.iter().enumerate();
        let words = clauses
            .flat_map(|(index, clause)| clause.corrections.iter().map(move |read| (index, read)));
        let words = words.filter(|(_, read)| read.documents.binary_search(&number).is_ok());
        let corrections = words.flat_map(|(index, read)| {
            read.clause.terms.iter().map(move |term| TermCorrection {
                clause: index,
                term: read.clause.source.clone(),
                read_as: term.text.clone(),
                is_prefix: term.is_prefix,
            })
        });
        corrections.collect()
    }
}

fn saturate(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
