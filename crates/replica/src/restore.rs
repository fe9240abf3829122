//! Restoring of a space as it was.

use std::path::Path;

#[cfg(doc)]
use leafbase::ErrorKind;
use leafbase::{ChangePosition, Result, Space};

use crate::apply::{RestorePoint, create_copy};
use crate::manifest::with_manifest;
use crate::store::ReplicaStore;

/// Makes the space of a moment in the new directory `path`, and returns the position after its
/// last change. It is a space like any other, whose history goes its own way from there.
///
/// ```
/// use std::sync::Arc;
/// use leafbase::{ErrorKind, Space};
/// use leafbase_replica::{DirectoryStore, Leader, LeaderOptions, RestorePoint, restore};
/// # fn main() -> leafbase::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let directory = directory.path();
/// let space = Space::in_memory()?;
/// let store = Arc::new(DirectoryStore::new(directory.join("replica")));
/// let options = LeaderOptions::new("desk", directory.join("scratch"));
/// let mut leader = Leader::acquire(&space, store.clone(), options)?;
/// for title in ["Trip", "Diary", "Packing"] {
///     space.connect().create_document(title)?;
/// }
/// leader.ship()?;
///
/// let copy = directory.join("copy.leafbase");
/// restore(&*store, &copy, RestorePoint::Sequence(2))?;
/// assert_eq!(Space::open(&copy)?.connect().documents()?.len(), 2);
/// let refused = restore(&*store, directory.join("other"), RestorePoint::Sequence(9)).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::NotFound); // it was not shipped
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::NotFound`] if there is no replica, or the change was not shipped;
/// [`ErrorKind::HistoryGone`] if the moment is before the oldest snapshot;
/// [`ErrorKind::Validation`] if there is something at `path`; [`ErrorKind::Corrupted`] with the
/// name of an object that is damaged or missing; errors of the store and of the file system.
/// Nothing is left at `path` then.
pub fn restore(
    store: &dyn ReplicaStore,
    path: impl AsRef<Path>,
    moment: RestorePoint,
) -> Result<ChangePosition> {
    let (builder, path) = (Space::builder(), path.as_ref());
    with_manifest(store, |manifest| create_copy((store, manifest), &builder, path, moment))
}
