//! The test kit of the key-value store, and spaces opened from the bytes of their files.

use std::sync::Arc;

use leafbase_kv::directory::check_header;
pub use leafbase_kv::testkit::*;
use leafbase_model::Result;

use crate::directory::{RECORD_FORMAT, holds_space};
use crate::kv::{OpenOptions, RedbStore};
use crate::records::trust;

/// Opens a store from the bytes of its main file, like [`crate::directory::open_space`]. They are
/// never written.
///
/// # Errors
/// As [`crate::directory::open_space`].
pub fn open_image(bytes: &Arc<[u8]>, options: &OpenOptions) -> Result<RedbStore> {
    open(bytes, None, options)
}

/// The same with the bytes of the write-ahead log that a killed process left.
///
/// # Errors
/// As [`crate::directory::open_space`].
pub fn open_killed(bytes: &Arc<[u8]>, wal: &Arc<[u8]>, options: &OpenOptions) -> Result<RedbStore> {
    open(bytes, Some(Arc::clone(wal)), options)
}

fn open(bytes: &Arc<[u8]>, wal: Option<Arc<[u8]>>, options: &OpenOptions) -> Result<RedbStore> {
    check_header("the image", bytes)?;
    let options = options.clone().entries(RECORD_FORMAT).read_only(true);
    let options = options.verify_pages(!trust::is_blind());
    let files = ImageFiles { store: Arc::clone(bytes), wal };
    RedbStore::with_verified_files(files, &options, &mut |read| holds_space(read))
}

/// Runs `work` without verifying checksums of records, and of pages of stores that it opens, on
/// this thread: the control of tests that have to detect corruption.
pub fn blindly<T>(work: impl FnOnce() -> T) -> T {
    trust::blindly(work)
}
