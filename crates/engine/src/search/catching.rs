//! What an index catches up with: the documents that were changed, and, as long as somebody writes many, those that are changed meanwhile.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use leafbase_model::{DocumentId, Error, ErrorKind, Result};
use leafbase_search::{Maker, SearchDocument};
use leafbase_store::SpaceSnapshot;

use super::recent::{self, Made, Recent};

#[cfg(test)]
mod tests;

/// How many rows of the change log one look-up reads.
const PAGE: usize = 64;

/// What is there at once, and whether to wait for more.
pub(super) trait Pace {
    /// Whether to leave off, with nothing done.
    fn is_over(&self) -> bool;
    /// Waits for more to be written. False if there is no sense in that.
    fn waits(&self) -> bool;
}

/// What is there at once, to the end.
pub(super) struct AtOnce;

impl Pace for AtOnce {
    fn is_over(&self) -> bool {
        false
    }

    fn waits(&self) -> bool {
        false
    }
}

/// Documents on their way into an index.
pub(super) struct Catching {
    snapshot: SpaceSnapshot,
    sequence: u64,
    next: std::vec::IntoIter<(DocumentId, Option<Made>)>,
    /// Those that were taken over, each as it was after this write.
    taken: HashMap<DocumentId, u64>,
    maker: Maker,
}

impl Catching {
    /// What `recent` has, as it is in `snapshot`.
    pub(super) fn of(recent: &Recent, snapshot: SpaceSnapshot) -> Result<Self> {
        let sequence = snapshot.reader().last_sequence()?;
        let next = recent.documents().into_iter();
        Ok(Self { snapshot, sequence, next, taken: HashMap::new(), maker: Maker::default() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next.len() == 0
    }

    /// Leaves out the last one.
    pub(super) fn skip_one(&mut self) {
        self.next.next_back();
    }

    /// Goes on with those that were changed since, as they are in `snapshot`. Those that were taken over already stay as they were.
    pub(super) fn go_on(&mut self, snapshot: SpaceSnapshot) -> Result<()> {
        let (mut sequence, last) = (self.sequence, snapshot.reader().last_sequence()?);
        let mut documents = BTreeSet::new();
        while sequence < last {
            let changes = snapshot.reader().changed_after(sequence, PAGE)?;
            sequence = changes.last().map_or(last, |(sequence, _)| *sequence);
            let touched = changes.into_iter().flat_map(|(_, documents)| documents);
            documents.extend(touched.filter(|document| !self.taken.contains_key(document)));
        }
        let documents: Vec<_> = documents.into_iter().map(|document| (document, None)).collect();
        (self.next, self.sequence, self.snapshot) = (documents.into_iter(), last, snapshot);
        Ok(())
    }

    /// The next document; none if those that there are have all been taken over.
    pub(super) fn next(&mut self, pace: &dyn Pace) -> Option<Result<SearchDocument>> {
        loop {
            let (document, made) = self.next.next()?;
            if pace.is_over() {
                return Some(Err(Error::new(ErrorKind::Canceled, "the space is being closed")));
            }
            self.taken.insert(document, self.sequence);
            let made = made.map_or_else(|| recent::read(self.snapshot.reader(), document, &mut self.maker), Ok);
            match made {
                Ok(None) => {}
                Ok(Some(made)) => return Some(Ok(Arc::unwrap_or_clone(made))),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// All that were taken over.
    pub(super) fn taken(&self) -> Vec<DocumentId> {
        self.taken.keys().copied().collect()
    }

    /// Up to which write an index with these knows all: what was changed once more since it was taken over, it does not.
    pub(super) fn sequence(&self, recent: &Recent) -> u64 {
        let again = self.taken.iter().filter(|(document, taken)| recent.last(**document) > Some(**taken));
        again.map(|(_, taken)| *taken).fold(self.sequence, u64::min)
    }
}
