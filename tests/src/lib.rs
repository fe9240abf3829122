//! Integration tests of Leafbase, a module for each capability under `tests/`, and what several of
//! them use.

pub mod model;
pub mod reading;
pub mod rich;
pub mod scope;

/// The code in README runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
