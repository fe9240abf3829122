//! Ordered key-value storage: a trait, a store in memory, and one in a redb file.
//!
//! A host that wants its spaces on something else implements [`Store`] and runs the conformance
//! suite of the feature `testkit` in its own tests.

pub mod directory;
mod entry_format;
mod options;
mod rows;
mod store;
#[cfg(feature = "testkit")]
pub mod testkit;

mod memory;

mod base;
mod edits;
mod failure;
mod fixed;
mod gate;
mod gathered;
mod group;
mod guard;
mod image;
mod inspect;
mod journal;
mod journaling;
mod lock;
mod nameless;
mod opener;
mod overlay;
mod page_fill;
mod recovery;
mod redb_store;
mod rewrite;
mod row;
mod structure;
mod tracked;
mod view;
mod within;
mod wreck;

pub use entry_format::EntryFormat;
pub use journaling::JOURNAL_FILE;
pub use lock::Lock;
pub use memory::MemoryStore;
pub use options::OpenOptions;
pub use page_fill::PageFill;
pub use redb_store::{RedbStore, Verify};
pub use rows::Rows;
pub use store::{
    Durability, KeyRange, Read, Snapshot, Store, Transaction, Visit, VisitMany, WriteOptions,
};
pub use wreck::{FileBytes, Gap, Wreck};
