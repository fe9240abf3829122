//! Maintenance of the search index by the host.

use std::ops::ControlFlow;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::Result;

use crate::core::progress::Progress;
use crate::core::space::Space;

impl Space {
    /// Updates the search index with every write that has returned. Searches find these anyway;
    /// they are cheaper afterwards. Costs time in proportion to the documents written since the
    /// last update. With [`SearchIndexing::OnDemand`](crate::SearchIndexing::OnDemand) it also
    /// merges the index's segments if there are many, which otherwise the space's thread does: that
    /// rewrites a document about once per doubling of the index.
    ///
    /// ```
    /// use leafbase::{SearchIndexing, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::builder().search_indexing(SearchIndexing::OnDemand).in_memory()?;
    /// space.connect().create_document("Trip to Lisbon")?;
    /// space.flush_search()?; // the next search is cheaper
    /// assert_eq!(space.connect().search("lisbon")?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of the store; [`ErrorKind::Conflict`] in a progress callback of a call that updates
    /// the index.
    pub fn flush_search(&self) -> Result<()> {
        self.indexer().catch_up(&self.store()?)
    }

    /// Rebuilds the search index. This is never necessary: a search that finds the index missing,
    /// corrupt, of another space or of another history of this one rebuilds it. Reads the whole
    /// space. Concurrent reads, writes and searches go ahead.
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
    /// Errors of the store; [`ErrorKind::Storage`] if another process that shares the space updates
    /// the index for more than ten seconds.
    pub fn rebuild_search(&self) -> Result<()> {
        self.rebuild_search_with(&mut |_| ControlFlow::Continue(()))
    }

    /// Like [`Self::rebuild_search`]. Calls `progress` with the number of documents read so far; if
    /// it breaks, the index stays unchanged. `progress` may read and write the space; calls in it
    /// that have to update the index themselves are refused with [`ErrorKind::Conflict`]:
    /// compaction, rebuilds, [`Self::flush_search`], and searches while there is no other index.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use leafbase::ErrorKind;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// space.connect().create_document("Trip to Lisbon")?;
    /// let stopped = space.rebuild_search_with(&mut |_| ControlFlow::Break(())).unwrap_err();
    /// assert_eq!(stopped.kind(), ErrorKind::Canceled);
    /// assert_eq!(space.connect().search("lisbon")?.len(), 1); // the old index is intact
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Self::rebuild_search`], and [`ErrorKind::Canceled`] if `progress` breaks.
    pub fn rebuild_search_with(
        &self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        self.indexer().rebuild(&self.store()?, progress)
    }
}
