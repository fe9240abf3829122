//! The documents that an index catches up with: the dirty ones, and, during bulk writes, those that
//! become dirty meanwhile.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use leafbase_model::{
    ChangePosition, DocumentId, DocumentRecord, Error, ErrorKind, Result, invariant,
};
use leafbase_search::{Analyzer, IndexWatermark, Languages, SearchDocument};
use leafbase_store::{DocumentQuery, PageCursor, SpaceReader, SpaceSnapshot, SpaceStore};

use super::dirty_documents::{self, AnalyzedVersion};

#[cfg(test)]
mod tests;

/// Rows of the change log per read.
const CHANGES_PER_READ: usize = 64;
/// Document records per read.
const RECORDS_PER_READ: usize = 256;

/// Decides when a catch-up ends.
pub(super) trait CatchUpPace {
    /// Whether to abort: the space is being closed.
    fn is_cancelled(&self) -> bool;
    /// Whether more writes are expected. Then the store commits most of them by itself, and only
    /// the end of the catch-up has to make writes durable.
    fn expects_more(&self) -> bool;
    /// Waits for more writes; `false` to end the catch-up.
    fn wait_for_more(&self) -> bool;
}

/// Ends a catch-up with the documents that are dirty at its start.
pub(super) struct SinglePass;

impl CatchUpPace for SinglePass {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn expects_more(&self) -> bool {
        false
    }

    fn wait_for_more(&self) -> bool {
        false
    }
}

/// Yields analyzed documents for an update of the index.
pub(super) struct CatchUpSource {
    /// `None` between two passes: an open snapshot would keep the store from being compacted.
    snapshot: Option<SpaceSnapshot>,
    /// The end of the change log in the last snapshot.
    position: ChangePosition,
    /// All documents, for a rebuild.
    records: DocumentRecords,
    pending: std::vec::IntoIter<(DocumentId, Option<AnalyzedVersion>)>,
    /// The documents yielded, each with the sequence of the version.
    indexed: HashMap<DocumentId, u64>,
    /// The least of these sequences among documents that were written again since.
    stale_from: Option<u64>,
    analyzer: Analyzer,
}

impl CatchUpSource {
    /// All documents of `snapshot`.
    pub(super) fn all(snapshot: SpaceSnapshot, languages: &Languages) -> Result<Self> {
        let none = Self::of(Vec::new(), snapshot, languages)?;
        Ok(Self { records: DocumentRecords::default(), ..none })
    }

    /// Some documents of `snapshot`; the versions that have been analyzed are reused.
    pub(super) fn of(
        documents: Vec<(DocumentId, Option<AnalyzedVersion>)>,
        snapshot: SpaceSnapshot,
        languages: &Languages,
    ) -> Result<Self> {
        Ok(Self {
            position: dirty_documents::end_of_log(snapshot.reader())?,
            snapshot: Some(snapshot),
            records: DocumentRecords::none(),
            pending: documents.into_iter(),
            indexed: HashMap::new(),
            stale_from: None,
            analyzer: Analyzer::new(languages.clone()),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.len() == 0
    }

    /// Adds the documents that have been written up to `snapshot`. Documents that were yielded
    /// before are not yielded again: an update may contain each only once.
    fn advance(&mut self, snapshot: SpaceSnapshot) -> Result<()> {
        let reader = snapshot.reader();
        // The log goes on from what was yielded, or the store has lost it.
        reader.check_position(self.position)?;
        let (mut position, end) = (self.position, dirty_documents::end_of_log(reader)?);
        let mut documents = BTreeSet::new();
        while position.sequence() < end.sequence() {
            let changes = reader.changed_after(position, CHANGES_PER_READ)?;
            position = changes.last().map_or(end, |(position, _)| *position);
            for document in changes.into_iter().flat_map(|(_, documents)| documents) {
                match self.indexed.get(&document) {
                    Some(indexed) => {
                        let before = self.stale_from.unwrap_or(*indexed);
                        self.stale_from = Some(before.min(*indexed));
                    }
                    None => drop(documents.insert(document)),
                }
            }
        }
        let documents: Vec<_> = documents.into_iter().map(|document| (document, None)).collect();
        invariant!(self.pending.len() == 0, "a pass ends before the next one");
        self.pending = documents.into_iter();
        self.position = end;
        self.snapshot = Some(snapshot);
        Ok(())
    }

    /// The next document. After the last one, waits for more writes as `pace` says.
    pub(super) fn next(
        &mut self,
        store: &SpaceStore,
        pace: &dyn CatchUpPace,
    ) -> Option<Result<SearchDocument>> {
        loop {
            match self.next_of_pass(pace) {
                Ok(None) => self.snapshot = None,
                found => return found.transpose(),
            }
            if !pace.wait_for_more() {
                return None;
            }
            if let Err(error) = store.snapshot().and_then(|snapshot| self.advance(snapshot)) {
                return Some(Err(error));
            }
        }
    }

    fn next_of_pass(&mut self, pace: &dyn CatchUpPace) -> Result<Option<SearchDocument>> {
        let check = || {
            if pace.is_cancelled() {
                Err(Error::new(ErrorKind::Canceled, "the space is being closed"))
            } else {
                Ok(())
            }
        };
        let Some(snapshot) = &self.snapshot else { return Ok(None) };
        let reader = snapshot.reader();
        while let Some(record) = self.records.next(reader)? {
            check()?;
            let earlier = self.indexed.insert(record.id, self.position.sequence());
            debug_assert!(earlier.is_none(), "an update has document {} once", record.id);
            if let Some(found) = dirty_documents::analyze(reader, &record, &mut self.analyzer)? {
                return Ok(Some(found));
            }
        }
        for (document, analyzed) in self.pending.by_ref() {
            check()?;
            let earlier = self.indexed.insert(document, self.position.sequence());
            debug_assert!(earlier.is_none(), "an update has document {document} once");
            let found = match analyzed {
                Some(found) => found,
                None => dirty_documents::read(reader, document, &mut self.analyzer)?,
            };
            if let Some(found) = found {
                return Ok(Some(Arc::unwrap_or_clone(found)));
            }
        }
        Ok(None)
    }

    /// The documents yielded, each with the sequence of the version.
    pub(super) const fn indexed(&self) -> &HashMap<DocumentId, u64> {
        &self.indexed
    }

    /// Whether no document is known to have been written again after it was yielded.
    pub(super) const fn is_complete(&self) -> bool {
        self.stale_from.is_none()
    }

    /// The position up to which an index with these documents contains all writes. A stale document
    /// lowers it to the sequence of its version.
    pub(super) fn complete_to(&self) -> ChangePosition {
        let stale = self.stale_from.filter(|stale| *stale < self.position.sequence());
        stale.map_or(self.position, ChangePosition::from)
    }

    /// The watermark of an index with these documents.
    pub(super) fn watermark(&self) -> IndexWatermark {
        IndexWatermark { sequence: self.complete_to().sequence(), newest: self.position }
    }
}

/// Iterates over the records of all documents except the inbox, page by page.
#[derive(Default)]
pub(super) struct DocumentRecords {
    page: std::vec::IntoIter<DocumentRecord>,
    next: Option<PageCursor>,
    has_ended: bool,
}

impl DocumentRecords {
    fn none() -> Self {
        Self { has_ended: true, ..Self::default() }
    }

    /// The next record. Each call needs a reader of the same snapshot.
    pub(super) fn next(&mut self, reader: SpaceReader<'_>) -> Result<Option<DocumentRecord>> {
        while self.page.len() == 0 && !self.has_ended {
            let query = DocumentQuery::default();
            let page = reader.find_documents(&query, self.next.as_ref(), RECORDS_PER_READ);
            // An error ends the iteration, too.
            self.has_ended = page.as_ref().map_or(true, |page| page.next.is_none());
            let page = page?;
            let records: Vec<_> = page.documents.into_iter().map(|row| row.record).collect();
            (self.page, self.next) = (records.into_iter(), page.next);
        }
        Ok(self.page.next())
    }
}
