//! Tokens, queries, ranked search and candidates of patterns: in an index and in the overlay, on
//! intact and on corrupt storage.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test helpers are not test functions"
)]

mod candidates;
mod damage;
mod fixture;
mod match_ranges;
mod naive;
mod random;
mod search;
mod tokens;
