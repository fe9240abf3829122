//! Searches: across documents and within one. Those across documents, with their index, are the
//! feature `search`.

mod blocks;
mod patterns;
mod surroundings;
mod texts;

pub(crate) use blocks::path_to;
pub(crate) use patterns::{PatternSet, PatternSetMatcher};
pub(crate) use texts::VisibleTexts;

#[cfg(feature = "search")]
mod across;
#[cfg(feature = "search")]
mod blocks_across;
#[cfg(feature = "search")]
mod candidates;
#[cfg(feature = "search")]
mod cursor;
#[cfg(feature = "search")]
mod filters;
#[cfg(feature = "search")]
mod fusion;
#[cfg(feature = "search")]
mod index_maintenance;
#[cfg(feature = "search")]
mod match_counts;
#[cfg(feature = "search")]
mod match_presenter;
#[cfg(feature = "search")]
mod ranked_hits;
#[cfg(feature = "search")]
mod score_boost;
#[cfg(feature = "search")]
mod snippets;

#[cfg(feature = "search")]
pub(crate) use candidates::BlockCandidates;
#[cfg(feature = "search")]
use filters::{Filters, check as check_filters};
