//! The tree operations against a naive space: each rule by an outline, and random sequences of
//! requests.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests stand outside of test functions"
)]

mod compare;
mod shelf;
mod space;
mod tree;

mod cost;
mod delete;
mod document;
mod fetch;
mod folders;
mod inbox;
mod insert;
mod moves;
mod random;
mod update;
