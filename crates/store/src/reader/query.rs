//! Queries for documents, as data: which ones, in which order, and where a page goes on.

use leafbase_model::{Day, DocumentRecord, Error, FolderId, Location, Result, Timestamp};
use xxhash_rust::xxh3::xxh3_64;

use super::Cursor;
use crate::keyspaces::{self, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_MODIFIED};

/// Where documents are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// Everywhere, the trash included. The inbox is not: it is found by [`super::Reader::inbox`] alone.
    #[default]
    All,
    /// In one place.
    Location(Location),
    /// In one of these folders, and not in those within them. None gives no documents.
    Folders(Vec<FolderId>),
}

/// From one value up to another, both included; none is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<T> {
    /// The first.
    pub from: Option<T>,
    /// The last.
    pub to: Option<T>,
}

impl<T> Default for Span<T> {
    fn default() -> Self {
        Self { from: None, to: None }
    }
}

impl<T: Copy + Ord> Span<T> {
    /// Whether `value` is within.
    pub fn contains(&self, value: T) -> bool {
        self.from.is_none_or(|from| from <= value) && self.to.is_none_or(|to| value <= to)
    }

    /// Whether it leaves anything out.
    pub(super) fn is_bounded(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
}

/// By what documents are sorted; those that are alike in it, by ID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// By ID.
    #[default]
    Id,
    /// By the making.
    Created,
    /// By the last change.
    Modified,
    /// Daily notes alone, by their day; of one day, the note that is not in the trash comes first.
    Day,
}

/// Which documents are asked for. The default asks for all, by ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentQuery {
    /// Where they are kept.
    pub within: Within,
    /// When they were made.
    pub created: Span<Timestamp>,
    /// When they last changed.
    pub modified: Span<Timestamp>,
    /// Whose note they are; a bound leaves out documents that are no daily notes.
    pub day: Span<Day>,
    /// By what they are sorted.
    pub order: Order,
    /// Whether the last one comes first.
    pub descending: bool,
}

impl DocumentQuery {
    /// Whether `record` is asked for.
    pub(super) fn matches(&self, record: &DocumentRecord) -> bool {
        let is_within = match &self.within {
            Within::All => record.location != Location::Inbox,
            Within::Location(location) => record.location == *location,
            Within::Folders(folders) => {
                matches!(record.location, Location::Folder(folder) if folders.contains(&folder))
            }
        };
        let needs_day = self.order == Order::Day || self.day.is_bounded();
        let is_of_day = record.day.map_or(!needs_day, |day| self.day.contains(day));
        is_within
            && is_of_day
            && self.created.contains(record.created_at)
            && self.modified.contains(record.modified_at)
            && record.location != Location::Inbox
    }

    /// What `record` is sorted by: its key in the index of the order.
    pub(super) fn sort_key(&self, record: &DocumentRecord) -> Vec<u8> {
        match self.order {
            Order::Id => keyspaces::document(record.id).to_vec(),
            Order::Created => keyspaces::by_time(DOCUMENTS_BY_CREATED, record.created_at, record.id).to_vec(),
            Order::Modified => keyspaces::by_time(DOCUMENTS_BY_MODIFIED, record.modified_at, record.id).to_vec(),
            Order::Day => record.day.map(|day| keyspaces::by_day(day, record.id).to_vec()).unwrap_or_default(),
        }
    }

    /// The cursor behind the document of this sort key.
    pub(super) fn cursor(&self, sort_key: &[u8]) -> Cursor {
        let mut bytes = self.fingerprint().to_vec();
        bytes.extend_from_slice(sort_key);
        Cursor(bytes)
    }

    /// The sort key in a cursor of this query.
    pub(super) fn read_cursor<'c>(&self, cursor: &'c Cursor) -> Result<&'c [u8]> {
        let read = cursor.0.split_first_chunk::<8>();
        let (_, key) = read
            .filter(|(fingerprint, key)| **fingerprint == self.fingerprint() && keyspaces::read_document(key).is_some())
            .ok_or_else(|| Error::validation("the cursor is not of this listing").at("cursor"))?;
        Ok(key)
    }

    /// Tells this query from others. Of several folders the first one counts: subfolders may come and go between pages.
    fn fingerprint(&self) -> [u8; 8] {
        let Self { within, created, modified, day, order, descending } = self;
        let within = match within {
            Within::All => (0, None),
            Within::Location(location) => (1, Some(*location)),
            Within::Folders(folders) => (2, folders.first().map(|folder| Location::Folder(*folder))),
        };
        let mut bytes = vec![within.0, *order as u8, u8::from(*descending)];
        bytes.extend(within.1.iter().flat_map(|location| keyspaces::location(*location)));
        for time in [created.from, created.to, modified.from, modified.to] {
            bytes.push(u8::from(time.is_some()));
            bytes.extend(time.iter().flat_map(|time| keyspaces::time_bytes(*time)));
        }
        for day in [day.from, day.to] {
            bytes.push(u8::from(day.is_some()));
            bytes.extend(day.iter().flat_map(|day| keyspaces::day_bytes(*day)));
        }
        xxh3_64(&bytes).to_be_bytes()
    }
}
