//! Tokens, queries, ranked search and candidates of patterns, in an index and in the overlay, on intact
//! and on damaged storage.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests stand outside of test functions"
)]

mod candidates;
mod damage;
mod fixture;
mod match_ranges;
mod random;
mod search;
mod tokens;
