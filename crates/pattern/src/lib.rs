//! Regular expressions with look-around whose cost is bounded by a step budget.
//!
//! | What | Here |
//! |---|---|
//! | a compiled expression, and its search in texts | [`Pattern`], [`Matcher`] |
//! | what stands in place of a match, with its groups | [`Replacer`] |
//! | the bound of what searches may cost | [`StepBudget`] |
//! | a substring search that rules out most texts | [`Prefilter`] |
//! | which documents of a trigram index can match | [`TrigramQuery`], [`trigrams`] |
//!
//! ```
//! use leafbase_pattern::{Pattern, StepBudget};
//! let pattern = Pattern::new(r"(?<=€ )\d+", false)?;
//! let ranges = pattern.matcher().find_all("€ 7, € 12", 10, &mut StepBudget::new(1_000));
//! assert_eq!(ranges, Ok(vec![4..5, 11..13]));
//! # Ok::<(), leafbase_model::Error>(())
//! ```

mod budget;
mod syntax;
mod tree;

mod literals;
mod prefilter;
mod trigrams;

mod lazy_dfa;
mod pike_vm;
mod program;

mod capture_search;
mod matcher;
mod pattern;
mod replacer;

#[cfg(test)]
mod tests;

pub use budget::{BudgetExhausted, StepBudget};
pub use matcher::Matcher;
pub use pattern::{MAX_PATTERN_BYTES, Pattern, escape_pattern};
pub use prefilter::{Candidates, Prefilter};
pub use replacer::Replacer;
pub use trigrams::{Trigram, TrigramQuery, each_trigram, trigrams};
