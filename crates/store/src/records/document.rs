//! Document records: with what follows from blocks and changes in the store, and without it in the
//! change log.

use leafbase_model::{DocumentId, DocumentRecord, FolderId, Location, Result};

use super::layout::{Field, record};
use crate::keyspaces;
use crate::msgpack::{ArrayEncoder, DecodeError, Decoded, Decoder, FieldDecoder};

/// A document as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// The record.
    pub record: DocumentRecord,
    /// The text of the root block.
    pub title: String,
    /// The number of its blocks, the root included: it reveals lost ones.
    pub blocks: u64,
    /// The sequence of the last change that touched it; 0 if none is in the log, as after a
    /// salvage.
    pub last_change: u64,
}

record! {
    encode / decode_fields [id: DocumentId] ()
    StoredDocument = {
        StoredDocument {
            record: DocumentRecord { id, location, day, created_at, modified_at, rev },
            title,
            blocks,
            last_change,
        }
    };
    created_at(required), modified_at(required), blocks, location, day, rev, title, last_change,
}

/// Two fields: the kind of location, and the folder.
impl Field for Location {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        let (code, folder) = match self {
            Location::Unsorted => (0, None),
            Location::Templates => (1, None),
            Location::DailyNotes => (2, None),
            Location::Folder(folder) => (3, Some(*folder)),
            Location::Trash => (4, None),
            Location::Inbox => (5, None),
        };
        array.uint(code);
        folder.encode_field(array);
    }

    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        match (fields.uint()?, Option::<FolderId>::decode_field(fields)?) {
            (0, None) => Ok(Location::Unsorted),
            (1, None) => Ok(Location::Templates),
            (2, None) => Ok(Location::DailyNotes),
            (3, Some(folder)) => Ok(Location::Folder(folder)),
            (4, None) => Ok(Location::Trash),
            (5, None) => Ok(Location::Inbox),
            (0..=5, _) => Err(DecodeError::Corrupt),
            _ => Err(DecodeError::UnsupportedVersion),
        }
    }
}

/// Decodes the row of a document, or one of an index whose rows hold it.
pub(crate) fn decode_row(key: &[u8], value: &[u8]) -> Result<StoredDocument> {
    let id = keyspaces::parse_document(key).ok_or_else(|| super::corrupt(key))?;
    super::decode(key, value, |decoder| decode(id, decoder))
}

/// Decodes the record of the store: a document has a root at least, and a revision.
fn decode(id: DocumentId, decoder: &mut Decoder<'_>) -> Decoded<StoredDocument> {
    let document = decode_fields(id, decoder)?;
    let is_whole = document.blocks > 0 && document.record.rev > 0;
    if is_whole { Ok(document) } else { Err(DecodeError::Corrupt) }
}

/// Appends the record of the change log.
pub(crate) fn encode_logged(out: &mut Vec<u8>, record: &DocumentRecord) {
    let (record, title) = (record.clone(), String::new());
    encode(out, &StoredDocument { record, title, blocks: 0, last_change: 0 });
}

/// Decodes the record of the change log.
pub(crate) fn decode_logged(id: DocumentId, decoder: &mut Decoder<'_>) -> Decoded<DocumentRecord> {
    match decode_fields(id, decoder)? {
        StoredDocument { record, title, blocks: 0, last_change: 0 } if title.is_empty() => {
            Ok(record)
        }
        StoredDocument { .. } => Err(DecodeError::Corrupt),
    }
}

record!(encode_count / decode_any_count [] () u64 = { count }; count);

/// Decodes the number of documents in a location, whose row exists only while there are some.
pub(crate) fn decode_count(decoder: &mut Decoder<'_>) -> Decoded<u64> {
    match decode_any_count(decoder)? {
        0 => Err(DecodeError::Corrupt),
        count => Ok(count),
    }
}
