//! A subset of the documents of an index, searched as if there were no others.

use std::borrow::Cow;
use std::collections::BTreeSet;

use leafbase_model::{DocumentId, Result, invariant};
use tantivy::DocId;

use super::snapshot::{DocNumber, IndexSnapshot};
use crate::document::Attributes;
use crate::score::CorpusStatistics;

/// Documents of an [`IndexSnapshot`] that a search is restricted to. Its statistics are theirs
/// alone, so that scores depend on no document outside.
#[derive(Clone, Debug, Default)]
pub struct DocumentSubset {
    /// The documents of each segment, sorted.
    segments: Vec<Vec<DocId>>,
    pub(super) statistics: CorpusStatistics,
}

impl IndexSnapshot {
    /// The subset of those of `documents` that it contains and that pass `filter`. Costs time in
    /// proportion to the number of `documents`.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Internal`].
    pub fn subset(
        &self,
        documents: impl IntoIterator<Item = DocumentId>,
        filter: impl Fn(&Attributes) -> bool,
    ) -> Result<DocumentSubset> {
        let number = |document| {
            let number = self.number_of(document)?;
            self.attributes.get(number as usize).is_some_and(&filter).then_some(number)
        };
        DocumentSubset::new(self, documents.into_iter().filter_map(number))
    }
}

impl DocumentSubset {
    fn new(snapshot: &IndexSnapshot, numbers: impl Iterator<Item = DocNumber>) -> Result<Self> {
        let segments = vec![Vec::new(); snapshot.starts.len()];
        let mut subset = Self { segments, statistics: CorpusStatistics::default() };
        for number in numbers {
            let (segment, doc) = snapshot.locate(number)?;
            let Some(docs) = subset.segments.get_mut(segment) else {
                invariant!("each segment of a snapshot has a list")
            };
            docs.push(doc);
            let Some(lengths) = snapshot.lengths.get(number as usize) else {
                invariant!("each document of a snapshot has lengths")
            };
            subset.statistics.add(*lengths);
        }
        subset.segments.iter_mut().for_each(|docs| docs.sort_unstable());
        Ok(subset)
    }

    /// The documents of a segment, sorted. The empty subset belongs to any snapshot.
    pub(super) fn of_segment(&self, segment: usize) -> &[DocId] {
        self.segments.get(segment).map_or(&[], Vec::as_slice)
    }

    /// The subset without some documents.
    pub(super) fn without(
        &self,
        snapshot: &IndexSnapshot,
        numbers: impl Iterator<Item = DocNumber>,
    ) -> Result<Cow<'_, Self>> {
        let removed: BTreeSet<DocNumber> = numbers.collect();
        if removed.is_empty() {
            return Ok(Cow::Borrowed(self));
        }
        let segments = self.segments.iter().zip(&snapshot.starts);
        let numbers = segments.flat_map(|(docs, start)| docs.iter().map(move |doc| start + doc));
        Self::new(snapshot, numbers.filter(|number| !removed.contains(number))).map(Cow::Owned)
    }
}
