//! The care of a space: flush, close, check, back up, compact.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::PoisonError;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::Result;
use leafbase_store::{CheckReport, SpaceStats};

use super::Space;
use crate::core::progress::Progress;

impl Space {
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
        self.0.orphaned_uploads.drop_from(&store);
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
        self.0.orphaned_uploads.drop_from(&store);
        store.flush()
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
    pub fn stats(&self) -> Result<SpaceStats> {
        self.store()?.stats()
    }
}
