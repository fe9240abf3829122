//! What the program shows: every command that the README and the cases name is run, and shows what stands there.
//!
//! `LEAFBASE_UPDATE=1 cargo test -p leafbase-cli` writes down what is shown now.

#![cfg(unix)]

mod transcript;

mod cases;
mod follow;
mod vaults;
