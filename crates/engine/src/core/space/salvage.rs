//! Salvage: a new space from the readable records of a damaged one.

use std::ops::ControlFlow;
use std::path::Path;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::Result;
use leafbase_store::{SalvageOptions, SalvageReport};

use super::{Space, SpaceBuilder};
use crate::core::edges::EXTRACTOR;
use crate::core::progress::Progress;

impl Space {
    /// Creates a space in the new directory `to` from every readable record of the one in `from`,
    /// and lists the losses. `from` is not changed, and may be one that [`Self::open`] refuses. A
    /// [`Self::check`] of the new space is clean.
    ///
    /// IDs are preserved, including that of the space, and so is the change log, with an empty row
    /// for each lost one. A lost block that has children or comments is replaced by one called
    /// "Recovered", as is a lost root. A document in a lost folder is unsorted; a lost schema is
    /// replaced by one that fits the values; relations to lost items and files with lost bytes are
    /// removed; files that no block shows any more are listed in a document "Recovered". Unfinished
    /// uploads and the search index are not copied.
    ///
    /// It reads the file twice and needs about 200 bytes of memory per record.
    ///
    /// ```
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let (damaged, saved) = (directory.path().join("notes"), directory.path().join("saved"));
    /// # let space = Space::create(&damaged)?;
    /// # space.connect().create_document("Trip to Lisbon")?;
    /// # space.close()?;
    /// let report = Space::salvage(&damaged, &saved)?;
    /// for loss in &report.losses {
    ///     println!("{loss}");
    /// }
    /// assert_eq!((report.saved.documents, report.is_whole()), (1, true));
    /// assert!(Space::open(&saved)?.check()?.is_clean());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if `to` exists. For `from`: [`ErrorKind::NotFound`] and
    /// [`ErrorKind::NotASpace`] if there is no store, [`ErrorKind::AlreadyOpen`] while another
    /// handle is open, also one that only reads, [`ErrorKind::NewerFormat`], and
    /// [`ErrorKind::Corrupted`] if nothing is readable. Errors of the operating system. Nothing is
    /// left at `to` then.
    pub fn salvage(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<SalvageReport> {
        Self::salvage_with(from, to, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::salvage`]. `progress` receives the number of pages and records processed and may
    /// cancel: nothing is left at `to` then.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use leafbase::{ErrorKind, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let (damaged, saved) = (directory.path().join("notes"), directory.path().join("saved"));
    /// # Space::create(&damaged)?.close()?;
    /// let stopped = Space::salvage_with(&damaged, &saved, &mut |_| ControlFlow::Break(()))
    ///     .unwrap_err();
    /// assert_eq!((stopped.kind(), saved.exists()), (ErrorKind::Canceled, false));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::salvage`], and [`ErrorKind::Canceled`].
    pub fn salvage_with(
        from: impl AsRef<Path>,
        to: impl AsRef<Path>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<SalvageReport> {
        Self::builder().salvage(from, to, progress)
    }
}

impl SpaceBuilder {
    /// As [`Space::salvage_with`], with the clock and the source of IDs of this builder: what is
    /// made for a lost record gets its time and ID from them. No other option has an effect.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let (damaged, saved) = (directory.path().join("notes"), directory.path().join("saved"));
    /// # Space::create(&damaged)?.close()?;
    /// # let clock = leafbase::SystemClock; // or the one that the program has
    /// let report = Space::builder().clock(clock).salvage(&damaged, &saved, &mut |progress| {
    ///     println!("{} read", progress.done);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert!(report.is_whole());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Space::salvage_with`].
    pub fn salvage(
        &self,
        from: impl AsRef<Path>,
        to: impl AsRef<Path>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<SalvageReport> {
        let at = self.clock.now();
        let options = SalvageOptions { extractor: EXTRACTOR, at, new_id: &|| self.ids.new_id(at) };
        let report = &mut |done| progress(Progress::new(done, None));
        leafbase_store::salvage(from.as_ref(), to.as_ref(), &options, report)
    }
}
