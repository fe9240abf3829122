//! Listings of documents: each is a range of an index.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{Day, DocumentId, DocumentRecord, Error, Location, Result, Timestamp};

use super::Reader;
use crate::keyspaces::{
    self, DOCUMENTS, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_MODIFIED, Keyspace, day_bytes, end_of_slice,
    time_bytes,
};
use crate::kv::KeyRange;
use crate::records::{self, document};

/// Which documents a listing gives, and by what they are sorted. Bounds are inclusive; none is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Listing {
    /// All, by ID.
    All,
    /// Those kept in one place, by ID.
    At(Location),
    /// By the last change.
    Modified {
        /// The earliest.
        from: Option<Timestamp>,
        /// The latest.
        to: Option<Timestamp>,
    },
    /// By the making.
    Created {
        /// The earliest.
        from: Option<Timestamp>,
        /// The latest.
        to: Option<Timestamp>,
    },
    /// Daily notes by their day.
    Days {
        /// The first.
        from: Option<Day>,
        /// The last.
        to: Option<Day>,
    },
}

/// Where a listing goes on. Opaque; it stays good when documents come and go meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor(pub(crate) Vec<u8>);

impl Cursor {
    /// Its bytes, to be handed out.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A cursor that was handed out. A listing refuses one that is not its own.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_owned())
    }
}

/// A part of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentPage {
    /// The documents, in the order of the listing.
    pub documents: Vec<DocumentRecord>,
    /// Where it goes on; none if this was all.
    pub next: Option<Cursor>,
}

/// A key, and the document it names.
type IndexRow = (Vec<u8>, DocumentId);

/// The first key of a listing, and the one after its last.
fn bounds(listing: Listing) -> (Vec<u8>, Vec<u8>) {
    match listing {
        Listing::All => around(DOCUMENTS, None::<[u8; 0]>, None),
        Listing::At(location) => {
            let prefix = keyspaces::location(location);
            (prefix.to_vec(), end_of_slice(&prefix))
        }
        Listing::Modified { from, to } => around(DOCUMENTS_BY_MODIFIED, from.map(time_bytes), to.map(time_bytes)),
        Listing::Created { from, to } => around(DOCUMENTS_BY_CREATED, from.map(time_bytes), to.map(time_bytes)),
        Listing::Days { from, to } => around(DOCUMENTS_BY_DAY, from.map(day_bytes), to.map(day_bytes)),
    }
}

fn around<const N: usize>(keyspace: Keyspace, from: Option<[u8; N]>, to: Option<[u8; N]>) -> (Vec<u8>, Vec<u8>) {
    let key = |part: Option<[u8; N]>| {
        let mut key = vec![keyspace.tag];
        key.extend(part.iter().flatten());
        key
    };
    (key(from), end_of_slice(&key(to)))
}

impl Reader<'_> {
    /// At most `limit` documents of `listing` after `cursor`, last ones first if `descending`.
    ///
    /// # Errors
    /// What the store reports; [`leafbase_model::ErrorKind::Corrupted`];
    /// [`leafbase_model::ErrorKind::Validation`] if the cursor is not of this listing.
    pub fn documents(
        &self,
        listing: Listing,
        descending: bool,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DocumentPage> {
        let (lower, upper) = bounds(listing);
        let mut range = KeyRange { reverse: descending, ..KeyRange::half_open(&lower, &upper) };
        if let Some(Cursor(at)) = cursor {
            if *at < lower || *at >= upper {
                return Err(Error::validation("the cursor is not of this listing").at("cursor"));
            }
            if descending {
                range.upper = Bound::Excluded(at);
            } else {
                range.lower = Bound::Excluded(at);
            }
        }
        if range.is_empty() || limit == 0 {
            return Ok(DocumentPage { documents: Vec::new(), next: None });
        }
        let (keys, goes_on) = self.keys(range, limit)?;
        let documents = self.records(&keys)?;
        let next = keys.last().filter(|_| goes_on).map(|(key, _)| Cursor(key.clone()));
        Ok(DocumentPage { documents, next })
    }

    /// The first keys of `range` with the documents they name, and whether more follow.
    fn keys(&self, range: KeyRange<'_>, limit: usize) -> Result<(Vec<IndexRow>, bool)> {
        let mut keys = Vec::new();
        let mut goes_on = false;
        self.read.scan(range, &mut |key, _| {
            if keys.len() == limit {
                goes_on = true;
                return Ok(ControlFlow::Break(()));
            }
            let document = keyspaces::read_document(key).ok_or_else(|| records::damaged(key))?;
            keys.push((key.to_owned(), document));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((keys, goes_on))
    }

    fn records(&self, keys: &[IndexRow]) -> Result<Vec<DocumentRecord>> {
        let rows: Vec<[u8; 17]> = keys.iter().map(|(_, document)| keyspaces::document(*document)).collect();
        let rows: Vec<&[u8]> = rows.iter().map(<[u8; 17]>::as_slice).collect();
        let mut documents = Vec::with_capacity(keys.len());
        self.read.get_many(&rows, &mut |index, value| {
            let (Some((indexed, id)), Some(key)) = (keys.get(index), rows.get(index)) else { return Ok(()) };
            let value = value.ok_or_else(|| records::damaged(indexed))?;
            documents.push(records::read(key, value, |unpack| document::read_counted(*id, unpack))?.record);
            Ok(())
        })?;
        Ok(documents)
    }
}
