//! Storage for indexes that tests implement, so that they can inject errors and power loss.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use leafbase_search::IndexStorage;

/// Numbered directories.
#[expect(clippy::missing_errors_doc, reason = "each fails like the directory operation")]
pub trait Device: Debug + Send + Sync {
    /// The numbers of all directories.
    fn directories(&self) -> io::Result<Vec<u64>>;
    /// Creates a directory; fails if it exists.
    fn make_directory(&self, number: u64) -> io::Result<()>;
    /// Removes a directory with its files.
    fn remove_directory(&self, number: u64) -> io::Result<()>;
    /// The files of a directory.
    fn shelf(&self, number: u64) -> Arc<dyn IndexStorage>;
}
