//! The test kit of the key-value store, and spaces from the bytes of their store, as a failing
//! device may give them.

use std::sync::Arc;

use leafbase_kv::directory::check_header;
pub use leafbase_kv::testkit::*;
use leafbase_model::Result;

use crate::directory::{RECORD_FORMAT, holds_space};
use crate::kv::{OpenOptions, RedbStore};
use crate::records::trust;

/// Opens the store whose file has these bytes, as [`crate::directory::open_space`] does with a
/// directory. They are never written.
///
/// # Errors
/// As [`crate::directory::open_space`].
pub fn open_image(bytes: &Arc<[u8]>, options: &OpenOptions) -> Result<RedbStore> {
    open(bytes, None, options)
}

/// The same with the bytes of the journal that lies beside it: as a process leaves them that is
/// killed.
///
/// # Errors
/// As [`crate::directory::open_space`].
pub fn open_killed(
    bytes: &Arc<[u8]>,
    journal: &Arc<[u8]>,
    options: &OpenOptions,
) -> Result<RedbStore> {
    open(bytes, Some(Arc::clone(journal)), options)
}

fn open(bytes: &Arc<[u8]>, journal: Option<Arc<[u8]>>, options: &OpenOptions) -> Result<RedbStore> {
    let header = bytes.get(..bytes.len().min(320)).unwrap_or_default();
    check_header("the image", header)?;
    let options = options.clone().entries(RECORD_FORMAT).read_only(true);
    let options = options.verify_pages(!trust::is_blind());
    let files = ImageFiles { store: Arc::clone(bytes), wal: journal };
    RedbStore::with_verified_files(files, &options, &mut |read| holds_space(read))
}

/// Does `work` without verifying any checksum of a record or of a page of records on this thread:
/// for tests that have to notice it.
pub fn blindly<T>(work: impl FnOnce() -> T) -> T {
    trust::blindly(work)
}
