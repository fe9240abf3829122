//! What search finds: by words, in an index and beside it, on whole and on
//! damaged disks.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests stand outside of test functions"
)]

mod damage;
mod finding;
mod hits;
mod made;
mod masks;
mod random;
mod words;
