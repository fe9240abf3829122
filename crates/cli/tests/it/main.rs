//! What the program shows: every command that the README and the cases name is run, and shows what
//! stands there.
//!
//! `LEAFBASE_UPDATE=1 cargo test -p leafbase-cli` writes down what is shown now.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panics"
)]

mod transcript;

mod cases;
mod follow;
mod queries;
mod vaults;
