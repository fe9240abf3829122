//! The schema: which fields a document has in the index.

use leafbase_model::{Day, DocumentId, FolderId, Location, Timestamp};
use tantivy::SegmentReader;
use tantivy::columnar::Cardinality;
use tantivy::schema::{
    BytesOptions, FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing,
    TextOptions,
};

use super::error::IndexFailure;
use super::field_text::TOKENIZER;
use crate::document::{Attributes, FieldLengths, SearchDocument, TextField};

/// Handles of the fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexFields {
    /// The document's ID: deletions look it up.
    pub(crate) id: Field,
    /// In the order of [`TextField::ALL`].
    texts: [Field; TextField::ALL.len()],
    /// In the order of [`COLUMNS`].
    pub(super) columns: [Field; COLUMNS.len()],
}

/// Columns: numbers that a snapshot reads of every document. Its ID, location and times, and the
/// length of each text field.
const COLUMNS: [&str; 14] = [
    "id_high",
    "id_low",
    "place",
    "folder_high",
    "folder_low",
    "created",
    "modified",
    "day",
    "title",
    "body",
    "headings",
    "title_stems",
    "body_stems",
    "heading_stems",
];

/// Flips the sign bit, so that signed numbers sort as unsigned ones.
const SIGN_BIT: u64 = 1 << 63;
/// The day of a document that is not a daily note.
const NO_DAY: u64 = u64::MAX;

/// The schema. An index with a different one was written by another version and is rebuilt.
pub(crate) fn schema() -> (Schema, IndexFields) {
    let mut schema = Schema::builder();
    let text = |option| {
        // The length of each field is a column, so tantivy's lossy field norms are not needed.
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(option)
            .set_fieldnorms(false);
        TextOptions::default().set_indexing_options(indexing)
    };
    let words = text(IndexRecordOption::WithFreqsAndPositions);
    let stems = text(IndexRecordOption::WithFreqs);
    let id = schema.add_bytes_field("id", BytesOptions::default().set_indexed());
    let texts = [
        schema.add_text_field("words_title", words.clone()),
        schema.add_text_field("words_body", words.clone()),
        schema.add_text_field("words_headings", words),
        schema.add_text_field("words_title_stems", stems.clone()),
        schema.add_text_field("words_body_stems", stems.clone()),
        schema.add_text_field("words_heading_stems", stems),
    ];
    let columns = COLUMNS.map(|name| schema.add_u64_field(name, NumericOptions::from(FAST)));
    (schema.build(), IndexFields { id, texts, columns })
}

impl IndexFields {
    pub(crate) const fn text(&self, field: TextField) -> Field {
        field.of(&self.texts)
    }
}

/// The columns of a document, in the order of [`COLUMNS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentColumns([u64; COLUMNS.len()]);

impl DocumentColumns {
    pub(super) fn of(document: &SearchDocument) -> Self {
        let Attributes { id, location, day, created_at, modified_at } = *document.attributes();
        let [id_high, id_low] = halves(*id.as_bytes());
        let (place, folder) = match location {
            Location::Unsorted => (0, FolderId::NIL),
            Location::Templates => (1, FolderId::NIL),
            Location::DailyNotes => (2, FolderId::NIL),
            Location::Folder(folder) => (3, folder),
            Location::Trash => (4, FolderId::NIL),
            Location::Inbox => (5, FolderId::NIL),
        };
        let [folder_high, folder_low] = halves(*folder.as_bytes());
        let time = |time: Timestamp| time.as_millis().cast_unsigned() ^ SIGN_BIT;
        let day = day.map_or(NO_DAY, |day| day.epoch_days().cast_unsigned() ^ SIGN_BIT);
        let [title, body, headings, title_stems, body_stems, heading_stems] =
            document.lengths.map(u64::from);
        Self([
            id_high,
            id_low,
            place,
            folder_high,
            folder_low,
            time(created_at),
            time(modified_at),
            day,
            title,
            body,
            headings,
            title_stems,
            body_stems,
            heading_stems,
        ])
    }

    pub(super) const fn values(&self) -> [u64; COLUMNS.len()] {
        self.0
    }

    /// Reads the columns of each document of a segment, deleted ones included.
    pub(crate) fn of_segment(segment: &SegmentReader) -> Result<Vec<Self>, IndexFailure> {
        let documents = segment.max_doc();
        let mut all = vec![Self([0; COLUMNS.len()]); documents as usize];
        let mut values = vec![0; documents as usize];
        for (number, name) in COLUMNS.into_iter().enumerate() {
            let column = segment.fast_fields().u64(name)?;
            if column.get_cardinality() != Cardinality::Full
                || column.values.num_vals() != documents
            {
                return Err(IndexFailure::corrupt("a column lacks values"));
            }
            column.values.get_range(0, &mut values);
            for (columns, value) in all.iter_mut().zip(&values) {
                if let Some(slot) = columns.0.get_mut(number) {
                    *slot = *value;
                }
            }
        }
        Ok(all)
    }

    /// The document's attributes and the lengths of its text fields.
    ///
    /// # Errors
    /// If no version of this schema writes such columns.
    pub(crate) fn decode(&self) -> Result<(Attributes, FieldLengths), IndexFailure> {
        let [id_high, id_low, place, folder_high, folder_low, created, modified, day, sizes @ ..] =
            self.0;
        let location = match place {
            0 => Location::Unsorted,
            1 => Location::Templates,
            2 => Location::DailyNotes,
            3 => Location::Folder(FolderId::from_bytes(whole(folder_high, folder_low))),
            4 => Location::Trash,
            5 => Location::Inbox,
            _ => return Err(IndexFailure::corrupt("a document has an unknown location")),
        };
        let time = |number: u64| Timestamp::from_millis((number ^ SIGN_BIT).cast_signed());
        let day = (day != NO_DAY).then(|| Day::from_epoch_days((day ^ SIGN_BIT).cast_signed()));
        let attributes = Attributes {
            id: DocumentId::from_bytes(whole(id_high, id_low)),
            location,
            day,
            created_at: time(created),
            modified_at: time(modified),
        };
        let mut read = FieldLengths::default();
        for (length, stored) in read.iter_mut().zip(sizes) {
            *length = u32::try_from(stored)
                .map_err(|_| IndexFailure::corrupt("a field is longer than any can be"))?;
        }
        Ok((attributes, read))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "each half is cut out on purpose")]
const fn halves(id: [u8; 16]) -> [u64; 2] {
    let number = u128::from_be_bytes(id);
    [(number >> 64) as u64, number as u64]
}

fn whole(high: u64, low: u64) -> [u8; 16] {
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}
