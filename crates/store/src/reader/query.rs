//! Queries for documents as data: filter, order, and cursors.

use leafbase_model::{Day, DocumentRecord, Error, FolderId, Location, Result, Timestamp};
use xxhash_rust::xxh3::xxh3_64;

use crate::document_index::day_key;
use crate::keyspaces::{
    self, DOCUMENTS, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_MODIFIED, Keyspace, Rank,
    day_bytes, time_bytes,
};
use crate::kv::Read;
use crate::lookup::contains;
use crate::records::document::StoredDocument;

/// Where documents are. The hidden inbox matches nothing: [`super::SpaceReader::inbox`] returns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// Everywhere, the trash included.
    #[default]
    All,
    /// In one location.
    Location(Location),
    /// In one of these folders, without their subfolders.
    Folders(Vec<FolderId>),
}

/// An inclusive range; `None` is unbounded.
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
    /// Whether `value` is in the range.
    pub fn contains(&self, value: T) -> bool {
        self.from.is_none_or(|from| from <= value) && self.to.is_none_or(|to| value <= to)
    }

    /// Whether the range excludes anything.
    pub(super) fn is_bounded(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
}

/// The sort order of documents; equal ones sort by ID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexOrder {
    /// By ID.
    #[default]
    Id,
    /// By creation time.
    Created,
    /// By modification time.
    Modified,
    /// Daily notes only, by their day; the note of a day comes before those in the trash.
    Day,
}

impl IndexOrder {
    /// The index of all documents in this order.
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
            Self::Day => record.day.map_or_else(Vec::new, |day| day_key(record, day)),
        }
    }
}

/// A query for documents. The default matches all, by ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentQuery {
    /// Locations.
    pub within: Within,
    /// Creation time.
    pub created: Span<Timestamp>,
    /// Modification time.
    pub modified: Span<Timestamp>,
    /// Day of a daily note, in the trash or not; a bound excludes all other documents.
    pub day: Span<Day>,
    /// Tags in lowercase; all must be of the document.
    pub tags: Vec<String>,
    /// Sort order.
    pub order: IndexOrder,
    /// Whether the order is descending.
    pub descending: bool,
}

/// A page of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPage {
    /// The documents, in the order of the listing.
    pub documents: Vec<StoredDocument>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<PageCursor>,
}

/// The position after a page. Opaque, and valid even if documents are added or removed in between.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageCursor(pub(super) Vec<u8>);

impl PageCursor {
    /// Its bytes, for a client.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A cursor from a client. A listing rejects one of another listing.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_owned())
    }
}

/// The error for a cursor of another listing.
pub(super) fn foreign_cursor() -> Error {
    Error::validation("the cursor is not of this listing").at("cursor")
}

/// Bytes before the sort key in a cursor: a tag, and the query's fingerprint.
const CURSOR_HEAD: usize = 9;

impl DocumentQuery {
    /// The cursor after `record`.
    pub(super) fn cursor(&self, record: &DocumentRecord) -> PageCursor {
        let mut bytes = self.cursor_head().to_vec();
        bytes.extend(self.order.key(record));
        PageCursor(bytes)
    }

    /// The sort key in a cursor of this query.
    pub(super) fn read_cursor<'c>(&self, cursor: &'c PageCursor) -> Result<ResumeAnchor<'c>> {
        let (head, key) = cursor.0.split_first_chunk::<CURSOR_HEAD>().ok_or_else(foreign_cursor)?;
        // A key of another index cannot be resumed after, whatever its fingerprint.
        let rank =
            keyspaces::parse_rank(key).filter(|_| keyspaces::of(key) == self.order.keyspace());
        match rank {
            Some(rank) if *head == self.cursor_head() => Ok(ResumeAnchor { key, rank }),
            _ => Err(foreign_cursor()),
        }
    }

    /// The fingerprint of the query. Of several folders only the first counts: subfolders may be
    /// added or removed between pages.
    fn cursor_head(&self) -> [u8; CURSOR_HEAD] {
        let Self { within, created, modified, day, tags, order, descending } = self;
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
        for tag in tags {
            bytes.extend(tag.as_bytes());
            bytes.push(0);
        }
        // A hash in place of the query: the cursor is opaque, and short.
        let mut head = [DOCUMENTS.tag; CURSOR_HEAD];
        if let Some(fingerprint) = head.last_chunk_mut::<8>() {
            *fingerprint = xxh3_64(&bytes).to_be_bytes();
        }
        head
    }
}

/// The document that a page resumes after.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResumeAnchor<'c> {
    /// Its key in the index of the order.
    pub(super) key: &'c [u8],
    /// The rank in the key.
    pub(super) rank: Rank,
}

/// A query prepared to match many records.
pub(super) struct RecordFilter<'q> {
    pub(super) query: &'q DocumentQuery,
    /// Sorted, each once.
    pub(super) folders: Vec<FolderId>,
}

impl<'q> RecordFilter<'q> {
    pub(super) fn of(query: &'q DocumentQuery) -> Self {
        let mut folders = match &query.within {
            Within::Folders(folders) => folders.clone(),
            _ => Vec::new(),
        };
        folders.sort_unstable();
        folders.dedup();
        Self { query, folders }
    }

    /// Whether the document matches. A lookup for each tag.
    pub(super) fn takes(&self, source: &dyn Read, record: &DocumentRecord) -> Result<bool> {
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
        // The order by day and a span of days select daily notes alone.
        let may_lack_day = query.order != IndexOrder::Day && !query.day.is_bounded();
        let is_taken = is_within
            && record.day.map_or(may_lack_day, |day| query.day.contains(day))
            && query.created.contains(record.created_at)
            && query.modified.contains(record.modified_at);
        for tag in query.tags.iter().filter(|_| is_taken) {
            if !contains(source, &keyspaces::document_by_tag(tag, record.id))? {
                return Ok(false);
            }
        }
        Ok(is_taken)
    }
}
