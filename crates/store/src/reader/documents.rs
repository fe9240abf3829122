//! Reads of documents: queries, the inbox, daily notes, and counts of locations.

use leafbase_model::{Day, DocumentId, DocumentRecord, Location, Result, invariant};

use super::SpaceReader;
use super::index_scan::MergeIterator;
use super::query::{
    DocumentPage, DocumentQuery, IndexOrder, PageCursor, RecordFilter, ResumeAnchor,
};
use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::lookup::get;
use crate::records::{self, document};

/// Keys that are read in the query's order before its other indexes are tried, and at first of each
/// of those.
const PATIENCE: usize = 128;
/// Records that are read at once where it is unknown how many of them match.
const BATCH: usize = 32;
/// Maximum number of records that are read at once.
const READ_AT_ONCE: usize = 1_024;

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
            Ok(std::ops::ControlFlow::Break(()))
        },
    )?;
    Ok(first)
}

/// A page in progress.
struct IndexPageBuilder<'q> {
    filter: RecordFilter<'q>,
    /// One more than the page holds: it tells whether another page follows.
    wanted: usize,
    found: Vec<DocumentRecord>,
    has_ended: bool,
}

impl IndexPageBuilder<'_> {
    fn is_done(&self) -> bool {
        self.has_ended || self.found.len() >= self.wanted
    }

    fn page(mut self) -> DocumentPage {
        let goes_on = self.found.len() >= self.wanted;
        self.found.truncate(self.wanted.saturating_sub(1));
        let next =
            self.found.last().filter(|_| goes_on).map(|record| self.filter.query.cursor(record));
        DocumentPage { documents: self.found, next }
    }
}

impl SpaceReader<'_> {
    /// The documents that match `query` after the cursor `after`, at most `limit`.
    ///
    /// A page costs a small multiple of the smallest index range that contains all matches: the
    /// documents in the locations, those within each span of times, or those within the span of
    /// days. It costs a multiple of the page alone if the query restricts nothing but locations and
    /// the span of its order.
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
        // One more than the page tells whether another page follows.
        let wanted = limit.saturating_add(1);
        let mut search = IndexPageBuilder {
            filter: RecordFilter::of(query),
            wanted,
            found: Vec::new(),
            has_ended: limit == 0,
        };
        let mut in_order = MergeIterator::in_order(&search.filter, after);
        let mut others: Vec<(MergeIterator, Vec<DocumentId>)> =
            MergeIterator::others(&search.filter)
                .into_iter()
                .map(|stream| (stream, Vec::new()))
                .collect();
        // Without other indexes the query's order is the only way: it is read to the end.
        let mut budget = if others.is_empty() { usize::MAX } else { PATIENCE };
        loop {
            self.read_on(&mut in_order, &mut search, budget)?;
            if search.is_done() {
                return Ok(search.page());
            }
            for (stream, collected) in &mut others {
                let due = budget - collected.len();
                let taken = stream.take(self.read, due)?;
                let has_ended = taken.len() < due;
                collected.extend(taken);
                if has_ended {
                    self.sort_out(std::mem::take(collected), after, &mut search)?;
                    return Ok(search.page());
                }
            }
            // Doubling bounds the total by a small multiple of the cheapest index range.
            budget = budget.saturating_mul(2);
        }
    }

    /// Reads on in the query's order until the page is full, or `budget` keys are read.
    fn read_on(
        &self,
        stream: &mut MergeIterator,
        search: &mut IndexPageBuilder<'_>,
        budget: usize,
    ) -> Result<()> {
        while !search.is_done() && stream.read < budget {
            let missing = search.wanted - search.found.len();
            let count = missing
                .max(if stream.read == 0 { 0 } else { BATCH })
                .min(budget - stream.read)
                .min(READ_AT_ONCE);
            let documents = stream.take(self.read, count)?;
            // The iterator returns fewer only at its end.
            search.has_ended = documents.len() < count;
            let records = self.records(&documents)?;
            let taken = records.into_iter().filter(|record| search.filter.takes(record));
            search.found.extend(taken);
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
            let records =
                self.records(documents)?.into_iter().filter(|record| search.filter.takes(record));
            found.extend(
                records.map(|record| (order.key(&record), record)).filter(|(key, _)| is_after(key)),
            );
        }
        found.sort_unstable_by(|(a, _), (b, _)| if *descending { b.cmp(a) } else { a.cmp(b) });
        search.found.extend(found.into_iter().take(search.wanted).map(|(_, record)| record));
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
            let records =
                self.records(next)?.into_iter().filter(|record| search.filter.takes(record));
            search.found.extend(records);
            (rest, at_least) = (later, BATCH);
        }
        Ok(())
    }

    /// The records of documents that an index names.
    fn records(&self, documents: &[DocumentId]) -> Result<Vec<DocumentRecord>> {
        let keys: Vec<[u8; 17]> =
            documents.iter().map(|document| keyspaces::document(*document)).collect();
        let keys: Vec<&[u8]> = keys.iter().map(<[u8; 17]>::as_slice).collect();
        let mut records = Vec::with_capacity(keys.len());
        self.read.get_many(&keys, &mut |index, value| {
            let (Some(id), Some(key)) = (documents.get(index), keys.get(index)) else {
                invariant!("a store visits the keys that it was given")
            };
            let value = value.ok_or_else(|| records::corrupt(key))?;
            records.push(
                records::decode(key, value, |decoder| document::decode(*id, decoder))?.record,
            );
            Ok(())
        })?;
        invariant!(records.len() == documents.len(), "a store visits every key once");
        Ok(records)
    }

    /// The number of documents in `location`. It is counted on write: one lookup.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn location_count(&self, location: Location) -> Result<u64> {
        document_count(self.read, &keyspaces::location_count(location))
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
