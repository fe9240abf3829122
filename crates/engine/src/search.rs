//! The searches: across documents, and in one. Those across documents, with their index, are the
//! feature `search`; without it `without.rs` stands for the index, so that the rest of the engine
//! need not know.

mod texts;

mod patterns;

mod around;
mod blocks;

#[cfg(feature = "search")]
mod documents;

#[cfg(feature = "testkit")]
mod device;
#[cfg(feature = "search")]
mod generations;
#[cfg(feature = "search")]
mod recent;
#[cfg(feature = "search")]
mod selections;

#[cfg(feature = "search")]
mod catching;
#[cfg(feature = "search")]
mod indexer;
#[cfg(feature = "search")]
mod rebuilding;
#[cfg(feature = "search")]
mod worker;

#[cfg(feature = "search")]
mod filters;
#[cfg(feature = "search")]
mod snippets;

#[cfg(feature = "search")]
mod across;
#[cfg(feature = "search")]
mod leaking;
#[cfg(feature = "search")]
mod parts;

#[cfg(not(feature = "search"))]
mod without;

#[cfg(feature = "testkit")]
pub use device::Device;
#[cfg(feature = "search")]
pub use indexer::SearchIndexing;
#[cfg(not(feature = "search"))]
pub(crate) use without::{Home, Indexer, SearchIndexing};
#[cfg(feature = "search")]
pub(crate) use {generations::Home, indexer::Indexer};
