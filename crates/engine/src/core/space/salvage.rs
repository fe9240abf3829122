//! Salvage: what can be read of a damaged space becomes a new one.

use std::ops::ControlFlow;
use std::path::Path;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{Clock as _, IdSource as _, Result};
use leafbase_store::{SalvageOptions, SalvageReport};

use super::Space;
use crate::core::edges::EXTRACTOR;
use crate::core::progress::Progress;
use crate::support::clock::SystemClock;
use crate::support::ids::RandomIds;

impl Space {
    /// Makes a space in the new directory `to` of everything that can be read of the one in `from`,
    /// and lists what is lost. `from` is not changed, and may be one that [`Self::open`] refuses. A
    /// [`Self::check`] of the new space is clean.
    ///
    /// IDs stay, the space's own included, and so does the change log: an empty row stands in the
    /// place of each that is lost. A lost block that others stand below, or that has comments,
    /// comes back in its place as one called "Recovered", and so does a lost root. A document whose
    /// folder is lost is in none, a lost schema is replaced by one that fits the values, relations
    /// to lost items go, files with lost bytes go, and those that no block shows any more are in a
    /// document "Recovered". Unfinished uploads and the index of searches are left behind.
    ///
    /// It reads the file twice, and needs about 200 bytes of memory for each record.
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
    /// [`ErrorKind::Validation`] if something is at `to`. Of `from`: [`ErrorKind::NotFound`] and
    /// [`ErrorKind::NotASpace`] where there is no store at all, [`ErrorKind::AlreadyOpen`] while
    /// another handle may write to it, [`ErrorKind::NewerFormat`], and [`ErrorKind::Corrupted`] if
    /// nothing of it can be read. What else the operating system reports. Nothing is at `to` then.
    pub fn salvage(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<SalvageReport> {
        Self::salvage_with(from, to, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::salvage`]. `progress` is told how many pages and records are done, and may break
    /// off: nothing is left at `to` then.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use leafbase::{ErrorKind, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let (damaged, saved) = (directory.path().join("notes"), directory.path().join("saved"));
    /// # Space::create(&damaged)?.close()?;
    /// let stopped = Space::salvage_with(&damaged, &saved, &mut |_| ControlFlow::Break(())).unwrap_err();
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
        let at = SystemClock.now();
        let options = SalvageOptions { extractor: EXTRACTOR, at, new_id: &|| RandomIds.new_id(at) };
        let tell = &mut |done| progress(Progress::new(done, None));
        leafbase_store::salvage(from.as_ref(), to.as_ref(), &options, tell)
    }
}
