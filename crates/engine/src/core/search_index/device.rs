//! Where tests let indexes lie instead of a directory: on disks of their own making.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use leafbase_search::IndexStorage;

/// Numbered directories.
#[expect(clippy::missing_errors_doc, reason = "each fails as directories do")]
pub trait Device: Debug + Send + Sync {
    /// The numbers of those that there are.
    fn directories(&self) -> io::Result<Vec<u64>>;
    /// Makes one that is not there yet.
    fn make_directory(&self, number: u64) -> io::Result<()>;
    /// Removes one with all that is in it.
    fn remove_directory(&self, number: u64) -> io::Result<()>;
    /// The files in one.
    fn shelf(&self, number: u64) -> Arc<dyn IndexStorage>;
}
