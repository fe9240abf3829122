//! Positions in a ranking: a document's place in the order, and the statistics that rank it.
//!
//! The score of a document depends on its own text and on statistics of all documents. With the
//! statistics of the first page, writes to other documents change neither its score nor its place
//! among the pages that follow.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use frostem::Algorithm;
use leafbase_model::DocumentId;

use crate::parsed_query::ClauseTerm;
use crate::score::CorpusStatistics;

/// The most words that a misspelt one is read as.
pub(crate) const MAX_READINGS: usize = 4;

/// The place of a document in the order of results: documents with all terms first, then by
/// descending score, then by ID.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocumentRank {
    /// Whether it lacks terms in a mode that ranks such documents last.
    pub lacks_terms: bool,
    /// Its score.
    pub score: f64,
    /// The document.
    pub document: DocumentId,
}

impl DocumentRank {
    /// A rank before those of all documents.
    pub const FIRST: Self =
        Self { lacks_terms: false, score: f64::INFINITY, document: DocumentId::NIL };

    /// The order of results.
    pub fn order(&self, other: &Self) -> Ordering {
        let class = self.lacks_terms.cmp(&other.lacks_terms);
        let score = || other.score.total_cmp(&self.score);
        class.then_with(score).then_with(|| self.document.cmp(&other.document))
    }
}

/// The statistics of all documents that a ranking depends on, as of its first page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankingStatistics {
    pub(crate) corpus: CorpusStatistics,
    /// Document frequencies by the hash of what was counted. Two terms with one hash have the
    /// frequency of the first, on every page.
    frequencies: BTreeMap<u32, u64>,
    /// What misspelt words are read as, by the hash of the word.
    readings: BTreeMap<u32, Vec<Reading>>,
}

/// A word, or a prefix, that a misspelt one is read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) text: String,
    pub(crate) is_prefix: bool,
    /// Its document frequency.
    pub(crate) documents: u64,
}

/// The stems of a word, which a phrase of that word alone lacks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordStems<'t> {
    pub(crate) english: Option<&'t str>,
    pub(crate) others: &'t [(Algorithm, String)],
}

/// What a document frequency counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CountedTerm<'t> {
    /// Documents with consecutive terms.
    Phrase(&'t [ClauseTerm]),
    /// Documents with a stem.
    Stem(&'t str),
    /// Documents with a word or one of its stems.
    Word(&'t [ClauseTerm], WordStems<'t>),
    /// Documents with another form of a word.
    Form(&'t str),
}

impl CountedTerm<'_> {
    /// FNV-1a, which gives the same result on every machine and in every version.
    fn hash(self) -> u32 {
        type OtherStems<'t> = &'t [(Algorithm, String)];
        let (kind, terms, stem, others): (u8, &[ClauseTerm], &str, OtherStems<'_>) = match self {
            Self::Phrase(terms) => (0, terms, "", &[]),
            Self::Stem(stem) => (1, &[], stem, &[]),
            Self::Word(terms, stems) => (2, terms, stems.english.unwrap_or(""), stems.others),
            Self::Form(form) => (3, &[], form, &[]),
        };
        let of_term = |term: &ClauseTerm| {
            // No byte of UTF-8 is 0xff.
            let end = [0xff, u8::from(term.is_prefix)].into_iter().chain(term.offset.to_le_bytes());
            term.text.bytes().chain(end).collect::<Vec<_>>()
        };
        let terms = terms.iter().flat_map(of_term);
        // Nor is any 0xfe.
        let others = others.iter().flat_map(|(_, stem)| stem.bytes().chain([0xfe]));
        let bytes = std::iter::once(kind).chain(stem.bytes()).chain(terms).chain(others);
        bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

impl RankingStatistics {
    pub(crate) fn new(corpus: CorpusStatistics) -> Self {
        Self { corpus, ..Self::default() }
    }

    /// The document frequency of the first page; `now` if this is the first page.
    pub(crate) fn document_frequency(&mut self, counted: CountedTerm<'_>, now: u64) -> u64 {
        // A term that only later documents have may be in more of them than there were.
        *self.frequencies.entry(counted.hash()).or_insert(now.min(self.corpus.documents))
    }

    /// What a misspelt word was read as on the first page; empty for any other word.
    pub(crate) fn readings(&self, word: CountedTerm<'_>) -> Vec<Reading> {
        self.readings.get(&word.hash()).cloned().unwrap_or_default()
    }

    pub(crate) fn add_readings(&mut self, word: CountedTerm<'_>, readings: Vec<Reading>) {
        // A later page would refuse a cursor with more of them.
        debug_assert!(readings.len() <= MAX_READINGS, "{} readings of a word", readings.len());
        self.readings.insert(word.hash(), readings);
    }

    /// Appends the bytes that [`Self::decode`] reads: about six for each term of the query.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        write_number(bytes, self.corpus.documents);
        self.corpus.tokens.iter().for_each(|tokens| write_number(bytes, *tokens));
        write_number(bytes, self.frequencies.len() as u64);
        for (hash, frequency) in &self.frequencies {
            bytes.extend(hash.to_be_bytes());
            write_number(bytes, *frequency);
        }
        // A word with no reading has no bytes: the next page finds none for it either.
        let readings = self.readings.iter();
        let readings = readings.flat_map(|(hash, read)| read.iter().map(move |read| (hash, read)));
        for (hash, Reading { text, is_prefix, documents }) in readings {
            bytes.extend(hash.to_be_bytes());
            bytes.push(u8::from(*is_prefix));
            write_number(bytes, *documents);
            write_number(bytes, text.len() as u64);
            bytes.extend(text.as_bytes());
        }
    }

    /// Reads what [`Self::encode`] wrote; `None` for other bytes.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let mut corpus = CorpusStatistics { documents: read_number(rest)?, ..Default::default() };
        for tokens in &mut corpus.tokens {
            *tokens = read_number(rest)?;
        }
        // A term is in at most all documents, or scores are not numbers.
        let frequency = |rest: &mut _| read_number(rest).filter(|found| *found <= corpus.documents);
        let mut frequencies = BTreeMap::new();
        for _ in 0..read_number(rest)? {
            let hash = u32::from_be_bytes(read_bytes(rest)?);
            frequencies.insert(hash, frequency(rest)?);
        }
        let mut readings: BTreeMap<u32, Vec<Reading>> = BTreeMap::new();
        while !rest.is_empty() {
            let hash = u32::from_be_bytes(read_bytes(rest)?);
            let [is_prefix] = read_bytes(rest)?;
            let documents = frequency(rest)?;
            let length = usize::try_from(read_number(rest)?).ok()?;
            let (text, after) = rest.split_at_checked(length)?;
            *rest = after;
            let read = readings.entry(hash).or_default();
            let text = str::from_utf8(text).ok().filter(|_| read.len() < MAX_READINGS)?;
            read.push(Reading { text: text.to_owned(), is_prefix: is_prefix != 0, documents });
        }
        Some(Self { corpus, frequencies, readings })
    }
}

/// A position in the results of a query, from which a later search continues.
#[derive(Clone, Debug, PartialEq)]
pub struct RankPosition {
    /// The last document before it.
    pub last: DocumentRank,
    /// The statistics that ranked it.
    pub statistics: RankingStatistics,
}

/// Appends a number as a little-endian base-128 varint.
fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return bytes.push(low & 0x7f);
        }
        bytes.push(low | 0x80);
    }
}

fn read_bytes<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*bytes)
}

fn read_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english(stem: &str) -> WordStems<'_> {
        WordStems { english: Some(stem), ..WordStems::default() }
    }

    fn term(text: &str, offset: u32, is_prefix: bool) -> ClauseTerm {
        ClauseTerm { text: text.to_owned(), offset, is_prefix }
    }

    #[test]
    fn statistics_read_back() {
        let mut statistics = RankingStatistics::new(CorpusStatistics {
            documents: 300,
            tokens: [0, 127, 128, u64::MAX, 1, 2],
        });
        let terms = [term("a", 0, false), term("b", 1, true)];
        assert_eq!(statistics.document_frequency(CountedTerm::Phrase(&terms), 130), 130);
        assert_eq!(
            statistics.document_frequency(CountedTerm::Word(&terms, WordStems::default()), 7),
            7
        );
        assert_eq!(statistics.document_frequency(CountedTerm::Stem("a"), 1), 1);
        let misspelt = CountedTerm::Word(&terms, english("a"));
        let read = |text: &str, is_prefix| Reading { text: text.into(), is_prefix, documents: 2 };
        statistics.add_readings(misspelt, vec![read("é", false), read("", true)]);
        let mut bytes = Vec::new();
        statistics.encode(&mut bytes);
        let mut read = RankingStatistics::decode(&bytes).unwrap();
        assert_eq!(read, statistics);
        assert_eq!(
            read.document_frequency(CountedTerm::Phrase(&terms), 9),
            130,
            "the first counts"
        );
        for end in 0..bytes.len() {
            let part = bytes.get(..end).unwrap();
            assert!(RankingStatistics::decode(part).is_none_or(|part| part != statistics));
        }
        assert_eq!(RankingStatistics::decode(&[0xff; 60]), None);
        // One document, and a term that two have.
        assert_eq!(RankingStatistics::decode(&[1, 0, 0, 0, 0, 0, 0, 1, 9, 9, 9, 9, 2]), None);
        assert!(RankingStatistics::decode(&[1, 0, 0, 0, 0, 0, 0, 1, 9, 9, 9, 9, 1]).is_some());
    }

    #[test]
    fn terms_are_counted_apart() {
        let terms = [
            [term("a", 0, false), term("b", 1, false)],
            [term("a", 0, true), term("b", 1, false)],
            [term("a", 0, false), term("b", 2, false)],
            [term("ab", 0, false), term("", 1, false)],
        ];
        let others = ["a", "b"].map(|stem| [(Algorithm::Russian, stem.to_owned())]);
        let counted = terms.iter().flat_map(|terms| {
            [
                CountedTerm::Phrase(terms),
                CountedTerm::Word(terms, WordStems::default()),
                CountedTerm::Word(terms, english("a")),
                CountedTerm::Word(terms, WordStems { english: None, others: &others[0] }),
                CountedTerm::Word(terms, WordStems { english: None, others: &others[1] }),
            ]
        });
        let counted = counted.chain([CountedTerm::Stem("a"), CountedTerm::Stem("b")]);
        let counted = counted.chain([CountedTerm::Form("a"), CountedTerm::Form("b")]);
        let hashes: std::collections::BTreeSet<u32> = counted.map(CountedTerm::hash).collect();
        assert_eq!(hashes.len(), 5 * terms.len() + 4);
    }
}
