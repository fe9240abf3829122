//! The files of a segment's words: in which documents each is, and where, is written on one thread,
//! and the dictionary of all of them on another, as soon as the place of a word in those files is
//! known.
//!
//! tantivy's serializers for each of these write them. Its own way of using them does one after the
//! other.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender};

use tantivy::directory::CompositeWrite;
use tantivy::index::SegmentComponent;
use tantivy::positions::PositionSerializer;
use tantivy::postings::TermInfo;
use tantivy::postings::serializer::PostingsSerializer;
use tantivy::schema::{Field, IndexRecordOption, Schema};
use tantivy::termdict::TermDictionaryBuilder;
use tantivy::{DocId, Segment};

/// So many words are handed over at once.
const BATCH: usize = 1_024;

/// A word of so many documents fills a block, after which a serializer of lists is not as it was
/// before it: the next word gets another one.
const FILLS_A_BLOCK: u32 = 128;

/// The number by which a word is known to who asks for it.
pub(super) type Number = u32;

/// Words of a field in order, each with its place in the files.
pub(super) struct Placed {
    field: Field,
    words: Vec<(Number, TermInfo)>,
}

/// The files that tell in which documents words are, and where.
pub(super) struct Lists {
    schema: Schema,
    postings: CompositeWrite,
    positions: CompositeWrite,
    placed: Sender<Placed>,
}

impl Lists {
    /// Those of a segment. `placed` is told of each word.
    pub(super) fn open(segment: &Segment, placed: Sender<Placed>) -> tantivy::Result<Self> {
        Ok(Self {
            schema: segment.schema(),
            postings: CompositeWrite::wrap(segment.open_write(SegmentComponent::Postings)?),
            positions: CompositeWrite::wrap(segment.open_write(SegmentComponent::Positions)?),
            placed,
        })
    }

    /// Begins with the words of a field, which is none of those before.
    pub(super) fn field(&mut self, field: Field, occurrences: usize) -> io::Result<FieldLists<'_>> {
        let option = self.schema.get_field_entry(field).field_type().index_record_option();
        let option = option.unwrap_or(IndexRecordOption::Basic);
        let postings = self.postings.for_field(field);
        postings.write_all(&(occurrences as u64).to_le_bytes())?;
        let positions: &mut dyn Write = self.positions.for_field(field);
        Ok(FieldLists {
            option,
            serializer: serializer(option),
            bytes: Vec::new(),
            postings,
            written: 0,
            positions: option.has_positions().then(|| PositionSerializer::new(positions)),
            batch: Placed { field, words: Vec::new() },
            placed: &self.placed,
        })
    }

    pub(super) fn close(self) -> io::Result<()> {
        self.postings.close()?;
        self.positions.close()
    }
}

/// What words are worth is reckoned without what tantivy would keep for that.
fn serializer(option: IndexRecordOption) -> PostingsSerializer {
    PostingsSerializer::new(0.0, option, None)
}

/// The lists of a field.
pub(super) struct FieldLists<'l> {
    option: IndexRecordOption,
    serializer: PostingsSerializer,
    /// The list of a word.
    bytes: Vec<u8>,
    postings: &'l mut dyn Write,
    written: usize,
    positions: Option<PositionSerializer<&'l mut dyn Write>>,
    batch: Placed,
    placed: &'l Sender<Placed>,
}

impl FieldLists<'_> {
    /// Adds a word, which comes after the others: its documents in order, how often it is in each,
    /// and, where the field has positions, how far each is from the one before.
    pub(super) fn add<'d>(
        &mut self,
        word: Number,
        documents: impl Iterator<Item = (DocId, u32, &'d [u32])>,
        has_times: bool,
    ) -> io::Result<()> {
        let mut count = 0;
        let positions_start = self.positions_end();
        self.serializer.new_term(0, has_times);
        for (document, times, distances) in documents {
            self.serializer.write_doc(document, times);
            if let Some(positions) = &mut self.positions {
                positions.write_positions_delta(distances);
            }
            count += 1;
        }
        self.bytes.clear();
        self.serializer.close_term(count, &mut self.bytes)?;
        if count >= FILLS_A_BLOCK {
            self.serializer = serializer(self.option);
        }
        self.postings.write_all(&self.bytes)?;
        let start = self.written;
        self.written += self.bytes.len();
        if let Some(positions) = &mut self.positions {
            positions.close_term()?;
        }
        let info = TermInfo {
            doc_freq: count,
            postings_range: start..self.written,
            positions_range: positions_start..self.positions_end(),
        };
        self.batch.words.push((word, info));
        if self.batch.words.len() >= BATCH {
            self.hand_over();
        }
        Ok(())
    }

    fn positions_end(&self) -> usize {
        let end = self.positions.as_ref().map_or(0, PositionSerializer::written_bytes);
        usize::try_from(end).unwrap_or(usize::MAX)
    }

    fn hand_over(&mut self) {
        let words = std::mem::take(&mut self.batch.words);
        // They are taken as long as this thread writes, or wait until then.
        let _ = self.placed.send(Placed { field: self.batch.field, words });
    }

    pub(super) fn close(mut self) -> io::Result<()> {
        self.hand_over();
        self.positions.map_or(Ok(()), PositionSerializer::close)
    }
}

/// Writes the dictionary of all words that are handed over; `word` tells their letters.
pub(super) fn write_dictionary<'w>(
    segment: &Segment,
    placed: &Receiver<Placed>,
    word: impl Fn(Field, Number) -> &'w [u8],
) -> tantivy::Result<()> {
    let mut file = CompositeWrite::wrap(segment.open_write(SegmentComponent::Terms)?);
    let mut placed = placed.iter().peekable();
    while let Some(Placed { field, .. }) = placed.peek() {
        let field = *field;
        let mut dictionary = TermDictionaryBuilder::create(file.for_field(field))?;
        while let Some(of_field) = placed.next_if(|placed| placed.field == field) {
            for (number, info) in of_field.words {
                dictionary.insert(word(field, number), &info)?;
            }
        }
        dictionary.finish()?;
    }
    Ok(file.close()?)
}
