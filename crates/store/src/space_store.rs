//! A space over any ordered key-value store: making, opening, snapshots and the one way to write.

use std::path::Path;
use std::sync::Arc;

use leafbase_model::{Change, Edit, Error, ErrorKind, Result, SpaceId, Stamp};

use crate::edges::EdgeExtractor;
use crate::kv::{Snapshot, Store, WriteOptions};
use crate::reader::Reader;

/// What a space says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceMeta {
    /// The space's ID, given when it was made.
    pub id: SpaceId,
    /// Its name.
    pub name: String,
    /// The name of the time zone that its days are counted in.
    pub zone: String,
}

/// A space. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SpaceStore {
    store: Arc<dyn Store>,
    extractor: EdgeExtractor,
}

/// A state that stays as it is while others write. Keep it for one call and no longer.
pub struct SpaceSnapshot {
    snapshot: Box<dyn Snapshot>,
    extractor: EdgeExtractor,
}

impl std::fmt::Debug for SpaceSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpaceSnapshot").finish_non_exhaustive()
    }
}

impl SpaceSnapshot {
    /// Reads of this state.
    pub fn reader(&self) -> Reader<'_> {
        Reader { read: &*self.snapshot, extractor: self.extractor }
    }
}

/// What a write gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Written<T> {
    /// What the closure returned.
    pub value: T,
    /// The row of the change log; none if nothing was applied.
    pub change: Option<Change>,
}

/// How large a space is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Documents, the trash included.
    pub documents: u64,
    /// Blocks, roots included.
    pub blocks: u64,
    /// Folders.
    pub folders: u64,
    /// Bytes of storage it occupies.
    pub bytes: u64,
    /// The number of the last write.
    pub sequence: u64,
}

/// An open write: reads its own writes.
#[derive(Debug)]
pub struct SpaceTransaction<'a> {
    extractor: EdgeExtractor,
    reader: Reader<'a>,
}

impl SpaceTransaction<'_> {
    /// Reads of the state as the edits applied so far left it.
    ///
    /// # Errors
    /// What the store reports.
    pub fn reader(&mut self) -> Result<Reader<'_>> {
        Ok(Reader { read: self.reader.read, extractor: self.extractor })
    }

    /// Applies `edits` in order.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if an edit names what is not there, [`ErrorKind::Conflict`] if it does not describe what is
    /// there: after an error the write cannot go on.
    pub fn apply(&mut self, _edits: Vec<Edit>) -> Result<()> {
        not_yet()
    }
}

fn not_yet<T>() -> Result<T> {
    Err(Error::new(ErrorKind::Storage, "not built yet"))
}

impl SpaceStore {
    /// Makes a space in `store`, which is empty.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if the store holds something; what the store reports.
    pub fn create(_store: Arc<dyn Store>, _extractor: EdgeExtractor, _meta: &SpaceMeta) -> Result<Self> {
        not_yet()
    }

    /// Opens the space in `store`. Nothing is written.
    ///
    /// # Errors
    /// [`ErrorKind::NotASpace`] if it holds none; [`ErrorKind::NewerFormat`] if a later version wrote it.
    pub fn open(store: Arc<dyn Store>, extractor: EdgeExtractor) -> Result<Self> {
        Ok(Self { store, extractor })
    }

    /// The state as of the last write that returned.
    ///
    /// # Errors
    /// What the store reports.
    pub fn snapshot(&self) -> Result<SpaceSnapshot> {
        Ok(SpaceSnapshot { snapshot: self.store.snapshot()?, extractor: self.extractor })
    }

    /// Runs `decide` in a write transaction: it reads, and applies edits, in as many turns as it needs. All of them become
    /// visible together, with one row in the change log, or none does. `decide` may run again after a conflict.
    ///
    /// # Errors
    /// What `decide` returned, or what the store reports: nothing of the write is visible then.
    pub fn write<T>(
        &self,
        _options: WriteOptions,
        _stamp: &Stamp,
        _decide: impl FnMut(&mut SpaceTransaction<'_>) -> Result<T>,
    ) -> Result<Written<T>> {
        not_yet()
    }

    /// Sets what the space says of itself, but its ID. This is no row of the change log.
    ///
    /// # Errors
    /// What the store reports.
    pub fn set_meta(&self, _options: WriteOptions, _name: &str, _zone: &str) -> Result<()> {
        not_yet()
    }

    /// Copies the space, as it is now, into the new directory `path`. `progress` is told how many records are copied.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if something is at `path`; what the store or the operating system reports.
    pub fn backup_to(&self, _path: impl AsRef<Path>, _progress: &mut dyn FnMut(u64)) -> Result<()> {
        not_yet()
    }

    /// How large it is. Counts by walking the keys.
    ///
    /// # Errors
    /// What the store reports.
    pub fn stats(&self) -> Result<Stats> {
        not_yet()
    }

    /// Gives unused space back to the file system.
    ///
    /// # Errors
    /// What the store reports.
    pub fn compact(&self) -> Result<()> {
        self.store.compact()
    }

    /// Makes every write that has returned survive the loss of power.
    ///
    /// # Errors
    /// What the store reports.
    pub fn flush(&self) -> Result<()> {
        self.store.flush()
    }
}
