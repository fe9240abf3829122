//! The index as of one commit, with the columns of all documents in memory.

use leafbase_model::{DocumentId, invariant};
use tantivy::{DocId, Searcher, SegmentReader};

use super::error::{IndexFailure, storage_error};
use super::schema::{DocumentColumns, IndexFields};
use super::trigram_plugin::TrigramFile;
use crate::document::{Attributes, FieldLengths};
use crate::score::CorpusStatistics;

/// Numbers the documents of all segments of a snapshot in order, deleted ones included. In a search
/// the dirty documents follow.
pub(super) type DocNumber = u32;

/// The index as of one commit.
pub struct IndexSnapshot {
    searcher: Searcher,
    pub(super) fields: IndexFields,
    /// Of each document.
    pub(super) attributes: Vec<Attributes>,
    /// The lengths of the text fields of each document.
    pub(super) lengths: Vec<FieldLengths>,
    /// Whether each document is live, which means not deleted.
    pub(super) is_live: Vec<bool>,
    /// The number of each segment's first document.
    pub(super) starts: Vec<DocNumber>,
    /// The trigrams of each segment.
    pub(super) trigrams: Vec<TrigramFile>,
    /// The live documents, sorted by ID.
    by_id: Vec<(DocumentId, DocNumber)>,
    /// Of the live documents.
    pub(super) statistics: CorpusStatistics,
}

impl std::fmt::Debug for IndexSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexSnapshot")
            .field("statistics", &self.statistics)
            .finish_non_exhaustive()
    }
}

impl IndexSnapshot {
    pub(super) fn new(searcher: Searcher, fields: IndexFields) -> Result<Self, IndexFailure> {
        let mut snapshot = Self {
            searcher,
            fields,
            attributes: Vec::new(),
            lengths: Vec::new(),
            is_live: Vec::new(),
            starts: Vec::new(),
            trigrams: Vec::new(),
            by_id: Vec::new(),
            statistics: CorpusStatistics::default(),
        };
        snapshot.read_segments()?;
        Ok(snapshot)
    }

    fn read_segments(&mut self) -> Result<(), IndexFailure> {
        for segment in self.searcher.segment_readers() {
            self.starts.push(doc_number(self.attributes.len())?);
            self.trigrams.push(TrigramFile::open(segment)?);
            for (doc, columns) in (0..).zip(DocumentColumns::of_segment(segment)?) {
                let (attributes, lengths) = columns.decode()?;
                let is_live = !segment.is_deleted(doc);
                if is_live {
                    self.statistics.add(lengths);
                    self.by_id.push((attributes.id, doc_number(self.attributes.len())?));
                }
                self.attributes.push(attributes);
                self.lengths.push(lengths);
                self.is_live.push(is_live);
            }
        }
        // Searches index both vectors with the same numbers.
        debug_assert_eq!(self.attributes.len(), self.lengths.len(), "a document has all columns");
        self.by_id.sort_unstable();
        if self.by_id.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other))
        {
            return Err(IndexFailure::corrupt("a document is live twice"));
        }
        Ok(())
    }

    /// The number of live documents.
    pub fn documents(&self) -> u64 {
        self.statistics.documents
    }

    /// The attributes of the live documents, sorted by ID.
    pub fn attributes(&self) -> impl Iterator<Item = &Attributes> {
        self.by_id.iter().filter_map(|(_, number)| self.attributes.get(*number as usize))
    }

    /// The number of all documents; dirty documents are numbered from here.
    pub(super) fn end(&self) -> Result<DocNumber, IndexFailure> {
        doc_number(self.attributes.len())
    }

    /// The number of a live document.
    pub(super) fn number_of(&self, document: DocumentId) -> Option<DocNumber> {
        let found = self.by_id.binary_search_by_key(&document, |(other, _)| *other).ok()?;
        self.by_id.get(found).map(|(_, number)| *number)
    }

    /// The segment that a document is in, and its ID there.
    pub(super) fn locate(&self, number: DocNumber) -> leafbase_model::Result<(usize, DocId)> {
        let after = self.starts.partition_point(|start| *start <= number);
        let segment = after.checked_sub(1).and_then(|at| Some((at, *self.starts.get(at)?)));
        let Some((segment, start)) = segment else {
            invariant!("the first segment starts at document 0")
        };
        Ok((segment, number - start))
    }

    /// Each segment with the number of its first document.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&SegmentReader, DocNumber)> {
        self.searcher.segment_readers().iter().zip(self.starts.iter().copied())
    }
}

fn doc_number(number: usize) -> Result<DocNumber, IndexFailure> {
    DocNumber::try_from(number)
        .map_err(|_| IndexFailure(storage_error("it has more than 2^32 documents")))
}
