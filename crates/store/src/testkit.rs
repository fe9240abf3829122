//! The test kit of the key-value store, and spaces opened from the bytes of their files.

use std::sync::Arc;

use leafbase_kv::directory::check_header;
pub use leafbase_kv::testkit::*;
use leafbase_model::Result;

use crate::directory::{RECORD_FORMAT, holds_space};
use crate::kv::{OpenOptions, RedbStore};
use crate::records;

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
    let files = ImageFiles { store: Arc::clone(bytes), wal };
    RedbStore::with_verified_files(files, &options, &mut |read| holds_space(read))
}

/// Replaces the checksum of the record under `key` by that of its bytes, so that damage to them
/// goes unnoticed: the control of tests that have to detect corruption. A value without room for a
/// checksum stays as it is.
pub fn reseal(key: &[u8], value: &mut [u8]) {
    if let Some((rest, sum)) = value.split_last_chunk_mut::<{ records::CHECKSUM_BYTES }>() {
        *sum = records::checksum(key, rest);
    }
}
