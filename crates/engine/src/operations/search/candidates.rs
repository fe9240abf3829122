//! The documents whose blocks patterns may match, for operations on blocks: by the index, and by
//! the change log from its snapshot on.

use std::collections::BTreeSet;
use std::ops::Bound;

use leafbase_model::{ChangePosition, DocumentId, Result, SearchDocuments};
use leafbase_tree_ops::ReadTree;

use super::{Filters, check_filters};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::scope_roots::ScopeRoots;
use crate::core::search_index::documents::attributes;
use crate::core::tree::Tree;

/// The candidates, and the documents that were written since: which of them pass the filters is
/// read document by document.
pub(crate) struct NewestCandidates<'t, 'a> {
    tree: &'t Tree<'a>,
    filters: Filters,
    documents: BTreeSet<DocumentId>,
}

impl NewestCandidates<'_, '_> {
    /// Those that pass the filters now, by ID, from `first` on.
    pub(crate) fn from(
        &self,
        first: Option<DocumentId>,
    ) -> impl Iterator<Item = Result<DocumentId>> {
        let first = first.map_or(Bound::Unbounded, Bound::Included);
        let documents = self.documents.range((first, Bound::Unbounded)).copied();
        documents.filter_map(|document| {
            self.accepts(document).map(|accepts| accepts.then_some(document)).transpose()
        })
    }

    fn accepts(&self, document: DocumentId) -> Result<bool> {
        let record = self.tree.document(document)?;
        Ok(record.is_some_and(|record| self.filters.accepts(&attributes(&record))))
    }
}

/// Documents that may have matching blocks.
pub(crate) enum BlockCandidates {
    /// Those of a snapshot, and where the log ended then.
    Found(Vec<DocumentId>, ChangePosition),
    /// All documents of the scope. What the index has depends on writes to the rest of the space,
    /// and so would the steps that a pattern may take.
    Scope,
}

impl<A: AccessScope> Connection<A> {
    /// The candidates of a search by patterns.
    ///
    /// # Errors
    /// Those of [`Connection::search`].
    pub(crate) fn find_candidates(&self, search: &SearchDocuments) -> Result<BlockCandidates> {
        let visibility = self.visibility();
        if !visibility.is_unrestricted() {
            check_filters(search, &visibility)?;
            return Ok(BlockCandidates::Scope);
        }
        let (documents, position) = self.pattern_candidates(search)?;
        Ok(BlockCandidates::Found(documents, position))
    }

    /// The candidates, and the documents that were written since.
    pub(crate) fn newest_candidates<'t, 'a>(
        &self,
        tree: &'t Tree<'a>,
        search: &SearchDocuments,
        candidates: &BlockCandidates,
    ) -> Result<NewestCandidates<'t, 'a>> {
        let documents: BTreeSet<DocumentId> = match candidates {
            BlockCandidates::Found(documents, position) => {
                let written = tree.full_reader()?.changed_after(*position, usize::MAX)?;
                let written = written.into_iter().flat_map(|(_, documents)| documents);
                documents.iter().copied().chain(written).collect()
            }
            BlockCandidates::Scope => {
                let roots = tree.visibility().roots();
                roots.into_iter().flat_map(ScopeRoots::ids).collect()
            }
        };
        let filters = Filters::read(tree, search, self.space.now())?;
        Ok(NewestCandidates { tree, filters, documents })
    }
}
