//! A space of documents, in a directory or in memory.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};

use leafbase_model::{Clock, Error, ErrorKind, IdSource, Limits, Result};
use leafbase_store::SpaceStore;
use leafbase_store::kv::{CommitSignal, Durability};

#[cfg(feature = "search")]
use crate::core::embedding_matrix::EmbeddingCache;
use crate::core::orphaned_uploads::OrphanedUploads;
use crate::core::search_index::SearchIndexer;

mod builder;
mod compact_options;
mod follower;
mod maintenance;
mod open;
mod salvage;
pub(crate) mod settings;

pub use builder::SpaceBuilder;
pub use compact_options::CompactOptions;

/// A space of documents. Cheap to clone; all clones share one open store.
///
/// ```
/// use leafbase::{Position, Space};
/// # fn main() -> leafbase::Result<()> {
/// let space = Space::in_memory()?;
/// let notes = space.connect();
/// let trip = notes.create_document("Trip to Lisbon")?;
/// let packing = "## Packing\n\n- [ ] passport\n- [ ] charger";
/// notes.insert_markdown(packing, Position::end_of(trip.id()))?;
/// assert!(notes.content_markdown(trip.id())?.contains("- [ ] charger"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Space(Arc<Inner>);

struct Inner {
    /// None once the space is closed.
    store: RwLock<Option<SpaceStore>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    limits: Limits,
    durability: Durability,
    /// Contains `{blockId}`; the ID of the space is already filled in.
    url_template: String,
    search: Arc<SearchIndexer>,
    #[cfg(feature = "search")]
    search_threads: usize,
    #[cfg(feature = "search")]
    embeddings: EmbeddingCache,
    orphaned_uploads: OrphanedUploads,
    /// That of the store, so that writes of its other handles are noticed.
    commits: Arc<CommitSignal>,
    /// Whether nothing is written. A store of the host does not know it.
    read_only: bool,
    /// Whether connections cannot write, because the space follows another one.
    is_follower: AtomicBool,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The thread of the search index holds a handle of the store as well.
        self.search.close();
    }
}

impl Space {
    /// The durability of connections that do not set their own.
    pub(crate) fn durability(&self) -> Durability {
        self.0.durability
    }

    pub(crate) fn store(&self) -> Result<SpaceStore> {
        let open = self.0.store.read().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| Error::new(ErrorKind::Closed, "the space is closed"))
    }

    #[cfg(feature = "search")]
    pub(crate) fn indexer(&self) -> &Arc<SearchIndexer> {
        &self.0.search
    }

    /// Upper bound of the threads that one search uses.
    #[cfg(feature = "search")]
    pub(crate) fn search_threads(&self) -> usize {
        self.0.search_threads
    }

    /// The vectors that searches compare.
    #[cfg(feature = "search")]
    pub(crate) fn embeddings(&self) -> &EmbeddingCache {
        &self.0.embeddings
    }

    /// Lets the search index catch up after a bulk write.
    pub(crate) fn index_bulk(&self) -> Result<()> {
        self.0.search.catch_up(&self.store()?)
    }

    pub(crate) fn orphaned_uploads(&self) -> &OrphanedUploads {
        &self.0.orphaned_uploads
    }

    pub(crate) fn ids(&self) -> &dyn IdSource {
        &*self.0.ids
    }

    pub(crate) fn now(&self) -> leafbase_model::Timestamp {
        self.0.clock.now()
    }

    /// Fails if the space was opened read-only.
    pub(crate) fn check_not_read_only(&self) -> Result<()> {
        if self.0.read_only {
            return Err(Error::new(ErrorKind::ReadOnly, "the space is open for reading only"));
        }
        Ok(())
    }

    /// Makes relaxed writes durable if one has waited for too long.
    pub(in crate::core) fn sync_overdue(&self) {
        let Ok(store) = self.store() else { return };
        if let Err(error) = store.sync_overdue(&|| self.now()) {
            // The calling operation has nothing to do with these writes, and the next one tries
            // again.
            let kind = error.kind();
            tracing::warn!(?kind, "relaxed writes could not be synced");
        }
    }

    /// Notifies the search index before a write.
    pub(crate) fn before_write(&self, durability: Durability) {
        if durability == Durability::Relaxed {
            self.0.search.will_relax();
        }
    }

    /// Is given after every write.
    pub(crate) fn commit_signal(&self) -> &CommitSignal {
        &self.0.commits
    }

    /// Notifies the search index of a write that created `documents` documents, and those who wait
    /// for writes.
    pub(crate) fn after_write(&self, store: &SpaceStore, documents: usize) {
        self.0.search.wrote(store, documents);
        self.0.commits.give();
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Space").finish_non_exhaustive()
    }
}
