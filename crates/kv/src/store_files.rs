//! The files that a redb store consists of, given from outside.

use std::fmt::Debug;
use std::io;

use redb::StorageBackend;

/// The main file of a store and its write-ahead log (WAL).
///
/// A store opens its file again after an I/O error, so all methods may be called repeatedly. Every
/// call has to give access to the same bytes.
pub trait StoreFiles: Debug + Send + Sync + 'static {
    /// Opens the main file for reading and writing.
    ///
    /// # Errors
    /// I/O errors.
    fn open(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Opens the main file to read it next to a handle that is open.
    ///
    /// # Errors
    /// I/O errors.
    fn open_to_read(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.open()
    }

    /// Whether the files are unreachable until the caller has synced and renamed them. Nothing is
    /// logged or fsynced then: a space is created in 12 ms instead of 42, and one of 100,000
    /// entries in 100 commits, as a backup writes them, in 1.6 s instead of 3.9 (release, ext4 on a
    /// cloud disk).
    fn are_temporary(&self) -> bool {
        false
    }

    /// Opens the WAL to read it.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is none; I/O errors.
    fn open_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        Err(io::ErrorKind::NotFound.into())
    }

    /// Creates the WAL, or opens the existing one to overwrite it.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] if the store has none: every write, also a relaxed one, then
    /// commits to the main file. I/O errors.
    fn create_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Makes the name of the created WAL durable.
    ///
    /// # Errors
    /// I/O errors.
    fn sync_wal_name(&self) -> io::Result<()> {
        Ok(())
    }

    /// Removes the WAL. One that remains is ignored and overwritten, so errors are not reported.
    fn remove_wal(&self) {}

    /// The size of both files in bytes.
    ///
    /// # Errors
    /// I/O errors.
    fn bytes(&self) -> io::Result<u64> {
        self.open_to_read()?.len()
    }
}
