//! The index rows of a document, which follow from its record and its title.

use leafbase_model::{Day, DocumentRecord, Location, Timestamp};

use crate::keyspaces::{
    self, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_LOCATION_CREATED, DOCUMENTS_BY_LOCATION_MODIFIED,
    DOCUMENTS_BY_MODIFIED, Keyspace, time_bytes,
};

/// The keys of all index rows but that of the title and those by modification time. The inbox is in
/// the index by location alone, and so in no listing.
pub(crate) fn index_keys(record: &DocumentRecord) -> Vec<Vec<u8>> {
    let mut keys = vec![keyspaces::by_location(record.location, record.id).to_vec()];
    // Hidden from listings, the inbox is found by its location.
    if record.location != Location::Inbox {
        let created = (DOCUMENTS_BY_CREATED, DOCUMENTS_BY_LOCATION_CREATED);
        let TimeKeys { among_all, in_location } = time_keys(record, created, record.created_at);
        keys.extend([among_all.to_vec(), in_location.to_vec()]);
        keys.extend(record.day.map(|day| day_key(record, day)));
    }
    keys
}

/// The key by title; the inbox has none.
pub(crate) fn title_key(record: &DocumentRecord, title: &str) -> Option<Vec<u8>> {
    let is_listed = record.location != Location::Inbox;
    is_listed.then(|| keyspaces::by_title(title, record.id).to_vec())
}

/// The keys by modification time, whose rows hold the document: an edit replaces them anyway, and
/// the list that is asked for most is one scan. The inbox has none.
pub(crate) fn modified_keys(record: &DocumentRecord) -> Option<TimeKeys> {
    let keyspaces = (DOCUMENTS_BY_MODIFIED, DOCUMENTS_BY_LOCATION_MODIFIED);
    let is_listed = record.location != Location::Inbox;
    is_listed.then(|| time_keys(record, keyspaces, record.modified_at))
}

/// A key among all documents and one among those of a location.
pub(crate) struct TimeKeys {
    among_all: [u8; 25],
    in_location: [u8; 42],
}

impl TimeKeys {
    pub(crate) fn among_all(&self) -> &[u8] {
        &self.among_all
    }

    pub(crate) fn in_location(&self) -> &[u8] {
        &self.in_location
    }
}

fn time_keys(
    record: &DocumentRecord,
    (among_all, in_location): (Keyspace, Keyspace),
    time: Timestamp,
) -> TimeKeys {
    let rank = (time_bytes(time), record.id);
    TimeKeys {
        among_all: keyspaces::by_time(among_all, time, record.id),
        in_location: keyspaces::by_location_time(in_location, record.location, rank),
    }
}

/// The key of a daily note by its day.
pub(crate) fn day_key(record: &DocumentRecord, day: Day) -> Vec<u8> {
    keyspaces::by_day(day, record.location == Location::Trash, record.id).to_vec()
}

/// The day whose note the document is: none while it is in the trash, and never for the inbox.
pub(crate) fn note_day(record: &DocumentRecord) -> Option<Day> {
    record.day.filter(|_| !matches!(record.location, Location::Trash | Location::Inbox))
}
