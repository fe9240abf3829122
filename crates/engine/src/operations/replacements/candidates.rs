//! The documents in which text may be replaced: by the index of searches, and by the change log
//! from its snapshot on.

use std::collections::BTreeSet;

use leafbase_model::{
    BlockId, ChangePosition, DocumentId, Needle, ReplaceText, Result, SearchDocuments,
};
use leafbase_pattern::escape_pattern;
use leafbase_tree_ops::ReadTree;

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::scope_roots::ScopeRoots;
use crate::core::search_index::documents::attributes;
use crate::core::tree::Tree;
use crate::operations::search::{Filters, check_filters};

/// Documents that may have the text.
pub(super) enum ReplaceCandidates {
    /// Those of a snapshot, and where the log ended then.
    Found(Vec<DocumentId>, ChangePosition),
    /// All documents of the scope. What the index has depends on writes to the rest of the space,
    /// and so would the steps that a pattern may take.
    Scope,
}

impl<A: AccessScope> Connection<A> {
    pub(super) fn find_candidates(&self, request: &ReplaceText) -> Result<ReplaceCandidates> {
        let visibility = self.visibility();
        if !visibility.is_unrestricted() {
            check_filters(&filtered(request), &visibility)?;
            return Ok(ReplaceCandidates::Scope);
        }
        let (documents, position) = self.pattern_candidates(&filtered(request))?;
        Ok(ReplaceCandidates::Found(documents, position))
    }

    /// The candidates, and the documents that were written since, if they pass the filters now.
    pub(super) fn newest_candidates(
        &self,
        tree: &Tree<'_>,
        request: &ReplaceText,
        candidates: &ReplaceCandidates,
    ) -> Result<Vec<(DocumentId, BlockId)>> {
        let documents: BTreeSet<DocumentId> = match candidates {
            ReplaceCandidates::Found(documents, position) => {
                let written = tree.full_reader()?.changed_after(*position, usize::MAX)?;
                let written = written.into_iter().flat_map(|(_, documents)| documents);
                documents.iter().copied().chain(written).collect()
            }
            ReplaceCandidates::Scope => {
                let roots = tree.visibility().roots();
                roots.into_iter().flat_map(ScopeRoots::ids).collect()
            }
        };
        let filters = Filters::read(tree, &filtered(request), self.space.now())?;
        let mut found = Vec::with_capacity(documents.len());
        for document in documents {
            let record = tree.document(document)?;
            if record.is_some_and(|record| filters.accepts(&attributes(&record))) {
                found.push((document, document.root()));
            }
        }
        Ok(found)
    }
}

/// A search for the documents.
fn filtered(request: &ReplaceText) -> SearchDocuments {
    let pattern = match &request.find {
        Needle::Text(text) => escape_pattern(text),
        Needle::Pattern(pattern) => pattern.clone(),
    };
    let mut search = SearchDocuments::pattern(pattern);
    search.document_ids.clone_from(&request.document_ids);
    search.mode = request.mode;
    search.filter = request.filter.clone();
    search
}
