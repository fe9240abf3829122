//! How Leafbase finds words in text: what documents and queries must agree on, what a
//! hit is worth, and an index, which also tells which documents a pattern can match.
//!
//! It knows no store. A document comes as its texts ([`SearchDocument`]); a search goes over the
//! index as it is ([`View`]) and over the documents that were changed since, in one formula, so
//! that it does not matter which of the two a document is in.
//!
//! | What | Here |
//! |---|---|
//! | words of a text | [`tokens`]; of a query, [`query_words`], [`Terms`] |
//! | a document made ready | [`Maker`], [`SearchDocument`] |
//! | the index: made, opened, kept up, read | [`Index`], [`View`] |
//! | ranked search | [`View::search`] |
//! | a search of some documents, as if there were no others | [`View::select`] |
//! | documents that a pattern can match at all | [`TrigramQuery`](leafbase_pattern::TrigramQuery), [`View::candidates`] |
//!
//! # Words
//!
//! Words are those of Unicode (UAX 29), folded so that case, accents and width do not matter. What
//! is written without spaces is read in pairs of characters, so that any two in a row are found. An
//! emoji is a word. Words with parts (`snake_case`, `v1.2`) are found whole and by each part.
//!
//! ```
//! use leafbase_search::{query_words, tokens};
//! let texts = |text| tokens(text).into_iter().map(|token| token.text).collect::<Vec<_>>();
//! assert_eq!(texts("Élan, v1.2"), ["elan", "v1.2", "v1", "v", "1", "2"]);
//! assert_eq!(texts("東京都"), ["東京", "京都", "都"]);
//!
//! // A query asks for the parts in a row, wherever they stand.
//! let word = &query_words("Snake_Case")[0];
//! assert_eq!(word.whole.as_deref(), Some("snake_case"));
//! assert_eq!(word.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>(), ["snake", "case"]);
//! ```
//!
//! # Ranking
//!
//! ```
//! use std::collections::HashSet;
//! use leafbase_model::{DocumentId, Location, Timestamp};
//! use leafbase_search::{Attributes, Index, Maker, Scope, Terms};
//! let mut maker = Maker::default();
//! let mut document = |number: u8, title, text| {
//!     let (id, now) = (DocumentId::from_bytes([number; 16]), Timestamp::default());
//!     let attributes = Attributes { id, location: Location::Unsorted, day: None, created_at: now, modified_at: now };
//!     let mut filling = maker.begin(attributes, title);
//!     filling.add_words(text);
//!     filling.finish()
//! };
//! let index = Index::in_memory("a space")?;
//! let trips = [document(1, "Lisbon", "The night train leaves at ten."), document(2, "Porto", "No trains at night.")];
//! index.update(&mut trips.into_iter().map(Ok), &[], 1)?;
//!
//! // Changed since, and so searched as it is now.
//! let (porto, changed) = (document(2, "Porto", "We walk."), HashSet::from([DocumentId::from_bytes([2; 16])]));
//! let scope = Scope { fresh: &[&porto], changed: &changed, accepts: &|_| true, only: None };
//! let hits = index.view()?.search(&Terms::new(&["\"night train\""], false)?, &scope, 20)?;
//! assert_eq!(hits.iter().map(|hit| hit.document.as_bytes()[0]).collect::<Vec<_>>(), [1]);
//! # Ok::<(), leafbase_model::Error>(())
//! ```

mod fold;
mod pieces;
mod scripts;

mod query;
mod tokens;

mod asked;
mod document;
mod grams;
mod highlighter;
mod hits;
mod maker;
mod rank;

mod index;

pub use asked::{LONGEST_TERM, MOST_TERMS, Terms};
pub use document::{Attributes, Lane, SearchDocument};
pub use fold::fold;
pub use highlighter::Highlighter;
#[cfg(feature = "testkit")]
#[doc(hidden)]
pub use index::Shelf;
pub use index::{Hit, Index, Scope, Selection, View};
pub use maker::{Filling, Maker};
pub use query::{QueryPart, QueryWord, query_words};
pub use tokens::{Token, TokenKind, tokens};
