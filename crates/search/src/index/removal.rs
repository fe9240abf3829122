//! Documents that are taken out of all segments but those that were just made of what they are now.

use std::sync::Arc;

use leafbase_model::DocumentId;
use tantivy::index::SegmentId;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError, Term};

/// What is taken out. tantivy asks each segment for it that there is when it commits, those that
/// are added by then included.
#[derive(Clone, Debug)]
pub(super) struct Removal(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    id: Field,
    documents: Vec<DocumentId>,
    /// Of these segments nothing is.
    spared: Vec<SegmentId>,
}

impl Removal {
    /// `documents`, whose IDs lie in the field `id`, but not those in the segments `spared`.
    pub(super) fn of(id: Field, mut documents: Vec<DocumentId>, spared: Vec<SegmentId>) -> Self {
        documents.sort_unstable();
        documents.dedup();
        Self(Arc::new(Parts { id, documents, spared }))
    }

    /// Those that a segment has.
    fn found(&self, segment: &SegmentReader) -> tantivy::Result<BitSet> {
        let Parts { id, documents, spared } = &*self.0;
        let mut found = BitSet::with_max_value(segment.max_doc());
        if spared.contains(&segment.segment_id()) {
            return Ok(found);
        }
        let ids = segment.inverted_index(*id)?;
        for document in documents {
            let term = Term::from_field_bytes(*id, document.as_bytes());
            if let Some(mut postings) = ids.read_postings(&term, IndexRecordOption::Basic)? {
                while postings.doc() != TERMINATED {
                    found.insert(postings.doc());
                    postings.advance();
                }
            }
        }
        Ok(found)
    }
}

impl Query for Removal {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for Removal {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(self.found(segment)?), boost)))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InvalidArgument("what is taken out has no score".to_owned()))
    }
}
