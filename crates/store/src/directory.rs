//! The directory of a space: made whole or not at all, opened by one handle at a time.

use std::path::Path;

use leafbase_kv::directory;
pub use leafbase_kv::directory::{LOCK_FILE, STORE_FILE, WAL_FILE};
use leafbase_model::{BlockData, Result};

use crate::edges::{EdgeTarget, Extractor};
use crate::keyspaces::RowName;
use crate::kv::{EntryFormat, OpenOptions, Read, RedbStore};
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

/// Makes the directory `path` with an empty store in it, and opens it.
///
/// # Errors
/// As [`leafbase_kv::directory::create`].
pub fn create(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    directory::create(path, &of_records(options))
}

/// The same, with what `fill` writes in it: no crash leaves a directory at `path` without all of
/// that, and no error does.
///
/// # Errors
/// As [`create`], and what `fill` returned.
pub fn create_with(
    path: impl AsRef<Path>,
    options: &OpenOptions,
    fill: impl FnOnce(&RedbStore) -> Result<()>,
) -> Result<RedbStore> {
    directory::create_with(path, &of_records(options), fill)
}

/// Opens the store in the directory `path`, whatever it holds.
///
/// # Errors
/// As [`leafbase_kv::directory::open`].
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    directory::open(path, &of_records(options))
}

/// The same, if the store holds a space that this version reads. After any error the files are as
/// they were.
///
/// # Errors
/// As [`open`].
pub fn open_space(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    directory::open_with(path, &of_records(options), &mut |read| holds_space(read))
}

/// Whether what is stored is a space that this version reads.
pub(crate) fn holds_space(read: &dyn Read) -> Result<()> {
    let extractor = Extractor::of_edges(|_: &BlockData, _: &mut dyn FnMut(EdgeTarget)| {});
    SpaceReader { read, extractor, known: ReaderCache::Nothing }.meta().map(|_| ())
}
