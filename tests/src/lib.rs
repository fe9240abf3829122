//! Integration tests of Leafbase, a module for each capability under `tests/`, and what several of
//! them use.

pub mod model;
pub mod reading;
pub mod rich;
pub mod scope;

/// How many random cases a test runs: `full` with `LEAFBASE_CASES=full`, as a night's run does.
pub fn cases<N>(usual: N, full: N) -> N {
    match std::env::var("LEAFBASE_CASES").as_deref() {
        Ok("full") => full,
        _ => usual,
    }
}

/// The code in README runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
