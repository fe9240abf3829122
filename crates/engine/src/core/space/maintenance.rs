//! The care of a space: flush, close, check, back up, compact.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::PoisonError;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::Result;
use leafbase_store::kv::Store;
use leafbase_store::{CheckReport, SpaceStats};

use super::{CompactOptions, Space};
use crate::core::progress::Progress;

impl Space {
    /// Makes every write that has returned durable. Orphaned bytes of failed uploads are dropped if
    /// there is room by now.
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
    /// [`ErrorKind::NoSpace`], [`ErrorKind::Storage`]: a power loss may then take the writes since
    /// the last durable one.
    pub fn flush(&self) -> Result<()> {
        let store = self.store()?;
        self.0.orphaned_uploads.drop_from(&store);
        store.flush()
    }

    /// Flushes and closes the space. Later calls on any of its handles fail with
    /// [`ErrorKind::Closed`]. The directory can be opened again once calls that are still running
    /// on other threads have ended.
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
    /// As [`Self::flush`]; the space is closed in any case.
    pub fn close(self) -> Result<()> {
        // Taken first, so that calls that begin now fail; calls in flight hold their own handle.
        let store = self.0.store.write().unwrap_or_else(PoisonError::into_inner).take();
        // The index thread holds a handle of the store, and the directory stays locked until then.
        self.0.search.close();
        // Those who wait find that it is closed.
        self.0.commits.give();
        let Some(store) = store else { return Ok(()) };
        self.0.orphaned_uploads.drop_from(&store);
        store.flush()
    }

    /// Reads everything and verifies every invariant of the store. The report names each violation.
    ///
    /// For a space in a directory the file is verified first: the check waits for a running write,
    /// and writes wait until the file is verified. Afterwards one snapshot is verified,
    /// concurrently with reads and writes. The file is read twice in all. Restore damaged data from
    /// a backup, or else by [`Self::salvage`].
    ///
    /// If the store is whole and the space has a search index on disk, the index is compared with
    /// the documents, which reads their records once more, and the files of the index if it is not
    /// in use yet. An index that is wrong does not lose data: it is derived, and
    /// `rebuild_search` replaces it.
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
    /// Errors of the operating system. Damage is not an error: the report contains it.
    pub fn check(&self) -> Result<CheckReport> {
        self.check_with(&mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::check`]. `progress` receives the number of records verified and may cancel.
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
        // If the estimate fails, the check below reports why.
        let total = store.approximate_rows().unwrap_or_default();
        let mut report = store.check(&mut |done| progress(Progress::new(done, total)))?;
        // In a damaged space the index cannot be compared with anything.
        if report.is_clean() {
            self.0.search.compare(&store, &mut report)?;
        }
        Ok(report)
    }

    /// Copies a snapshot of the space into the new directory `path`, concurrently with reads and
    /// writes.
    ///
    /// Every checksum is verified on the way. To verify the copy itself, open it and run
    /// [`Self::check`] on it.
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
    /// [`ErrorKind::Validation`] if `path` exists; errors of the store and the operating system.
    /// Nothing is left at `path` then.
    pub fn backup_to(&self, path: impl AsRef<Path>) -> Result<()> {
        self.backup_with(path, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::backup_to`]. `progress` receives the number of records copied and may cancel:
    /// nothing is left at `path` then.
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

    /// Copies a snapshot of the space into the empty `store`, concurrently with reads and writes: a
    /// restore of a directory into a database, or a move from one store to another. For a new
    /// directory there is [`Self::backup_to`].
    ///
    /// The copy is one transaction: `store` gets everything or nothing. Every checksum is verified
    /// on the way. The copy has the ID of the space.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use leafbase::{Space, kv::MemoryStore};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// space.connect().create_document("Trip")?;
    /// let store = Arc::new(MemoryStore::new()); // or one of a database
    /// space.copy_into(&*store)?;
    /// let copy = Space::builder().over(store, false)?;
    /// assert_eq!(copy.connect().documents()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if `store` is not empty; errors of both stores.
    pub fn copy_into(&self, store: &dyn Store) -> Result<()> {
        self.copy_into_with(store, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::copy_into`]. `progress` receives the number of records copied and may cancel:
    /// `store` is empty then.
    ///
    /// # Errors
    /// As [`Self::copy_into`], and [`ErrorKind::Canceled`].
    pub fn copy_into_with(
        &self,
        store: &dyn Store,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        let source = self.store()?;
        let total = source.approximate_rows()?;
        source.copy_into(store, &mut |done| progress(Progress::new(done, total)))
    }

    /// Compacts the store and returns unused space to the file system. It waits for writers and
    /// blocks later ones. The file may temporarily double in size; if there is no room for that,
    /// only unused space is returned.
    ///
    /// Afterwards no file of the space has a byte of what was purged or otherwise left neither in
    /// the space nor in its change log, provided that there was room: all entries are rewritten,
    /// unused pages are overwritten, and the search index drops deleted documents. The device may
    /// still have blocks of files that were truncated or removed.
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
    /// [`ErrorKind::ReadOnly`] if the space was opened so. [`ErrorKind::Corrupted`] if the file is
    /// damaged: it is verified before, and left unchanged.
    /// [`ErrorKind::Conflict`] in a progress callback of a call that updates the search index, and
    /// [`ErrorKind::Storage`] in one of a call that reads the whole space, and if another process
    /// that shares the space updates the search index for more than ten seconds. Errors of the
    /// store; the data stays as it was.
    pub fn compact(&self) -> Result<()> {
        self.compact_with(CompactOptions::new())
    }

    /// As [`Self::compact`], and drops or merges changes of the log as `options` say, so that the
    /// space does not grow with every key. What is dropped cannot be undone, and
    /// [`Connection::changes_since`](crate::Connection::changes_since) refuses a position before
    /// [`Connection::log_begins_at`](crate::Connection::log_begins_at). Changes made while it runs
    /// are kept.
    ///
    /// The example is at [`CompactOptions`].
    ///
    /// # Errors
    /// As [`Self::compact`].
    pub fn compact_with(&self, options: CompactOptions) -> Result<()> {
        self.check_not_read_only()?;
        let store = self.store()?;
        // First, so that the index has no position within changes that are merged.
        let last = store.snapshot()?.reader().last_sequence()?;
        let retention = options.retention(self.now(), last);
        // The index thread holds snapshots, and the store cannot be compacted while one is alive.
        self.0.search.erase_deleted(&store)?;
        self.0.search.exclusive(|| store.compact(&retention))
    }

    /// The size of the space. Scans all keys, so its cost grows with the space.
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
    /// Errors of the store.
    pub fn stats(&self) -> Result<SpaceStats> {
        let store = self.store()?;
        let mut stats = store.stats()?;
        stats.unindexed = self.0.search.unindexed(&store)?;
        Ok(stats)
    }
}
