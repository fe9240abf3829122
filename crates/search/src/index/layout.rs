//! How documents lie in the index.

use leafbase_model::{Day, DocumentId, FolderId, Location, Timestamp};
use tantivy::SegmentReader;
use tantivy::columnar::{Cardinality, ColumnType, ColumnarWriter};
use tantivy::schema::{
    BytesOptions, FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing,
    TextOptions,
};

use super::{Failure, failed};
use crate::document::{Attributes, Lane, SearchDocument};

/// The fields of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) id: Field,
    lanes: [Field; 4],
}

/// Numbers that are read for every document: its ID, where it is kept, its times, and how long each
/// lane is.
const NUMBERS: [&str; 12] = [
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
    "title_stems",
    "body_stems",
];

/// Times and days are kept as numbers without a sign.
const SIGN: u64 = 1 << 63;
/// In place of a day where there is none.
const NO_DAY: u64 = u64::MAX;

/// The schema: what is not like it was made by another version.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let text = |option| {
        let indexing = TextFieldIndexing::default().set_index_option(option).set_fieldnorms(false);
        TextOptions::default().set_indexing_options(indexing)
    };
    let (words, stems) =
        (text(IndexRecordOption::WithFreqsAndPositions), text(IndexRecordOption::WithFreqs));
    let fields = Fields {
        id: schema.add_bytes_field("id", BytesOptions::default().set_indexed()),
        lanes: [
            schema.add_text_field("words_title", words.clone()),
            schema.add_text_field("words_body", words),
            schema.add_text_field("words_title_stems", stems.clone()),
            schema.add_text_field("words_body_stems", stems),
        ],
    };
    for name in NUMBERS {
        schema.add_u64_field(name, NumericOptions::from(FAST));
    }
    (schema.build(), fields)
}

/// Columns for the numbers of documents. tantivy would choose a type by the numbers that it is
/// given.
pub(super) fn columns() -> ColumnarWriter {
    let mut columns = ColumnarWriter::default();
    for name in NUMBERS {
        columns.record_column_type(name, ColumnType::U64, false);
    }
    columns
}

impl Fields {
    pub(crate) const fn lane(&self, lane: Lane) -> Field {
        let [title, body, title_stems, body_stems] = self.lanes;
        match lane {
            Lane::Title => title,
            Lane::Body => body,
            Lane::TitleStems => title_stems,
            Lane::BodyStems => body_stems,
        }
    }
}

/// The numbers of a document, in the order of [`NUMBERS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers([u64; NUMBERS.len()]);

impl Numbers {
    pub(super) fn of(document: &SearchDocument) -> Self {
        let Attributes { id, location, day, created_at, modified_at } = *document.attributes();
        let (id_high, id_low) = halves(*id.as_bytes());
        let (place, folder) = match location {
            Location::Unsorted => (0, FolderId::NIL),
            Location::Templates => (1, FolderId::NIL),
            Location::DailyNotes => (2, FolderId::NIL),
            Location::Folder(folder) => (3, folder),
            Location::Trash => (4, FolderId::NIL),
            Location::Inbox => (5, FolderId::NIL),
        };
        let (folder_high, folder_low) = halves(*folder.as_bytes());
        let time = |time: Timestamp| time.as_millis().cast_unsigned() ^ SIGN;
        let day = day.map_or(NO_DAY, |day| day.epoch_days().cast_unsigned() ^ SIGN);
        let [title, body, title_stems, body_stems] = document.lengths.map(u64::from);
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
            title_stems,
            body_stems,
        ])
    }

    /// Each with its name.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NUMBERS.into_iter().zip(self.0)
    }

    /// Those of each document of a segment, deleted ones included.
    pub(crate) fn of_segment(segment: &SegmentReader) -> Result<Vec<Self>, Failure> {
        let documents = segment.max_doc();
        let mut all = vec![Self([0; NUMBERS.len()]); documents as usize];
        let mut values = vec![0; documents as usize];
        for (slot, name) in NUMBERS.into_iter().enumerate() {
            let column = segment.fast_fields().u64(name)?;
            if column.get_cardinality() != Cardinality::Full
                || column.values.num_vals() != documents
            {
                return Err(Failure(failed("a document lacks a number")));
            }
            column.values.get_range(0, &mut values);
            for (numbers, value) in all.iter_mut().zip(&values) {
                numbers.0.get_mut(slot).into_iter().for_each(|number| *number = *value);
            }
        }
        Ok(all)
    }

    /// What filters look at, and the lengths of the lanes; none if they were written by nobody.
    pub(crate) fn entry(&self) -> Option<(Attributes, [u32; 4])> {
        let [id_high, id_low, place, folder_high, folder_low, created, modified, day, lengths @ ..] =
            self.0;
        let location = match place {
            0 => Location::Unsorted,
            1 => Location::Templates,
            2 => Location::DailyNotes,
            3 => Location::Folder(FolderId::from_bytes(whole(folder_high, folder_low))),
            4 => Location::Trash,
            5 => Location::Inbox,
            _ => return None,
        };
        let time = |number: u64| Timestamp::from_millis((number ^ SIGN).cast_signed());
        let day = (day != NO_DAY).then(|| Day::from_epoch_days((day ^ SIGN).cast_signed()));
        let attributes = Attributes {
            id: DocumentId::from_bytes(whole(id_high, id_low)),
            location,
            day,
            created_at: time(created),
            modified_at: time(modified),
        };
        Some((attributes, lengths.map(|length| u32::try_from(length).unwrap_or(u32::MAX))))
    }
}

fn halves(id: [u8; 16]) -> (u64, u64) {
    let number = u128::from_be_bytes(id);
    let low = u64::try_from(number & u128::from(u64::MAX)).unwrap_or_default();
    (u64::try_from(number >> 64).unwrap_or_default(), low)
}

fn whole(high: u64, low: u64) -> [u8; 16] {
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}
