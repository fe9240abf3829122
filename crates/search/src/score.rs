//! Scores: BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
//! 2009), for each field of a document by itself.

use leafbase_model::SearchWeights;

use crate::document::{FieldLengths, Section, TextField};

/// How fast the score of a term saturates with its frequency.
const K1: f64 = 1.2;

/// How much long fields are discounted.
const B: f64 = 0.75;

/// The weight of a field. A document with the exact word also has its stem and gets both scores.
/// Tuned by the relevance benchmark (`benches/README.md`).
const fn weight(field: TextField) -> f64 {
    match field.section() {
        Section::Title | Section::Headings => 0.5,
        Section::Body if field.is_stems() => 1.0,
        Section::Body => 0.8,
    }
}

/// The weight of a section, by which those of its fields are multiplied.
pub(crate) const fn section_weight(section: Section, weights: &SearchWeights) -> f64 {
    match section {
        Section::Title => weights.title,
        Section::Body => weights.body,
        Section::Headings => weights.headings,
    }
}

/// Statistics of all documents that a search reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CorpusStatistics {
    pub(crate) documents: u64,
    /// Tokens of each field.
    pub(crate) tokens: [u64; TextField::ALL.len()],
}

impl CorpusStatistics {
    pub(crate) fn add(&mut self, lengths: FieldLengths) {
        self.documents += 1;
        for (sum, length) in self.tokens.iter_mut().zip(lengths) {
            *sum += u64::from(length);
        }
    }

    /// Removes a document that was added.
    pub(crate) fn remove(&mut self, lengths: FieldLengths) {
        debug_assert!(self.documents > 0, "a document is removed only after it was added");
        self.documents = self.documents.saturating_sub(1);
        for (sum, length) in self.tokens.iter_mut().zip(lengths) {
            *sum = sum.saturating_sub(u64::from(length));
        }
    }
}

/// Documents from which on a word that more than half of them have is a stop word.
const MIN_STOP_WORD_DOCUMENTS: u64 = 20;

impl CorpusStatistics {
    /// The inverse document frequency of a term that this many documents have.
    fn idf(&self, document_frequency: u64) -> f64 {
        let all = float(self.documents.max(document_frequency));
        let found = float(document_frequency);
        (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
    }

    /// The share of some documents in others.
    pub(crate) fn share(documents: u64, of: u64) -> f64 {
        float(documents) / float(of.max(1))
    }

    /// The weight of a term among others: its inverse document frequency, and nothing for a stop
    /// word.
    pub(crate) fn weight(&self, document_frequency: u64) -> f64 {
        let is_stop_word = document_frequency > self.documents / 2
            && document_frequency >= MIN_STOP_WORD_DOCUMENTS;
        if is_stop_word { 0.0 } else { self.idf(document_frequency) }
    }
}

/// Scores the frequency of one term in one field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermScorer {
    weight: f64,
    average_length: f64,
}

#[expect(clippy::cast_precision_loss, reason = "scores need no more")]
const fn float(number: u64) -> f64 {
    number as f64
}

impl TermScorer {
    /// For a term that `document_frequency` documents have in any section.
    pub(crate) fn new(
        field: TextField,
        weights: &SearchWeights,
        statistics: &CorpusStatistics,
        document_frequency: u64,
    ) -> Self {
        debug_assert!(
            document_frequency <= statistics.documents,
            "a term is in at most all documents"
        );
        let idf = statistics.idf(document_frequency);
        let all = float(statistics.documents.max(document_frequency));
        let average_length = (float(field.of(&statistics.tokens)) / all.max(1.0)).max(1.0);
        let weight = weight(field) * section_weight(field.section(), weights);
        Self { weight: weight * idf * (K1 + 1.0), average_length }
    }

    /// The score of a document with this frequency of the term in a field of this length.
    pub(crate) fn score(&self, frequency: u32, length: u32) -> f64 {
        let frequency = f64::from(frequency);
        let norm = 1.0 - B + B * f64::from(length) / self.average_length;
        self.weight * frequency / (frequency + K1 * norm)
    }
}
