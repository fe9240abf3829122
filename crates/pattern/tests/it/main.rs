//! Which ranges patterns match, and that hostile patterns end within their step budget.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests stand outside of test functions"
)]

mod hostile;
mod matches;
