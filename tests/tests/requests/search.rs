//! The search across documents: what it finds, in which order, what it shows, and that it is always
//! up to date.

mod shelf;

mod filters;
mod freshness;
mod indexes;
mod patterns;
mod snippets;
mod sought;
mod words;

mod random;

pub use shelf::{Shelf, copy};
