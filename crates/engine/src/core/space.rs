//! A space: the directory, or the memory, that documents are kept in.

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use leafbase_model::json::FromJson;
use leafbase_model::{
    Author, BlockId, Change, Clock, Edit, Error, ErrorKind, IdSource, Limits, Result, Stamp,
};
use leafbase_store::kv::{Durability, WriteOptions};
use leafbase_store::{CheckReport, SpaceMeta, SpaceStore, SpaceTransaction, Stats};

use crate::core::connection::Connection;
use crate::core::search_index::Indexer;
use crate::core::sight::Full;
use crate::core::tree::Tree;
use crate::operations::collections::verifying::Touched;
use crate::operations::files::Leftovers;

mod builder;
mod salvage;

pub use builder::SpaceBuilder;

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
    /// Holds `{blockId}`; the space's own ID is filled in.
    url_template: String,
    search: Arc<Indexer>,
    #[cfg(feature = "search")]
    search_threads: usize,
    /// Held while the name or the zone is changed: both lie in one record.
    renaming: Mutex<()>,
    leftovers: Leftovers,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Its thread has the store open, too.
        self.search.close();
    }
}

/// How far a long operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What is done.
    pub done: u64,
    /// What there is to do, where that is known: of records about, and never less than is done.
    pub total: Option<u64>,
}

impl Progress {
    pub(crate) fn new(done: u64, total: Option<u64>) -> Self {
        Self { done, total: total.map(|total| total.max(done)) }
    }
}

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

    /// A connection that sees the whole space.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let ada = space.connect().acting_as("Ada");
    /// let trip = ada.create_document("Trip")?;
    /// assert_eq!(space.connect().document(trip.id())?.title, "Trip"); // every connection sees what is written
    /// # Ok(())
    /// # }
    /// ```
    pub fn connect(&self) -> Connection<Full> {
        Connection::new(self.clone(), Full)
    }

    /// Makes every write that has returned survive the loss of power. What a full disk left of
    /// uploads that failed is dropped, if there is room by now.
    ///
    /// ```
    /// use leafbase::{Durability, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::builder().durability(Durability::Relaxed).in_memory()?;
    /// let notes = space.connect();
    /// for title in ["Lisbon", "Porto", "Faro"] {
    ///     notes.create_document(title)?; // the disk is not waited for
    /// }
    /// space.flush()?; // now these survive the loss of power
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoSpace`], [`ErrorKind::Storage`]: writes since the last durable one may then
    /// be lost in a crash.
    pub fn flush(&self) -> Result<()> {
        let store = self.store()?;
        self.0.leftovers.drop_from(&store);
        store.flush()
    }

    /// Closes the space: flushes it, and every later call on any handle of it is an error. The
    /// directory can be opened again once calls still running on other threads have ended.
    ///
    /// ```
    /// use leafbase::{ErrorKind, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// let notes = space.connect();
    /// space.close()?;
    /// assert_eq!(notes.documents().unwrap_err().kind(), ErrorKind::Closed);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::flush`]; the space is closed all the same.
    pub fn close(self) -> Result<()> {
        let store = self.0.store.write().unwrap_or_else(PoisonError::into_inner).take();
        self.0.search.close();
        let Some(store) = store else { return Ok(()) };
        self.0.leftovers.drop_from(&store);
        store.flush()
    }

    /// Copies the space as it is now into the new directory `path`, while others go on reading and
    /// writing.
    ///
    /// Every checksum is verified on the way. A backup that matters is opened and verified by
    /// [`Self::check`], too: that of the space does not read the copy.
    ///
    /// ```
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// let space = Space::in_memory()?;
    /// space.connect().create_document("Trip")?;
    /// let path = directory.path().join("copy.leafbase");
    /// space.backup_to(&path)?;
    /// let copy = Space::open(&path)?;
    /// assert_eq!(copy.connect().documents()?.len(), 1);
    /// assert!(copy.check()?.is_clean());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if something is at `path`; what the store or the operating system
    /// reports: nothing is left at `path` then.
    pub fn backup_to(&self, path: impl AsRef<Path>) -> Result<()> {
        self.backup_with(path, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::backup_to`]. `progress` is told how many records are copied, and may break the
    /// copy off: nothing is left at `path` then.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use leafbase::{ErrorKind, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("copy.leafbase");
    /// let space = Space::in_memory()?;
    /// space.connect().create_document("Trip")?;
    /// let stopped = space.backup_with(&path, &mut |_| ControlFlow::Break(())).unwrap_err();
    /// assert_eq!((stopped.kind(), path.exists()), (ErrorKind::Canceled, false));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::backup_to`], and [`ErrorKind::Canceled`].
    pub fn backup_with(
        &self,
        path: impl AsRef<Path>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        let store = self.store()?;
        let total = store.approximate_rows()?;
        store.backup_to(path, &mut |done| progress(Progress::new(done, total)))
    }

    /// Reads everything and verifies every law of the store. The report names each thing that is
    /// wrong.
    ///
    /// Of a space in a directory the file is verified first, with all that was written: a check
    /// waits for the write that runs, and writes wait until the file is verified. The rest is read
    /// from one state, while others read and write. The file is read twice in all. What is damaged
    /// is best mended from a backup, or else by [`Self::salvage`].
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.connect().create_document("Trip")?;
    /// assert!(space.check()?.problems.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the operating system reports. Damage is no error: it is in the report.
    pub fn check(&self) -> Result<CheckReport> {
        self.check_with(&mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::check`]. `progress` is told how many records are verified, and may break off.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.connect().create_document("Trip")?;
    /// let mut verified = 0;
    /// let report = space.check_with(&mut |progress| {
    ///     verified = progress.done;
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert!(report.is_clean() && verified > 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::check`], and [`ErrorKind::Canceled`].
    pub fn check_with(
        &self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<CheckReport> {
        let store = self.store()?;
        // Where it cannot be found out, the check tells why.
        let total = store.approximate_rows().unwrap_or_default();
        store.check(&mut |done| progress(Progress::new(done, total)))
    }

    /// Lays what there is so that it takes less, and gives unused space back to the file system.
    /// Waits for writers, and others wait for it. While it lasts the file is up to twice as long;
    /// where there is no room for that, only unused space is given back.
    ///
    /// ```
    /// use leafbase::{PurgeDocuments, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("notes.leafbase");
    /// let space = Space::create(&path)?;
    /// space.connect().purge_documents(PurgeDocuments::OlderThanDays(30))?; // of the trash
    /// let before = space.stats()?.bytes;
    /// space.compact()?;
    /// assert!(space.stats()?.bytes <= before);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] where the file is damaged: it is read through before, and then left
    /// alone. What the store reports; the data stays as it was.
    pub fn compact(&self) -> Result<()> {
        // The thread of the index reads the store, which cannot be compacted then.
        let store = self.store()?;
        self.0.search.undisturbed(|| store.compact())
    }

    /// How large the space is. Walks the keys, so it costs by the size of the space.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// space.connect().insert_markdown("- [ ] passport\n- [ ] charger", trip.id())?;
    /// let stats = space.stats()?;
    /// assert_eq!((stats.documents, stats.blocks), (1, 3)); // the document's root is a block, too
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn stats(&self) -> Result<Stats> {
        self.store()?.stats()
    }

    /// Reads a request from JSON text within the limits of this space: however long and deep what a
    /// stranger sends is, it is taken in or refused, and the error has the path of what does not
    /// fit.
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
    ///
    /// ```
    /// use leafbase::{Limits, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// assert_eq!(space.limits().title, Limits::default().title);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The space's ID, name and zone.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::builder().name("Notes").zone("Asia/Tokyo").in_memory()?;
    /// let meta = space.meta()?;
    /// assert_eq!((meta.name.as_str(), meta.zone.as_str()), ("Notes", "Asia/Tokyo"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn meta(&self) -> Result<SpaceMeta> {
        self.store()?.snapshot()?.reader().meta()
    }

    /// Gives the space another name, of at most [`Limits::title`] characters. This is no row of the
    /// change log.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.rename("Notes of 2026")?;
    /// assert_eq!(space.meta()?.name, "Notes of 2026");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] at `name`; [`ErrorKind::ReadOnly`]; what else the store
    /// reports.
    pub fn rename(&self, name: &str) -> Result<()> {
        builder::check_name(name, self.limits())?;
        self.set_meta(|meta| name.clone_into(&mut meta.name))
    }

    /// Counts the days of the space in another time zone from now on, given by its IANA name. Daily
    /// notes keep their days. This is no row of the change log.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.set_zone("Europe/Lisbon")?; // from now on `today` is the day in Lisbon
    /// assert_eq!(space.set_zone("Europe/Atlantis").unwrap_err().path(), "zone");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `zone` if the zone is unknown; [`ErrorKind::ReadOnly`]; what
    /// else the store reports.
    pub fn set_zone(&self, zone: &str) -> Result<()> {
        let zone = builder::known_zone(zone)?;
        self.set_meta(|meta| meta.zone = zone)
    }

    fn set_meta(&self, change: impl FnOnce(&mut SpaceMeta)) -> Result<()> {
        let _alone = self.0.renaming.lock().unwrap_or_else(PoisonError::into_inner);
        let mut meta = self.meta()?;
        change(&mut meta);
        self.store()?.set_meta(WriteOptions::durability(self.0.durability), &meta.name, &meta.zone)
    }

    /// The URL that opens `block` in the host's app: the template of [`SpaceBuilder::url_template`]
    /// with the block's ID. Nothing is looked up.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::builder().url_template("https://notes.example/{blockId}").in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// assert_eq!(space.block_url(trip.id()), format!("https://notes.example/{}", trip.id()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn block_url(&self, block: impl Into<BlockId>) -> String {
        self.0.url_template.replace(builder::BLOCK_ID, &block.into().to_string())
    }

    pub(crate) fn url_template(&self) -> &str {
        &self.0.url_template
    }

    /// What writes promise whose connection does not say otherwise.
    pub(crate) fn durability(&self) -> Durability {
        self.0.durability
    }

    pub(crate) fn store(&self) -> Result<SpaceStore> {
        let open = self.0.store.read().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| Error::new(ErrorKind::Closed, "the space is closed"))
    }

    #[cfg(feature = "search")]
    pub(crate) fn indexer(&self) -> &Arc<Indexer> {
        &self.0.search
    }

    /// How many threads one search may work on.
    #[cfg(feature = "search")]
    pub(crate) fn search_threads(&self) -> usize {
        self.0.search_threads
    }

    pub(crate) fn leftovers(&self) -> &Leftovers {
        &self.0.leftovers
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
        durability: Durability,
        mut decide: impl FnMut(&mut SpaceTransaction<'_>, &Stamp) -> Result<T>,
    ) -> Result<(T, Option<Change>)> {
        let (longest, found) = (self.limits().attribute, by.as_str().len());
        if found > longest {
            return Err(Error::limit("bytes of an author's name", longest, found).at("author"));
        }
        let stamp = Stamp { at: self.now(), by: by.clone() };
        if durability == Durability::Relaxed {
            self.0.search.will_relax();
        }
        let options = WriteOptions::durability(durability);
        let store = self.store()?;
        let written = store.write(options, &stamp, |transaction| decide(transaction, &stamp))?;
        if let Some(change) = &written.change {
            let is_made = |edit: &&Edit| matches!(edit, Edit::CreateDocument { .. });
            self.0.search.wrote(&store, change.edits.iter().filter(is_made).count());
        }
        Ok((written.value, written.change))
    }

    /// Undoes and redoes by applying edits as they stand: for a history above the change log. What
    /// no longer fits is refused, and nothing is written: what operations decide is right by
    /// construction, and these edits come from outside.
    #[doc(hidden)]
    pub fn apply(&self, by: &Author, edits: &[Edit]) -> Result<Option<Change>> {
        let touched = Touched::by(edits);
        let apply = |transaction: &mut SpaceTransaction<'_>, _: &Stamp| {
            transaction.apply(edits.to_vec())?;
            if touched.is_empty() {
                Ok(())
            } else {
                touched.verify(&Tree::full(transaction.reader()?))
            }
        };
        Ok(self.write(by, self.durability(), apply)?.1)
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Space").finish_non_exhaustive()
    }
}
