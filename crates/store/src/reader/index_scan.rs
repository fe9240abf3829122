//! Ranges of document indexes, read step by step: as much of each as turns out to be needed.

use std::collections::{BTreeSet, VecDeque};
use std::ops::{Bound, ControlFlow};

use leafbase_model::{Day, DocumentId, Location, Result, Timestamp};

use super::query::{DocumentFilter, DocumentQuery, IndexOrder, ResumeAnchor, Span, Within};
use crate::keyspaces::{
    self, DOCUMENTS, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_LOCATION_CREATED,
    DOCUMENTS_BY_LOCATION_MODIFIED, DOCUMENTS_BY_MODIFIED, Keyspace, Rank, day_bytes, end_of_slice,
    time_bytes,
};
use crate::kv::{KeyRange, Read};
use crate::records;

/// No value at which a range begins or ends.
const NO_BOUND: Option<[u8; 0]> = None;

/// One range of keys, each of which ends with a document.
struct IndexScan {
    lower: Vec<u8>,
    upper: Vec<u8>,
    /// The key that was read last, or that it begins behind.
    behind: Option<Vec<u8>>,
    /// Read, and not given yet.
    buffer: VecDeque<Rank>,
    is_exhausted: bool,
}

impl IndexScan {
    /// The keys that begin with `prefix`, from one value behind it up to another.
    fn new<const N: usize>(
        prefix: &[u8],
        from: Option<[u8; N]>,
        to: Option<[u8; N]>,
        behind: Option<Vec<u8>>,
    ) -> Self {
        let key = |part: Option<[u8; N]>| {
            let mut key = prefix.to_vec();
            key.extend(part.iter().flatten());
            key
        };
        let (lower, upper) = (key(from), end_of_slice(&key(to)));
        Self { lower, upper, behind, buffer: VecDeque::new(), is_exhausted: false }
    }

    /// The documents kept in `location`, by ID.
    fn of_location(location: Location, behind: Option<ResumeAnchor<'_>>) -> Self {
        let behind = behind.map(|ResumeAnchor { rank: (_, document), .. }| {
            keyspaces::by_location(location, document).to_vec()
        });
        Self::new(&keyspaces::location(location), NO_BOUND, NO_BOUND, behind)
    }

    fn range(&self, descending: bool) -> KeyRange<'_> {
        let mut range =
            KeyRange { reverse: descending, ..KeyRange::half_open(&self.lower, &self.upper) };
        match self.behind.as_deref() {
            Some(behind) if descending && *behind < *self.upper => {
                range.upper = Bound::Excluded(behind)
            }
            Some(behind) if !descending && *behind >= *self.lower => {
                range.lower = Bound::Excluded(behind)
            }
            _ => {}
        }
        range
    }

    /// Reads at most `count` keys more; gives how many it read.
    fn fill(&mut self, source: &dyn Read, descending: bool, count: usize) -> Result<usize> {
        let (range, mut last, mut read) = (self.range(descending), None, VecDeque::new());
        if !range.is_empty() && count > 0 {
            source.scan(range, &mut |key, value| {
                // A key with a flipped bit would be another document, or the same one elsewhere.
                records::check(key, value)?;
                read.push_back(keyspaces::read_rank(key).ok_or_else(|| records::damaged(key))?);
                if read.len() < count {
                    return Ok(ControlFlow::Continue(()));
                }
                last = Some(key.to_owned());
                Ok(ControlFlow::Break(()))
            })?;
        }
        self.is_exhausted = last.is_none();
        self.behind = last.or_else(|| self.behind.take());
        let found = read.len();
        self.buffer.append(&mut read);
        Ok(found)
    }
}

/// An index by time, of all documents and of those of one location, and the part of it that a query
/// asks for.
struct TimeIndex {
    everywhere: Keyspace,
    within: Keyspace,
    span: Span<Timestamp>,
}

impl TimeIndex {
    fn created(query: &DocumentQuery) -> Self {
        Self {
            everywhere: DOCUMENTS_BY_CREATED,
            within: DOCUMENTS_BY_LOCATION_CREATED,
            span: query.created,
        }
    }

    fn modified(query: &DocumentQuery) -> Self {
        Self {
            everywhere: DOCUMENTS_BY_MODIFIED,
            within: DOCUMENTS_BY_LOCATION_MODIFIED,
            span: query.modified,
        }
    }

    /// The range of each of the places that are asked for, or of all documents.
    fn scans(
        &self,
        filter: &DocumentFilter<'_>,
        behind: Option<ResumeAnchor<'_>>,
    ) -> Vec<IndexScan> {
        let scan = |prefix: &[u8], behind| {
            IndexScan::new(
                prefix,
                self.span.from.map(time_bytes),
                self.span.to.map(time_bytes),
                behind,
            )
        };
        let Some(locations) = locations(filter) else {
            return vec![scan(
                &[self.everywhere.tag],
                behind.map(|position| position.key.to_vec()),
            )];
        };
        let of_location = |location| {
            let behind = behind.map(|position| {
                keyspaces::by_location_time(self.within, location, position.rank).to_vec()
            });
            scan(&keyspaces::timed_location(self.within, location), behind)
        };
        locations.into_iter().map(of_location).collect()
    }
}

/// The documents of one range, or of several by ID or by time.
pub(super) struct MergeIterator {
    scans: Vec<IndexScan>,
    /// The next document of each scan that has begun and not ended.
    heads: BTreeSet<(Rank, usize)>,
    /// The scan that the last document was taken from: its next one is read when it is needed, and
    /// not before.
    taken_from: Option<usize>,
    has_begun: bool,
    descending: bool,
    /// How many keys were read.
    pub(super) read: usize,
}

impl MergeIterator {
    fn new(scans: Vec<IndexScan>, descending: bool) -> Self {
        Self {
            scans,
            heads: BTreeSet::new(),
            taken_from: None,
            has_begun: false,
            descending,
            read: 0,
        }
    }

    /// The documents in the query's order, behind a position.
    pub(super) fn in_order(filter: &DocumentFilter<'_>, behind: Option<ResumeAnchor<'_>>) -> Self {
        let query = filter.query;
        let scans = match query.order {
            IndexOrder::Id => by_id(filter, behind),
            IndexOrder::Created => TimeIndex::created(query).scans(filter, behind),
            IndexOrder::Modified => TimeIndex::modified(query).scans(filter, behind),
            IndexOrder::Day => vec![by_day(query.day, behind)],
        };
        Self::new(scans, query.descending)
    }

    /// The other ranges, each of which has all documents that the query asks for, in orders of
    /// their own.
    pub(super) fn others(filter: &DocumentFilter<'_>) -> Vec<Self> {
        let query = filter.query;
        let (created, modified, day) =
            (query.created.is_bounded(), query.modified.is_bounded(), query.day.is_bounded());
        let scans = [
            (query.order == IndexOrder::Day && query.within != Within::All)
                .then(|| by_id(filter, None)),
            (query.order != IndexOrder::Created && created)
                .then(|| TimeIndex::created(query).scans(filter, None)),
            (query.order != IndexOrder::Modified && modified)
                .then(|| TimeIndex::modified(query).scans(filter, None)),
            (query.order != IndexOrder::Day && day).then(|| vec![by_day(query.day, None)]),
        ];
        scans.into_iter().flatten().map(|scans| Self::new(scans, false)).collect()
    }

    /// At most `count` documents more; fewer only where it ends.
    pub(super) fn take(&mut self, source: &dyn Read, count: usize) -> Result<Vec<DocumentId>> {
        let step = count.div_ceil(self.scans.len().max(1));
        if !self.has_begun {
            self.has_begun = true;
            for number in 0..self.scans.len() {
                self.advance(source, number, step)?;
            }
        }
        let mut taken = Vec::new();
        while taken.len() < count {
            if let Some(number) = self.taken_from.take() {
                self.advance(source, number, step)?;
            }
            let head = if self.descending { self.heads.pop_last() } else { self.heads.pop_first() };
            let Some(((_, document), number)) = head else { break };
            taken.push(document);
            self.taken_from = Some(number);
        }
        Ok(taken)
    }

    /// Sets the next head of a scan, if it has one.
    fn advance(&mut self, source: &dyn Read, number: usize, step: usize) -> Result<()> {
        let Some(scan) = self.scans.get_mut(number) else { return Ok(()) };
        if scan.buffer.is_empty() && !scan.is_exhausted {
            self.read += scan.fill(source, self.descending, step)?;
        }
        self.heads.extend(scan.buffer.pop_front().map(|rank| (rank, number)));
        Ok(())
    }
}

/// The places that are asked for; none if all are.
fn locations(filter: &DocumentFilter<'_>) -> Option<Vec<Location>> {
    match filter.query.within {
        Within::All => None,
        Within::Location(location) => Some(vec![location]),
        Within::Folders(_) => Some(filter.folders.iter().copied().map(Location::Folder).collect()),
    }
}

/// The ranges of the places that are asked for, or of all documents.
fn by_id(filter: &DocumentFilter<'_>, behind: Option<ResumeAnchor<'_>>) -> Vec<IndexScan> {
    let Some(locations) = locations(filter) else {
        let behind = behind.map(|position| position.key.to_vec());
        return vec![IndexScan::new(&[DOCUMENTS.tag], NO_BOUND, NO_BOUND, behind)];
    };
    locations.into_iter().map(|location| IndexScan::of_location(location, behind)).collect()
}

fn by_day(span: Span<Day>, behind: Option<ResumeAnchor<'_>>) -> IndexScan {
    let behind = behind.map(|position| position.key.to_vec());
    IndexScan::new(
        &[DOCUMENTS_BY_DAY.tag],
        span.from.map(day_bytes),
        span.to.map(day_bytes),
        behind,
    )
}
