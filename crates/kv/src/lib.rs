//! Ordered key-value storage: the [`Store`] trait, a store in memory ([`MemoryStore`]) and one in
//! a redb file ([`RedbStore`]).
//!
//! Keys and values are bytes without a meaning here; [`EntryFormat`] names and verifies them for
//! the caller. A host that keeps its data elsewhere implements [`Store`], or gives [`RedbStore`]
//! other files through [`StoreFiles`], and runs the conformance suite of the feature `testkit` in
//! its own tests.

mod commit_signal;
mod entry_format;
mod options;
mod store;
mod write_batch;

mod io_errors;
mod lock;
mod memory;
mod memtable;
mod redb_store;
mod store_files;
mod sync;
#[cfg(feature = "testkit")]
pub mod testkit;
mod wal;

pub use commit_signal::CommitSignal;
pub use entry_format::EntryFormat;
pub use lock::FileLock;
pub use memory::MemoryStore;
pub use options::OpenOptions;
pub use redb_store::directory;
pub use redb_store::fill_factor::PageFill;
pub use redb_store::raw_page_reader::{LostPage, RawPageReader};
pub use redb_store::shared_store::SharedRedbStore;
pub use redb_store::store::{RedbStore, VerifyContent};
pub use store::{
    Durability, IndexHint, KeyRange, Read, ReadHint, Snapshot, Store, Transaction, Visit,
    VisitMany, WriteOptions,
};
pub use store_files::StoreFiles;
pub use write_batch::WriteBatch;
