//! Keys of documents and of their indexes.

use leafbase_model::{Day, DocumentId, FolderId, Location, Timestamp};
use xxhash_rust::xxh3::xxh3_128;

use super::{
    DOCUMENTS, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_LOCATION,
    DOCUMENTS_BY_LOCATION_CREATED, DOCUMENTS_BY_LOCATION_MODIFIED, DOCUMENTS_BY_MODIFIED,
    DOCUMENTS_BY_TAG, DOCUMENTS_BY_TITLE, Keyspace, LOCATION_COUNTS, day_bytes, joined, of,
    time_bytes, with_id,
};

pub(crate) fn document(document: DocumentId) -> [u8; 17] {
    with_id(DOCUMENTS, document.as_bytes())
}

/// The document that a key of the documents or of one of their indexes ends with.
pub(crate) fn parse_document(key: &[u8]) -> Option<DocumentId> {
    let length = match of(key) {
        // A tag of any length, and its end.
        DOCUMENTS_BY_TAG if key.len() > 18 && key.iter().rev().nth(16) == Some(&0) => key.len(),
        DOCUMENTS => 17,
        DOCUMENTS_BY_LOCATION => 34,
        DOCUMENTS_BY_MODIFIED | DOCUMENTS_BY_CREATED => 25,
        DOCUMENTS_BY_DAY => 22,
        DOCUMENTS_BY_TITLE => 33,
        DOCUMENTS_BY_LOCATION_MODIFIED | DOCUMENTS_BY_LOCATION_CREATED => 42,
        _ => return None,
    };
    (key.len() == length).then(|| key.last_chunk::<16>().copied().map(DocumentId::from_bytes))?
}

/// Whether the rows of the key's keyspace hold documents.
pub(crate) fn holds_documents(key: &[u8]) -> bool {
    matches!(of(key), DOCUMENTS | DOCUMENTS_BY_MODIFIED | DOCUMENTS_BY_LOCATION_MODIFIED)
}

/// What an index by ID or by time sorts by: the time as in keys, or zeros, and the ID.
pub(crate) type Rank = ([u8; 8], DocumentId);

/// The rank at the end of a key of the documents or of one of their indexes; of a key by day the ID
/// alone.
pub(crate) fn parse_rank(key: &[u8]) -> Option<Rank> {
    let document = parse_document(key)?;
    let time = match of(key) {
        DOCUMENTS_BY_MODIFIED
        | DOCUMENTS_BY_CREATED
        | DOCUMENTS_BY_LOCATION_MODIFIED
        | DOCUMENTS_BY_LOCATION_CREATED => key.split_last_chunk::<16>()?.0.last_chunk().copied()?,
        _ => [0; 8],
    };
    Some((time, document))
}

/// A location as in keys.
pub(crate) fn location_bytes(location: Location) -> [u8; 17] {
    let (class, folder) = match location {
        Location::Unsorted => (0, FolderId::NIL),
        Location::Templates => (1, FolderId::NIL),
        Location::DailyNotes => (2, FolderId::NIL),
        Location::Folder(folder) => (3, folder),
        Location::Trash => (4, FolderId::NIL),
        Location::Inbox => (5, FolderId::NIL),
    };
    let mut bytes = [class; 17];
    if let Some(rest) = bytes.last_chunk_mut::<16>() {
        *rest = *folder.as_bytes();
    }
    bytes
}

/// The prefix of all documents in `location`.
pub(crate) fn location(location: Location) -> [u8; 18] {
    joined(DOCUMENTS_BY_LOCATION, &[&location_bytes(location)])
}

pub(crate) fn by_location(at: Location, document: DocumentId) -> [u8; 34] {
    joined(DOCUMENTS_BY_LOCATION, &[&location_bytes(at), document.as_bytes()])
}

pub(crate) fn location_count(location: Location) -> [u8; 18] {
    joined(LOCATION_COUNTS, &[&location_bytes(location)])
}

/// `keyspace` is by modified or by created.
pub(crate) fn by_time(keyspace: Keyspace, time: Timestamp, document: DocumentId) -> [u8; 25] {
    joined(keyspace, &[&time_bytes(time), document.as_bytes()])
}

/// The prefix of all documents in `location`; `keyspace` is by location and modified, or by
/// location and created.
pub(crate) fn timed_location(keyspace: Keyspace, location: Location) -> [u8; 18] {
    joined(keyspace, &[&location_bytes(location)])
}

/// `keyspace` is as above.
pub(crate) fn by_location_time(
    keyspace: Keyspace,
    at: Location,
    (time, document): Rank,
) -> [u8; 42] {
    joined(keyspace, &[&location_bytes(at), &time, document.as_bytes()])
}

/// The prefix of the documents with this title, and of those whose titles have the same hash.
pub(crate) fn titled(title: &str) -> [u8; 17] {
    let hash = xxh3_128(title.to_lowercase().as_bytes());
    joined(DOCUMENTS_BY_TITLE, &[&hash.to_be_bytes()])
}

pub(crate) fn by_title(title: &str, document: DocumentId) -> [u8; 33] {
    let [tag, hash @ ..] = titled(title);
    debug_assert_eq!(tag, DOCUMENTS_BY_TITLE.tag, "the key of a title is in its keyspace");
    joined(DOCUMENTS_BY_TITLE, &[&hash, document.as_bytes()])
}

pub(crate) fn by_day(day: Day, is_trashed: bool, document: DocumentId) -> [u8; 22] {
    joined(DOCUMENTS_BY_DAY, &[&day_bytes(day), &[u8::from(is_trashed)], document.as_bytes()])
}

/// The prefix of the notes of a day outside of the trash.
pub(crate) fn notes_of(day: Day) -> [u8; 6] {
    joined(DOCUMENTS_BY_DAY, &[&day_bytes(day), &[0]])
}

/// The location in a key of the index by location.
pub(crate) fn parse_location(key: &[u8]) -> Option<Location> {
    let (class, rest) = key.get(1..)?.split_first()?;
    let folder = FolderId::from_bytes(*rest.first_chunk::<16>()?);
    Some(match class {
        0 => Location::Unsorted,
        1 => Location::Templates,
        2 => Location::DailyNotes,
        3 => Location::Folder(folder),
        4 => Location::Trash,
        5 => Location::Inbox,
        _ => return None,
    })
}

/// The day in a key of the index by day.
pub(crate) fn parse_day(key: &[u8]) -> Option<Day> {
    let [sign, rest @ ..] = *key.get(1..)?.first_chunk::<4>()?;
    let [a, b, c] = rest;
    Some(Day::from_epoch_days(i32::from_be_bytes([sign ^ 0x80, a, b, c]).into()))
}

/// The instant in a key of an index by time.
pub(crate) fn parse_time(key: &[u8]) -> Option<Timestamp> {
    let mut bytes = *key.get(1..)?.first_chunk::<8>()?;
    let [sign, ..] = &mut bytes;
    *sign ^= 0x80;
    Some(Timestamp::from_millis(i64::from_be_bytes(bytes)))
}
