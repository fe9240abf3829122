//! A space: the directory, or the memory, that documents are kept in.

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use leafbase_model::json::FromJson;
use leafbase_model::{Author, Change, Clock, Edit, Error, ErrorKind, IdSource, Limits, Result, SpaceId, Stamp};
use leafbase_store::kv::{Durability, MemoryStore, OpenOptions, Store, WriteOptions};
use leafbase_store::{CheckReport, SpaceMeta, SpaceStore, SpaceTransaction, Stats, directory};

use crate::clock::SystemClock;
use crate::connection::Connection;
use crate::ids::RandomIds;
use crate::links;
use crate::sight::Full;

/// A space of documents. Cheap to clone; all clones are the same space.
///
/// ```
/// use leafbase::{Position, Space};
/// # fn main() -> leafbase::Result<()> {
/// let space = Space::in_memory()?;
/// let notes = space.connect();
/// let trip = notes.create_document("Trip to Lisbon")?;
/// notes.insert_markdown("## Packing\n\n- [ ] passport\n- [ ] charger", Position::end_of(trip.id()))?;
/// assert!(notes.content_markdown(trip.id())?.contains("- [ ] charger"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Space(Arc<Inner>);

struct Inner {
    /// None once it is closed.
    store: RwLock<Option<SpaceStore>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    limits: Limits,
    durability: Durability,
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
}

impl fmt::Debug for SpaceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpaceBuilder").field("name", &self.name).field("zone", &self.zone).finish_non_exhaustive()
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
        }
    }
}

impl SpaceBuilder {
    /// The name of a space that is made. Default: the directory's name without its extension.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The time zone of a space that is made, by its IANA name: it decides which day `today` is. Default: `UTC`.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.zone = zone.into();
        self
    }

    /// Where the present comes from. Default: [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Where IDs come from. Default: [`RandomIds`].
    pub fn ids(mut self, ids: impl IdSource + 'static) -> Self {
        self.ids = Arc::new(ids);
        self
    }

    /// What one request may ask. Default: the documented [`Limits`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What a write promises when it returns. Default: [`Durability::Durable`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Bytes of memory that pages of the store may take. Default: 64 MiB.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.options = self.options.cache_bytes(bytes);
        self
    }

    /// Whether the space is opened for reading only: every write is then [`ErrorKind::ReadOnly`]. Default: no.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.options = self.options.read_only(read_only);
        self
    }

    /// Makes a space in the new directory `path` and opens it. A crash on the way leaves nothing at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `zone` if the zone is unknown, and without a path if something is at `path`;
    /// [`ErrorKind::LimitExceeded`] at `name` if the name is too long; [`ErrorKind::ReadOnly`] if the directory above may not
    /// be written; [`ErrorKind::NoSpace`]; [`ErrorKind::Storage`] for what else the operating system reports, such as a
    /// directory above that does not exist. Nothing is at `path` then that was not there before.
    pub fn create(self, path: impl AsRef<Path>) -> Result<Space> {
        let path = path.as_ref();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let meta = self.meta(&stem)?;
        let options = self.options.clone();
        let store = directory::create_with(path, &options, |store| SpaceStore::initialize(store, &meta))?;
        self.opened(Arc::new(store))
    }

    /// Opens the space in the directory `path`.
    ///
    /// # Errors
    /// Each its own kind, and the files untouched: [`ErrorKind::NotFound`], [`ErrorKind::NotASpace`],
    /// [`ErrorKind::AlreadyOpen`], [`ErrorKind::Corrupted`], [`ErrorKind::NewerFormat`], [`ErrorKind::ReadOnly`],
    /// [`ErrorKind::NoSpace`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<Space> {
        let store = directory::open_space(path, &self.options)?;
        self.opened(Arc::new(store))
    }

    /// Makes a space that lives in memory and goes with its last handle.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if the zone is unknown.
    pub fn in_memory(self) -> Result<Space> {
        let store = MemoryStore::new();
        SpaceStore::initialize(&store, &self.meta("")?)?;
        self.opened(Arc::new(store))
    }

    /// Makes a space in `store`, which is empty, or opens the one in it: for engines other than the embedded one.
    ///
    /// # Errors
    /// As [`Self::create`] and [`Self::open`].
    #[doc(hidden)]
    pub fn over(self, store: Arc<dyn Store>, create: bool) -> Result<Space> {
        if create {
            SpaceStore::initialize(&*store, &self.meta("")?)?;
        }
        self.opened(store)
    }

    fn meta(&self, fallback: &str) -> Result<SpaceMeta> {
        crate::days::zone(&self.zone).map_err(|error| error.at("zone"))?;
        let name = if self.name.is_empty() { fallback.to_owned() } else { self.name.clone() };
        let (longest, found) = (self.limits.title, name.chars().count());
        if found > longest {
            return Err(Error::limit("characters of a space's name", longest, found).at("name"));
        }
        Ok(SpaceMeta { id: SpaceId::from_bytes(self.ids.mint(self.clock.now())), name, zone: self.zone.clone() })
    }

    fn opened(self, store: Arc<dyn Store>) -> Result<Space> {
        let store = SpaceStore::open(store, links::edges)?;
        let Self { clock, ids, limits, durability, .. } = self;
        Ok(Space(Arc::new(Inner { store: RwLock::new(Some(store)), clock, ids, limits, durability })))
    }
}

/// How far a long operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What is done.
    pub done: u64,
    /// What there is to do, where that is known.
    pub total: Option<u64>,
}

impl Progress {
    pub(crate) fn new(done: u64, total: Option<u64>) -> Self {
        Self { done, total }
    }
}

impl Space {
    /// How a space is made or opened, option by option.
    pub fn builder() -> SpaceBuilder {
        SpaceBuilder::default()
    }

    /// Makes a space in the new directory `path`, with every option at its default.
    ///
    /// # Errors
    /// As [`SpaceBuilder::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().create(path)
    }

    /// Opens the space in the directory `path`.
    ///
    /// # Errors
    /// As [`SpaceBuilder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }

    /// Makes a space that lives in memory and goes with its last handle.
    ///
    /// # Errors
    /// As [`SpaceBuilder::in_memory`].
    pub fn in_memory() -> Result<Self> {
        Self::builder().in_memory()
    }

    /// A connection that sees the whole space.
    pub fn connect(&self) -> Connection<Full> {
        Connection::new(self.clone(), Full)
    }

    /// Makes every write that has returned survive the loss of power.
    ///
    /// # Errors
    /// [`ErrorKind::NoSpace`], [`ErrorKind::Storage`]: writes since the last durable one may then be lost in a crash.
    pub fn flush(&self) -> Result<()> {
        self.store()?.flush()
    }

    /// Closes the space: flushes it, and every later call on any handle of it is an error. The directory can be opened
    /// again once calls still running on other threads have ended.
    ///
    /// # Errors
    /// As [`Self::flush`]; the space is closed all the same.
    pub fn close(self) -> Result<()> {
        let store = self.0.store.write().unwrap_or_else(PoisonError::into_inner).take();
        store.map_or(Ok(()), |store| store.flush())
    }

    /// Copies the space as it is now into the new directory `path`, while others go on reading and writing.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if something is at `path`; what the store or the operating system reports: nothing is left at
    /// `path` then.
    pub fn backup_to(&self, path: impl AsRef<Path>) -> Result<()> {
        self.backup_with(path, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::backup_to`]. `progress` is told how many records are copied, and may break the copy off: nothing is left at
    /// `path` then.
    ///
    /// # Errors
    /// As [`Self::backup_to`], and [`ErrorKind::Canceled`].
    pub fn backup_with(
        &self,
        path: impl AsRef<Path>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        self.store()?.backup_to(path, &mut |done| progress(Progress::new(done, None)))
    }

    /// Reads everything and verifies every law of the store. The report names each thing that is wrong.
    ///
    /// # Errors
    /// What the operating system reports. Damage is no error: it is in the report.
    pub fn check(&self) -> Result<CheckReport> {
        self.check_with(&mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::check`]. `progress` is told how many records are verified, and may break off.
    ///
    /// # Errors
    /// As [`Self::check`], and [`ErrorKind::Canceled`].
    pub fn check_with(&self, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<CheckReport> {
        self.store()?.check(&mut |done| progress(Progress::new(done, None)))
    }

    /// Gives unused space back to the file system. Waits for writers, and others wait for it.
    ///
    /// # Errors
    /// What the store reports; the data stays as it was.
    pub fn compact(&self) -> Result<()> {
        self.store()?.compact()
    }

    /// How large the space is. Walks the keys, so it costs by the size of the space.
    ///
    /// # Errors
    /// What the store reports.
    pub fn stats(&self) -> Result<Stats> {
        self.store()?.stats()
    }

    /// Reads a request from JSON text within the limits of this space: however long and deep what a stranger sends is, it is
    /// taken in or refused, and the error has the path of what does not fit.
    ///
    /// ```
    /// use leafbase::{InsertBlocks, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// let body = r#"{"markdown": "- [ ] passport", "position": {"date": "today"}}"#;
    /// space.connect().insert_blocks(space.read_json::<InsertBlocks>(body)?)?;
    /// let error = space.read_json::<InsertBlocks>(r#"{"blocks": [{"type": "txt"}]}"#).unwrap_err();
    /// assert_eq!((error.code(), error.path()), ("VALIDATION", "blocks[0].type"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`leafbase_model::json::from_str`].
    pub fn read_json<T: FromJson>(&self, text: &str) -> Result<T> {
        leafbase_model::json::from_str(text, self.limits())
    }

    /// The limits of this space's requests.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The space's ID, name and zone.
    ///
    /// # Errors
    /// What the store reports.
    pub fn meta(&self) -> Result<SpaceMeta> {
        self.store()?.snapshot()?.reader().meta()
    }

    pub(crate) fn store(&self) -> Result<SpaceStore> {
        let open = self.0.store.read().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| Error::new(ErrorKind::Closed, "the space is closed"))
    }

    pub(crate) fn ids(&self) -> &dyn IdSource {
        &*self.0.ids
    }

    pub(crate) fn now(&self) -> leafbase_model::Timestamp {
        self.0.clock.now()
    }

    /// Runs `decide` in one write transaction and commits what it applied.
    pub(crate) fn write<T>(
        &self,
        by: &Author,
        mut decide: impl FnMut(&mut SpaceTransaction<'_>, &Stamp) -> Result<T>,
    ) -> Result<(T, Option<Change>)> {
        let (longest, found) = (self.limits().attribute, by.as_str().len());
        if found > longest {
            return Err(Error::limit("bytes of an author's name", longest, found).at("author"));
        }
        let stamp = Stamp { at: self.now(), by: by.clone() };
        let options = WriteOptions::durability(self.0.durability);
        let written = self.store()?.write(options, &stamp, |transaction| decide(transaction, &stamp))?;
        Ok((written.value, written.change))
    }

    /// Undoes and redoes by applying edits as they stand: for a history above the change log.
    #[doc(hidden)]
    pub fn apply(&self, by: &Author, edits: &[Edit]) -> Result<Option<Change>> {
        Ok(self.write(by, |transaction, _| transaction.apply(edits.to_vec()))?.1)
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Space").finish_non_exhaustive()
    }
}
