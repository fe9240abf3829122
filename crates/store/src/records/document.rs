//! Document records: in the store with the number of blocks, which tells when some of them are
//! missing; in the change log without it.

use leafbase_model::{DocumentId, DocumentRecord, FolderId, Location};

use super::block::{put_day, read_day};
use crate::msgpack::{ArrayEncoder, DecodeError, Decoded, Decoder, put_bin, time};

/// A document as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredDocument {
    pub(crate) record: DocumentRecord,
    /// How many blocks it has, the root included.
    pub(crate) blocks: u64,
}

/// Appends the record for the change log.
pub(crate) fn put(out: &mut Vec<u8>, record: &DocumentRecord) {
    put_fields(out, record, 0);
}

/// Appends the record for the store.
pub(crate) fn put_counted(out: &mut Vec<u8>, counted: &StoredDocument) {
    put_fields(out, &counted.record, counted.blocks);
}

fn put_fields(out: &mut Vec<u8>, record: &DocumentRecord, blocks: u64) {
    let DocumentRecord { id: _, location, day, created_at, modified_at } = record;
    let (class, folder) = match location {
        Location::Unsorted => (0, None),
        Location::Templates => (1, None),
        Location::DailyNotes => (2, None),
        Location::Folder(folder) => (3, Some(*folder)),
        Location::Trash => (4, None),
        Location::Inbox => (5, None),
    };
    let mut pack = ArrayEncoder::new(out);
    pack.time(Some(*created_at)).time(Some(*modified_at)).uint(blocks).uint(class);
    pack.field(folder.is_none(), |out| put_bin(out, folder.unwrap_or_default().as_bytes()));
    put_day(&mut pack, *day);
    pack.end();
}

/// Appends the record of how many documents a location has.
pub(crate) fn put_count(out: &mut Vec<u8>, count: u64) {
    ArrayEncoder::new(out).uint(count).end();
}

/// Reads the record of how many documents a location has.
pub(crate) fn read_count(decoder: &mut Decoder<'_>) -> Decoded<u64> {
    let mut fields = decoder.fields()?;
    let count = fields.uint()?;
    fields.end()?;
    if count > 0 { Ok(count) } else { Err(DecodeError::Corrupt) }
}

/// Reads the record of the change log.
pub(crate) fn read(id: DocumentId, decoder: &mut Decoder<'_>) -> Decoded<DocumentRecord> {
    match read_fields(id, decoder)? {
        StoredDocument { record, blocks: 0 } => Ok(record),
        StoredDocument { .. } => Err(DecodeError::Corrupt),
    }
}

/// Reads the record of the store, where each document has a root.
pub(crate) fn read_counted(id: DocumentId, decoder: &mut Decoder<'_>) -> Decoded<StoredDocument> {
    let counted = read_fields(id, decoder)?;
    if counted.blocks > 0 { Ok(counted) } else { Err(DecodeError::Corrupt) }
}

fn read_fields(id: DocumentId, decoder: &mut Decoder<'_>) -> Decoded<StoredDocument> {
    let mut fields = decoder.fields()?;
    let created_at = fields.required(time)?;
    let modified_at = fields.required(time)?;
    let blocks = fields.uint()?;
    let class = fields.uint()?;
    let folder = fields.next(Decoder::id)?.map(FolderId::from_bytes);
    let location = match (class, folder) {
        (0, None) => Location::Unsorted,
        (1, None) => Location::Templates,
        (2, None) => Location::DailyNotes,
        (3, Some(folder)) => Location::Folder(folder),
        (4, None) => Location::Trash,
        (5, None) => Location::Inbox,
        (0..=5, _) => return Err(DecodeError::Corrupt),
        _ => return Err(DecodeError::UnsupportedVersion),
    };
    let day = fields.next(read_day)?;
    fields.end()?;
    Ok(StoredDocument {
        record: DocumentRecord { id, location, day, created_at, modified_at },
        blocks,
    })
}
