//! A segment that is being made of documents: what tantivy would gather word by word is gathered by numbers of words, and written as tantivy writes it.

use std::thread;

use tantivy::directory::TerminatingWrite;
use tantivy::fieldnorm::FieldNormsSerializer;
use tantivy::index::SegmentComponent;
use tantivy::postings::InvertedIndexSerializer;
use tantivy::store::StoreWriter;
use tantivy::{DocId, Segment, TantivyError};

use super::grams::Gathering;
use super::layout::{self, Fields, Numbers};
use super::lexicon::Lexicon;
use super::nothing::Nothing;
use super::occurrences::Occurrences;
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
        let number = self.documents();
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
        self.grams.add(number, &document.grams, document.varies);
        self.documents.push((*document.id().as_bytes(), Numbers::of(document)));
    }

    /// Writes all files of the segment: those of words, and all others, beside them if there are many documents and another thread can be had.
    pub(super) fn write(self, segment: &Segment, fields: &Fields) -> tantivy::Result<()> {
        let others = || {
            self.write_numbers(segment)?;
            self.grams.write(segment)
        };
        thread::scope(|scope| {
            let spawn = || thread::Builder::new().name("leafbase-index".to_owned()).spawn_scoped(scope, others).ok();
            let beside = if self.documents.len() < MANY { None } else { spawn() };
            self.write_words(segment, fields)?;
            beside.map_or_else(others, |beside| {
                beside.join().unwrap_or_else(|_| Err(TantivyError::ErrorInThread("a panic".to_owned())))
            })
        })
    }

    fn write_words(&self, segment: &Segment, fields: &Fields) -> tantivy::Result<()> {
        let mut serializer = InvertedIndexSerializer::open(segment)?;
        let mut ids: Vec<(&[u8; 16], DocId)> = self.documents.iter().map(|(id, _)| id).zip(0..).collect();
        ids.sort_unstable();
        let mut field = serializer.new_field(fields.id, ids.len() as u64, None)?;
        for (id, document) in ids {
            field.new_term(id, 1, false)?;
            field.write_doc(document, 1, &[]);
            field.close_term()?;
        }
        field.close()?;
        let order = self.lexicon.in_order();
        for (lane, occurrences) in Lane::ALL.into_iter().zip(&self.lanes).filter(|(_, all)| all.len() > 0) {
            let mut field = serializer.new_field(fields.lane(lane), occurrences.len() as u64, None)?;
            occurrences.write(&self.lexicon, &order, &mut field)?;
            field.close()?;
        }
        Ok(serializer.close()?)
    }

    fn write_numbers(&self, segment: &Segment) -> tantivy::Result<()> {
        // How long lanes are is among the numbers.
        FieldNormsSerializer::from_write(segment.open_write(SegmentComponent::FieldNorms)?)?.close()?;
        let mut columns = layout::columns();
        let settings = segment.index().settings();
        let store = segment.open_write(SegmentComponent::Store)?;
        let mut store = StoreWriter::new(store, settings.docstore_compression, settings.docstore_blocksize, false)?;
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

fn add_loose(lexicon: &mut Lexicon, loose: &Loose, words: &mut Occurrences, stems: &mut Occurrences) {
    for (head, occurrence) in loose.iter() {
        let word = lexicon.number_of(head, loose.word(occurrence));
        words.push_at(word, occurrence.position);
        if occurrence.is_stemmed
            && let Some(stem) = lexicon.stem(word)
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
