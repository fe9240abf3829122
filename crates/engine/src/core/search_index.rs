//! The search index of a space: derived from the change log, disposable, and rebuilt when it is
//! damaged.
//!
//! It exists with the feature `search`; without the feature `no_index.rs` takes its place, so that
//! no other code depends on the feature.

#[cfg(feature = "search")]
mod catch_up;
#[cfg(feature = "search")]
mod comparison;
#[cfg(feature = "search")]
mod dirty_documents;
#[cfg(feature = "search")]
pub(crate) mod documents;
#[cfg(feature = "search")]
mod index_directories;
#[cfg(feature = "search")]
mod index_home;
#[cfg(feature = "search")]
pub(crate) mod indexer;
#[cfg(not(feature = "search"))]
mod no_index;
#[cfg(feature = "search")]
mod subset_cache;
#[cfg(feature = "search")]
mod update_lock;
#[cfg(feature = "search")]
mod worker;

#[cfg(feature = "search")]
pub(crate) use dirty_documents::end_of_log;
#[cfg(feature = "search")]
pub use index_directories::IndexDirectories;
#[cfg(feature = "search")]
pub use indexer::SearchIndexing;
#[cfg(not(feature = "search"))]
pub(crate) use no_index::{
    NoIndexHome as IndexHome, NoIndexer as SearchIndexer, NoIndexing as SearchIndexing,
};
#[cfg(feature = "search")]
pub(crate) use {index_home::IndexHome, indexer::SearchIndexer};
