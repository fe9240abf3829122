//! Integration tests of Leafbase, a module for each capability under `tests/`.

pub mod model;
pub mod scope;

/// The code in README runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
