//! Options of a space that is made or opened.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{Clock, IdSource, Language, Limits};
use leafbase_store::kv::{Durability, OpenOptions};

use super::{Space, settings};
use crate::core::search_index::SearchIndexing;
use crate::support::clock::SystemClock;
use crate::support::ids::RandomIds;

impl Space {
    /// How a space is made or opened, option by option.
    ///
    /// ```
    /// use leafbase::{Durability, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::builder().name("Notes").zone("Europe/Lisbon")
    ///     .durability(Durability::Relaxed).in_memory()?;
    /// assert_eq!(space.meta()?.name, "Notes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder() -> SpaceBuilder {
        SpaceBuilder::default()
    }
}

/// How a space is made or opened.
///
/// ```
/// use leafbase::{Durability, Space};
/// # fn main() -> leafbase::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("notes.leafbase");
/// let space = Space::builder().name("Notes").zone("Europe/Lisbon")
///     .durability(Durability::Relaxed).create(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SpaceBuilder {
    pub(super) name: String,
    pub(super) zone: String,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) limits: Limits,
    pub(super) durability: Durability,
    pub(super) options: OpenOptions,
    pub(super) url_template: String,
    pub(super) search_indexing: SearchIndexing,
    pub(super) languages: Vec<Language>,
    pub(super) is_follower: bool,
    #[cfg(feature = "search")]
    pub(super) search_threads: usize,
    #[cfg(feature = "search")]
    pub(super) embedding_cache: u64,
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
            languages: Vec::new(),
            is_follower: false,
            #[cfg(feature = "search")]
            search_threads: 2,
            #[cfg(feature = "search")]
            embedding_cache: 256 << 20,
        }
    }
}

impl SpaceBuilder {
    /// The name of a new space. Default: the directory's name without its extension; empty in
    /// memory.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The time zone of a new space, by its IANA name: it decides which day `today` is. Default:
    /// `UTC`.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.zone = zone.into();
        self
    }

    /// The source of the current time. Default: [`SystemClock`].
    ///
    /// A test stops the clock:
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

    /// The source of IDs. Default: [`RandomIds`].
    ///
    /// For reproducible IDs in a test:
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
    /// // 1 is the space
    /// assert_eq!(notes.create_document("Trip")?.id().to_string(), "00000000000000000000000002");
    /// # Ok(())
    /// # }
    /// ```
    pub fn ids(mut self, ids: impl IdSource + 'static) -> Self {
        self.ids = Arc::new(ids);
        self
    }

    /// The limits of one request. Default: the documented [`Limits`].
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

    /// The durability of writes of connections that do not set their own
    /// ([`Connection::with_durability`](crate::Connection::with_durability)). Default:
    /// [`Durability::Durable`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How long after the oldest relaxed write that a power loss may take the next operation of a
    /// connection, whether it reads or writes, syncs first; in whole milliseconds. So a power loss
    /// takes relaxed writes of about this time only. There is no timer: without a call nothing is
    /// synced. Default: one second.
    ///
    /// ```
    /// use std::time::Duration;
    /// use leafbase::{Durability, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// let space = Space::builder().durability(Durability::Relaxed)
    ///     .sync_relaxed_after(Duration::from_millis(200))
    ///     .create(directory.path().join("notes.leafbase"))?;
    /// space.connect().create_document("Trip")?; // survives the end of the process
    /// # Ok(())
    /// # }
    /// ```
    pub fn sync_relaxed_after(mut self, age: Duration) -> Self {
        self.options = self.options.sync_relaxed_after(age);
        self
    }

    /// The template of the URLs that open a block in the host's app, for [`Space::block_url`] and
    /// [`Connection::info`]. `{blockId}` is replaced by the ID of the block, `{spaceId}` by that of
    /// the space. The template is not stored in the space. Default:
    /// `leafbase://open?spaceId={spaceId}&blockId={blockId}`.
    ///
    /// [`Connection::info`]: crate::Connection::info
    pub fn url_template(mut self, template: impl Into<String>) -> Self {
        self.url_template = template.into();
        self
    }

    /// The size of the page cache in bytes. Default: 48 MiB.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.options = self.options.cache_bytes(bytes);
        self
    }

    /// Whether the space is opened read-only: every write then fails with [`ErrorKind::ReadOnly`],
    /// also the creation of a space. Default: no.
    ///
    /// The files are not changed. Recovery after a crash happens in memory on every open; unless
    /// the last commit can be verified quickly, it reads the whole file.
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

    /// Whether other processes may have the space open at the same time, to read and to write. Each
    /// of them has to open it so: an opening that does not share the space is refused beside those
    /// that do, and the other way round, with [`ErrorKind::AlreadyOpen`]. Default: no.
    ///
    /// Each process sees what all of them have written, and finds it. A process that ends, however
    /// it does, harms none of the others. One process at a time updates the search index; the rest
    /// search with what is there and what the change log has beside it. A wait for changes notices
    /// those of other processes within a quarter of a second.
    ///
    /// Every write is durable, as with [`Durability::Durable`], and takes about twice as long as
    /// that; reads take longer as well. [`Space::compact`] fails while another process reads. The
    /// files are locked by ranges of bytes, which Linux, the systems of Apple and Windows have, but
    /// few network file systems. With [`Self::read_only`] the files are written to nevertheless:
    /// locks, and the recovery after a crash.
    ///
    /// ```
    /// use leafbase::{ErrorKind, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("notes.leafbase");
    /// let app = Space::builder().shared(true).create(&path)?;
    /// let agent = Space::builder().shared(true).open(&path)?; // mostly in another process
    /// agent.connect().create_document("Trip")?;
    /// assert_eq!(app.connect().documents()?.len(), 1);
    /// assert_eq!(Space::open(&path).unwrap_err().kind(), ErrorKind::AlreadyOpen);
    /// # Ok(())
    /// # }
    /// ```
    pub fn shared(mut self, shared: bool) -> Self {
        self.options = self.options.shared(shared);
        self
    }

    /// Whether the space follows another one, from which it is a copy: only [`Space::follow`]
    /// writes to it then, and connections read. Default: no.
    pub fn follower(mut self, follower: bool) -> Self {
        self.is_follower = follower;
        self
    }

    /// When the search index is updated. Results of searches do not depend on it. Default:
    /// [`SearchIndexing::Background`].
    #[cfg(feature = "search")]
    pub fn search_indexing(mut self, search_indexing: SearchIndexing) -> Self {
        self.search_indexing = search_indexing;
        self
    }

    /// The languages of the texts, the main one first, whose inflections searches match. Outside of
    /// Latin script, Arabic, Armenian, Greek, Hindi, Russian and Tamil need not be named; of two
    /// named ones that share a script the first counts. Of several in Latin script, the
    /// frequent words of a document say which one it is in, and a query is read in all of them.
    /// Default: English.
    ///
    /// The languages are not kept in the space: they belong to this handle. An index of others is
    /// rebuilt.
    ///
    /// ```
    /// use leafbase::{Language, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let languages = [Language::German, Language::English];
    /// let notes = Space::builder().languages(languages).in_memory()?.connect();
    /// let town = notes.create_document("Die Freundlichkeiten der Stadt")?;
    /// assert_eq!(notes.search("freundliche Städte")?[0].document_id, town.id());
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "search")]
    pub fn languages(mut self, languages: impl IntoIterator<Item = Language>) -> Self {
        self.languages = languages.into_iter().collect();
        self
    }

    /// How many threads a search across documents may use, including the calling one. They end
    /// before the search returns. None is started for a pattern that at most 256 documents can
    /// match, nor for a page of fewer than 256, nor for less than 2 MiB of vectors, nor if the
    /// system cannot start any. Neither the
    /// result nor the step budget of a pattern depends on the number; a pattern that exhausts its
    /// budget may keep every thread busy until then. Default: 2. With 0 or 1 a search stays on the
    /// calling thread.
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

    /// How many bytes of vectors searches keep in memory: a vector takes a byte for each component,
    /// and about 40 more. A model that does not fit is read from the store by each search, which
    /// takes longer. Default: 256 MiB, which 600,000 vectors of 384 components
    /// fit into.
    ///
    /// ```
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::builder().embedding_cache(1 << 30).in_memory()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "search")]
    pub fn embedding_cache(mut self, bytes: u64) -> Self {
        self.embedding_cache = bytes;
        self
    }
}
