//! The roots of a scope: documents, and single pages of documents.

use std::collections::BTreeSet;

use leafbase_model::{BlockId, BlockRecord, BlockType, DocumentId};

/// The documents and the pages of a scope. A page is shown as a document whose ID is that of the
/// page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeRoots {
    /// The documents, trashed and nonexistent ones included.
    pub(crate) documents: BTreeSet<DocumentId>,
    /// The pages, nonexistent ones included.
    pub(crate) pages: BTreeSet<BlockId>,
}

impl ScopeRoots {
    pub(crate) fn new(
        documents: impl IntoIterator<Item = DocumentId>,
        pages: impl IntoIterator<Item = BlockId>,
    ) -> Self {
        Self { documents: documents.into_iter().collect(), pages: pages.into_iter().collect() }
    }

    /// Whether the scope names the document, or the page that is shown as one.
    pub(crate) fn contains(&self, document: DocumentId) -> bool {
        self.documents.contains(&document) || self.pages.contains(&document.root())
    }

    /// The pages as the documents that they are shown as.
    pub(crate) fn page_documents(&self) -> impl Iterator<Item = DocumentId> {
        self.pages.iter().copied().map(DocumentId::of_root)
    }

    /// The documents and the pages, by ID.
    pub(crate) fn ids(&self) -> BTreeSet<DocumentId> {
        self.documents.iter().copied().chain(self.page_documents()).collect()
    }

    /// Adds what `other` names.
    pub(crate) fn extend(&mut self, other: Self) {
        self.documents.extend(other.documents);
        self.pages.extend(other.pages);
    }

    /// Removes what `other` names.
    pub(crate) fn remove(&mut self, other: &Self) {
        self.documents.retain(|document| !other.documents.contains(document));
        self.pages.retain(|page| !other.pages.contains(page));
    }
}

/// Whether a page that the scope names is shown as a document.
pub(crate) fn is_shown_as_page(block: &BlockRecord) -> bool {
    let is_page = matches!(block.data.block_type(), BlockType::Page | BlockType::Text);
    is_page && !block.is_redacted()
}
