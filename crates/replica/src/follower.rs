//! A follower: a copy of the space that is kept up to date, and takes over when it is asked to.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(doc)]
use leafbase::ErrorKind;
use leafbase::{ChangePosition, Connection, Result, Space, SpaceBuilder};

use crate::apply::{RestorePoint, apply_segments, create_copy};
use crate::directory_store::{io_error, sync_directory};
use crate::leader::Leader;
use crate::leader_options::LeaderOptions;
use crate::lease;
use crate::manifest::{self, with_manifest};
use crate::store::ReplicaStore;

/// A copy of a space in a directory of its own, which applies what its leader ships. It serves
/// reads and searches, and is written by nothing else.
///
/// Its position is in the copy itself: it may be stopped at any point, and goes on from there.
///
/// ```
/// use std::sync::Arc;
/// use leafbase::Space;
/// use leafbase_replica::{DirectoryStore, Follower, Leader, LeaderOptions};
/// # fn main() -> leafbase::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let directory = directory.path();
/// let space = Space::in_memory()?;
/// let store = Arc::new(DirectoryStore::new(directory.join("replica")));
/// let options = LeaderOptions::new("desk", directory.join("scratch"));
/// let mut leader = Leader::acquire(&space, store.clone(), options.clone())?;
/// let follower = Follower::open(directory.join("copy.leafbase"), store)?;
///
/// space.connect().create_document("Trip to Lisbon")?;
/// leader.ship()?;
/// follower.catch_up()?;
/// assert_eq!(follower.connect().search("lisbon")?.len(), 1);
/// assert!(follower.connect().create_document("Diary").is_err());
///
/// let (copy, _leader) = follower.promote(LeaderOptions::new("other", directory.join("scratch"))
///     .take_over(true))?;
/// copy.connect().create_document("Diary")?;
/// assert!(leader.ship().is_err()); // it is fenced, and its space takes no more writes
/// assert!(space.connect().create_document("Lost").is_err());
/// # Ok(())
/// # }
/// ```
pub struct Follower {
    space: Space,
    store: Arc<dyn ReplicaStore>,
    builder: SpaceBuilder,
    path: PathBuf,
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Follower {
    /// Opens the copy in the directory `path`. If there is none, it is made from the newest
    /// snapshot. Call [`Self::catch_up`] for what was shipped since.
    ///
    /// # Errors
    /// As [`crate::restore`] and [`Space::open`]; [`ErrorKind::Validation`] if the directory has
    /// another space.
    pub fn open(path: impl AsRef<Path>, store: Arc<dyn ReplicaStore>) -> Result<Self> {
        Self::open_with(Space::builder(), path, store)
    }

    /// As [`Self::open`], with options for the copy.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        builder: SpaceBuilder,
        path: impl AsRef<Path>,
        store: Arc<dyn ReplicaStore>,
    ) -> Result<Self> {
        let (path, builder) = (path.as_ref().to_owned(), builder.follower(true));
        if !Space::is_at(&path) {
            with_manifest(&*store, |manifest| {
                create_copy((&*store, manifest), &builder, &path, RestorePoint::Newest)
            })?;
        }
        let space = builder.clone().open(&path)?;
        lease::check_space(&manifest::read(&*store)?, space.meta()?.id)?;
        // Of `start_over`, also of one that was stopped.
        for leftover in [sibling(&path, "replaced"), sibling(&path, "fresh")] {
            if let Err(error) = remove_directory(&leftover) {
                tracing::warn!(%error, "a replaced copy of a space could not be removed");
            }
        }
        Ok(Self { space, store, builder, path })
    }

    /// The copy. It closes with the follower's last handle.
    pub const fn space(&self) -> &Space {
        &self.space
    }

    /// A connection to the copy, which reads.
    pub fn connect(&self) -> Connection {
        self.space.connect()
    }

    /// Applies what was shipped since the last call. Returns the position after the last change.
    ///
    /// # Errors
    /// [`ErrorKind::HistoryGone`] if the store no longer has the changes after the last one here,
    /// because one of them purged a document or the copy was left behind for too long, or if this
    /// copy has changes that were never shipped: then [`Self::start_over`] is called for.
    /// [`ErrorKind::Corrupted`] with the name of an object that is damaged or missing: the changes
    /// before the damage are applied. Errors of the store and of the space.
    pub fn catch_up(&self) -> Result<ChangePosition> {
        with_manifest(&*self.store, |manifest| {
            apply_segments((&*self.store, manifest), &self.space, RestorePoint::Newest)
        })
    }

    /// Flushes and closes the copy.
    ///
    /// # Errors
    /// As [`Space::close`].
    pub fn close(self) -> Result<()> {
        self.space.close()
    }

    /// Replaces the copy by one of the newest snapshot. Other handles of the old one are closed.
    ///
    /// # Errors
    /// As [`Self::open`]; the old copy is gone once the new one is complete.
    pub fn start_over(self) -> Result<Self> {
        let Self { space, store, builder, path } = self;
        // One process has the copy open, so the names are free, or of one that ended here.
        let (fresh, replaced) = (sibling(&path, "fresh"), sibling(&path, "replaced"));
        remove_directory(&fresh)?;
        remove_directory(&replaced)?;
        with_manifest(&*store, |manifest| {
            create_copy((&*store, manifest), &builder, &fresh, RestorePoint::Newest)
        })?;
        space.close()?;
        // Without a copy for a moment: a directory cannot be exchanged on every system. A follower
        // that is stopped here makes its copy again. The old one is removed by `open_with`,
        // under a name that is taken for no copy.
        fs::rename(&path, &replaced).map_err(|error| io_error("rename", &path, error))?;
        fs::rename(&fresh, &path).map_err(|error| io_error("create", &path, error))?;
        path.parent()
            .map_or(Ok(()), sync_directory)
            .map_err(|error| io_error("create", &path, error))?;
        Self::open_with(builder, path, store)
    }

    /// Makes the copy the space that is written: becomes the leader, applies what the one before
    /// shipped last, and lets connections write. The leader before is fenced: what it wrote and
    /// did not ship is lost.
    ///
    /// # Errors
    /// As [`Leader::acquire`] and [`Self::catch_up`]. [`ErrorKind::AlreadyOpen`] if the term of
    /// another leader has not ended, unless [`LeaderOptions::take_over`] is set. The copy stays a
    /// follower in its directory then.
    pub fn promote(self, options: LeaderOptions) -> Result<(Space, Leader)> {
        // Before the lease, so that a copy that cannot catch up fences no leader.
        self.catch_up()?;
        let Self { space, store, .. } = self;
        let lease = lease::acquire(&*store, space.meta()?.id, &options)?;
        // From here on no one ships what is not applied here.
        apply_segments((&*store, lease.manifest()), &space, RestorePoint::Newest)?;
        let leader = Leader::begin(&space, store, options, lease)?;
        space.promote();
        Ok((space, leader))
    }
}

/// A hidden directory next to the directory of a copy.
fn sibling(copy: &Path, extension: &str) -> PathBuf {
    let name = copy.file_name().unwrap_or_default().to_string_lossy();
    copy.with_file_name(format!(".{name}.{extension}"))
}

fn remove_directory(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_error("remove", path, error))
        }
        _ => Ok(()),
    }
}
