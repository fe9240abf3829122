//! Where Leafbase keeps a space: ordered keys, records, change log, integrity.
//!
//! It knows no rule: `tree-ops` and `collections` decide, this crate applies.

pub mod directory;
pub mod kv;
#[cfg(feature = "testkit")]
pub mod testkit;

mod edges;
mod reader;
mod space_store;

pub use edges::{BackLink, EdgeEnd, EdgeExtractor, EdgeKind, EdgeTarget};
pub use reader::{Cursor, DocumentPage, Listing, Reader, Standing};
pub use space_store::{SpaceMeta, SpaceSnapshot, SpaceStore, SpaceTransaction, Stats, Written};
