//! The directory of a space: created completely or not at all, and opened by one handle at a time,
//! or by several that share it.

use std::path::Path;

use leafbase_kv::directory;
pub use leafbase_kv::directory::{LOCK_FILE, STORE_FILE, WAL_FILE};
use leafbase_model::{BlockData, Result};

use crate::edges::{EdgeTarget, Extractor};
use crate::keyspaces::RowName;
use crate::kv::{EntryFormat, OpenOptions, Read, RedbStore, SharedRedbStore};
use crate::reader::{ReaderCache, SpaceReader};
use crate::records;

/// The entries of a space: each is a record with a checksum over key and value.
pub const RECORD_FORMAT: EntryFormat = EntryFormat {
    is_intact: |key, value| records::check(key, value).is_ok(),
    describe: |key| RowName(key).to_string(),
};

fn of_records(options: &OpenOptions) -> OpenOptions {
    options.clone().entries(RECORD_FORMAT)
}

/// Creates the directory `path` with an empty store, and opens it.
///
/// # Errors
/// As [`leafbase_kv::directory::create`].
pub fn create(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    directory::create(path, &of_records(options))
}

/// Creates the directory with what `fill` writes: neither a crash nor an error leaves an incomplete
/// directory at `path`.
///
/// # Errors
/// As [`create`], and errors of `fill`.
pub fn create_with(
    path: impl AsRef<Path>,
    options: &OpenOptions,
    fill: impl FnOnce(&RedbStore) -> Result<()>,
) -> Result<RedbStore> {
    directory::create_with(path, &of_records(options), fill)
}

/// Opens the store in the directory `path`, whatever it contains.
///
/// # Errors
/// As [`leafbase_kv::directory::open`].
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    directory::open(path, &of_records(options))
}

/// Opens the store if it contains a space that this version reads. After an error the files are
/// unchanged.
///
/// # Errors
/// As [`open`].
pub fn open_space(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    directory::open_with(path, &of_records(options), &mut |read| holds_space(read))
}

/// Creates the directory as [`create_with`] does, and opens it as [`open_shared_space`].
///
/// # Errors
/// As both.
pub fn create_shared_with(
    path: impl AsRef<Path>,
    options: &OpenOptions,
    fill: impl FnOnce(&RedbStore) -> Result<()>,
) -> Result<SharedRedbStore> {
    directory::create_shared_with(path, &of_records(options), fill)
}

/// As [`open_space`], in a handle that shares the store with other processes.
///
/// # Errors
/// As [`leafbase_kv::directory::open_shared`].
pub fn open_shared_space(path: impl AsRef<Path>, options: &OpenOptions) -> Result<SharedRedbStore> {
    directory::open_shared(path, &of_records(options), &mut |read| holds_space(read))
}

/// Fails unless the store contains a space that this version reads.
pub(crate) fn holds_space(read: &dyn Read) -> Result<()> {
    let extractor = Extractor::of_edges(|_: &BlockData, _: &mut dyn FnMut(EdgeTarget)| {});
    SpaceReader { read, extractor, cache: ReaderCache::None, hints: None }.meta().map(|_| ())
}
