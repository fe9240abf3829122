//! Ranked search over a snapshot of the index and its overlay.

use frostem::{Algorithm, Stemmer};
use leafbase_model::{DocumentId, Result, invariant};

use super::error::IndexFailure;
use super::overlay::{CurrentDocuments, SearchOverlay};
use super::postings::SegmentPostingsReader;
use super::score_list::{MergeMode, intersection_len, merge};
use super::snapshot::{DocNumber, IndexSnapshot};
use crate::document::{Attributes, SearchDocument, TextField};
use crate::parsed_query::{ClauseTerm, ParsedQuery, QueryClause};
use crate::score::{CorpusStatistics, TermScorer};
use crate::stems::stem_of;

/// A document that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub document: DocumentId,
    /// Its score; higher is better.
    pub score: f64,
}

impl IndexSnapshot {
    /// The best `limit` documents by descending score, then by ID. Reads the postings of all terms:
    /// costs time in proportion to the documents that have one.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Storage`] if the index cannot be read.
    pub fn search(
        &self,
        query: &ParsedQuery,
        overlay: &SearchOverlay<'_>,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.find_hits(query, overlay, limit).map_err(|IndexFailure(error)| error)
    }

    fn find_hits(
        &self,
        query: &ParsedQuery,
        overlay: &SearchOverlay<'_>,
        limit: usize,
    ) -> Result<Vec<Hit>, IndexFailure> {
        let search = RankedSearch::new(self, overlay)?;
        let mode = if query.any { MergeMode::Union } else { MergeMode::Intersection };
        let mut scores: Option<ScoreList> = None;
        for clause in &query.clauses {
            let found = search.clause(clause)?;
            let merged = match scores {
                None => found,
                Some(before) => merge(before, found, mode),
            };
            if merged.is_empty() && mode == MergeMode::Intersection {
                return Ok(Vec::new());
            }
            scores = Some(merged);
        }
        let mut hits = Vec::new();
        for (number, score) in scores.into_iter().flatten() {
            let attributes = search.attributes(number)?;
            if (overlay.filter)(attributes) {
                hits.push(Hit { document: attributes.id, score });
            }
        }
        Ok(best(hits, limit))
    }
}

/// Frequencies of a term by document, sorted by document.
type FrequencyList = Vec<(DocNumber, u32)>;
/// Scores by document, sorted by document.
type ScoreList = Vec<(DocNumber, f64)>;

/// The best hits, sorted.
fn best(mut hits: Vec<Hit>, limit: usize) -> Vec<Hit> {
    let order = |one: &Hit, other: &Hit| {
        other.score.total_cmp(&one.score).then_with(|| one.document.cmp(&other.document))
    };
    if limit < hits.len() {
        hits.select_nth_unstable_by(limit, order);
        hits.truncate(limit);
    }
    hits.sort_unstable_by(order);
    hits
}

/// A search in progress.
struct RankedSearch<'r> {
    snapshot: &'r IndexSnapshot,
    overlay: &'r SearchOverlay<'r>,
    current: CurrentDocuments<'r>,
    statistics: CorpusStatistics,
}

impl<'r> RankedSearch<'r> {
    fn new(
        snapshot: &'r IndexSnapshot,
        overlay: &'r SearchOverlay<'r>,
    ) -> Result<Self, IndexFailure> {
        let current = CurrentDocuments::new(snapshot, overlay)?;
        let mut statistics = match &current {
            CurrentDocuments::Flags(_) => snapshot.statistics,
            // The dirty documents have left the subset, and so its statistics.
            CurrentDocuments::Subset(subset) => subset.statistics,
        };
        if overlay.subset.is_none() {
            let dirty = overlay.dirty_ids.iter().filter_map(|dirty| snapshot.number_of(*dirty));
            for lengths in dirty.filter_map(|number| snapshot.lengths.get(number as usize)) {
                statistics.remove(*lengths);
            }
        }
        overlay.dirty.iter().for_each(|document| statistics.add(document.lengths));
        Ok(Self { snapshot, overlay, current, statistics })
    }

    /// The dirty document with this number, if it is one.
    fn dirty(&self, number: DocNumber) -> Option<&SearchDocument> {
        let index = (number as usize).checked_sub(self.snapshot.attributes.len())?;
        self.overlay.dirty.get(index).copied()
    }

    fn attributes(&self, number: DocNumber) -> Result<&Attributes> {
        let attributes = self.snapshot.attributes.get(number as usize);
        let attributes = attributes.or_else(|| self.dirty(number).map(SearchDocument::attributes));
        let Some(attributes) = attributes else { invariant!("a hit is a known document") };
        Ok(attributes)
    }

    fn length(&self, number: DocNumber, field: TextField) -> Result<u32> {
        let lengths = self.snapshot.lengths.get(number as usize);
        let lengths = lengths.or_else(|| self.dirty(number).map(|document| &document.lengths));
        let Some(length) = lengths.and_then(|lengths| lengths.get(field as usize)) else {
            invariant!("a posting is of a known document")
        };
        Ok(*length)
    }

    /// The scores of the documents that match a clause.
    fn clause(&self, clause: &QueryClause) -> Result<ScoreList, IndexFailure> {
        let mut scores = self.score_phrase(&clause.terms)?;
        if let Some(stem) = &clause.stem {
            scores = merge(scores, self.score_stem(stem)?, MergeMode::Union);
        }
        // Documents with the exact term, or the compound as written, score higher than those that
        // only have the prefix or the parts.
        let exact = match clause.terms.as_slice() {
            [only] if only.is_prefix => Some(&only.text),
            _ => clause.compound.as_ref(),
        };
        if let Some(text) = exact.filter(|_| !scores.is_empty()) {
            let more = self.score_phrase(&single_term(text))?;
            scores = merge(scores, more, MergeMode::First);
        }
        Ok(scores)
    }

    fn score_stem(&self, stem: &str) -> Result<ScoreList, IndexFailure> {
        // The stem fields leave out words that are their own stems, so these are read from the
        // word fields.
        let stemmer = Stemmer::new(Algorithm::English);
        let is_word = stem_of(stemmer, stem).is_some_and(|own| own == stem);
        let term = single_term(stem);
        let frequencies = |words, stems| -> Result<_, IndexFailure> {
            let others = self.frequencies(stems, &term)?;
            let same = if is_word { self.frequencies(words, &term)? } else { Vec::new() };
            Ok((stems, merge(others, same, MergeMode::Union)))
        };
        let title = frequencies(TextField::Title, TextField::TitleStems)?;
        let body = frequencies(TextField::Body, TextField::BodyStems)?;
        Ok(self.score(title, body)?)
    }

    fn score_phrase(&self, terms: &[ClauseTerm]) -> Result<ScoreList, IndexFailure> {
        let title = (TextField::Title, self.frequencies(TextField::Title, terms)?);
        let body = (TextField::Body, self.frequencies(TextField::Body, terms)?);
        Ok(self.score(title, body)?)
    }

    /// Scores the frequencies in two fields. The document frequency is that of both together.
    fn score(
        &self,
        title: (TextField, FrequencyList),
        body: (TextField, FrequencyList),
    ) -> Result<ScoreList> {
        let in_both = intersection_len(&title.1, &body.1);
        let document_frequency = (title.1.len() + body.1.len() - in_both) as u64;
        let score = |(field, frequencies): (TextField, FrequencyList)| -> Result<ScoreList> {
            let scorer = TermScorer::new(field, &self.statistics, document_frequency);
            let score = |(number, frequency)| {
                Ok((number, scorer.score(frequency, self.length(number, field)?)))
            };
            frequencies.into_iter().map(score).collect()
        };
        Ok(merge(score(title)?, score(body)?, MergeMode::Union))
    }

    /// How often consecutive terms occur in a field, by document.
    fn frequencies(
        &self,
        field: TextField,
        terms: &[ClauseTerm],
    ) -> Result<FrequencyList, IndexFailure> {
        let mut found = FrequencyList::new();
        for (number, (segment, start)) in self.snapshot.segments().enumerate() {
            let subset = self.current.subset_of(number);
            let reader = SegmentPostingsReader { segment, subset };
            let phrase = reader.phrase(self.snapshot.fields.text(field), terms)?.into_iter();
            let phrase = phrase.map(|(doc, frequency)| (start + doc, frequency));
            found.extend(phrase.filter(|(number, _)| self.current.contains(*number)));
        }
        for (number, document) in (self.snapshot.end()?..).zip(self.overlay.dirty) {
            let frequency = frequency_in(document, field, terms);
            found.extend((frequency > 0).then_some((number, frequency)));
        }
        Ok(found)
    }
}

fn single_term(text: &str) -> [ClauseTerm; 1] {
    [ClauseTerm { text: text.to_owned(), offset: 0, is_prefix: false }]
}

/// How often consecutive terms occur in a field of a dirty document.
fn frequency_in(document: &SearchDocument, field: TextField, terms: &[ClauseTerm]) -> u32 {
    let is_title = field.is_title();
    if matches!(field, TextField::TitleStems | TextField::BodyStems) {
        // Stems are searched one by one, never as a phrase.
        return terms.iter().map(|term| document.stem_frequency(is_title, &term.text)).sum();
    }
    if let [only] = terms {
        return saturate(document.positions_of(is_title, &only.text, only.is_prefix).len());
    }
    // Where a phrase starts: the positions of each term, shifted back by its offset.
    let mut starts: Option<Vec<u32>> = None;
    for term in terms {
        let positions = document.positions_of(is_title, &term.text, term.is_prefix);
        let mut here: Vec<u32> =
            positions.iter().filter_map(|position| position.checked_sub(term.offset)).collect();
        here.sort_unstable();
        here.dedup();
        if let Some(before) = starts {
            here.retain(|start| before.binary_search(start).is_ok());
        }
        if here.is_empty() {
            return 0;
        }
        starts = Some(here);
    }
    saturate(starts.map_or(0, |starts| starts.len()))
}

fn saturate(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
