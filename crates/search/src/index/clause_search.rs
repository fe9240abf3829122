//! The documents that match one clause of a query, with their scores.

use std::cell::RefCell;
use std::ops::Add;

use frostem::{Algorithm, Stemmer};
use leafbase_model::{Result, SearchWeights, invariant};

use super::error::IndexFailure;
use super::overlay::{CurrentDocuments, SearchOverlay};
use super::postings::{SegmentPostingsReader, distinct_terms, retain_starts, starts_at};
use super::score_list::{MergeMode, intersection_len, merge};
use super::snapshot::{DocNumber, IndexSnapshot};
use crate::document::{Attributes, SearchDocument, Section, TextField};
use crate::parsed_query::{ClauseKind, ClauseTerm, QueryClause};
use crate::ranking::{CountedTerm, RankingStatistics, Reading, WordStems};
use crate::score::{CorpusStatistics, TermScorer, section_weight};
use crate::stems::stem_of;

/// The factor of the score of two pairs of a run in a row, added to the score of each.
const PAIRS_IN_A_ROW: f64 = 0.5;

/// The share of the weight of a run's pairs with which a document has the run; pairs that no
/// document has do not count. The endings of a question, which most sentences have, are not enough.
/// Tuned by the relevance benchmark (`benches/README.md`).
const MIN_WEIGHT_SHARE: f64 = 0.6;

/// The factor of the score of two words in a row, added to the score of each. Tuned by the
/// relevance benchmark (`benches/README.md`).
const WORDS_IN_A_ROW: f64 = 1.0;

/// The factors of the scores of a word without its diacritics, and with them. Where these
/// distinguish words, most documents with the folded word have another one. Tuned as above.
const WITHOUT_DIACRITICS: f64 = 0.3;
const WITH_DIACRITICS: f64 = 1.7;

/// The factor of the score of the most frequent word that a misspelt one is read as.
const LIKENESS: f64 = 0.8;

/// Matches of a document for a clause, or for several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TermMatch {
    pub(super) score: f64,
    /// The weight of the terms that it has.
    pub(super) weight: f64,
    /// The number of clauses that it satisfies.
    pub(super) satisfied: u32,
}

impl Add for TermMatch {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            score: self.score + other.score,
            weight: self.weight + other.weight,
            satisfied: self.satisfied + other.satisfied,
        }
    }
}

/// The documents that match a clause, or a part of it.
pub(super) struct ClauseMatches {
    /// Sorted by document.
    pub(super) documents: Vec<(DocNumber, TermMatch)>,
    /// The weight of the clause; 0 for a stop word.
    pub(super) weight: f64,
    /// The words that misspelt ones were read as.
    pub(super) corrections: Vec<ReadWord>,
}

/// A word that a misspelt one was read as.
pub(super) struct ReadWord {
    pub(super) clause: QueryClause,
    /// Sorted.
    pub(super) documents: Vec<DocNumber>,
}

impl ClauseMatches {
    pub(super) fn is_satisfied_by(&self, document: DocNumber) -> bool {
        let found = self.documents.binary_search_by_key(&document, |(number, _)| *number);
        let found = found.ok().and_then(|index| self.documents.get(index));
        found.is_some_and(|(_, found)| found.satisfied > 0)
    }
}

/// The documents of a list, each with its score and what else `found` says.
fn with_match(scores: ScoreList, found: TermMatch) -> Vec<(DocNumber, TermMatch)> {
    scores.into_iter().map(|(number, score)| (number, TermMatch { score, ..found })).collect()
}

fn scale(scores: &mut ScoreList, factor: f64) {
    for (_, score) in scores {
        *score *= factor;
    }
}

/// Frequencies of a term by document, sorted by document.
pub(super) type FrequencyList = Vec<(DocNumber, u32)>;
/// Scores by document, sorted by document.
type ScoreList = Vec<(DocNumber, f64)>;

/// Finds the documents of clauses, for one query.
pub(super) struct ClauseSearch<'r> {
    pub(super) snapshot: &'r IndexSnapshot,
    pub(super) overlay: &'r SearchOverlay<'r>,
    current: CurrentDocuments<'r>,
    weights: SearchWeights,
    /// Those of the first page.
    statistics: RefCell<RankingStatistics>,
    is_first_page: bool,
    /// What was found for terms and phrases: a prefix is asked for as a word, too, and a word as a
    /// stem.
    found: RefCell<Vec<FoundPhrase>>,
}

/// The documents that have consecutive terms in a field.
struct FoundPhrase {
    field: TextField,
    terms: Vec<ClauseTerm>,
    documents: FrequencyList,
}

impl<'r> ClauseSearch<'r> {
    /// With the statistics of the first page, if this is a later one.
    pub(super) fn new(
        snapshot: &'r IndexSnapshot,
        overlay: &'r SearchOverlay<'r>,
        weights: SearchWeights,
        first_page: Option<&RankingStatistics>,
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
        let is_first_page = first_page.is_none();
        let statistics = first_page.cloned().unwrap_or_else(|| RankingStatistics::new(statistics));
        let statistics = RefCell::new(statistics);
        let found = RefCell::default();
        Ok(Self { snapshot, overlay, current, weights, statistics, is_first_page, found })
    }

    pub(super) fn into_statistics(self) -> RankingStatistics {
        self.statistics.into_inner()
    }

    /// The dirty document with this number, if it is one.
    fn dirty(&self, number: DocNumber) -> Option<&SearchDocument> {
        let index = (number as usize).checked_sub(self.snapshot.attributes.len())?;
        self.overlay.dirty.get(index).copied()
    }

    pub(super) fn attributes(&self, number: DocNumber) -> Result<&Attributes> {
        let attributes = self.snapshot.attributes.get(number as usize);
        let attributes = attributes.or_else(|| self.dirty(number).map(SearchDocument::attributes));
        let Some(attributes) = attributes else { invariant!("a hit is a known document") };
        Ok(attributes)
    }

    fn length(&self, number: DocNumber, field: TextField) -> Result<u32> {
        let lengths = self.snapshot.lengths.get(number as usize);
        let lengths = lengths.or_else(|| self.dirty(number).map(|document| &document.lengths));
        let Some(lengths) = lengths else { invariant!("a posting is of a known document") };
        Ok(field.of(lengths))
    }

    /// The documents that match a clause, or a part of it.
    pub(super) fn clause(&self, clause: &QueryClause) -> Result<ClauseMatches, IndexFailure> {
        match clause.kind {
            ClauseKind::Run => self.run(clause),
            ClauseKind::Word | ClauseKind::Phrase => self.word(clause),
        }
    }

    /// A word or phrase. Some of the parts of a compound match it in part.
    fn word(&self, clause: &QueryClause) -> Result<ClauseMatches, IndexFailure> {
        let (scores, mut corrections) = self.score_or_correct(clause)?;
        let mut weight = self.weight(clause, &scores);
        let mut documents = with_match(scores, TermMatch { satisfied: 1, ..TermMatch::default() });
        if !clause.parts.is_empty() {
            // A compound weighs as much as its parts.
            weight = 0.0;
            for part in &clause.parts {
                let (scores, corrected) = self.score_or_correct(part)?;
                corrections.extend(corrected);
                let part_weight = self.weight(part, &scores);
                weight += part_weight;
                let found = TermMatch { weight: part_weight, ..TermMatch::default() };
                documents = merge(documents, with_match(scores, found), MergeMode::Union);
            }
        }
        for (_, found) in documents.iter_mut().filter(|(_, found)| found.satisfied > 0) {
            found.weight = weight;
        }
        Ok(ClauseMatches { documents, weight, corrections })
    }

    /// The scores of the documents that have a word or phrase; if a word has none, those of like
    /// words. Later pages read a word as the first one did, whatever was written since.
    fn score_or_correct(
        &self,
        clause: &QueryClause,
    ) -> Result<(ScoreList, Vec<ReadWord>), IndexFailure> {
        let word = counted_word(clause);
        let exact = self.score_word(clause)?;
        let readings = match clause.kind {
            ClauseKind::Word if !self.is_first_page => self.statistics.borrow().readings(word),
            ClauseKind::Word if exact.is_empty() => self.readings(clause)?,
            _ => Vec::new(),
        };
        let Some(most) = readings.iter().map(|read| read.documents).max() else {
            return Ok((exact, Vec::new()));
        };
        let (mut scores, mut corrections) = (ScoreList::new(), Vec::new());
        for Reading { text, is_prefix, documents } in &readings {
            let read = clause.read_as(text.clone(), *is_prefix);
            let mut found = self.score_word(&read)?;
            // A rare word is a less likely reading, although it would score more.
            let factor = LIKENESS * CorpusStatistics::share(*documents, most);
            scale(&mut found, factor);
            let documents: Vec<DocNumber> = found.iter().map(|(number, _)| *number).collect();
            // Hits are looked up in it by bisection.
            debug_assert!(documents.is_sorted(), "scores are in the order of documents");
            corrections.push(ReadWord { documents, clause: read });
            scores = merge(scores, found, MergeMode::Union);
        }
        if self.is_first_page {
            self.statistics.borrow_mut().add_readings(word, readings);
        }
        Ok((scores, corrections))
    }

    /// What a word that no document has is read as.
    fn readings(&self, clause: &QueryClause) -> Result<Vec<Reading>, IndexFailure> {
        let mut readings = Vec::new();
        for read in self.like_words(clause)? {
            let documents = self.score_word(&read)?.len() as u64;
            readings.extend(read.terms.into_iter().map(|term| Reading {
                text: term.text,
                is_prefix: term.is_prefix,
                documents,
            }));
        }
        Ok(readings)
    }

    /// A run of a script without spaces: each of its pairs counts, and more where it is followed by
    /// the next one.
    fn run(&self, clause: &QueryClause) -> Result<ClauseMatches, IndexFailure> {
        let (mut documents, mut weight, mut present) = (Vec::new(), 0.0, 0.0);
        for pair in &clause.terms {
            let pair = [ClauseTerm { offset: 0, ..pair.clone() }];
            let scores = self.score_phrase(&pair)?;
            let counted = CountedTerm::Word(&pair, WordStems::default());
            let document_frequency = self.document_frequency_of(counted, &scores);
            let pair_weight = self.statistics.borrow().corpus.weight(document_frequency);
            weight += pair_weight;
            if document_frequency > 0 {
                present += pair_weight;
            }
            let found = TermMatch { score: 0.0, weight: pair_weight, satisfied: 1 };
            documents = merge(documents, with_match(scores, found), MergeMode::Union);
        }
        for pairs in clause.terms.windows(2) {
            let first = pairs.first().map_or(0, |pair| pair.offset);
            let in_a_row = pairs.iter().map(|pair| ClauseTerm {
                offset: pair.offset.saturating_sub(first),
                ..pair.clone()
            });
            let mut scores = self.score_phrase(&in_a_row.collect::<Vec<_>>())?;
            scale(&mut scores, PAIRS_IN_A_ROW);
            let scores = with_match(scores, TermMatch::default());
            documents = merge(documents, scores, MergeMode::First);
        }
        let required = clause.required_pairs();
        for (_, found) in &mut documents {
            let is_satisfied =
                found.satisfied as usize >= required && found.weight >= MIN_WEIGHT_SHARE * present;
            found.satisfied = u32::from(is_satisfied);
            found.weight = if is_satisfied { weight } else { found.weight };
        }
        Ok(ClauseMatches { documents, weight, corrections: Vec::new() })
    }

    /// Adds to the documents of each clause what those gain that have the next word right after it.
    /// Stop words are next to anything.
    pub(super) fn add_next_words(
        &self,
        clauses: &[QueryClause],
        matches: &mut [ClauseMatches],
    ) -> Result<(), IndexFailure> {
        let is_stop_word: Vec<bool> = matches.iter().map(|found| found.weight == 0.0).collect();
        let has_weight = |term: &ClauseTerm| {
            let is_of = |clause: &QueryClause| match clause.terms.as_slice() {
                [only] => only.text == term.text && only.is_prefix == term.is_prefix,
                _ => false,
            };
            let at = clauses.iter().position(is_of);
            at.and_then(|at| is_stop_word.get(at)).is_some_and(|is_stop_word| !is_stop_word)
        };
        for (clause, found) in clauses.iter().zip(matches) {
            let (Some(next), [word]) = (&clause.next, clause.terms.as_slice()) else { continue };
            if found.documents.is_empty() || !has_weight(word) || !has_weight(next) {
                continue;
            }
            let mut scores = self.score_phrase(&[word.clone(), next.clone()])?;
            scale(&mut scores, WORDS_IN_A_ROW);
            let scores = with_match(scores, TermMatch::default());
            let documents = std::mem::take(&mut found.documents);
            found.documents = merge(documents, scores, MergeMode::First);
        }
        Ok(())
    }

    /// The weight of a word or phrase with these documents.
    fn weight(&self, clause: &QueryClause, scores: &[(DocNumber, f64)]) -> f64 {
        let document_frequency = self.document_frequency_of(counted_word(clause), scores);
        self.statistics.borrow().corpus.weight(document_frequency)
    }

    /// The document frequency as of the first page.
    fn document_frequency_of(&self, counted: CountedTerm<'_>, scores: &[(DocNumber, f64)]) -> u64 {
        self.statistics.borrow_mut().document_frequency(counted, scores.len() as u64)
    }

    /// The scores of the documents that have a word or phrase.
    fn score_word(&self, clause: &QueryClause) -> Result<ScoreList, IndexFailure> {
        let mut scores = self.score_phrase(&clause.terms)?;
        if let Some(stem) = &clause.stem {
            scores = merge(scores, self.score_stem(stem)?, MergeMode::Union);
        }
        for (_, stem) in &clause.forms.stems {
            scores = merge(scores, self.score_form(stem)?, MergeMode::Union);
        }
        if let Some(accented) = clause.forms.accented.as_ref().filter(|_| !scores.is_empty()) {
            let mut more = self.score_form(accented)?;
            scale(&mut scores, WITHOUT_DIACRITICS);
            scale(&mut more, WITH_DIACRITICS);
            scores = merge(scores, more, MergeMode::First);
        }
        // Documents with the exact term, or the compound as written, score higher than others that
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

    /// The documents that have a word or phrase, or its stem, in their title.
    pub(super) fn in_title(&self, clause: &QueryClause) -> Result<FrequencyList, IndexFailure> {
        let mut found = self.frequencies(TextField::Title, &clause.terms)?;
        if let Some(stem) = &clause.stem {
            let stems = self.stem_frequencies(stem, Section::Title)?;
            found = merge(found, stems, MergeMode::Union);
        }
        for (_, stem) in &clause.forms.stems {
            let forms = self.frequencies(TextField::TitleStems, &single_term(stem))?;
            found = merge(found, forms, MergeMode::Union);
        }
        Ok(found)
    }

    fn score_stem(&self, stem: &str) -> Result<ScoreList, IndexFailure> {
        self.score(CountedTerm::Stem(stem), |section| {
            Ok((section.stems(), self.stem_frequencies(stem, section)?))
        })
    }

    /// How often words with a stem occur in a section, by document.
    fn stem_frequencies(
        &self,
        stem: &str,
        section: Section,
    ) -> Result<FrequencyList, IndexFailure> {
        // The stem fields leave out words that are their own stems, so these are read from the
        // word fields.
        let stemmer = Stemmer::new(Algorithm::English);
        let is_word = stem_of(stemmer, stem).is_some_and(|own| own == stem);
        let term = single_term(stem);
        let others = self.frequencies(section.stems(), &term)?;
        let same = if is_word { self.frequencies(section.words(), &term)? } else { Vec::new() };
        Ok(merge(others, same, MergeMode::Union))
    }

    /// The scores of the documents that have another form of a word.
    fn score_form(&self, form: &str) -> Result<ScoreList, IndexFailure> {
        let term = single_term(form);
        self.score(CountedTerm::Form(form), |section| {
            Ok((section.stems(), self.frequencies(section.stems(), &term)?))
        })
    }

    /// The number of documents that have a term in a title or a body.
    pub(super) fn document_frequency(&self, term: &ClauseTerm) -> Result<usize, IndexFailure> {
        let term = std::slice::from_ref(term);
        let title = self.frequencies(TextField::Title, term)?;
        let body = self.frequencies(TextField::Body, term)?;
        Ok(title.len() + body.len() - intersection_len(&title, &body))
    }

    fn score_phrase(&self, terms: &[ClauseTerm]) -> Result<ScoreList, IndexFailure> {
        self.score(CountedTerm::Phrase(terms), |section| {
            Ok((section.words(), self.frequencies(section.words(), terms)?))
        })
    }

    /// Scores the frequencies in a field of each section. The document frequency counts title and
    /// body together, of which the body has what headings have.
    fn score(
        &self,
        counted: CountedTerm<'_>,
        frequencies: impl Fn(Section) -> Result<(TextField, FrequencyList), IndexFailure>,
    ) -> Result<ScoreList, IndexFailure> {
        let (title, body) = (frequencies(Section::Title)?, frequencies(Section::Body)?);
        let in_both = intersection_len(&title.1, &body.1);
        let found = (title.1.len() + body.1.len() - in_both) as u64;
        let mut statistics = self.statistics.borrow_mut();
        let document_frequency = statistics.document_frequency(counted, found);
        let score = |(field, frequencies): (TextField, FrequencyList)| -> Result<ScoreList> {
            let scorer =
                TermScorer::new(field, &self.weights, &statistics.corpus, document_frequency);
            let score = |(number, frequency)| {
                Ok((number, scorer.score(frequency, self.length(number, field)?)))
            };
            frequencies.into_iter().map(score).collect()
        };
        let scores = merge(score(title)?, score(body)?, MergeMode::Union);
        if section_weight(Section::Headings, &self.weights) == 0.0 {
            return Ok(scores);
        }
        Ok(merge(scores, score(frequencies(Section::Headings)?)?, MergeMode::Union))
    }

    /// How often consecutive terms occur in a field, by document.
    fn frequencies(
        &self,
        field: TextField,
        terms: &[ClauseTerm],
    ) -> Result<FrequencyList, IndexFailure> {
        let documents = {
            let found = self.found.borrow();
            let of = |terms: &[ClauseTerm]| {
                let is_same = |known: &&FoundPhrase| known.field == field && known.terms == *terms;
                found.iter().find(is_same).map(|known| &known.documents)
            };
            if let Some(known) = of(terms) {
                return Ok(known.clone());
            }
            // Whatever has a word begins with it.
            let prefix = match terms {
                [term] => of(&[ClauseTerm { is_prefix: true, ..term.clone() }]),
                _ => None,
            };
            self.read_frequencies(field, terms, prefix)?
        };
        let (terms, found) = (terms.to_vec(), documents.clone());
        self.found.borrow_mut().push(FoundPhrase { field, terms, documents: found });
        Ok(documents)
    }

    /// Reads how often consecutive terms occur in a field, by document. No other documents than
    /// those of `among` have them; `None` if nothing is known.
    fn read_frequencies(
        &self,
        field: TextField,
        terms: &[ClauseTerm],
        among: Option<&FrequencyList>,
    ) -> Result<FrequencyList, IndexFailure> {
        let has_any = |from: DocNumber, end: DocNumber| {
            among.is_none_or(|among| {
                let first = among.partition_point(|(number, _)| *number < from);
                among.get(first).is_some_and(|(number, _)| *number < end)
            })
        };
        let mut found = FrequencyList::new();
        for (number, (segment, start)) in self.snapshot.segments().enumerate() {
            if !has_any(start, start.saturating_add(segment.max_doc())) {
                continue;
            }
            let subset = self.current.subset_of(number);
            let reader = SegmentPostingsReader { segment, subset };
            let phrase = reader.phrase(self.snapshot.fields.text(field), terms)?.into_iter();
            let phrase = phrase.map(|(doc, frequency)| (start + doc, frequency));
            found.extend(phrase.filter(|(number, _)| self.current.contains(*number)));
        }
        for (number, document) in (self.snapshot.end()?..).zip(self.overlay.dirty) {
            if has_any(number, number.saturating_add(1)) {
                let frequency = frequency_in(document, field, terms);
                found.extend((frequency > 0).then_some((number, frequency)));
            }
        }
        Ok(found)
    }
}

/// What the document frequency of a word or phrase counts.
fn counted_word(clause: &QueryClause) -> CountedTerm<'_> {
    let stems = WordStems { english: clause.stem.as_deref(), others: &clause.forms.stems };
    CountedTerm::Word(&clause.terms, stems)
}

fn single_term(text: &str) -> [ClauseTerm; 1] {
    [ClauseTerm { text: text.to_owned(), offset: 0, is_prefix: false }]
}

/// How often consecutive terms occur in a field of a dirty document.
fn frequency_in(document: &SearchDocument, field: TextField, terms: &[ClauseTerm]) -> u32 {
    let section = field.section();
    if field.is_stems() {
        // Stems are searched one by one, never as a phrase.
        return terms.iter().map(|term| document.stem_frequency(section, &term.text)).sum();
    }
    if let [only] = terms {
        return saturate(document.positions_of(section, &only.text, only.is_prefix).len());
    }
    let mut lists = Vec::new();
    for (term, offsets) in distinct_terms(terms.iter()) {
        let mut positions = document.positions_of(section, &term.text, term.is_prefix).into_owned();
        if positions.is_empty() {
            return 0;
        }
        positions.sort_unstable();
        lists.push((offsets, positions));
    }
    // The rarest term leads.
    lists.sort_by_key(|(_, positions)| positions.len());
    let mut starts = Vec::new();
    for (number, (offsets, positions)) in lists.iter().enumerate() {
        match number {
            0 => starts_at(positions, offsets, &mut starts),
            _ => retain_starts(&mut starts, positions, offsets),
        }
    }
    saturate(starts.len())
}

fn saturate(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
