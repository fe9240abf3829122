//! What was changed since the index: which documents, and these as they are now, each made ready
//! once for each change.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use leafbase_model::{DocumentId, DocumentRecord, Error, ErrorKind, Location, Result};
use leafbase_search::{Analyzer, SearchDocument};
use leafbase_store::SpaceReader;

use super::documents;
use crate::core::visibility::Visibility;

/// How many rows of the change log one look-up reads.
const PAGE: usize = 64;
/// A document is put in order after so many searches that looked through it as it came: these cost
/// about as much together.
const SEARCHES: u64 = 50;

/// The documents that were changed after the write that an index goes up to.
#[derive(Default)]
pub(super) struct Recent {
    /// Up to which write the change log was read.
    read_to: u64,
    documents: BTreeMap<DocumentId, Touched>,
    /// The same as a search takes it, until it changes.
    overlay: Option<Arc<Overlay>>,
    analyzer: Analyzer,
    searches: u64,
}

/// A document that was changed.
struct Touched {
    /// By which write last.
    last: u64,
    /// None until it is made ready.
    made: Option<Made>,
    /// How many searches there were before.
    made_at: u64,
}

impl Touched {
    fn new(last: u64) -> Self {
        Self { last, made: None, made_at: 0 }
    }

    fn made(
        &mut self,
        reader: SpaceReader<'_>,
        document: DocumentId,
        analyzer: &mut Analyzer,
        searches: u64,
    ) -> Result<Made> {
        let made = match self.made.take() {
            Some(Some(made)) if made.is_unsorted() && searches - self.made_at > SEARCHES => {
                Some(Arc::new(analyzer.sort(Arc::unwrap_or_clone(made))))
            }
            Some(made) => made,
            None => {
                self.made_at = searches;
                read(reader, document, analyzer)?
            }
        };
        Ok(self.made.insert(made).clone())
    }
}

/// A document as it is now; none if it is gone.
pub(super) type Made = Option<Arc<SearchDocument>>;

/// What a search looks at beside the index.
#[derive(Default)]
pub(super) struct Overlay {
    /// Documents that are not as the index has them.
    pub(super) changed: HashSet<DocumentId>,
    /// Those of them that there are.
    pub(super) fresh: Vec<Arc<SearchDocument>>,
    /// Up to which search they are looked through as they are.
    until: u64,
}

impl Overlay {
    /// What is seen of it.
    pub(super) fn seen(mut self, seen: &Visibility) -> Self {
        self.fresh.retain(|document| seen.allows_at(document.id(), document.attributes().location));
        self
    }
}

impl Recent {
    /// Nothing was changed after the write `sequence`.
    pub(super) fn after(sequence: u64) -> Self {
        Self { read_to: sequence, ..Self::default() }
    }

    /// These documents, up to the write `sequence`.
    pub(super) fn of(documents: impl IntoIterator<Item = DocumentId>, sequence: u64) -> Self {
        let touched = |document| (document, Touched::new(sequence));
        Self { documents: documents.into_iter().map(touched).collect(), ..Self::after(sequence) }
    }

    pub(super) const fn read_to(&self) -> u64 {
        self.read_to
    }

    pub(super) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Reads what of the change log was not read yet, up to the write `last`. Each row is read
    /// once.
    pub(super) fn read_on(&mut self, reader: SpaceReader<'_>, last: u64) -> Result<()> {
        while self.read_to < last {
            let changes = reader.changed_after(self.read_to, PAGE)?;
            if changes.is_empty() {
                return Err(Error::new(ErrorKind::Corrupted, "the change log ends too early"));
            }
            for (sequence, documents) in changes {
                for document in documents {
                    self.documents.insert(document, Touched::new(sequence));
                    self.overlay = None;
                }
                self.read_to = sequence;
            }
        }
        Ok(())
    }

    /// The changed documents as `reader` has them, whose last write is the one read last.
    pub(super) fn overlay(&mut self, reader: SpaceReader<'_>) -> Result<Arc<Overlay>> {
        self.searches += 1;
        if let Some(overlay) =
            self.overlay.as_ref().filter(|overlay| self.searches <= overlay.until)
        {
            return Ok(Arc::clone(overlay));
        }
        let mut overlay = Overlay { until: u64::MAX, ..Overlay::default() };
        for (document, touched) in &mut self.documents {
            let made = touched.made(reader, *document, &mut self.analyzer, self.searches)?;
            if made.as_ref().is_some_and(|made| made.is_unsorted()) {
                overlay.until = overlay.until.min(touched.made_at + SEARCHES);
            }
            overlay.fresh.extend(made);
            overlay.changed.insert(*document);
        }
        Ok(Arc::clone(self.overlay.insert(Arc::new(overlay))))
    }

    /// Which of the changed documents are named. It costs by the fewer of both.
    pub(super) fn among(&self, named: &BTreeSet<DocumentId>) -> Vec<DocumentId> {
        if named.len() < self.documents.len() {
            named.iter().filter(|document| self.documents.contains_key(document)).copied().collect()
        } else {
            self.documents.keys().filter(|document| named.contains(document)).copied().collect()
        }
    }

    /// These of the changed documents as `reader` has them. What else was changed is not looked at.
    pub(super) fn overlay_of(
        &mut self,
        reader: SpaceReader<'_>,
        documents: &[DocumentId],
    ) -> Result<Overlay> {
        self.searches += 1;
        let mut overlay = Overlay::default();
        for document in documents {
            let Some(touched) = self.documents.get_mut(document) else { continue };
            overlay.fresh.extend(touched.made(
                reader,
                *document,
                &mut self.analyzer,
                self.searches,
            )?);
            overlay.changed.insert(*document);
        }
        Ok(overlay)
    }

    /// The changed documents, those made ready that are so far.
    pub(super) fn documents(&self) -> Vec<(DocumentId, Option<Made>)> {
        self.documents.iter().map(|(document, touched)| (*document, touched.made.clone())).collect()
    }

    /// The index knows these documents, each as it was after a write. What was written up to then
    /// was read on.
    pub(super) fn forget_taken(&mut self, taken: &HashMap<DocumentId, u64>) {
        self.documents.retain(|document, touched| {
            taken.get(document).is_none_or(|taken| touched.last > *taken)
        });
        self.overlay = None;
    }

    /// The index knows all up to the write `sequence`.
    pub(super) fn forget(&mut self, sequence: u64) {
        self.documents.retain(|_, touched| touched.last > sequence);
        self.read_to = self.read_to.max(sequence);
        self.overlay = None;
    }
}

/// The document as it is, if it is there and can be found by a search at all.
pub(super) fn read(
    reader: SpaceReader<'_>,
    document: DocumentId,
    analyzer: &mut Analyzer,
) -> Result<Made> {
    let Some(record) = reader.document(document)? else { return Ok(None) };
    Ok(made(reader, &record, analyzer)?.map(Arc::new))
}

/// The document made ready. The hidden one of the inbox is in no search; one that is damaged can't
/// be found, but others can.
pub(super) fn made(
    reader: SpaceReader<'_>,
    record: &DocumentRecord,
    analyzer: &mut Analyzer,
) -> Result<Option<SearchDocument>> {
    if record.location == Location::Inbox {
        return Ok(None);
    }
    match documents::document(reader, record, analyzer) {
        Err(error) if error.kind() == ErrorKind::Corrupted => {
            // Not which: a call may bring this about that must not learn of it.
            tracing::warn!("a damaged document is left out of searches");
            Ok(None)
        }
        made => made.map(Some),
    }
}
