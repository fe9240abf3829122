//! What a host may do about the index of searches.

use std::ops::ControlFlow;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::Result;

use crate::core::progress::Progress;
use crate::core::space::Space;

impl Space {
    /// Brings the index of searches up to date with every write that has returned. Searches find
    /// these all the same; they are cheaper afterwards. Costs by what was written since the index
    /// was last brought up to date. With
    /// [`SearchIndexing::OnDemand`](crate::SearchIndexing::OnDemand) it also puts the segments of
    /// the index together where there are many, which otherwise the thread of the space does, once
    /// there is one: that costs by what is in them, about once for each doubling.
    ///
    /// ```
    /// use leafbase::{SearchIndexing, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::builder().search_indexing(SearchIndexing::OnDemand).in_memory()?;
    /// space.connect().create_document("Trip to Lisbon")?;
    /// space.flush_search()?; // when there is time: the next search has less to do
    /// assert_eq!(space.connect().search("lisbon")?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn flush_search(&self) -> Result<()> {
        self.indexer().catch_up(&self.store()?)
    }

    /// Makes the index of searches anew. There is no need to: one that is missing, damaged or not
    /// this space's is made anew by the search that meets it. Reads the whole space. Others go on
    /// reading, writing and searching meanwhile.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.connect().create_document("Trip to Lisbon")?;
    /// space.rebuild_search()?;
    /// assert_eq!(space.connect().search("lisbon")?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn rebuild_search(&self) -> Result<()> {
        self.rebuild_search_with(&mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::rebuild_search`]. `progress` is told how many documents are read, and may break
    /// off: the index stays as it was then. It must not search this space itself.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use leafbase::ErrorKind;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.connect().create_document("Trip to Lisbon")?;
    /// let stopped = space.rebuild_search_with(&mut |_| ControlFlow::Break(())).unwrap_err();
    /// assert_eq!(stopped.kind(), ErrorKind::Canceled);
    /// assert_eq!(space.connect().search("lisbon")?.len(), 1); // all the same
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::rebuild_search`], and [`ErrorKind::Canceled`].
    pub fn rebuild_search_with(
        &self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        self.indexer().remake(&self.store()?, progress)
    }
}
