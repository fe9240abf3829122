//! Builds segments with tantivy's segment writer. A segment is visible only once the index has
//! added it and committed, so a failed build leaves nothing but files to collect.
//!
//! Of many documents, the segments are built on a second thread while the caller analyzes the next
//! ones. The thread ends with the call.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use leafbase_model::{Result, invariant};
use tantivy::index::SegmentMeta;
use tantivy::indexer::{AddOperation, SegmentWriter};
use tantivy::{Index, Segment};

use super::error::storage_error;
use super::schema::IndexFields;
use super::segment_document::SegmentDocument;
use crate::document::SearchDocument;
use crate::stems::StemCache;

/// Documents per batch, and the number from which on a second thread builds the segments: waking
/// it costs more than indexing one document.
const BATCH_DOCUMENTS: usize = 32;
/// Bytes after which a batch of fewer documents is full.
const BATCH_BYTES: usize = 2 << 20;
/// Batches that wait for the second thread. Bounds memory; the sender blocks while all are full.
const BATCHES_IN_FLIGHT: usize = 4;
/// Bytes from which tantivy sizes the hash table of terms for a few documents: a third of it.
/// The table grows on demand.
const SMALL_TABLE_BYTES: usize = 1 << 20;

/// Builds segments of `documents`. A segment is written whenever its writer uses `budget` bytes.
///
/// # Errors
/// Those of `documents`, and [`leafbase_model::ErrorKind::Storage`].
pub(super) fn build_segments(
    index: &Index,
    fields: IndexFields,
    budget: usize,
    documents: &mut dyn Iterator<Item = Result<SearchDocument>>,
) -> Result<Vec<SegmentMeta>> {
    let first = BuildBatch::next(documents)?;
    if !first.is_full() {
        let builder = SegmentBuilder::new(index, fields, budget, SMALL_TABLE_BYTES);
        return builder.build(first.documents.into_iter().map(Ok));
    }
    let builder = move || SegmentBuilder::new(index, fields, budget, budget);
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(BATCHES_IN_FLIGHT);
        let worker = thread::Builder::new().name("leafbase-index".to_owned());
        let Ok(worker) = worker.spawn_scoped(scope, move || builder().build_received(receiver))
        else {
            // The system has no thread left.
            return builder().build(first.documents.into_iter().map(Ok).chain(documents));
        };
        let sent = send_batches(&sender, first, documents);
        // The worker sees the channel close, also if sending has failed.
        drop(sender);
        let built = worker.join();
        let built = built.unwrap_or_else(|_| Err(storage_error("its thread panicked")));
        // Sending stops without an error if the worker fails, so the worker's error comes first.
        built.and_then(|built| sent.map(|()| built))
    })
}

/// Documents that are handed over at once.
#[derive(Default)]
struct BuildBatch {
    documents: Vec<SearchDocument>,
    bytes: usize,
}

impl BuildBatch {
    /// The next batch; not full only at the end.
    fn next(documents: &mut dyn Iterator<Item = Result<SearchDocument>>) -> Result<Self> {
        let mut batch = Self::default();
        while !batch.is_full()
            && let Some(document) = documents.next().transpose()?
        {
            batch.bytes += document.bytes();
            batch.documents.push(document);
        }
        Ok(batch)
    }

    const fn is_full(&self) -> bool {
        self.documents.len() >= BATCH_DOCUMENTS || self.bytes >= BATCH_BYTES
    }
}

enum BuildMessage {
    Batch(BuildBatch),
    /// There are no more documents. If the channel closes without it, the build is abandoned.
    Finish,
}

fn send_batches(
    sender: &SyncSender<BuildMessage>,
    first: BuildBatch,
    documents: &mut dyn Iterator<Item = Result<SearchDocument>>,
) -> Result<()> {
    let mut batch = first;
    loop {
        let is_last = !batch.is_full();
        // A closed channel means that the worker failed; it returns the cause.
        if sender.send(BuildMessage::Batch(batch)).is_err() {
            return Ok(());
        }
        if is_last {
            let _ = sender.send(BuildMessage::Finish);
            return Ok(());
        }
        batch = BuildBatch::next(documents)?;
    }
}

/// Writes one segment after the other.
struct SegmentBuilder<'i> {
    index: &'i Index,
    fields: IndexFields,
    budget: usize,
    table_bytes: usize,
    stems: StemCache,
    open: Option<(Segment, SegmentWriter)>,
    built: Vec<SegmentMeta>,
}

impl<'i> SegmentBuilder<'i> {
    fn new(index: &'i Index, fields: IndexFields, budget: usize, table_bytes: usize) -> Self {
        // tantivy refuses to size its table from less.
        let table_bytes = table_bytes.max(SMALL_TABLE_BYTES);
        let (stems, open, built) = (StemCache::default(), None, Vec::new());
        Self { index, fields, budget, table_bytes, stems, open, built }
    }

    fn build(
        mut self,
        documents: impl Iterator<Item = Result<SearchDocument>>,
    ) -> Result<Vec<SegmentMeta>> {
        for document in documents {
            self.add(document?)?;
        }
        self.finish()
    }

    fn build_received(mut self, receiver: Receiver<BuildMessage>) -> Result<Vec<SegmentMeta>> {
        for message in receiver {
            match message {
                BuildMessage::Batch(batch) => {
                    batch.documents.into_iter().try_for_each(|document| self.add(document))?;
                }
                BuildMessage::Finish => return self.finish(),
            }
        }
        Ok(Vec::new())
    }

    fn add(&mut self, document: SearchDocument) -> Result<()> {
        let document = SegmentDocument::new(document, self.fields, &mut self.stems);
        let (_, writer) = if let Some(open) = &mut self.open {
            open
        } else {
            let segment = self.index.new_segment();
            let writer = SegmentWriter::for_segment(self.table_bytes, segment.clone());
            self.open.insert((segment, writer.map_err(storage_error)?))
        };
        // Deletions spare new segments altogether, so the order of operations has no meaning.
        writer.add_document(AddOperation { opstamp: 0, document }).map_err(storage_error)?;
        if writer.mem_usage() < self.budget { Ok(()) } else { self.write_segment() }
    }

    fn write_segment(&mut self) -> Result<()> {
        if let Some((segment, writer)) = self.open.take() {
            invariant!(writer.max_doc() > 0, "a segment has at least one document");
            let segment = segment.with_max_doc(writer.max_doc());
            writer.finalize().map_err(storage_error)?;
            self.built.push(segment.meta().clone());
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<SegmentMeta>> {
        self.write_segment()?;
        Ok(self.built)
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::{DocumentId, Error, ErrorKind, Location, Timestamp};

    use super::{BATCH_DOCUMENTS, build_segments};
    use crate::analyzer::Analyzer;
    use crate::document::{Attributes, SearchDocument};
    use crate::index::Index;

    fn document(number: usize) -> SearchDocument {
        let id = DocumentId::from_bytes((number as u128).to_be_bytes());
        let (created_at, modified_at) = (Timestamp::default(), Timestamp::default());
        let attributes =
            Attributes { id, location: Location::Unsorted, day: None, created_at, modified_at };
        let mut analyzer = Analyzer::default();
        let mut builder = analyzer.begin(attributes, "night trains");
        builder.add_words("one two");
        builder.add_pattern_text("one two");
        if number.is_multiple_of(2) { builder.finish() } else { builder.finish_unsorted() }
    }

    #[test]
    fn a_segment_is_written_when_its_budget_is_used_up() {
        let index = Index::in_memory("").unwrap();
        for count in [0, 1, BATCH_DOCUMENTS - 1, BATCH_DOCUMENTS, 9 * BATCH_DOCUMENTS + 1] {
            for (budget, expected) in [(1, count), (usize::MAX, count.min(1))] {
                let mut documents = (0..count).map(document).map(Ok);
                let built =
                    build_segments(&index.inner, index.fields, budget, &mut documents).unwrap();
                let all: usize = built.iter().map(|segment| segment.max_doc() as usize).sum();
                assert_eq!((built.len(), all), (expected, count));
            }
        }
    }

    #[test]
    fn an_error_among_the_documents_is_returned() {
        let index = Index::in_memory("").unwrap();
        for count in [0, BATCH_DOCUMENTS - 1, BATCH_DOCUMENTS, 9 * BATCH_DOCUMENTS + 1] {
            let wrong = || Err(Error::new(ErrorKind::Canceled, "enough"));
            let mut documents = (0..count).map(document).map(Ok).chain(std::iter::once_with(wrong));
            let error = build_segments(&index.inner, index.fields, usize::MAX, &mut documents);
            assert_eq!(error.unwrap_err().kind(), ErrorKind::Canceled);
        }
    }
}
