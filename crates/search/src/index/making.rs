//! Segments made of documents: where there are many, on a thread of their own while the next ones
//! are made ready.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use leafbase_model::Result;
use tantivy::Index;
use tantivy::index::SegmentMeta;

use super::building::Building;
use super::failed;
use super::layout::Fields;
use super::room::{Place, Room};
use crate::document::SearchDocument;

/// From so many documents on they are gathered on another thread, and handed over so many at once:
/// to wake it costs more than one.
const BATCH: usize = 32;

/// Fewer are as many if they have so many bytes.
const BATCH_BYTES: usize = 2 << 20;

/// Bytes of documents that may wait for the other thread.
const WAITING: usize = 16 << 20;

/// Documents on their way, and the room that each takes.
type Batch = Vec<(SearchDocument, Place)>;

/// What the other thread is told.
enum Step {
    Add(Batch),
    /// There are no more, and nothing went wrong.
    End,
}

/// Writes segments of `documents`, which nobody sees yet; one is written when it has come to so
/// many bytes. What has been written before something fails belongs to nobody.
///
/// # Errors
/// Those of `documents`, and [`leafbase_model::ErrorKind::Storage`].
pub(super) fn segments(
    index: &Index,
    fields: Fields,
    gathered: usize,
    documents: &mut dyn Iterator<Item = Result<SearchDocument>>,
) -> Result<Vec<SegmentMeta>> {
    let (mut first, mut bytes) = (Vec::new(), 0);
    while first.len() < BATCH && bytes < BATCH_BYTES {
        let Some(document) = documents.next().transpose()? else { break };
        bytes += document.bytes();
        first.push(document);
    }
    let is_batch = first.len() == BATCH || bytes >= BATCH_BYTES;
    let mut first = first.into_iter();
    if is_batch {
        let ((sender, receiver), is_over) = (channel(), AtomicBool::new(false));
        let made = thread::scope(|scope| {
            let work = || take(Making::new(index, fields, gathered), receiver, &is_over);
            let thread =
                thread::Builder::new().name("leafbase-index".to_owned()).spawn_scoped(scope, work);
            thread.ok().map(|thread| {
                let handed_over = hand_over(&sender, first.by_ref().map(Ok).chain(&mut *documents));
                is_over.store(handed_over.is_err(), Ordering::Relaxed);
                drop(sender);
                let made =
                    thread.join().unwrap_or_else(|_| Err(failed("a segment cannot be made")));
                // Where the other thread has ended early, it says why.
                made.and_then(|made| handed_over.map(|()| made))
            })
        });
        if let Some(made) = made {
            return made;
        }
    }
    let mut making = Making::new(index, fields, gathered);
    for document in first.map(Ok).chain(documents) {
        making.add(&document?)?;
    }
    making.finish()
}

fn hand_over(
    sender: &Sender<Step>,
    documents: impl Iterator<Item = Result<SearchDocument>>,
) -> Result<()> {
    let room = Room::new(WAITING);
    let (mut batch, mut bytes) = (Batch::new(), 0);
    for document in documents {
        let document = document?;
        bytes += document.bytes();
        let place = room.take(document.bytes());
        batch.push((document, place));
        if batch.len() == BATCH || bytes >= BATCH_BYTES {
            bytes = 0;
            if sender.send(Step::Add(std::mem::take(&mut batch))).is_err() {
                return Ok(());
            }
            room.wait();
        }
    }
    // Where nobody takes them any more, the other thread says why.
    let _ = sender.send(Step::Add(batch)).and_then(|()| sender.send(Step::End));
    Ok(())
}

fn take(
    mut making: Making<'_>,
    receiver: Receiver<Step>,
    is_over: &AtomicBool,
) -> Result<Vec<SegmentMeta>> {
    for step in receiver {
        match step {
            Step::Add(batch) => {
                for (document, _place) in batch {
                    if is_over.load(Ordering::Relaxed) {
                        return Ok(Vec::new());
                    }
                    making.add(&document)?;
                }
            }
            Step::End => return making.finish(),
        }
    }
    Ok(Vec::new())
}

/// A segment after the other.
struct Making<'i> {
    index: &'i Index,
    fields: Fields,
    gathered: usize,
    building: Building,
    made: Vec<SegmentMeta>,
}

impl<'i> Making<'i> {
    fn new(index: &'i Index, fields: Fields, gathered: usize) -> Self {
        Self { index, fields, gathered, building: Building::default(), made: Vec::new() }
    }

    fn add(&mut self, document: &SearchDocument) -> Result<()> {
        self.building.add(document);
        if self.building.bytes() >= self.gathered { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let building = std::mem::take(&mut self.building);
        let segment = self.index.new_segment().with_max_doc(building.documents());
        building.write(&segment, &self.fields).map_err(failed)?;
        self.made.push(segment.meta().clone());
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<SegmentMeta>> {
        if self.building.documents() > 0 {
            self.write()?;
        }
        Ok(self.made)
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::{DocumentId, Error, ErrorKind, Location, Timestamp};

    use super::{BATCH, segments};
    use crate::document::{Attributes, SearchDocument};
    use crate::index::Index;
    use crate::index::building::MANY;
    use crate::maker::Maker;

    fn document(number: usize) -> SearchDocument {
        let id = DocumentId::from_bytes((number as u128).to_be_bytes());
        let (created_at, modified_at) = (Timestamp::default(), Timestamp::default());
        let attributes =
            Attributes { id, location: Location::Unsorted, day: None, created_at, modified_at };
        let mut maker = Maker::default();
        let mut filling = maker.begin(attributes, "night trains");
        filling.add_words("one two");
        filling.add_pattern_text("one two");
        if number.is_multiple_of(2) { filling.finish() } else { filling.finish_loosely() }
    }

    #[test]
    fn documents_lie_in_as_many_segments_as_they_have_bytes_for() {
        let index = Index::in_memory("").unwrap();
        for count in [0, 1, BATCH - 1, BATCH, 3 * BATCH + 1, MANY + 1] {
            for (gathered, expected) in [(1, count), (usize::MAX, count.min(1))] {
                let mut documents = (0..count).map(document).map(Ok);
                let made = segments(&index.inner, index.fields, gathered, &mut documents).unwrap();
                let all: usize = made.iter().map(|segment| segment.max_doc() as usize).sum();
                assert_eq!((made.len(), all), (expected, count));
            }
        }
    }

    #[test]
    fn an_error_among_documents_is_told() {
        let index = Index::in_memory("").unwrap();
        for count in [0, BATCH - 1, BATCH, 3 * BATCH + 1] {
            let wrong = || Err(Error::new(ErrorKind::Canceled, "enough"));
            let mut documents = (0..count).map(document).map(Ok).chain(std::iter::once_with(wrong));
            let told =
                segments(&index.inner, index.fields, usize::MAX, &mut documents).unwrap_err();
            assert_eq!(told.kind(), ErrorKind::Canceled);
        }
    }
}
