//! Queries for documents, as data: which ones, in which order, and where a page goes on.

use leafbase_model::{Day, DocumentRecord, Error, FolderId, Location, Result, Timestamp};
use xxhash_rust::xxh3::xxh3_64;

use crate::keyspaces::{
    self, DOCUMENTS, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_MODIFIED, Keyspace, Rank,
    day_bytes, time_bytes,
};
use crate::transaction::by_day;

/// Where documents are looked for. The hidden one of the inbox is nowhere: [`super::SpaceReader::inbox`]
/// alone gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// Everywhere, the trash included.
    #[default]
    All,
    /// In one place.
    Location(Location),
    /// In one of these folders, and not in the folders in them.
    Folders(Vec<FolderId>),
}

/// From one value up to another, both included; none is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
pub enum IndexOrder {
    /// By ID.
    #[default]
    Id,
    /// By the making.
    Created,
    /// By the last change.
    Modified,
    /// Daily notes alone, by their day; of one day, the note comes before those in the trash.
    Day,
}

impl IndexOrder {
    /// The index of all documents that is sorted so.
    pub(super) const fn keyspace(self) -> Keyspace {
        match self {
            Self::Id => DOCUMENTS,
            Self::Created => DOCUMENTS_BY_CREATED,
            Self::Modified => DOCUMENTS_BY_MODIFIED,
            Self::Day => DOCUMENTS_BY_DAY,
        }
    }

    /// The key of `record` in that index.
    pub(super) fn key(self, record: &DocumentRecord) -> Vec<u8> {
        match self {
            Self::Id => keyspaces::document(record.id).to_vec(),
            Self::Created => {
                keyspaces::by_time(self.keyspace(), record.created_at, record.id).to_vec()
            }
            Self::Modified => {
                keyspaces::by_time(self.keyspace(), record.modified_at, record.id).to_vec()
            }
            Self::Day => record.day.map(|day| by_day(record, day)).unwrap_or_default(),
        }
    }
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
    /// Whose note they are, in the trash or out of it; a bound leaves out what is no daily note.
    pub day: Span<Day>,
    /// By what they are sorted.
    pub order: IndexOrder,
    /// Whether the last one comes first.
    pub descending: bool,
}

/// A part of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentPage {
    /// The documents, in the order of the listing.
    pub documents: Vec<DocumentRecord>,
    /// Where it goes on; none if this was all.
    pub next: Option<PageCursor>,
}

/// Where a listing goes on. Opaque; it stays good when what is listed comes and goes meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageCursor(pub(super) Vec<u8>);

impl PageCursor {
    /// Its bytes, to be handed out.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A cursor that was handed out. A listing refuses one that is not its own.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_owned())
    }
}

/// What a listing says to a cursor of another one.
pub(super) fn foreign_cursor() -> Error {
    Error::validation("the cursor is not of this listing").at("cursor")
}

/// Before the sort key in a cursor: a tag, and the query's fingerprint.
const CURSOR_HEAD: usize = 9;

impl DocumentQuery {
    /// The cursor behind `record`.
    pub(super) fn cursor(&self, record: &DocumentRecord) -> PageCursor {
        let mut bytes = self.cursor_head().to_vec();
        bytes.extend(self.order.key(record));
        PageCursor(bytes)
    }

    /// The key of [`IndexOrder::key`] in a cursor of this query.
    pub(super) fn read_cursor<'c>(&self, cursor: &'c PageCursor) -> Result<ResumeAnchor<'c>> {
        let (head, key) = cursor.0.split_first_chunk::<CURSOR_HEAD>().ok_or_else(foreign_cursor)?;
        let rank =
            keyspaces::read_rank(key).filter(|_| keyspaces::of(key) == self.order.keyspace());
        match rank {
            Some(rank) if *head == self.cursor_head() => Ok(ResumeAnchor { key, rank }),
            _ => Err(foreign_cursor()),
        }
    }

    /// Tells this query from others. Of several folders only the first counts: those below it may
    /// come and go between pages.
    fn cursor_head(&self) -> [u8; CURSOR_HEAD] {
        let Self { within, created, modified, day, order, descending } = self;
        let (class, location) = match within {
            Within::All => (0, None),
            Within::Location(location) => (1, Some(*location)),
            Within::Folders(folders) => {
                (2, folders.first().map(|folder| Location::Folder(*folder)))
            }
        };
        let mut bytes = vec![class, order.keyspace().tag, u8::from(*descending)];
        bytes.extend(location.iter().flat_map(|location| keyspaces::location_bytes(*location)));
        for time in [created.from, created.to, modified.from, modified.to] {
            bytes.push(u8::from(time.is_some()));
            bytes.extend(time.iter().flat_map(|time| time_bytes(*time)));
        }
        for day in [day.from, day.to] {
            bytes.push(u8::from(day.is_some()));
            bytes.extend(day.iter().flat_map(|day| day_bytes(*day)));
        }
        let mut head = [DOCUMENTS.tag; CURSOR_HEAD];
        if let Some(fingerprint) = head.last_chunk_mut::<8>() {
            *fingerprint = xxh3_64(&bytes).to_be_bytes();
        }
        head
    }
}

/// The document that a page begins behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResumeAnchor<'c> {
    /// Its key in the index of the order.
    pub(super) key: &'c [u8],
    /// What the key says.
    pub(super) rank: Rank,
}

/// A query made ready to be asked of many records.
pub(super) struct DocumentFilter<'q> {
    pub(super) query: &'q DocumentQuery,
    /// Sorted, each once.
    pub(super) folders: Vec<FolderId>,
}

impl<'q> DocumentFilter<'q> {
    pub(super) fn of(query: &'q DocumentQuery) -> Self {
        let mut folders = match &query.within {
            Within::Folders(folders) => folders.clone(),
            _ => Vec::new(),
        };
        folders.sort_unstable();
        folders.dedup();
        Self { query, folders }
    }

    /// Whether `record` is asked for.
    pub(super) fn takes(&self, record: &DocumentRecord) -> bool {
        let Self { query, folders } = self;
        let is_within = match (&query.within, record.location) {
            (_, Location::Inbox) => false,
            (Within::All, _) => true,
            (Within::Location(asked), location) => *asked == location,
            (Within::Folders(_), Location::Folder(folder)) => {
                folders.binary_search(&folder).is_ok()
            }
            (Within::Folders(_), _) => false,
        };
        let may_lack_day = query.order != IndexOrder::Day && !query.day.is_bounded();
        is_within
            && record.day.map_or(may_lack_day, |day| query.day.contains(day))
            && query.created.contains(record.created_at)
            && query.modified.contains(record.modified_at)
    }
}
