//! What an index catches up with: the documents that were changed, and, as long as somebody writes
//! many, those that are changed meanwhile.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use leafbase_model::{DocumentId, DocumentRecord, Error, ErrorKind, Result};
use leafbase_search::{Analyzer, SearchDocument};
use leafbase_store::{DocumentQuery, PageCursor, SpaceReader, SpaceSnapshot, SpaceStore};

use super::recent::{self, Made};

#[cfg(test)]
mod tests;

/// How many rows of the change log one look-up reads.
const PAGE: usize = 64;
/// How many documents one look-up reads.
const RECORDS: usize = 256;

/// What is there at once, and whether to wait for more.
pub(super) trait Pace {
    /// Whether to leave off, with nothing done.
    fn is_over(&self) -> bool;
    /// Whether more is being written, so that the store will have made durable most of it by itself
    /// at the end.
    fn goes_on(&self) -> bool;
    /// Waits for more to be written. False if there is no sense in that.
    fn waits(&self) -> bool;
}

/// What is there at once, to the end.
pub(super) struct AtOnce;

impl Pace for AtOnce {
    fn is_over(&self) -> bool {
        false
    }

    fn goes_on(&self) -> bool {
        false
    }

    fn waits(&self) -> bool {
        false
    }
}

/// Documents on their way into an index.
pub(super) struct Catching {
    /// None while nothing of it is left: who reads keeps a store from being compacted.
    snapshot: Option<SpaceSnapshot>,
    sequence: u64,
    /// All that there were at first, if all are to be taken over.
    records: Records,
    next: std::vec::IntoIter<(DocumentId, Option<Made>)>,
    /// Those that were taken over, each as it was after this write.
    taken: HashMap<DocumentId, u64>,
    /// Of those of them that were changed again, the least of these writes.
    again: Option<u64>,
    analyzer: Analyzer,
}

impl Catching {
    /// All documents of `snapshot`.
    pub(super) fn all(snapshot: SpaceSnapshot) -> Result<Self> {
        Ok(Self { records: Records::default(), ..Self::of(Vec::new(), snapshot)? })
    }

    /// These documents, as they are in `snapshot`.
    pub(super) fn of(
        documents: Vec<(DocumentId, Option<Made>)>,
        snapshot: SpaceSnapshot,
    ) -> Result<Self> {
        let sequence = snapshot.reader().last_sequence()?;
        let (next, taken, analyzer) = (documents.into_iter(), HashMap::new(), Analyzer::default());
        Ok(Self {
            snapshot: Some(snapshot),
            sequence,
            records: Records::none(),
            next,
            taken,
            again: None,
            analyzer,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next.len() == 0
    }

    /// Goes on with those that were changed since, as they are in `snapshot`. Those that were taken
    /// over already stay as they were.
    fn go_on(&mut self, snapshot: SpaceSnapshot) -> Result<()> {
        let (mut sequence, last) = (self.sequence, snapshot.reader().last_sequence()?);
        if last < sequence {
            return Err(Error::new(
                ErrorKind::Corrupted,
                "the search index knows of writes that were lost",
            ));
        }
        let mut documents = BTreeSet::new();
        while sequence < last {
            let changes = snapshot.reader().changed_after(sequence, PAGE)?;
            sequence = changes.last().map_or(last, |(sequence, _)| *sequence);
            for document in changes.into_iter().flat_map(|(_, documents)| documents) {
                match self.taken.get(&document) {
                    Some(taken) => {
                        self.again = Some(self.again.map_or(*taken, |again| again.min(*taken)))
                    }
                    None => drop(documents.insert(document)),
                }
            }
        }
        let documents: Vec<_> = documents.into_iter().map(|document| (document, None)).collect();
        (self.next, self.sequence, self.snapshot) = (documents.into_iter(), last, Some(snapshot));
        Ok(())
    }

    /// The next document. Those that are written meanwhile are among them, as long as `pace` waits
    /// for them.
    pub(super) fn next(
        &mut self,
        store: &SpaceStore,
        pace: &dyn Pace,
    ) -> Option<Result<SearchDocument>> {
        loop {
            match self.next_of_these(pace) {
                Ok(None) => self.snapshot = None,
                found => return found.transpose(),
            }
            if !pace.waits() {
                return None;
            }
            if let Err(error) = store.snapshot().and_then(|snapshot| self.go_on(snapshot)) {
                return Some(Err(error));
            }
        }
    }

    fn next_of_these(&mut self, pace: &dyn Pace) -> Result<Option<SearchDocument>> {
        let check = || {
            if pace.is_over() {
                Err(Error::new(ErrorKind::Canceled, "the space is being closed"))
            } else {
                Ok(())
            }
        };
        let Some(snapshot) = &self.snapshot else { return Ok(None) };
        while let Some(record) = self.records.next(snapshot.reader())? {
            check()?;
            self.taken.insert(record.id, self.sequence);
            if let Some(made) = recent::made(snapshot.reader(), &record, &mut self.analyzer)? {
                return Ok(Some(made));
            }
        }
        for (document, made) in self.next.by_ref() {
            check()?;
            self.taken.insert(document, self.sequence);
            let made = made.map_or_else(
                || recent::read(snapshot.reader(), document, &mut self.analyzer),
                Ok,
            )?;
            if let Some(made) = made {
                return Ok(Some(Arc::unwrap_or_clone(made)));
            }
        }
        Ok(None)
    }

    /// All that were taken over, each as it was after a write.
    pub(super) const fn taken(&self) -> &HashMap<DocumentId, u64> {
        &self.taken
    }

    /// Whether all of them are still as they were when they were taken over, as far as is known.
    pub(super) const fn is_whole(&self) -> bool {
        self.again.is_none()
    }

    /// Up to which write an index with these knows all: what was changed once more since it was
    /// taken over, it does not.
    pub(super) fn sequence(&self) -> u64 {
        self.again.map_or(self.sequence, |again| again.min(self.sequence))
    }
}

/// The records of all documents, the inbox but; read in pages.
#[derive(Default)]
pub(super) struct Records {
    page: std::vec::IntoIter<DocumentRecord>,
    next: Option<PageCursor>,
    has_ended: bool,
}

impl Records {
    fn none() -> Self {
        Self { has_ended: true, ..Self::default() }
    }

    /// The next one, as `reader` has it, which has to be of the same state each time.
    pub(super) fn next(&mut self, reader: SpaceReader<'_>) -> Result<Option<DocumentRecord>> {
        while self.page.len() == 0 && !self.has_ended {
            let page =
                reader.find_documents(&DocumentQuery::default(), self.next.as_ref(), RECORDS);
            self.has_ended = page.as_ref().map_or(true, |page| page.next.is_none());
            let page = page?;
            (self.page, self.next) = (page.documents.into_iter(), page.next);
        }
        Ok(self.page.next())
    }
}
