//! A segment that is being made of documents: what tantivy would gather word by word is gathered by
//! numbers of words, and written as tantivy writes it.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::{iter, thread};

use tantivy::directory::TerminatingWrite;
use tantivy::fieldnorm::FieldNormsSerializer;
use tantivy::index::SegmentComponent;
use tantivy::schema::Field;
use tantivy::store::StoreWriter;
use tantivy::{DocId, Segment, TantivyError};

use super::grams::Gathering;
use super::layout::{self, Fields, Numbers};
use super::lexicon::Lexicon;
use super::nothing::Nothing;
use super::occurrences::Occurrences;
use super::words::{self, Number, Placed};
use crate::document::loose::Loose;
use crate::document::{Lane, Lanes, SearchDocument, Stems, Words};

#[cfg(test)]
mod tests;

/// About what a document takes beside its words and trigrams.
const OF_DOCUMENT: usize = 200;

/// Of fewer documents than this the files are written one after the other.
pub(super) const MANY: usize = 256;

/// Documents of a segment.
#[derive(Default)]
pub(super) struct Building {
    lexicon: Lexicon,
    /// In the order of [`Lane::ALL`].
    lanes: [Occurrences; 4],
    documents: Vec<([u8; 16], Numbers)>,
    grams: Gathering,
}

impl Building {
    /// How many documents there are.
    pub(super) fn documents(&self) -> DocId {
        DocId::try_from(self.documents.len()).unwrap_or(DocId::MAX)
    }

    /// About how many bytes it takes, and will take when it is written.
    pub(super) fn bytes(&self) -> usize {
        let lanes = self.lanes.iter().map(Occurrences::bytes).sum::<usize>();
        lanes + self.lexicon.bytes() + self.grams.bytes() + self.documents.len() * OF_DOCUMENT
    }

    pub(super) fn add(&mut self, document: &SearchDocument) {
        let [title, body, title_stems, body_stems] = &mut self.lanes;
        for (is_title, words, stems) in [(true, title, title_stems), (false, body, body_stems)] {
            match &document.lanes {
                Lanes::Loose([title, body]) => {
                    add_loose(&mut self.lexicon, if is_title { title } else { body }, words, stems);
                }
                Lanes::Ordered(ordered) => {
                    add_words(&mut self.lexicon, ordered.words(is_title), words);
                    add_stems(&mut self.lexicon, ordered.stems(is_title), stems);
                }
            }
        }
        self.lanes.iter_mut().for_each(Occurrences::end_document);
        self.grams.add(&document.grams, document.varies);
        self.documents.push((*document.id().as_bytes(), Numbers::of(document)));
    }

    /// Writes all files of the segment. If there are many documents, and other threads can be had,
    /// those of words and trigrams are written side by side.
    pub(super) fn write(mut self, segment: &Segment, fields: &Fields) -> tantivy::Result<()> {
        self.grams.end();
        let (sender, placed) = channel();
        let placed = Mutex::new(placed);
        let others = || {
            self.write_numbers(segment)?;
            self.grams.write(segment)
        };
        let dictionary = || {
            let placed = placed.lock().unwrap_or_else(PoisonError::into_inner);
            words::write_dictionary(segment, &placed, |field, number| {
                self.word(fields, field, number)
            })
        };
        thread::scope(|scope| {
            let are_many = self.documents.len() >= MANY;
            let dictionary = Beside::begin(scope, are_many, dictionary);
            let others = Beside::begin(scope, are_many, others);
            // Sent by now, or given up, is all that the dictionary waits for.
            let written = self.write_lists(segment, fields, sender);
            let (dictionary, others) = (dictionary.end(), others.end());
            written.and(dictionary).and(others)
        })
    }

    /// The letters of a word, or the ID of a document.
    fn word(&self, fields: &Fields, field: Field, number: Number) -> &[u8] {
        if field == fields.id {
            self.documents.get(number as usize).map_or(&[], |(id, _)| id)
        } else {
            self.lexicon.word(number).as_bytes()
        }
    }

    fn write_lists(
        &self,
        segment: &Segment,
        fields: &Fields,
        placed: Sender<Placed>,
    ) -> tantivy::Result<()> {
        let mut lists = words::Lists::open(segment, placed)?;
        let mut ids: Vec<(&[u8; 16], DocId)> =
            self.documents.iter().map(|(id, _)| id).zip(0..).collect();
        ids.sort_unstable();
        let mut field = lists.field(fields.id, ids.len())?;
        for (_, document) in ids {
            field.add(document, iter::once((document, 1, [].as_slice())), false)?;
        }
        field.close()?;
        let order = self.lexicon.in_order();
        for (lane, occurrences) in
            Lane::ALL.into_iter().zip(&self.lanes).filter(|(_, all)| all.len() > 0)
        {
            let mut field = lists.field(fields.lane(lane), occurrences.len())?;
            occurrences.write(self.lexicon.len(), &order, &mut field)?;
            field.close()?;
        }
        Ok(lists.close()?)
    }

    fn write_numbers(&self, segment: &Segment) -> tantivy::Result<()> {
        // How long lanes are is among the numbers.
        FieldNormsSerializer::from_write(segment.open_write(SegmentComponent::FieldNorms)?)?
            .close()?;
        let mut columns = layout::columns();
        let settings = segment.index().settings();
        let store = segment.open_write(SegmentComponent::Store)?;
        let mut store = StoreWriter::new(
            store,
            settings.docstore_compression,
            settings.docstore_blocksize,
            false,
        )?;
        for (document, (_, numbers)) in (0..).zip(&self.documents) {
            for (name, number) in numbers.named() {
                columns.record_numerical(document, name, number);
            }
            // Nothing is stored, but each has its place.
            store.store(&Nothing, &segment.schema())?;
        }
        let mut file = segment.open_write(SegmentComponent::FastFields)?;
        columns.serialize(self.documents(), None, &mut file)?;
        file.terminate()?;
        Ok(store.close()?)
    }
}

/// Work that is done on another thread, or, where there is none, at the end.
enum Beside<'s, F> {
    Begun(ScopedJoinHandle<'s, tantivy::Result<()>>),
    ToDo(F),
}

impl<'s, F: FnOnce() -> tantivy::Result<()> + Copy + Send + 's> Beside<'s, F> {
    fn begin<'e>(scope: &'s Scope<'s, 'e>, is_worth_it: bool, work: F) -> Self {
        let spawn = || {
            thread::Builder::new().name("leafbase-index".to_owned()).spawn_scoped(scope, work).ok()
        };
        let begun = if is_worth_it { spawn() } else { None };
        begun.map_or(Self::ToDo(work), Self::Begun)
    }

    fn end(self) -> tantivy::Result<()> {
        match self {
            Self::Begun(thread) => thread
                .join()
                .unwrap_or_else(|_| Err(TantivyError::ErrorInThread("a panic".to_owned()))),
            Self::ToDo(work) => work(),
        }
    }
}

fn add_loose(
    lexicon: &mut Lexicon,
    loose: &Loose,
    words: &mut Occurrences,
    stems: &mut Occurrences,
) {
    // One thing after the other: while a word is sought in a large table, the processor goes on to
    // the next ones if there is nothing else between them.
    let first = words.len();
    words.extend(
        loose.iter().map(|(head, occurrence)| lexicon.number_of(head, loose.word(occurrence))),
    );
    words.extend_positions(loose.iter().map(|(_, occurrence)| occurrence.position));
    for ((_, occurrence), word) in loose.iter().zip(words.from(first)) {
        if occurrence.is_stemmed
            && let Some(stem) = lexicon.stem(*word)
        {
            stems.push(stem);
        }
    }
}

fn add_words(lexicon: &mut Lexicon, words: &Words, lane: &mut Occurrences) {
    for (word, positions) in words.iter() {
        let word = lexicon.number(word);
        for position in positions {
            lane.push_at(word, *position);
        }
    }
}

fn add_stems(lexicon: &mut Lexicon, stems: &Stems, lane: &mut Occurrences) {
    for (stem, times) in stems.iter() {
        let stem = lexicon.number(stem);
        (0..times).for_each(|_| lane.push(stem));
    }
}
