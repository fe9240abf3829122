//! Creation and opening of spaces: in a directory, in memory, and over a store of the host.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};

use leafbase_model::{Error, ErrorKind, Result, SpaceId};
use leafbase_store::kv::{MemoryStore, RedbStore, Store, WriteOptions};
use leafbase_store::{SpaceMeta, SpaceStore, directory};

use super::{Inner, Space, SpaceBuilder, settings};
use crate::core::edges::EXTRACTOR;
#[cfg(feature = "search")]
use crate::core::embedding_matrix::EmbeddingCache;
use crate::core::orphaned_uploads::OrphanedUploads;
use crate::core::search_index::{IndexHome, SearchIndexer};

impl Space {
    /// Creates a space in the new directory `path` with default options.
    ///
    /// ```
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("notes.leafbase");
    /// let space = Space::create(&path)?;
    /// assert_eq!(space.meta()?.name, "notes"); // that of the directory
    /// assert!(Space::create(&path).is_err()); // there is one
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`SpaceBuilder::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().create(path)
    }

    /// Opens the space in the directory `path`.
    ///
    /// ```
    /// use leafbase::{ErrorKind, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("notes.leafbase");
    /// let space = match Space::open(&path) {
    ///     Err(error) if error.kind() == ErrorKind::NotFound => Space::create(&path)?,
    ///     opened => opened?,
    /// };
    /// assert_eq!(Space::open(&path).unwrap_err().kind(), ErrorKind::AlreadyOpen);
    /// space.close()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`SpaceBuilder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }

    /// Whether the directory `path` contains the files of a space. Nothing is opened:
    /// [`Self::open`] decides whether it can be.
    ///
    /// ```
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("notes.leafbase");
    /// assert!(!Space::is_at(&path));
    /// Space::create(&path)?;
    /// assert!(Space::is_at(&path));
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_at(path: impl AsRef<Path>) -> bool {
        path.as_ref().join(leafbase_store::directory::STORE_FILE).is_file()
    }

    /// Creates a space in memory, which is dropped with its last handle.
    ///
    /// # Errors
    /// As [`SpaceBuilder::in_memory`].
    pub fn in_memory() -> Result<Self> {
        Self::builder().in_memory()
    }
}

impl SpaceBuilder {
    /// Creates a space in the new directory `path` and opens it. A crash in between leaves nothing
    /// at `path`.
    ///
    /// ```
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("notes.leafbase");
    /// let refused = Space::builder().zone("Europe/Atlantis").create(&path).unwrap_err();
    /// assert_eq!((refused.path(), path.exists()), ("zone", false));
    /// Space::builder().zone("Europe/Lisbon").create(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `zone` if the zone is unknown, at `url_template` if it lacks
    /// `{blockId}`, and without a path if `path` exists; [`ErrorKind::LimitExceeded`] at `name` if
    /// the name is too long; [`ErrorKind::ReadOnly`] if the parent directory is not writable, and
    /// with [`Self::read_only`];
    /// [`ErrorKind::NoSpace`]; [`ErrorKind::Storage`] for other errors of the operating system,
    /// such as a missing parent directory. `path` is left as it was then.
    pub fn create(self, path: impl AsRef<Path>) -> Result<Space> {
        let path = path.as_ref();
        // A path such as `/` has no stem: the space is unnamed then.
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
        let meta = self.meta(&stem)?;
        let options = self.options.clone();
        // Initialized under a temporary name: a crash leaves nothing at `path`.
        let fill = |store: &RedbStore| SpaceStore::initialize(store, &meta);
        let store: Arc<dyn Store> = if options.shared {
            Arc::new(directory::create_shared_with(path, &options, fill)?)
        } else {
            Arc::new(directory::create_with(path, &options, fill)?)
        };
        let (home, handles) = self.home(path);
        self.opened(store, home, handles)
    }

    /// Opens the space in the directory `path`. Orphaned uploads of a crash are swept, unless it is
    /// opened read-only.
    ///
    /// ```
    /// use leafbase::{Durability, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("notes.leafbase");
    /// # Space::create(&path)?.close()?;
    /// let space = Space::builder().durability(Durability::Relaxed).cache_bytes(8 << 20)
    ///     .open(&path)?;
    /// assert_eq!(space.connect().documents()?.len(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `url_template`. For the directory, whose files are left
    /// unchanged: [`ErrorKind::NotFound`], [`ErrorKind::NotASpace`], [`ErrorKind::AlreadyOpen`],
    /// [`ErrorKind::Corrupted`], [`ErrorKind::NewerFormat`], [`ErrorKind::ReadOnly`],
    /// [`ErrorKind::NoSpace`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<Space> {
        settings::check_url_template(&self.url_template)?;
        let store: Arc<dyn Store> = if self.options.shared {
            Arc::new(directory::open_shared_space(&path, &self.options)?)
        } else {
            Arc::new(directory::open_space(&path, &self.options)?)
        };
        let (home, handles) = self.home(path.as_ref());
        self.opened(store, home, handles)
    }

    /// Creates a space in memory, which is dropped with its last handle.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::builder().name("Scratch").in_memory()?;
    /// assert_eq!(space.connect().info()?.space.name, "Scratch");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `zone` or `url_template`, [`ErrorKind::LimitExceeded`] at
    /// `name`, and [`ErrorKind::ReadOnly`], as for [`Self::create`].
    pub fn in_memory(self) -> Result<Space> {
        let store = MemoryStore::new();
        SpaceStore::initialize(&store, &self.meta("")?)?;
        self.opened(Arc::new(store), IndexHome::Memory, Handles::One)
    }

    /// Creates a space in the empty `store` (`create`), or opens the one in it: for key-value
    /// stores other than the embedded one. The search index is kept in memory.
    ///
    /// Any number of spaces may be opened over one store, in as many processes as the store serves:
    /// each reads what all of them have written. Opening one deletes the uploads that have stored
    /// nothing for an hour, by the clocks of the hosts: a process that ended left them. A wait for
    /// changes is woken by the store's [`CommitSignal`](crate::kv::CommitSignal), or looks again
    /// four times a second if the store has none. [`Self::cache_bytes`], [`Self::shared`] and
    /// [`Self::sync_relaxed_after`] have no effect: the store has its own options.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use leafbase::{Space, kv::MemoryStore};
    /// # fn main() -> leafbase::Result<()> {
    /// let store = Arc::new(MemoryStore::new()); // or the host's own `kv::Store`
    /// let space = Space::builder().name("Notes").over(store.clone(), true)?;
    /// space.connect().create_document("Trip")?;
    /// space.close()?;
    /// let space = Space::builder().over(store, false)?;
    /// assert_eq!(space.connect().documents()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::create`] and [`Self::open`]; with `create`, [`ErrorKind::Validation`] if the
    /// store is not empty.
    pub fn over(self, store: Arc<dyn Store>, create: bool) -> Result<Space> {
        self.prepare(&*store, create)?;
        self.opened(store, IndexHome::Memory, Handles::Several)
    }

    /// As [`Self::over`], with the search index in the directory `index` of this host, where it
    /// outlives the process: for a store that several hosts share. The index follows the change
    /// log. Several handles of this host may share the directory, which is created if it is
    /// missing.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use leafbase::{Space, kv::MemoryStore};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// let store = Arc::new(MemoryStore::new()); // or one of a database
    /// let index = directory.path().join("notes.index");
    /// let space = Space::builder().over_in(store, &index, true)?;
    /// let trip = space.connect().create_document("Trip to Lisbon")?;
    /// assert_eq!(space.connect().search("lisbon")?[0].document_id, trip.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::over`]; errors of the operating system.
    #[cfg(feature = "search")]
    pub fn over_in(
        self,
        store: Arc<dyn Store>,
        index: impl AsRef<Path>,
        create: bool,
    ) -> Result<Space> {
        self.prepare(&*store, create)?;
        let failed = |error| {
            let message = "the directory of the search index could not be created";
            Error::new(ErrorKind::Storage, message).with_source(error)
        };
        std::fs::create_dir_all(&index).map_err(failed)?;
        let home = IndexHome::of_shared_space(index.as_ref(), self.options.read_only);
        let space = self.opened(store, home, Handles::Several)?;
        // Other handles may write relaxed without saying so to this one.
        space.indexer().will_relax();
        Ok(space)
    }

    /// As [`Self::over`], with the search index in `directories` of the host, where it outlives the
    /// process. No other handle may have the same ones.
    ///
    /// # Errors
    /// As [`Self::over`].
    #[cfg(feature = "search")]
    pub fn over_with_index(
        self,
        store: Arc<dyn Store>,
        directories: Arc<dyn crate::core::search_index::IndexDirectories>,
        create: bool,
    ) -> Result<Space> {
        self.prepare(&*store, create)?;
        let space = self.opened(store, IndexHome::Host(directories), Handles::Several)?;
        // Other handles may write relaxed without saying so to this one.
        space.indexer().will_relax();
        Ok(space)
    }

    /// Checks the options, and creates a space in the host's store if `create`.
    fn prepare(&self, store: &dyn Store, create: bool) -> Result<()> {
        settings::check_url_template(&self.url_template)?;
        if create { SpaceStore::initialize(store, &self.meta("")?) } else { Ok(()) }
    }

    /// The home of the search index of a space in the directory `path`, and whether others may have
    /// the space open.
    fn home(&self, path: &Path) -> (IndexHome, Handles) {
        let read_only = self.options.read_only;
        if self.options.shared {
            (IndexHome::of_shared_space(path, read_only), Handles::Several)
        } else {
            (IndexHome::of_space(path, read_only), Handles::One)
        }
    }

    /// The first record of a new space.
    fn meta(&self, fallback: &str) -> Result<SpaceMeta> {
        if self.options.read_only {
            return Err(Error::new(ErrorKind::ReadOnly, "a space is not created read-only"));
        }
        settings::check_url_template(&self.url_template)?;
        let zone = settings::known_zone(&self.zone)?;
        let name = if self.name.is_empty() { fallback.to_owned() } else { self.name.clone() };
        settings::check_name(&name, &self.limits)?;
        let id = SpaceId::from_bytes(self.ids.new_id(self.clock.now()));
        Ok(SpaceMeta { id, name, zone })
    }

    fn opened(self, store: Arc<dyn Store>, home: IndexHome, handles: Handles) -> Result<Space> {
        let store = SpaceStore::open(store, EXTRACTOR, Arc::clone(&self.ids))?;
        // Before any upload of this handle can begin.
        if !self.options.read_only {
            let options = WriteOptions::durability(self.durability);
            sweep(&store, options.at_millis(self.clock.now().as_millis()), handles);
        }
        let commits = store.commit_signal();
        let id = store.snapshot()?.reader().meta()?.id;
        let url_template = settings::with_space_id(&self.url_template, id);
        let Self { clock, ids, limits, durability, search_indexing, languages, .. } = self;
        let search = SearchIndexer::new(home, &id.to_string(), search_indexing, languages);
        let search = Arc::new(search);
        let store = RwLock::new(Some(store));
        let inner = Inner {
            store,
            clock,
            ids,
            limits,
            durability,
            url_template,
            search,
            #[cfg(feature = "search")]
            search_threads: self.search_threads,
            #[cfg(feature = "search")]
            embeddings: EmbeddingCache::new(self.embedding_cache),
            orphaned_uploads: OrphanedUploads::default(),
            commits,
            read_only: self.options.read_only,
            is_follower: AtomicBool::new(self.is_follower),
        };
        Ok(Space(Arc::new(inner)))
    }
}

/// Whether others may have the store open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handles {
    /// A lock of the store excludes them.
    One,
    Several,
}

/// Drops the uploads that a crash orphaned. If that fails, for lack of space or because of damage,
/// they stay until the next open: the space is readable in any case.
fn sweep(store: &SpaceStore, options: WriteOptions, handles: Handles) {
    let swept = match handles {
        Handles::One => store.sweep_uploads(options),
        Handles::Several => store.sweep_silent_uploads(options),
    };
    if let Err(error) = swept {
        tracing::warn!(%error, "uploads orphaned by a crash could not be swept");
    }
}
