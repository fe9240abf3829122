//! The search across documents: what it finds, in which order, what it shows, and that it is always
//! up to date.

mod shelf;

mod block_pages;
mod block_results;
mod embeddings;
mod filters;
mod freshness;
mod indexes;
mod pages;
mod patterns;
mod snippets;
mod sought;
mod weights;
mod words;

mod random;
mod scoped_search;

pub use shelf::{Shelf, copy};

/// The code of an error and its path.
fn wrong(error: &leafbase::Error) -> String {
    format!("{} {}", error.code(), error.path()).trim_end().to_owned()
}
