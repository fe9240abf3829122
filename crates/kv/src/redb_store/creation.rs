//! The creation of a store under a temporary name.

use std::sync::Arc;

use leafbase_model::Result;

use super::store::RedbStore;
use crate::options::OpenOptions;
use crate::store_files::StoreFiles;

/// The directory of a store that is being created, under a temporary name.
#[cfg_attr(not(feature = "testkit"), expect(unreachable_pub, reason = "the test kit exports it"))]
pub trait NewDirectory {
    /// Makes the bytes of the main file durable.
    ///
    /// # Errors
    /// I/O errors.
    fn sync_store(&self) -> Result<()>;

    /// Makes the names in the directory durable.
    ///
    /// # Errors
    /// I/O errors.
    fn sync_names(&self) -> Result<()>;

    /// Gives the directory its name.
    ///
    /// # Errors
    /// If something else has it; I/O errors.
    fn rename(&mut self) -> Result<()>;

    /// Makes this name durable.
    ///
    /// # Errors
    /// I/O errors.
    fn sync_parent(&self) -> Result<()>;
}

/// Creates a store in `files`, which are those of `directory` and temporary, lets `fill` write to
/// it, and gives the directory its name. Whatever a crash leaves, a directory with this name is
/// complete.
///
/// # Errors
/// Errors of `fill`; I/O errors.
#[cfg_attr(not(feature = "testkit"), expect(unreachable_pub, reason = "the test kit exports it"))]
pub fn create_in(
    files: Arc<dyn StoreFiles>,
    directory: &mut impl NewDirectory,
    options: &OpenOptions,
    fill: impl FnOnce(&RedbStore) -> Result<()>,
) -> Result<()> {
    let store = RedbStore::create(files, options)?;
    fill(&store)?;
    store.close()?;
    // No write to the file has been synced so far, and the name comes after all that it names.
    directory.sync_store()?;
    directory.sync_names()?;
    directory.rename()?;
    directory.sync_parent()
}
