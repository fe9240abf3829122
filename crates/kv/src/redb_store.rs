//! The redb adapter: a store in one file, with a memtable and a write-ahead log in front of it.
//!
//! redb runs over a stack of three storage backends: the file ([`crate::StoreFiles`]), the tracker
//! of unsynced writes (`sync_tracker`), and the write barrier (`write_barrier`), which also
//! verifies every page that is read (`page_verifier`). The header of each module has the
//! figure that justifies it.

pub(crate) mod file_format;
pub(crate) mod fill_factor;
mod page_bounds;
mod page_format;
mod panic_boundary;

mod page_buffer;
mod page_verifier;
mod sync_tracker;
mod write_barrier;
mod write_buffer;

mod integrity;

mod committed_state;
mod compaction;
mod cursor;
mod handle;
mod read_view;
mod tables;
mod write_transaction;
mod written_entries;

mod checkpoint;
mod group_commit;
mod recovery;
pub(crate) mod shared_store;
pub(crate) mod store;
mod store_core;

pub(crate) mod creation;
pub mod directory;
mod directory_files;
pub(crate) mod raw_page_reader;
