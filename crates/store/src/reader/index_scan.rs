//! Index scans: ranges of document indexes, read in batches, and merged.

use std::collections::{BTreeSet, VecDeque};
use std::ops::{Bound, ControlFlow};

use leafbase_model::{Day, DocumentId, Location, Result, Timestamp, invariant};

use super::query::{DocumentQuery, IndexOrder, RecordFilter, ResumeAnchor, Span, Within};
use crate::keyspaces::{
    self, DOCUMENTS, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_LOCATION_CREATED,
    DOCUMENTS_BY_LOCATION_MODIFIED, DOCUMENTS_BY_MODIFIED, Keyspace, Rank, day_bytes,
    prefix_end_of, time_bytes,
};
use crate::kv::{IndexHint, KeyRange, Read, ReadHint};
use crate::records;
use crate::records::document::{self, StoredDocument};

/// Bytes of the ID that ends a key of an index.
const ID_BYTES: usize = size_of::<DocumentId>();

/// An unbounded end of a range.
const NO_BOUND: Option<[u8; 0]> = None;

/// What an index has of a document.
pub(super) struct IndexEntry {
    pub(super) rank: Rank,
    /// The document, where the rows hold it and it is asked for.
    pub(super) document: Option<StoredDocument>,
}

/// A scan of one range of keys, each of which ends with a document.
struct IndexScan {
    lower: Vec<u8>,
    upper: Vec<u8>,
    /// The key read last, or the one that the scan resumes after.
    after: Option<Vec<u8>>,
    /// Entries that are read and not returned yet.
    buffer: VecDeque<IndexEntry>,
    is_exhausted: bool,
}

impl IndexScan {
    /// Scans the keys with `prefix`, whose next part is between `from` and `to`.
    fn new<const N: usize>(
        prefix: &[u8],
        from: Option<[u8; N]>,
        to: Option<[u8; N]>,
        after: Option<Vec<u8>>,
    ) -> Self {
        let key = |part: Option<[u8; N]>| {
            let mut key = prefix.to_vec();
            key.extend(part.iter().flatten());
            key
        };
        let (lower, upper) = (key(from), prefix_end_of(&key(to)));
        Self { lower, upper, after, buffer: VecDeque::new(), is_exhausted: false }
    }

    /// Scans the documents in `location` by ID.
    fn of_location(location: Location, after: Option<ResumeAnchor<'_>>) -> Self {
        let after = after.map(|ResumeAnchor { rank: (_, document), .. }| {
            keyspaces::by_location(location, document).to_vec()
        });
        Self::new(&keyspaces::location(location), NO_BOUND, NO_BOUND, after)
    }

    fn range(&self, descending: bool) -> KeyRange<'_> {
        let mut range =
            KeyRange { reverse: descending, ..KeyRange::half_open(&self.lower, &self.upper) };
        match self.after.as_deref() {
            // A position outside of the range restricts nothing, and could cross the other bound.
            Some(after) if descending && *after < *self.upper => {
                range.upper = Bound::Excluded(after);
            }
            Some(after) if !descending && *after >= *self.lower => {
                range.lower = Bound::Excluded(after);
            }
            _ => {}
        }
        range
    }

    /// The hint of a scan of about `entries` keys, whose documents are read after it if
    /// `with_documents`.
    fn hint(&self, descending: bool, entries: usize, with_documents: bool) -> ReadHint<'_> {
        let range = self.range(descending);
        if !with_documents || keyspaces::holds_documents(&self.lower) {
            return ReadHint::Range(range, entries);
        }
        let record_prefix = &[DOCUMENTS.tag];
        ReadHint::Index(IndexHint { range, entries, record_prefix, id_bytes: ID_BYTES })
    }

    /// Reads up to `count` more rows, the documents in them only if `with_documents`. Returns how
    /// many it read.
    fn fill(
        &mut self,
        source: &dyn Read,
        descending: bool,
        count: usize,
        with_documents: bool,
    ) -> Result<usize> {
        let (range, mut last, mut read) = (self.range(descending), None, VecDeque::new());
        let decodes = with_documents && keyspaces::holds_documents(&self.lower);
        if !range.is_empty() && count > 0 {
            source.scan(range, &mut |key, value| {
                let document = decodes.then(|| document::decode_row(key, value)).transpose()?;
                if document.is_none() {
                    // The key is the data: a flipped bit would name another document.
                    records::check(key, value)?;
                }
                let rank = keyspaces::parse_rank(key).ok_or_else(|| records::corrupt(key))?;
                read.push_back(IndexEntry { rank, document });
                if read.len() < count {
                    return Ok(ControlFlow::Continue(()));
                }
                last = Some(key.to_owned());
                Ok(ControlFlow::Break(()))
            })?;
        }
        // Without a last key the scan ended before its batch was full.
        self.is_exhausted = last.is_none();
        self.after = last.or_else(|| self.after.take());
        debug_assert!(read.len() <= count, "a scan ends with its batch");
        let found = read.len();
        self.buffer.append(&mut read);
        Ok(found)
    }
}

/// An index by time, of all documents and of one location, with the span that a query selects.
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

    /// A scan for each location of the query, or one of all documents.
    fn scans(&self, filter: &RecordFilter<'_>, after: Option<ResumeAnchor<'_>>) -> Vec<IndexScan> {
        let scan = |prefix: &[u8], after| {
            IndexScan::new(
                prefix,
                self.span.from.map(time_bytes),
                self.span.to.map(time_bytes),
                after,
            )
        };
        let Some(locations) = locations(filter) else {
            return vec![scan(&[self.everywhere.tag], after.map(|position| position.key.to_vec()))];
        };
        let of_location = |location| {
            let after = after.map(|position| {
                keyspaces::by_location_time(self.within, location, position.rank).to_vec()
            });
            scan(&keyspaces::timed_location(self.within, location), after)
        };
        locations.into_iter().map(of_location).collect()
    }
}

/// Merges scans into one sequence, by ID or by time.
pub(super) struct MergeIterator {
    scans: Vec<IndexScan>,
    /// The rank of the first entry of each scan, which makes the set a merge heap.
    heads: BTreeSet<(Rank, usize)>,
    /// The scan of the entry returned last: its next entry is read only when it is needed.
    taken_from: Option<usize>,
    has_begun: bool,
    descending: bool,
    /// Whether the documents are read as they are returned.
    with_documents: bool,
    /// Number of keys read.
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
            with_documents: false,
            read: 0,
        }
    }

    /// The documents in the query's order, after an anchor.
    pub(super) fn in_order(filter: &RecordFilter<'_>, after: Option<ResumeAnchor<'_>>) -> Self {
        let query = filter.query;
        let scans = match query.order {
            IndexOrder::Id => match query.tags.first() {
                Some(tag) => vec![by_tag(tag, after)],
                None => by_id(filter, after),
            },
            IndexOrder::Created => TimeIndex::created(query).scans(filter, after),
            IndexOrder::Modified => TimeIndex::modified(query).scans(filter, after),
            IndexOrder::Day => vec![by_day(query.day, after)],
        };
        Self { with_documents: true, ..Self::new(scans, query.descending) }
    }

    /// The query's other indexes, each of which contains all matches in its own order.
    pub(super) fn others(filter: &RecordFilter<'_>) -> Vec<Self> {
        let query = filter.query;
        let (created, modified, day) =
            (query.created.is_bounded(), query.modified.is_bounded(), query.day.is_bounded());
        let in_order = usize::from(query.order == IndexOrder::Id);
        let tags = query.tags.iter().skip(in_order).map(|tag| vec![by_tag(tag, None)]);
        let is_by_location = query.order != IndexOrder::Day
            && (query.order != IndexOrder::Id || query.tags.is_empty());
        let scans = [
            (!is_by_location && query.within != Within::All).then(|| by_id(filter, None)),
            (query.order != IndexOrder::Created && created)
                .then(|| TimeIndex::created(query).scans(filter, None)),
            (query.order != IndexOrder::Modified && modified)
                .then(|| TimeIndex::modified(query).scans(filter, None)),
            (query.order != IndexOrder::Day && day).then(|| vec![by_day(query.day, None)]),
        ];
        scans.into_iter().flatten().chain(tags).map(|scans| Self::new(scans, false)).collect()
    }

    /// The range of rows that has the documents in the query's order, if it is one.
    pub(super) fn listing(&self) -> Option<KeyRange<'_>> {
        match self.scans.as_slice() {
            [scan] if keyspaces::holds_documents(&scan.lower) => Some(scan.range(self.descending)),
            _ => None,
        }
    }

    /// Up to `count` more entries; fewer only at the end.
    pub(super) fn take(&mut self, source: &dyn Read, count: usize) -> Result<Vec<IndexEntry>> {
        // Each scan reads its share: most pages come from all scans in equal parts.
        let step = count.div_ceil(self.scans.len().max(1));
        if !self.has_begun {
            self.has_begun = true;
            if source.is_remote() {
                let (descending, with_documents) = (self.descending, self.with_documents);
                let hints =
                    self.scans.iter().map(|scan| scan.hint(descending, step, with_documents));
                source.prefetch(&hints.collect::<Vec<_>>())?;
            }
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
            let Some((rank, number)) = head else { return Ok(taken) };
            let scan = self.scans.get_mut(number);
            match scan.and_then(|scan| scan.buffer.pop_front()) {
                Some(entry) if entry.rank == rank => taken.push(entry),
                _ => invariant!("the heap has the first entry of each scan"),
            }
            self.taken_from = Some(number);
        }
        Ok(taken)
    }

    /// Adds the next entry of a scan to the heap, if there is one.
    fn advance(&mut self, source: &dyn Read, number: usize, step: usize) -> Result<()> {
        let Some(scan) = self.scans.get_mut(number) else {
            invariant!("the heap names one of the merged scans")
        };
        if scan.buffer.is_empty() && !scan.is_exhausted {
            self.read += scan.fill(source, self.descending, step, self.with_documents)?;
        }
        self.heads.extend(scan.buffer.front().map(|entry| (entry.rank, number)));
        Ok(())
    }
}

/// The locations of the query; `None` is all.
fn locations(filter: &RecordFilter<'_>) -> Option<Vec<Location>> {
    match filter.query.within {
        Within::All => None,
        Within::Location(location) => Some(vec![location]),
        Within::Folders(_) => Some(filter.folders.iter().copied().map(Location::Folder).collect()),
    }
}

/// Scans by ID of the query's locations, or of all documents.
fn by_id(filter: &RecordFilter<'_>, after: Option<ResumeAnchor<'_>>) -> Vec<IndexScan> {
    let Some(locations) = locations(filter) else {
        let after = after.map(|position| position.key.to_vec());
        return vec![IndexScan::new(&[DOCUMENTS.tag], NO_BOUND, NO_BOUND, after)];
    };
    locations.into_iter().map(|location| IndexScan::of_location(location, after)).collect()
}

/// A scan by ID of the documents with a tag.
fn by_tag(tag: &str, after: Option<ResumeAnchor<'_>>) -> IndexScan {
    let after = after.map(|position| keyspaces::document_by_tag(tag, position.rank.1));
    IndexScan::new(&keyspaces::documents_tagged(tag), NO_BOUND, NO_BOUND, after)
}

fn by_day(span: Span<Day>, after: Option<ResumeAnchor<'_>>) -> IndexScan {
    let after = after.map(|position| position.key.to_vec());
    IndexScan::new(&[DOCUMENTS_BY_DAY.tag], span.from.map(day_bytes), span.to.map(day_bytes), after)
}
