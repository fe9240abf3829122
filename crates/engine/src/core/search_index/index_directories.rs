//! Storage of search indexes that a host implements: for stores of its own, and for tests that
//! inject errors and power loss.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use leafbase_search::IndexStorage;

/// The directories of a search index, one per generation, each with a number.
#[expect(clippy::missing_errors_doc, reason = "each fails like the directory operation")]
pub trait IndexDirectories: Debug + Send + Sync {
    /// The numbers of all directories.
    fn directories(&self) -> io::Result<Vec<u64>>;
    /// Creates a directory; fails if it exists.
    fn make_directory(&self, number: u64) -> io::Result<()>;
    /// Removes a directory with its files.
    fn remove_directory(&self, number: u64) -> io::Result<()>;
    /// The files of a directory.
    fn storage(&self, number: u64) -> Arc<dyn IndexStorage>;
}
