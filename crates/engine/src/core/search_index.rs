//! The search index of a space: derived from the change log, disposable, rebuilt when it is damaged.
//!
//! It exists with the feature `search`; without the feature `without.rs` takes its place, so that
//! no other code depends on the feature.

#[cfg(feature = "search")]
mod catching;
#[cfg(feature = "testkit")]
mod device;
#[cfg(feature = "search")]
pub(crate) mod documents;
#[cfg(feature = "search")]
mod generations;
#[cfg(feature = "search")]
pub(crate) mod indexer;
#[cfg(feature = "search")]
mod recent;
#[cfg(feature = "search")]
mod selections;
#[cfg(not(feature = "search"))]
mod without;
#[cfg(feature = "search")]
mod worker;

#[cfg(feature = "testkit")]
pub use device::Device;
#[cfg(feature = "search")]
pub use indexer::SearchIndexing;
#[cfg(not(feature = "search"))]
pub(crate) use without::{Home, Indexer, SearchIndexing};
#[cfg(feature = "search")]
pub(crate) use {generations::Home, indexer::Indexer};
