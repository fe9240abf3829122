//! Full-text search for Leafbase: analysis of documents and queries, an index, ranking and
//! highlighting.
//!
//! The crate knows no store. A document comes as its texts ([`SearchDocument`]). A search reads a
//! snapshot of the index ([`IndexSnapshot`]) and, from memory, the documents that have changed
//! since ([`SearchOverlay`]), with one formula for both: where a document is found makes no
//! difference to its score.
//!
//! | Task | Item |
//! |---|---|
//! | languages of stems | [`Languages`] |
//! | tokens of a text; words of a query | [`tokens`]; [`query_words`], [`ParsedQuery`] |
//! | analysis of a document | [`Analyzer`], [`SearchDocument`] |
//! | the index: create, open, update, read | [`Index`], [`IndexSnapshot`] |
//! | ranked search; with weights, and the page after it | [`IndexSnapshot::search`], [`IndexSnapshot::search_ranked`] |
//! | search of some documents, as if there were no others | [`IndexSnapshot::subset`] |
//! | documents that a pattern can match | [`IndexSnapshot::candidates`] |
//! | ranges of a text that match a query | [`Highlighter`], [`ParsedQuery::match_ranges`] |
//!
//! # Tokens
//!
//! Tokens are the words of Unicode (UAX 29), folded so that case, accents and width do not matter.
//! Scripts without spaces are tokenized into overlapping pairs of characters. An emoji is a word. A
//! compound (`snake_case`, `v1.2`) yields tokens for the whole and for each part.
//!
//! ```
//! use leafbase_search::{query_words, tokens};
//! let texts = |text| tokens(text).into_iter().map(|token| token.text).collect::<Vec<_>>();
//! assert_eq!(texts("Élan, v1.2"), ["elan", "v1.2", "v1", "v", "1", "2"]);
//! assert_eq!(texts("東京都"), ["東京", "京都", "都"]);
//!
//! // A query matches the consecutive parts of a compound, wherever they are.
//! let word = &query_words("Snake_Case")[0];
//! assert_eq!(word.whole.as_deref(), Some("snake_case"));
//! let parts: Vec<_> = word.parts.iter().map(|part| part.text.as_str()).collect();
//! assert_eq!(parts, ["snake", "case"]);
//! ```
//!
//! # Ranking
//!
//! ```
//! use std::collections::HashSet;
//! use leafbase_model::{DocumentId, Location, TermMode, Timestamp};
//! use leafbase_search::{Analyzer, Attributes, Index, ParsedQuery, SearchOverlay};
//! let mut analyzer = Analyzer::default();
//! let mut document = |number: u8, title, text| {
//!     let (id, now) = (DocumentId::from_bytes([number; 16]), Timestamp::default());
//!     let location = Location::Unsorted;
//!     let attributes = Attributes { id, location, day: None, created_at: now, modified_at: now };
//!     let mut builder = analyzer.begin(attributes, title);
//!     builder.add_words(text);
//!     builder.finish()
//! };
//! let index = Index::in_memory("a space")?;
//! let lisbon = document(1, "Lisbon", "The night train leaves at ten.");
//! let porto = document(2, "Porto", "No trains at night.");
//! index.update(&mut [lisbon, porto].into_iter().map(Ok), &[], 1)?;
//!
//! // A document that has changed since: its version in the index is ignored.
//! let porto = document(2, "Porto", "We walk.");
//! let dirty_ids = HashSet::from([porto.id()]);
//! let (dirty, filter) = ([&porto], |_: &Attributes| true);
//! let overlay =
//!     SearchOverlay { dirty: &dirty, dirty_ids: &dirty_ids, filter: &filter, subset: None };
//! let query = ParsedQuery::new(&["\"night train\""], TermMode::All)?;
//! let hits = index.snapshot()?.search(&query, &overlay, 20)?.hits;
//! assert_eq!(hits.len(), 1);
//! assert_eq!(hits[0].rank.document.as_bytes()[0], 1);
//! # Ok::<(), leafbase_model::Error>(())
//! ```

mod analysis_fingerprint;
mod analyzer;
mod ascii_tokens;
mod document;
mod edit_distance;
mod fold;
mod highlighter;
mod index;
mod languages;
mod match_ranges;
mod parsed_query;
mod query_words;
mod ranking;
mod score;
mod scripts;
mod sorted_field;
mod stems;
mod text_segments;
mod token;
mod tokens;
mod trigrams;
mod unsorted_field;
mod word_forms;

pub use analyzer::{Analyzer, DocumentBuilder};
pub use document::{Attributes, SearchDocument, TextField};
pub use fold::fold;
pub use highlighter::Highlighter;
pub use index::IndexStorage;
pub use index::{
    DocumentSubset, Hit, HitList, Index, IndexSnapshot, IndexWatermark, RankingOptions,
    ScoreFactor, SearchOverlay,
};
pub use languages::Languages;
pub use parsed_query::{MAX_QUERY_TERM_BYTES, MAX_QUERY_TERMS, ParsedQuery, TermCorrection};
pub use query_words::{QueryPart, QueryWord, query_words};
pub use ranking::{DocumentRank, RankPosition, RankingStatistics};
pub use token::{Token, TokenKind};
pub use tokens::tokens;
