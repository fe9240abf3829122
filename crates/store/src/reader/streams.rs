//! Ranges of document indexes, read step by step: as much of each as turns out to be needed.

use std::collections::{BTreeSet, VecDeque};
use std::ops::{Bound, ControlFlow};

use leafbase_model::{DocumentId, Location, Result};

use super::query::{Filter, Order, Position, Span, Within};
use crate::keyspaces::{self, Keyspace, day_bytes, end_of_slice, time_bytes};
use crate::kv::{KeyRange, Read};
use crate::records;

/// One range of keys, each of which ends with a document.
struct Lane {
    lower: Vec<u8>,
    upper: Vec<u8>,
    /// The key that was read last, or that it begins behind.
    behind: Option<Vec<u8>>,
    /// Read, and not given yet.
    buffer: VecDeque<DocumentId>,
    is_exhausted: bool,
}

impl Lane {
    fn new(lower: Vec<u8>, upper: Vec<u8>, behind: Option<Vec<u8>>) -> Self {
        Self { lower, upper, behind, buffer: VecDeque::new(), is_exhausted: false }
    }

    /// The documents kept in `location`.
    fn of_location(location: Location, behind: Option<Position<'_>>) -> Self {
        let prefix = keyspaces::location(location).to_vec();
        let behind = behind.map(|position| keyspaces::by_location(location, position.document).to_vec());
        Self::new(prefix.clone(), end_of_slice(&prefix), behind)
    }

    /// The rows of an index from one value up to another.
    fn of_span<const N: usize>(
        keyspace: Keyspace,
        from: Option<[u8; N]>,
        to: Option<[u8; N]>,
        behind: Option<Position<'_>>,
    ) -> Self {
        let key = |part: Option<[u8; N]>| {
            let mut key = vec![keyspace.tag];
            key.extend(part.iter().flatten());
            key
        };
        Self::new(key(from), end_of_slice(&key(to)), behind.map(|position| position.key.to_vec()))
    }

    fn range(&self, descending: bool) -> KeyRange<'_> {
        let mut range = KeyRange { reverse: descending, ..KeyRange::half_open(&self.lower, &self.upper) };
        match self.behind.as_deref() {
            Some(behind) if descending && *behind < *self.upper => range.upper = Bound::Excluded(behind),
            Some(behind) if !descending && *behind >= *self.lower => range.lower = Bound::Excluded(behind),
            _ => {}
        }
        range
    }

    /// Reads at most `count` keys more; gives how many it read.
    fn fill(&mut self, source: &dyn Read, descending: bool, count: usize) -> Result<usize> {
        let (range, mut last, mut read) = (self.range(descending), None, VecDeque::new());
        if !range.is_empty() && count > 0 {
            source.scan(range, &mut |key, _| {
                read.push_back(keyspaces::read_document(key).ok_or_else(|| records::damaged(key))?);
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

/// The documents of one range, or of several by ID.
pub(super) struct Stream {
    lanes: Vec<Lane>,
    /// The next document of each lane that has begun and not ended.
    heads: BTreeSet<(DocumentId, usize)>,
    /// The lane that the last document was taken from: its next one is read when it is needed, and not before.
    taken_from: Option<usize>,
    has_begun: bool,
    descending: bool,
    /// How many keys were read.
    pub(super) read: usize,
}

impl Stream {
    fn new(lanes: Vec<Lane>, descending: bool) -> Self {
        Self { lanes, heads: BTreeSet::new(), taken_from: None, has_begun: false, descending, read: 0 }
    }

    /// The documents in the query's order, behind a position.
    pub(super) fn in_order(filter: &Filter<'_>, behind: Option<Position<'_>>) -> Self {
        let query = filter.query;
        let lanes = match query.order {
            Order::Id => lanes_within(filter, behind)
                .unwrap_or_else(|| vec![Lane::of_span(query.order.keyspace(), None::<[u8; 0]>, None, behind)]),
            Order::Created => vec![by_time(query.order, query.created, behind)],
            Order::Modified => vec![by_time(query.order, query.modified, behind)],
            Order::Day => vec![by_day(query.day, behind)],
        };
        Self::new(lanes, query.descending)
    }

    /// The other ranges, each of which has all documents that the query asks for, in orders of their own.
    pub(super) fn others(filter: &Filter<'_>) -> Vec<Self> {
        let query = filter.query;
        let within = lanes_within(filter, None).filter(|_| query.order != Order::Id);
        let spans = [
            (Order::Created, query.created.is_bounded().then(|| by_time(Order::Created, query.created, None))),
            (Order::Modified, query.modified.is_bounded().then(|| by_time(Order::Modified, query.modified, None))),
            (Order::Day, query.day.is_bounded().then(|| by_day(query.day, None))),
        ];
        let spans = spans.into_iter().filter(|(order, _)| *order != query.order).filter_map(|(_, lane)| lane);
        within.into_iter().chain(spans.map(|lane| vec![lane])).map(|lanes| Self::new(lanes, false)).collect()
    }

    /// At most `count` documents more; fewer only where it ends.
    pub(super) fn take(&mut self, source: &dyn Read, count: usize) -> Result<Vec<DocumentId>> {
        let step = count.div_ceil(self.lanes.len().max(1));
        if !self.has_begun {
            self.has_begun = true;
            for number in 0..self.lanes.len() {
                self.advance(source, number, step)?;
            }
        }
        let mut taken = Vec::new();
        while taken.len() < count {
            if let Some(number) = self.taken_from.take() {
                self.advance(source, number, step)?;
            }
            let head = if self.descending { self.heads.pop_last() } else { self.heads.pop_first() };
            let Some((document, number)) = head else { break };
            taken.push(document);
            self.taken_from = Some(number);
        }
        Ok(taken)
    }

    /// Sets the next head of a lane, if it has one.
    fn advance(&mut self, source: &dyn Read, number: usize, step: usize) -> Result<()> {
        let Some(lane) = self.lanes.get_mut(number) else { return Ok(()) };
        if lane.buffer.is_empty() && !lane.is_exhausted {
            self.read += lane.fill(source, self.descending, step)?;
        }
        self.heads.extend(lane.buffer.pop_front().map(|document| (document, number)));
        Ok(())
    }
}

/// The ranges of the places that are asked for; none if all places are.
fn lanes_within(filter: &Filter<'_>, behind: Option<Position<'_>>) -> Option<Vec<Lane>> {
    match filter.query.within {
        Within::All => None,
        Within::Location(location) => Some(vec![Lane::of_location(location, behind)]),
        Within::Folders(_) => {
            let folders = filter.folders.iter();
            Some(folders.map(|folder| Lane::of_location(Location::Folder(*folder), behind)).collect())
        }
    }
}

fn by_time(order: Order, span: Span<leafbase_model::Timestamp>, behind: Option<Position<'_>>) -> Lane {
    Lane::of_span(order.keyspace(), span.from.map(time_bytes), span.to.map(time_bytes), behind)
}

fn by_day(span: Span<leafbase_model::Day>, behind: Option<Position<'_>>) -> Lane {
    Lane::of_span(Order::Day.keyspace(), span.from.map(day_bytes), span.to.map(day_bytes), behind)
}
