//! Reads of documents: queries, the inbox, daily notes, and counts of locations.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{Day, DocumentId, DocumentRecord, IdMap, Location, Result, invariant};

use super::SpaceReader;
use super::index_scan::{IndexEntry, MergeIterator};
use super::query::{
    DocumentPage, DocumentQuery, IndexOrder, PageCursor, RecordFilter, ResumeAnchor,
};
use crate::keyspaces::{self, DOCUMENTS, LOCATION_COUNTS, prefix_end_of};
use crate::kv::{KeyRange, Read, ReadHint};
use crate::lookup::{get, stored_document};
use crate::records;
use crate::records::document::{self, StoredDocument};

/// Keys that are read in the query's order before its other indexes are tried, and at first of each
/// of those.
const PATIENCE: usize = 128;
/// Documents for which a page has room at first.
const ROOM: usize = 64;
/// Records that are read at once where it is unknown how many of them match.
const BATCH: usize = 32;
/// Maximum number of records that are read at once.
const READ_AT_ONCE: usize = 1_024;
/// A scan that found fewer documents cost more than their lookups.
const MIN_SCANNED: usize = 8;
/// Rows of other documents that a scan may pass by besides one for each that it found.
const MAX_PASSED: usize = 4;

/// Receives documents one by one, until it breaks.
pub(crate) type VisitDocument<'f> = &'f mut dyn FnMut(StoredDocument) -> Result<ControlFlow<()>>;

/// The number of documents in a row of the counts.
pub(crate) fn document_count(source: &dyn Read, key: &[u8]) -> Result<u64> {
    Ok(get(source, key, |value| records::decode(key, value, document::decode_count))?.unwrap_or(0))
}

/// The first document after `prefix` in an index.
pub(crate) fn first_in(source: &dyn Read, prefix: &[u8]) -> Result<Option<DocumentId>> {
    let mut first = None;
    source.scan(
        KeyRange::half_open(prefix, &keyspaces::prefix_end_of(prefix)),
        &mut |key, value| {
            records::decode_empty(key, value)?;
            first = Some(keyspaces::parse_document(key).ok_or_else(|| records::corrupt(key))?);
            Ok(ControlFlow::Break(()))
        },
    )?;
    Ok(first)
}

/// A page in progress.
struct IndexPageBuilder<'q> {
    filter: RecordFilter<'q>,
    /// One more than the page holds: it tells whether another page follows.
    wanted: usize,
    found: Vec<StoredDocument>,
    has_ended: bool,
}

impl IndexPageBuilder<'_> {
    fn is_done(&self) -> bool {
        self.has_ended || self.found.len() >= self.wanted
    }

    fn page(mut self) -> DocumentPage {
        let goes_on = self.found.len() >= self.wanted;
        self.found.truncate(self.wanted.saturating_sub(1));
        let last = self.found.last().filter(|_| goes_on);
        let next = last.map(|document| self.filter.query.cursor(&document.record));
        DocumentPage { documents: self.found, next }
    }
}

impl SpaceReader<'_> {
    /// The IDs of the documents at `location`, sorted. One range of keys.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn documents_at(&self, location: Location) -> Result<Vec<DocumentId>> {
        self.indexed_documents(&keyspaces::location(location))
    }

    /// The documents of the index rows whose keys begin with `prefix`.
    pub(super) fn indexed_documents(&self, prefix: &[u8]) -> Result<Vec<DocumentId>> {
        let mut documents = Vec::new();
        self.read.scan(
            KeyRange::half_open(prefix, &keyspaces::prefix_end_of(prefix)),
            &mut |key, value| {
                records::decode_empty(key, value)?;
                let id = keyspaces::parse_document(key).ok_or_else(|| records::corrupt(key))?;
                documents.push(id);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(documents)
    }

    /// The documents with this title, without regard to case, by ID; those in the trash included.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn documents_titled(&self, title: &str) -> Result<Vec<StoredDocument>> {
        let prefix = keyspaces::titled(title);
        let mut found = self.records(&self.indexed_documents(&prefix)?)?;
        // Another title may have the same hash.
        let title = title.to_lowercase();
        found.retain(|document| document.title.to_lowercase() == title);
        Ok(found)
    }

    /// Passes the documents with this title to `visit`, as [`Self::documents_titled`] finds them,
    /// until it breaks. Reads few of them at a time.
    ///
    /// # Errors
    /// As [`Self::locate`], and those of `visit`.
    pub fn visit_titled(&self, title: &str, visit: VisitDocument<'_>) -> Result<()> {
        let prefix = keyspaces::titled(title);
        let (end, lower) = (prefix_end_of(&prefix), title.to_lowercase());
        let mut last: Option<Vec<u8>> = None;
        loop {
            let (mut documents, mut key_of_last) = (Vec::with_capacity(BATCH), None);
            let from = last.as_deref().map_or(Bound::Included(&prefix[..]), Bound::Excluded);
            let range = KeyRange { lower: from, ..KeyRange::half_open(&prefix, &end) };
            self.read.scan(range, &mut |key, value| {
                records::decode_empty(key, value)?;
                let id = keyspaces::parse_document(key).ok_or_else(|| records::corrupt(key))?;
                documents.push(id);
                key_of_last = Some(key.to_owned());
                let is_full = documents.len() >= BATCH;
                Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            for document in self.records(&documents)? {
                // Another title may have the same hash.
                if document.title.to_lowercase() == lower && visit(document)?.is_break() {
                    return Ok(());
                }
            }
            last = key_of_last;
            if documents.len() < BATCH {
                return Ok(());
            }
        }
    }

    /// [`Self::visit_titled`] of the documents in `location` alone. Reads rows of the documents
    /// that have the title, or are in the location, whichever are fewer.
    ///
    /// # Errors
    /// As [`Self::visit_titled`].
    pub fn visit_titled_at(
        &self,
        title: &str,
        location: Location,
        visit: VisitDocument<'_>,
    ) -> Result<()> {
        let (titled, located) = (keyspaces::titled(title), keyspaces::location(location));
        let (lower, mut from) = (title.to_lowercase(), Bound::Included(DocumentId::NIL));
        while let Some(document) = self.next_indexed(&titled, from)? {
            let next = self.next_indexed(&located, Bound::Included(document))?;
            let Some(next) = next else { return Ok(()) };
            from = if next == document { Bound::Excluded(next) } else { Bound::Included(next) };
            let both = (next == document).then_some(document);
            for document in self.records(both.as_slice())? {
                if document.title.to_lowercase() == lower && visit(document)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The first document from a bound on of the index rows whose keys begin with `prefix`.
    fn next_indexed(&self, prefix: &[u8], from: Bound<DocumentId>) -> Result<Option<DocumentId>> {
        let (start, end) = (from.map(|id| [prefix, id.as_bytes()].concat()), prefix_end_of(prefix));
        let lower = start.as_ref().map(Vec::as_slice);
        let (range, mut found) = (KeyRange { lower, ..KeyRange::half_open(prefix, &end) }, None);
        self.read.scan(range, &mut |key, value| {
            records::decode_empty(key, value)?;
            found = Some(keyspaces::parse_document(key).ok_or_else(|| records::corrupt(key))?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// The documents that match `query` after the cursor `after`, at most `limit`.
    ///
    /// A page costs a small multiple of the smallest index range that contains all matches: the
    /// documents in the locations, those of each tag, those within each span of times, or those
    /// within the span of days. It costs a multiple of the page alone if the query restricts
    /// nothing but locations and the span of its order, or nothing but one tag and sorts by ID.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Validation`] at `cursor` if the cursor
    /// belongs to another query.
    pub fn find_documents(
        &self,
        query: &DocumentQuery,
        after: Option<&PageCursor>,
        limit: usize,
    ) -> Result<DocumentPage> {
        let after = after.map(|cursor| query.read_cursor(cursor)).transpose()?;
        // One more than the page shows whether another page follows.
        let wanted = limit.saturating_add(1);
        let mut search = IndexPageBuilder {
            filter: RecordFilter::of(query),
            wanted,
            found: Vec::with_capacity(wanted.min(ROOM)),
            has_ended: limit == 0,
        };
        let mut in_order = MergeIterator::in_order(&search.filter, after);
        let others = MergeIterator::others(&search.filter);
        if others.is_empty()
            && let Some(range) = in_order.listing()
        {
            self.scan_listing(range, &mut search)?;
            return Ok(search.page());
        }
        let mut others: Vec<(MergeIterator, Vec<DocumentId>)> =
            others.into_iter().map(|stream| (stream, Vec::new())).collect();
        // Without other indexes the query's order is the only way: it is read to the end.
        let mut budget = if others.is_empty() { usize::MAX } else { PATIENCE };
        loop {
            self.read_on(&mut in_order, &mut search, budget)?;
            if search.is_done() {
                return Ok(search.page());
            }
            for (stream, collected) in &mut others {
                debug_assert!(collected.len() <= budget, "{} of {budget} keys", collected.len());
                let due = budget - collected.len();
                let taken = stream.take(self.read, due)?;
                let has_ended = taken.len() < due;
                collected.extend(taken.into_iter().map(|IndexEntry { rank: (_, id), .. }| id));
                if has_ended {
                    self.sort_out(std::mem::take(collected), after, &mut search)?;
                    return Ok(search.page());
                }
            }
            // Doubling bounds the total by a small multiple of the cheapest index range.
            budget = budget.saturating_mul(2);
        }
    }

    /// A document, if it matches `query`, with the cursor after it. One lookup.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn matching_document(
        &self,
        query: &DocumentQuery,
        document: DocumentId,
    ) -> Result<Option<(StoredDocument, PageCursor)>> {
        let row = self.stored_document(document)?;
        let Some(row) = row else { return Ok(None) };
        let is_taken = RecordFilter::of(query).takes(self.read, &row.record)?;
        let cursor = query.cursor(&row.record);
        Ok(is_taken.then_some((row, cursor)))
    }

    /// Reads rows that hold the documents, in the query's order, until the page is full.
    fn scan_listing(&self, range: KeyRange<'_>, search: &mut IndexPageBuilder<'_>) -> Result<()> {
        if search.is_done() || range.is_empty() {
            return Ok(());
        }
        if self.read.is_remote() {
            self.read.prefetch(&[ReadHint::Range(range, search.wanted)])?;
        }
        self.read.scan(range, &mut |key, value| {
            let document = document::decode_row(key, value)?;
            if search.filter.takes(self.read, &document.record)? {
                search.found.push(document);
            }
            let is_done = search.is_done();
            Ok(if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    /// Reads on in the query's order until the page is full, or `budget` keys are read.
    fn read_on(
        &self,
        stream: &mut MergeIterator,
        search: &mut IndexPageBuilder<'_>,
        budget: usize,
    ) -> Result<()> {
        while !search.is_done() && stream.read < budget {
            // Not done yet, so that fewer were found than wanted.
            let missing = search.wanted - search.found.len();
            let count = missing
                .max(if stream.read == 0 { 0 } else { BATCH })
                .min(budget - stream.read)
                .min(READ_AT_ONCE);
            let entries = stream.take(self.read, count)?;
            // The iterator returns fewer only at its end.
            search.has_ended = entries.len() < count;
            let documents = self.documents_of(entries)?;
            search.found.extend(self.taken(&search.filter, documents)?);
        }
        Ok(())
    }

    /// Selects the page from `documents`, which contain all matches in any order.
    fn sort_out(
        &self,
        documents: Vec<DocumentId>,
        after: Option<ResumeAnchor<'_>>,
        search: &mut IndexPageBuilder<'_>,
    ) -> Result<()> {
        // What was found in the query's order is a part of what follows.
        search.found.clear();
        if search.filter.query.order == IndexOrder::Id {
            self.sort_by_id(documents, after, search)
        } else {
            self.sort_by_record(&documents, after, search)
        }
    }

    /// The sort key is in the records, so all of them are read.
    fn sort_by_record(
        &self,
        documents: &[DocumentId],
        after: Option<ResumeAnchor<'_>>,
        search: &mut IndexPageBuilder<'_>,
    ) -> Result<()> {
        let DocumentQuery { order, descending, .. } = search.filter.query;
        let is_after = |key: &[u8]| {
            after
                .is_none_or(|after| if *descending { *key < *after.key } else { *key > *after.key })
        };
        let mut found = Vec::new();
        for documents in documents.chunks(READ_AT_ONCE) {
            let records = self.taken(&search.filter, self.records(documents)?)?.into_iter();
            found.extend(
                records
                    .map(|found| (order.key(&found.record), found))
                    .filter(|(key, _)| is_after(key)),
            );
        }
        found.sort_unstable_by(|(a, _), (b, _)| if *descending { b.cmp(a) } else { a.cmp(b) });
        search.found.extend(found.into_iter().take(search.wanted).map(|(_, found)| found));
        Ok(())
    }

    /// The sort key is known, so records are read until the page is full.
    fn sort_by_id(
        &self,
        mut documents: Vec<DocumentId>,
        after: Option<ResumeAnchor<'_>>,
        search: &mut IndexPageBuilder<'_>,
    ) -> Result<()> {
        let descending = search.filter.query.descending;
        if let Some(ResumeAnchor { rank: (_, last), .. }) = after {
            documents
                .retain(|document| if descending { *document < last } else { *document > last });
        }
        documents.sort_unstable_by(|a, b| if descending { b.cmp(a) } else { a.cmp(b) });
        let (mut rest, mut at_least) = (documents.as_slice(), 0);
        while !rest.is_empty() && !search.is_done() {
            let missing = search.wanted - search.found.len();
            let (next, later) =
                rest.split_at(missing.max(at_least).min(READ_AT_ONCE).min(rest.len()));
            search.found.extend(self.taken(&search.filter, self.records(next)?)?);
            (rest, at_least) = (later, BATCH);
        }
        Ok(())
    }

    /// Those of `documents` that the filter takes.
    fn taken(
        &self,
        filter: &RecordFilter<'_>,
        documents: Vec<StoredDocument>,
    ) -> Result<Vec<StoredDocument>> {
        let mut taken = Vec::with_capacity(documents.len());
        for row in documents {
            if filter.takes(self.read, &row.record)? {
                taken.push(row);
            }
        }
        Ok(taken)
    }

    /// The documents of entries, which are looked up if the index does not hold them.
    fn documents_of(&self, entries: Vec<IndexEntry>) -> Result<Vec<StoredDocument>> {
        if entries.iter().all(|entry| entry.document.is_some()) {
            return Ok(entries.into_iter().filter_map(|entry| entry.document).collect());
        }
        let ids: Vec<DocumentId> =
            entries.iter().map(|IndexEntry { rank: (_, id), .. }| *id).collect();
        self.records(&ids)
    }

    /// The rows of documents that an index names, in the given order.
    fn records(&self, documents: &[DocumentId]) -> Result<Vec<StoredDocument>> {
        let mut sorted: Vec<(DocumentId, usize)> =
            documents.iter().enumerate().map(|(index, document)| (*document, index)).collect();
        // In the order of the rows: neighbours are read by one scan.
        sorted.sort_unstable();
        let mut rows = vec![None; documents.len()];
        // A remote store looks all of them up in one round trip.
        let is_local = !self.read.is_remote();
        let lone = if is_local { self.scan_neighbours(&sorted, &mut rows)? } else { &sorted };
        let keys: Vec<[u8; 17]> = lone.iter().map(|(id, _)| keyspaces::document(*id)).collect();
        let keys: Vec<&[u8]> = keys.iter().map(<[u8; 17]>::as_slice).collect();
        self.read.get_many(&keys, &mut |index, value| {
            let (Some((_, number)), Some(key)) = (lone.get(index), keys.get(index)) else {
                invariant!("a store visits the keys that it was given")
            };
            let row = document::decode_row(key, value.ok_or_else(|| records::corrupt(key))?)?;
            if let Some(slot) = rows.get_mut(*number) {
                *slot = Some(row);
            }
            Ok(())
        })?;
        let rows: Option<Vec<StoredDocument>> = rows.into_iter().collect();
        let Some(rows) = rows else { invariant!("a store visits every key once") };
        Ok(rows)
    }

    /// Reads the rows of `documents`, which are sorted, as long as they are close together. Returns
    /// the documents whose rows are left.
    fn scan_neighbours<'d>(
        &self,
        documents: &'d [(DocumentId, usize)],
        rows: &mut [Option<StoredDocument>],
    ) -> Result<&'d [(DocumentId, usize)]> {
        let (mut left, end) = (documents, keyspaces::prefix_end([DOCUMENTS.tag]));
        while let [(first, _), ..] = left
            && left.len() >= MIN_SCANNED
        {
            let (before, mut passed) = (left.len(), 0);
            let start = keyspaces::document(*first);
            self.read.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
                let Some(((next, number), rest)) = left.split_first() else {
                    return Ok(ControlFlow::Break(()));
                };
                if key == keyspaces::document(*next) {
                    if let Some(slot) = rows.get_mut(*number) {
                        *slot = Some(document::decode_row(key, value)?);
                    }
                    left = rest;
                } else {
                    passed += 1;
                }
                // From here on lookups are cheaper.
                let is_sparse = passed > before - left.len() + MAX_PASSED;
                let is_over = left.is_empty() || is_sparse;
                Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            if before - left.len() < MIN_SCANNED {
                break;
            }
        }
        Ok(left)
    }

    /// The document as it is stored, with its title, if it exists. One lookup.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn stored_document(&self, document: DocumentId) -> Result<Option<StoredDocument>> {
        match self.transaction_cache() {
            Some(cache) => cache.document(self.read, document),
            None => stored_document(self.read, document),
        }
    }

    /// The number of documents in `location`. It is counted on write: one lookup.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn location_count(&self, location: Location) -> Result<u64> {
        document_count(self.read, &keyspaces::location_count(location))
    }

    /// The number of documents in each location that has some. One scan.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn location_counts(&self) -> Result<IdMap<Location, u64>> {
        let (start, mut counts) = ([LOCATION_COUNTS.tag], IdMap::default());
        let end = keyspaces::prefix_end(start);
        self.read.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
            let location = keyspaces::parse_location(key).ok_or_else(|| records::corrupt(key))?;
            counts.insert(location, records::decode(key, value, document::decode_count)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(counts)
    }

    /// The hidden document of the inbox, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn inbox(&self) -> Result<Option<DocumentRecord>> {
        self.first_document(&keyspaces::location(Location::Inbox))
    }

    /// The daily note of `day` outside of the trash.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn note_of(&self, day: Day) -> Result<Option<DocumentRecord>> {
        self.first_document(&keyspaces::notes_of(day))
    }

    /// The first document after `prefix` in an index.
    fn first_document(&self, prefix: &[u8]) -> Result<Option<DocumentRecord>> {
        let Some(document) = first_in(self.read, prefix)? else { return Ok(None) };
        self.document(document)?
            .map(Some)
            .ok_or_else(|| records::corrupt(&keyspaces::document(document)))
    }
}
