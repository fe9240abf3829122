//! How a space is made or opened, option by option.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{Clock, IdSource, Limits, Result, SpaceId};
use leafbase_store::kv::{Durability, MemoryStore, OpenOptions, Store, WriteOptions};
use leafbase_store::{SpaceMeta, SpaceStore, directory};

use super::{Inner, Space, settings};
use crate::core::edges::EXTRACTOR;
use crate::core::orphaned_uploads::OrphanedUploads;
use crate::core::search_index::{Home, Indexer, SearchIndexing};
use crate::support::clock::SystemClock;
use crate::support::ids::RandomIds;

impl Space {
    /// How a space is made or opened, option by option.
    ///
    /// ```
    /// use leafbase::{Durability, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::builder().name("Notes").zone("Europe/Lisbon").durability(Durability::Relaxed).in_memory()?;
    /// assert_eq!(space.meta()?.name, "Notes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder() -> SpaceBuilder {
        SpaceBuilder::default()
    }

    /// Makes a space in the new directory `path`, with every option at its default.
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

    /// Whether the directory `path` has what a space has. Nothing is opened: whether it can be,
    /// only [`Self::open`] tells.
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

    /// Makes a space that lives in memory and goes with its last handle.
    ///
    /// # Errors
    /// As [`SpaceBuilder::in_memory`].
    pub fn in_memory() -> Result<Self> {
        Self::builder().in_memory()
    }
}

/// How a space is made or opened.
///
/// ```
/// use leafbase::{Durability, Space};
/// # fn main() -> leafbase::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("notes.leafbase");
/// let space = Space::builder().name("Notes").zone("Europe/Lisbon").durability(Durability::Relaxed).create(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SpaceBuilder {
    name: String,
    zone: String,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    limits: Limits,
    durability: Durability,
    options: OpenOptions,
    url_template: String,
    search_indexing: SearchIndexing,
    #[cfg(feature = "search")]
    search_threads: usize,
}

impl fmt::Debug for SpaceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpaceBuilder")
            .field("name", &self.name)
            .field("zone", &self.zone)
            .finish_non_exhaustive()
    }
}

impl Default for SpaceBuilder {
    fn default() -> Self {
        Self {
            name: String::new(),
            zone: "UTC".to_owned(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            limits: Limits::default(),
            durability: Durability::default(),
            options: OpenOptions::new(),
            url_template: settings::default_url_template(),
            search_indexing: SearchIndexing::default(),
            #[cfg(feature = "search")]
            search_threads: 2,
        }
    }
}

impl SpaceBuilder {
    /// The name of a space that is made. Default: the directory's name without its extension.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The time zone of a space that is made, by its IANA name: it decides which day `today` is.
    /// Default: `UTC`.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.zone = zone.into();
        self
    }

    /// Where the present comes from. Default: [`SystemClock`].
    ///
    /// A test holds the present still:
    ///
    /// ```
    /// use leafbase::{Clock, DayRef, Position, Space, Timestamp};
    /// struct Still;
    /// impl Clock for Still {
    ///     fn now(&self) -> Timestamp {
    ///         Timestamp::from_millis(1_772_323_200_000)
    ///     }
    /// }
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::builder().clock(Still).in_memory()?.connect();
    /// notes.insert_markdown("rain", Position::end_of_day(DayRef::Today))?;
    /// assert_eq!(notes.documents()?[0].title, "Sunday, 1 March 2026");
    /// # Ok(())
    /// # }
    /// ```
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Where IDs come from. Default: [`RandomIds`].
    ///
    /// So that the IDs of a test are the same each time:
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU8, Ordering};
    /// use leafbase::{IdSource, Space, Timestamp};
    /// struct Counted(AtomicU8);
    /// impl IdSource for Counted {
    ///     fn new_id(&self, _: Timestamp) -> [u8; 16] {
    ///         let mut id = [0; 16];
    ///         id[15] = self.0.fetch_add(1, Ordering::Relaxed);
    ///         id
    ///     }
    /// }
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::builder().ids(Counted(AtomicU8::new(1))).in_memory()?.connect();
    /// assert_eq!(notes.create_document("Trip")?.id().to_string(), "00000000000000000000000002"); // 1 is the space
    /// # Ok(())
    /// # }
    /// ```
    pub fn ids(mut self, ids: impl IdSource + 'static) -> Self {
        self.ids = Arc::new(ids);
        self
    }

    /// What one request may ask. Default: the documented [`Limits`].
    ///
    /// ```
    /// use leafbase::{Limits, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let mut limits = Limits::default();
    /// limits.upload = 1_000_000;
    /// let space = Space::builder().limits(limits).in_memory()?;
    /// assert_eq!(space.limits().upload, 1_000_000);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What a write promises when it returns, where its connection does not say otherwise
    /// ([`Connection::with_durability`](crate::Connection::with_durability)). Default:
    /// [`Durability::Durable`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The URL that opens a block in the host's app, which [`Space::block_url`] and
    /// [`Connection::info`] give: `{blockId}` in it stands for the block's ID, `{spaceId}` for the
    /// space's. It is not kept in the space. Default:
    /// `leafbase://open?spaceId={spaceId}&blockId={blockId}`.
    ///
    /// [`Connection::info`]: crate::Connection::info
    pub fn url_template(mut self, template: impl Into<String>) -> Self {
        self.url_template = template.into();
        self
    }

    /// Bytes of memory that pages of the store may take. Default: 48 MiB.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.options = self.options.cache_bytes(bytes);
        self
    }

    /// Whether the space is opened for reading only: every write is then [`ErrorKind::ReadOnly`].
    /// Default: no.
    ///
    /// The files stay as they are. What a crash left is mended in memory, each time anew; where the
    /// last commit was not a quick one to mend, that reads the whole file.
    ///
    /// ```
    /// use leafbase::{ErrorKind, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("notes.leafbase");
    /// # Space::create(&path)?.close()?;
    /// let space = Space::builder().read_only(true).open(&path)?;
    /// let refused = space.connect().create_document("Trip").unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::ReadOnly);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.options = self.options.read_only(read_only);
        self
    }

    /// Who brings the index of searches up to date. What searches find does not depend on it.
    /// Default: [`SearchIndexing::Background`].
    #[cfg(feature = "search")]
    pub fn search_indexing(mut self, search_indexing: SearchIndexing) -> Self {
        self.search_indexing = search_indexing;
        self
    }

    /// How many threads one search by pattern across documents may work on, the calling one among
    /// them: those that it starts end before it returns. It starts none where it reads no more than
    /// 256 documents, or where the system has none to give. What it finds, and whether a pattern
    /// costs too much, does not depend on it; one that does may keep each of them busy for as long.
    /// Default: 2. With 1, as with 0, a search stays on the thread that calls.
    ///
    /// ```
    /// use leafbase::{SearchDocuments, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::builder().search_threads(4).in_memory()?.connect();
    /// assert!(notes.search(SearchDocuments::pattern(r"\d+ km"))?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "search")]
    pub fn search_threads(mut self, threads: usize) -> Self {
        self.search_threads = threads;
        self
    }

    /// Makes a space in the new directory `path` and opens it. A crash on the way leaves nothing at
    /// `path`.
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
    /// [`ErrorKind::Validation`] at `zone` if the zone is unknown, at `url_template` if that does
    /// not hold `{blockId}`, and without a path if something is at `path`;
    /// [`ErrorKind::LimitExceeded`] at `name` if the name is too long; [`ErrorKind::ReadOnly`] if
    /// the directory above may not be written; [`ErrorKind::NoSpace`]; [`ErrorKind::Storage`] for
    /// what else the operating system reports, such as a directory above that does not exist.
    /// Nothing is at `path` then that was not there before.
    pub fn create(self, path: impl AsRef<Path>) -> Result<Space> {
        let path = path.as_ref();
        let stem =
            path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let meta = self.meta(&stem)?;
        let options = self.options.clone();
        let store =
            directory::create_with(path, &options, |store| SpaceStore::initialize(store, &meta))?;
        let home = self.home(path);
        self.opened(Arc::new(store), home)
    }

    /// Opens the space in the directory `path`. What a crash left of uploads is swept away, unless
    /// it is opened for reading only.
    ///
    /// ```
    /// use leafbase::{Durability, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("notes.leafbase");
    /// # Space::create(&path)?.close()?;
    /// let space = Space::builder().durability(Durability::Relaxed).cache_bytes(8 << 20).open(&path)?;
    /// assert_eq!(space.connect().documents()?.len(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `url_template`. Of the directory each its own kind, and the
    /// files untouched: [`ErrorKind::NotFound`], [`ErrorKind::NotASpace`],
    /// [`ErrorKind::AlreadyOpen`], [`ErrorKind::Corrupted`], [`ErrorKind::NewerFormat`],
    /// [`ErrorKind::ReadOnly`], [`ErrorKind::NoSpace`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<Space> {
        settings::check_url_template(&self.url_template)?;
        let store = directory::open_space(&path, &self.options)?;
        let home = self.home(path.as_ref());
        self.opened(Arc::new(store), home)
    }

    /// Makes a space that lives in memory and goes with its last handle.
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
    /// `name`, as for [`Self::create`].
    pub fn in_memory(self) -> Result<Space> {
        let store = MemoryStore::new();
        SpaceStore::initialize(&store, &self.meta("")?)?;
        self.opened(Arc::new(store), Home::Memory)
    }

    /// Makes a space in `store`, which is empty, or opens the one in it: for engines other than the
    /// embedded one.
    ///
    /// # Errors
    /// As [`Self::create`] and [`Self::open`].
    #[doc(hidden)]
    pub fn over(self, store: Arc<dyn Store>, create: bool) -> Result<Space> {
        settings::check_url_template(&self.url_template)?;
        if create {
            SpaceStore::initialize(&*store, &self.meta("")?)?;
        }
        self.opened(store, Home::Memory)
    }

    /// As [`Self::over`], with the index of searches on `device`.
    ///
    /// # Errors
    /// As [`Self::over`].
    #[cfg(feature = "testkit")]
    #[doc(hidden)]
    pub fn over_device(
        self,
        store: Arc<dyn Store>,
        device: Arc<dyn crate::core::search_index::Device>,
        create: bool,
    ) -> Result<Space> {
        if create {
            SpaceStore::initialize(&*store, &self.meta("")?)?;
        }
        self.opened(store, Home::Device(device))
    }

    /// Where the index of a space in the directory `path` is kept.
    fn home(&self, path: &Path) -> Home {
        Home::of_space(path, self.options.read_only)
    }

    fn meta(&self, fallback: &str) -> Result<SpaceMeta> {
        settings::check_url_template(&self.url_template)?;
        let zone = settings::known_zone(&self.zone)?;
        let name = if self.name.is_empty() { fallback.to_owned() } else { self.name.clone() };
        settings::check_name(&name, &self.limits)?;
        Ok(SpaceMeta { id: SpaceId::from_bytes(self.ids.new_id(self.clock.now())), name, zone })
    }

    fn opened(self, store: Arc<dyn Store>, home: Home) -> Result<Space> {
        let store = SpaceStore::open(store, EXTRACTOR)?;
        if !self.options.read_only {
            sweep(&store, self.durability);
        }
        let id = store.snapshot()?.reader().meta()?.id;
        let url_template = settings::with_space_id(&self.url_template, id);
        let Self { clock, ids, limits, durability, search_indexing, .. } = self;
        let search = Arc::new(Indexer::new(home, id.to_string(), search_indexing));
        let store = RwLock::new(Some(store));
        let (renaming, orphaned_uploads) = (Mutex::default(), OrphanedUploads::default());
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
            renaming,
            orphaned_uploads,
        };
        Ok(Space(Arc::new(inner)))
    }
}

/// Forgets the uploads that a crash left. Where that fails, for want of room or because of damage,
/// they stay until the space is opened the next time: it can be read all the same.
fn sweep(store: &SpaceStore, durability: Durability) {
    if let Err(error) = store.sweep_uploads(WriteOptions::durability(durability)) {
        tracing::warn!(%error, "what a crash left of uploads could not be swept away");
    }
}
