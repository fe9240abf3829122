//! Builds segments with tantivy's segment writer. A segment is visible only once the index has
//! added it and committed, so a failed build leaves nothing but files to collect.
//!
//! Of many documents, the segments are built on other threads while the caller analyzes the next
//! ones: on one, and from [`BATCHES_BEFORE_SECOND_THREAD`] on two, since writing a segment takes
//! most of the time and holds up its thread. The threads end with the call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
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
/// Batches after which a second thread builds segments, too. A few hundred documents stay together
/// in one segment, which searches read faster than two.
const BATCHES_BEFORE_SECOND_THREAD: usize = 16;
/// Batches that wait for a thread. Bounds memory; the sender blocks while all are full.
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
    let builder = || SegmentBuilder::new(index, fields, budget, budget);
    let (sender, receiver) = sync_channel(BATCHES_IN_FLIGHT);
    let queue =
        BatchQueue { receiver: Mutex::new(Some(receiver)), is_complete: AtomicBool::new(false) };
    let build = || builder().build_received(&queue);
    thread::scope(|scope| {
        let start = || {
            let worker = thread::Builder::new().name("leafbase-index".to_owned());
            worker.spawn_scoped(scope, build).ok()
        };
        let Some(worker) = start() else {
            // The system has no thread left.
            return builder().build(first.documents.into_iter().map(Ok).chain(documents));
        };
        let mut workers = vec![worker];
        let sent = send_batches(&sender, first, documents, |sent| {
            if sent == BATCHES_BEFORE_SECOND_THREAD {
                // With no thread left, the first one builds all.
                workers.extend(start());
            }
        });
        queue.is_complete.store(sent.is_ok(), Ordering::Release);
        // The workers see the channel close, also if sending has failed.
        drop(sender);
        let mut built = Vec::new();
        for worker in workers {
            let segments = worker.join();
            let segments = segments.unwrap_or_else(|_| Err(storage_error("its thread panicked")));
            // Sending stops without an error if the workers fail, so a worker's error comes first.
            built.extend(segments?);
        }
        sent.map(|()| built)
    })
}

/// Batches for the workers.
struct BatchQueue {
    /// `None` once a worker has ended: then sending fails instead of waiting for it.
    receiver: Mutex<Option<Receiver<BuildBatch>>>,
    /// Whether all batches were sent when the channel closed. Otherwise the build is abandoned.
    is_complete: AtomicBool,
}

impl BatchQueue {
    /// The next batch; `None` when the channel is closed.
    fn next(&self) -> Option<BuildBatch> {
        // One worker waits with the lock, and the other one for it: either gets the next batch.
        self.lock().as_ref()?.recv().ok()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Receiver<BuildBatch>>> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the channel when a worker ends, also by an error or a panic.
struct CloseOnDrop<'q>(&'q BatchQueue);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
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

/// Sends all batches; `sent` is called with their number after each.
fn send_batches(
    sender: &SyncSender<BuildBatch>,
    first: BuildBatch,
    documents: &mut dyn Iterator<Item = Result<SearchDocument>>,
    mut sent: impl FnMut(usize),
) -> Result<()> {
    let mut batch = first;
    for number in 1.. {
        let is_last = !batch.is_full();
        // A closed channel means that all workers failed; they return the cause.
        if sender.send(batch).is_err() || is_last {
            break;
        }
        sent(number);
        batch = BuildBatch::next(documents)?;
    }
    Ok(())
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

    fn build_received(mut self, queue: &BatchQueue) -> Result<Vec<SegmentMeta>> {
        let _close = CloseOnDrop(queue);
        while let Some(batch) = queue.next() {
            batch.documents.into_iter().try_for_each(|document| self.add(document))?;
        }
        if queue.is_complete.load(Ordering::Acquire) { self.finish() } else { Ok(Vec::new()) }
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
    fn a_failed_thread_ends_the_build() {
        let directory = tempfile::tempdir().unwrap();
        let index = Index::create(&directory.path().join("index"), "").unwrap();
        directory.close().unwrap();
        // Segments cannot be written any more; each document would be one.
        let mut documents = (0..100 * BATCH_DOCUMENTS).map(document).map(Ok);
        let error = build_segments(&index.inner, index.fields, 1, &mut documents).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Storage);
        assert!(documents.next().is_some(), "it ends at the failure");
    }

    #[test]
    fn two_threads_build_all_documents() {
        let index = Index::in_memory("").unwrap();
        let count = 100 * BATCH_DOCUMENTS + 1;
        let mut documents = (0..count).map(document).map(Ok);
        let built = build_segments(&index.inner, index.fields, usize::MAX, &mut documents).unwrap();
        let all: usize = built.iter().map(|segment| segment.max_doc() as usize).sum();
        assert!((1..=2).contains(&built.len()), "{}", built.len());
        assert_eq!(all, count);
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
