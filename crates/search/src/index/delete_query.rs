//! Deletion of documents by ID from all segments but the new ones.
//!
//! An update first builds segments of the changed documents, then deletes the older versions. The
//! versions share the IDs, so deletion by term would delete the new documents as well: whether a
//! segment that is added to tantivy's writer sees deletions from before is not specified.

use std::sync::Arc;

use leafbase_model::DocumentId;
use tantivy::index::SegmentId;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError, Term};

/// Matches documents by ID, in every segment that is not new. tantivy runs it on each segment when
/// it commits.
#[derive(Clone, Debug)]
pub(super) struct DeleteQuery(Arc<DeletedDocuments>);

#[derive(Debug)]
struct DeletedDocuments {
    id: Field,
    /// Sorted, each once.
    documents: Vec<DocumentId>,
    new_segments: Vec<SegmentId>,
}

impl DeleteQuery {
    /// Deletes `documents`, whose IDs are terms of the field `id`, except from `new_segments`.
    pub(super) fn new(
        id: Field,
        mut documents: Vec<DocumentId>,
        new_segments: Vec<SegmentId>,
    ) -> Self {
        documents.sort_unstable();
        documents.dedup();
        Self(Arc::new(DeletedDocuments { id, documents, new_segments }))
    }

    fn matches(&self, segment: &SegmentReader) -> tantivy::Result<BitSet> {
        let DeletedDocuments { id, documents, new_segments } = &*self.0;
        let mut matches = BitSet::with_max_value(segment.max_doc());
        if new_segments.contains(&segment.segment_id()) {
            return Ok(matches);
        }
        let ids = segment.inverted_index(*id)?;
        for document in documents {
            let term = Term::from_field_bytes(*id, document.as_bytes());
            if let Some(mut postings) = ids.read_postings(&term, IndexRecordOption::Basic)? {
                while postings.doc() != TERMINATED {
                    matches.insert(postings.doc());
                    postings.advance();
                }
            }
        }
        Ok(matches)
    }
}

impl Query for DeleteQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for DeleteQuery {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(self.matches(segment)?), boost)))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InvalidArgument("a delete query does not score".to_owned()))
    }
}
