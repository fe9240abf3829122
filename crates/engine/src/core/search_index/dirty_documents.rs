//! Dirty documents: those that have changed since the index, each analyzed once per change.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use leafbase_model::{
    ChangePosition, DocumentId, DocumentRecord, Error, ErrorKind, Location, Result, invariant,
};
use leafbase_search::{Analyzer, Languages, SearchDocument};
use leafbase_store::SpaceReader;

use super::documents;
use crate::core::scope_roots::ScopeRoots;
use crate::core::tree::VisibleSnapshot;
use crate::core::visibility::Visibility;

/// Rows of the change log per read.
const CHANGES_PER_READ: usize = 64;
/// Searches after which a dirty document is sorted. Together they cost about as much as sorting it.
const SEARCHES_BEFORE_SORT: u64 = 50;

/// The documents that have been written since the index's last update.
#[derive(Default)]
pub(super) struct DirtyDocuments {
    /// The position up to which the change log has been read.
    read_to: ChangePosition,
    /// The number of the state up to which that is, if the store numbers its states: a state of
    /// this number has nothing more to read.
    pub(super) read_version: Option<u64>,
    documents: BTreeMap<DocumentId, DirtyDocument>,
    /// The overlay of all documents, until one changes.
    overlay: Option<Arc<DirtyOverlay>>,
    analyzer: Analyzer,
    searches: u64,
}

struct DirtyDocument {
    /// The sequence of its last change.
    last: u64,
    /// `None` until a search needs it.
    analyzed: Option<AnalyzedVersion>,
    /// The number of searches before it was analyzed.
    analyzed_at: u64,
}

impl DirtyDocument {
    fn new(last: u64) -> Self {
        Self { last, analyzed: None, analyzed_at: 0 }
    }

    /// The current version, analyzed, and sorted once enough searches have read it.
    fn analyze(
        &mut self,
        reader: SpaceReader<'_>,
        document: DocumentId,
        analyzer: &mut Analyzer,
        searches: u64,
    ) -> Result<AnalyzedVersion> {
        invariant!(self.analyzed_at <= searches, "searches are counted forwards");
        let analyzed = match self.analyzed.take() {
            Some(Some(found))
                if found.is_unsorted() && searches - self.analyzed_at > SEARCHES_BEFORE_SORT =>
            {
                Some(Arc::new(analyzer.sort(Arc::unwrap_or_clone(found))))
            }
            Some(analyzed) => analyzed,
            None => {
                self.analyzed_at = searches;
                read(reader, document, analyzer)?
            }
        };
        Ok(self.analyzed.insert(analyzed).clone())
    }
}

/// The current version of a document; `None` if it was deleted.
pub(super) type AnalyzedVersion = Option<Arc<SearchDocument>>;

/// Dirty documents as a search reads them.
#[derive(Default)]
pub(super) struct DirtyOverlay {
    /// All dirty documents, deleted ones included.
    pub(super) ids: HashSet<DocumentId>,
    pub(super) documents: Vec<Arc<SearchDocument>>,
    /// The last search before one of them is sorted.
    valid_until: u64,
}

impl DirtyOverlay {
    /// The overlay without documents that are not visible.
    pub(super) fn visible(mut self, visibility: &Visibility) -> Self {
        let is_visible = |document: &Arc<SearchDocument>| {
            visibility.allows_at(document.id(), document.attributes().location)
        };
        self.documents.retain(is_visible);
        self
    }

    /// The overlay with the pages of a scope, which the index does not have.
    pub(super) fn with_pages(
        mut self,
        space: &VisibleSnapshot,
        roots: &ScopeRoots,
        languages: &Languages,
    ) -> Result<Self> {
        let (tree, mut analyzer) = (space.tree(), Analyzer::new(languages.clone()));
        // A page may be the root of a document that is in the scope as such.
        for page in roots.page_documents().filter(|page| !roots.documents.contains(page)) {
            let Some(row) = tree.stored_document(page)? else { continue };
            let (reader, stored_in) = (tree.reader_of(page)?, tree.stored_in(page)?);
            let analyzed = documents::page(reader, stored_in, &row.record, &mut analyzer);
            self.documents.extend(without_corrupted(analyzed)?.map(Arc::new));
        }
        Ok(self)
    }
}

impl DirtyDocuments {
    /// No document is dirty at `position`.
    pub(super) fn after(position: ChangePosition) -> Self {
        Self { read_to: position, ..Self::default() }
    }

    /// The same documents, analyzed in these languages.
    pub(super) fn in_languages(self, languages: &Languages) -> Self {
        Self { analyzer: Analyzer::new(languages.clone()), ..self }
    }

    /// These documents are dirty at `position`.
    pub(super) fn of(
        documents: impl IntoIterator<Item = DocumentId>,
        position: ChangePosition,
    ) -> Self {
        let dirty = |document| (document, DirtyDocument::new(position.sequence()));
        Self { documents: documents.into_iter().map(dirty).collect(), ..Self::after(position) }
    }

    /// The same documents, without what was analyzed.
    pub(super) fn unread_copy(&self) -> Self {
        let dirty = self.documents.iter().map(|(id, dirty)| (*id, DirtyDocument::new(dirty.last)));
        Self { documents: dirty.collect(), ..Self::after(self.read_to) }
    }

    pub(super) const fn read_to(&self) -> ChangePosition {
        self.read_to
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = DocumentId> {
        self.documents.keys().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Reads the change log up to the change `last`. Each row is read once.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] if rows are missing; [`ErrorKind::HistoryGone`] if the log does not
    /// go on from what was read before.
    pub(super) fn read_changes(&mut self, reader: SpaceReader<'_>, last: u64) -> Result<()> {
        reader.check_position(self.read_to)?;
        while self.read_to.sequence() < last {
            let changes = reader.changed_after(self.read_to, CHANGES_PER_READ)?;
            if changes.is_empty() {
                let message = "the change log ends before the last change of the space";
                return Err(Error::new(ErrorKind::Corrupted, message));
            }
            for (position, documents) in changes {
                let sequence = position.sequence();
                // Otherwise the loop would not end.
                invariant!(sequence > self.read_to.sequence(), "the change log is read forwards");
                for document in documents {
                    self.documents.insert(document, DirtyDocument::new(sequence));
                    self.overlay = None;
                }
                self.read_to = position;
            }
        }
        Ok(())
    }

    /// All dirty documents as `reader` has them, whose last change has to be the last one read.
    pub(super) fn overlay(&mut self, reader: SpaceReader<'_>) -> Result<Arc<DirtyOverlay>> {
        self.searches += 1;
        let is_valid = |overlay: &&Arc<DirtyOverlay>| self.searches <= overlay.valid_until;
        if let Some(overlay) = self.overlay.as_ref().filter(is_valid) {
            return Ok(Arc::clone(overlay));
        }
        let mut overlay = DirtyOverlay { valid_until: u64::MAX, ..DirtyOverlay::default() };
        let unread = self.documents.iter().filter(|(_, dirty)| dirty.analyzed.is_none());
        reader.prefetch_documents(unread.map(|(id, _)| *id));
        for (id, dirty) in &mut self.documents {
            let analyzed = dirty.analyze(reader, *id, &mut self.analyzer, self.searches)?;
            if analyzed.as_ref().is_some_and(|document| document.is_unsorted()) {
                let sorted_at = dirty.analyzed_at + SEARCHES_BEFORE_SORT;
                overlay.valid_until = overlay.valid_until.min(sorted_at);
            }
            overlay.documents.extend(analyzed);
            overlay.ids.insert(*id);
        }
        Ok(Arc::clone(self.overlay.insert(Arc::new(overlay))))
    }

    /// Those of `documents` that are dirty. Costs time in proportion to the smaller set.
    pub(super) fn intersection(&self, documents: &BTreeSet<DocumentId>) -> Vec<DocumentId> {
        if documents.len() < self.documents.len() {
            documents.iter().filter(|id| self.documents.contains_key(id)).copied().collect()
        } else {
            self.documents.keys().filter(|id| documents.contains(id)).copied().collect()
        }
    }

    /// Some dirty documents as `reader` has them. Reads no other document.
    pub(super) fn overlay_of(
        &mut self,
        reader: SpaceReader<'_>,
        documents: &[DocumentId],
    ) -> Result<DirtyOverlay> {
        self.searches += 1;
        let mut overlay = DirtyOverlay::default();
        for id in documents {
            let Some(dirty) = self.documents.get_mut(id) else {
                invariant!("an overlay is of dirty documents")
            };
            let analyzed = dirty.analyze(reader, *id, &mut self.analyzer, self.searches)?;
            overlay.documents.extend(analyzed);
            overlay.ids.insert(*id);
        }
        Ok(overlay)
    }

    /// All dirty documents, with the versions analyzed so far.
    pub(super) fn documents(&self) -> Vec<(DocumentId, Option<AnalyzedVersion>)> {
        self.documents.iter().map(|(id, dirty)| (*id, dirty.analyzed.clone())).collect()
    }

    /// Marks documents clean that the index contains in these versions, unless they were written
    /// again since.
    pub(super) fn mark_indexed(&mut self, indexed: &HashMap<DocumentId, u64>) {
        self.documents.retain(|id, dirty| indexed.get(id).is_none_or(|at| dirty.last > *at));
        self.overlay = None;
    }

    /// Marks documents clean whose last change is before `position`: the index contains it.
    pub(super) fn mark_indexed_to(&mut self, position: ChangePosition) {
        self.documents.retain(|_, dirty| dirty.last > position.sequence());
        // Searches may have read further in the meantime.
        if position.sequence() > self.read_to.sequence() {
            self.read_to = position;
        }
        self.overlay = None;
    }
}

/// The position after the last change. Without its token if the change is corrupt: an index must
/// not fail because of a row of the log that it does not read.
pub(crate) fn end_of_log(reader: SpaceReader<'_>) -> Result<ChangePosition> {
    match reader.last_position() {
        Err(error) if error.kind() == ErrorKind::Corrupted => {
            reader.last_sequence().map(Into::into)
        }
        position => position,
    }
}

/// Reads and analyzes a document; `None` if it does not exist or is not searchable.
pub(super) fn read(
    reader: SpaceReader<'_>,
    document: DocumentId,
    analyzer: &mut Analyzer,
) -> Result<AnalyzedVersion> {
    let Some(record) = reader.document(document)? else { return Ok(None) };
    Ok(analyze(reader, &record, analyzer)?.map(Arc::new))
}

/// Analyzes a document. The inbox's hidden document is not searchable.
pub(super) fn analyze(
    reader: SpaceReader<'_>,
    record: &DocumentRecord,
    analyzer: &mut Analyzer,
) -> Result<Option<SearchDocument>> {
    if record.location == Location::Inbox {
        return Ok(None);
    }
    without_corrupted(documents::document(reader, record, analyzer))
}

/// A corrupt document is left out, so that others are found.
fn without_corrupted(analyzed: Result<SearchDocument>) -> Result<Option<SearchDocument>> {
    match analyzed {
        Err(error) if error.kind() == ErrorKind::Corrupted => {
            // Without its ID: a scoped call may cause this, which must not reveal the document.
            tracing::warn!("a corrupt document is left out of searches");
            Ok(None)
        }
        analyzed => analyzed.map(Some),
    }
}
