//! How Leafbase reads words from text, for an index and for a query.
//!
//! Words are those of Unicode (UAX 29), folded so that case, accents and width do not matter. What is written without spaces is read
//! in pairs of characters, so that any two in a row are found. Words with parts (`snake_case`, `v1.2`) are found whole and by
//! each part.
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
//! The index itself is not here yet: what is here is what documents and queries must agree on.

mod fold;
mod pieces;
mod scripts;

mod query;
mod tokens;

mod pattern;

pub use fold::fold;
pub use pattern::{Exhausted, Fuel, LONGEST, Matcher, Pattern, Required, Trigram, trigrams};
pub use query::{QueryPart, QueryWord, query_words};
pub use tokens::{Token, TokenKind, tokens};
