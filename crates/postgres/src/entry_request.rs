//! Requests for entries, and the statements that answer them.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use futures_util::future::{try_join, try_join_all};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error as DriverError, Row};

use crate::key_span::KeySpan;
use crate::read_cache::SharedEntry;
use crate::session::Statements;

/// A request for entries.
#[derive(Debug)]
pub(crate) enum EntryRequest {
    Keys(Vec<Vec<u8>>),
    Span {
        span: KeySpan,
        reverse: bool,
        limit: usize,
        /// Which record each entry names, if the records are read with it.
        records: Option<RecordKeys>,
    },
}

/// The keys of the records that the entries of an index name: see
/// [`IndexHint`](leafbase_kv::IndexHint).
#[derive(Debug)]
pub(crate) struct RecordKeys {
    pub(crate) prefix: Vec<u8>,
    pub(crate) id_bytes: usize,
}

impl RecordKeys {
    /// The key of the record that `key` names; `None` if it is too short to name one.
    fn of(&self, key: &[u8]) -> Option<Vec<u8>> {
        let id = key.get(key.len().checked_sub(self.id_bytes)?..)?;
        Some([&self.prefix, id].concat())
    }
}

/// The entries that answer a request, in its order, and the records that they name.
#[derive(Debug, Default)]
pub(crate) struct FoundEntries {
    pub(crate) entries: Vec<SharedEntry>,
    pub(crate) records: Vec<SharedEntry>,
}

/// The number of parts of [`Statements::batch`]: keys, three ascending spans, a descending one.
const PARTS: usize = 5;

/// Requests that one statement answers, by its parts, with their indexes. The server answers each
/// statement by a message of its own, which costs as much as a short statement itself.
type RequestBatch<'r> = [Option<(usize, &'r EntryRequest)>; PARTS];

impl EntryRequest {
    /// The parts of a batch that can answer this.
    const fn parts(&self) -> Range<usize> {
        match self {
            Self::Keys(_) => 0..1,
            Self::Span { records: None, span: KeySpan { upper: Some(_), .. }, reverse, .. } => {
                if *reverse {
                    4..5
                } else {
                    1..4
                }
            }
            Self::Span { .. } => 0..0,
        }
    }

    /// Bounds and limit of a part of a batch.
    fn bounds(&self) -> Option<(&Vec<u8>, &Vec<u8>, i64)> {
        match self {
            Self::Span { span: KeySpan { lower, upper: Some(upper) }, limit, .. } => {
                Some((lower, upper, i64::try_from(*limit).unwrap_or(i64::MAX)))
            }
            _ => None,
        }
    }
}

/// The batches of `requests`, and the requests that are answered by statements of their own.
fn batches(requests: &[EntryRequest]) -> (Vec<RequestBatch<'_>>, Vec<(usize, &EntryRequest)>) {
    let (mut batches, mut single): (Vec<RequestBatch<'_>>, Vec<_>) = (Vec::new(), Vec::new());
    for (index, request) in requests.iter().enumerate() {
        let parts = request.parts();
        if parts.is_empty() {
            single.push((index, request));
            continue;
        }
        let free = batches
            .iter_mut()
            .find_map(|batch| batch.get_mut(parts.clone())?.iter_mut().find(|part| part.is_none()));
        if let Some(part) = free {
            *part = Some((index, request));
        } else {
            let mut batch = RequestBatch::default();
            if let Some(part) = batch.get_mut(parts.start) {
                *part = Some((index, request));
            }
            batches.push(batch);
        }
    }
    batches.retain(|batch| {
        let mut filled = batch.iter().flatten();
        let first = filled.next();
        let is_alone = filled.next().is_none();
        single.extend(first.filter(|_| is_alone).copied());
        !is_alone
    });
    (batches, single)
}

/// Sends all requests together. The answers are in their order.
pub(crate) async fn read_all(
    client: &Client,
    statements: &Statements,
    space: i64,
    requests: &[EntryRequest],
) -> Result<Vec<FoundEntries>, DriverError> {
    let (batches, single) = batches(requests);
    let batched = batches.iter().map(|batch| read_batch(client, statements, space, batch));
    let alone = single.iter().map(|(index, request)| async move {
        Ok((*index, read(client, statements, space, request).await?))
    });
    let (batched, alone) = try_join(try_join_all(batched), try_join_all(alone)).await?;
    let mut answers: Vec<_> = batched.into_iter().flatten().chain(alone).collect();
    answers.sort_unstable_by_key(|(index, _)| *index);
    Ok(answers.into_iter().map(|(_, found)| found).collect())
}

async fn read_batch(
    client: &Client,
    statements: &Statements,
    space: i64,
    batch: &RequestBatch<'_>,
) -> Result<Vec<(usize, FoundEntries)>, DriverError> {
    let [keys, spans @ ..] = batch;
    let (no_keys, no_bound) = (Vec::new(), Vec::new());
    let keys = match keys {
        Some((_, EntryRequest::Keys(keys))) => keys,
        _ => &no_keys,
    };
    // A part without a request has a limit of 0, and is not run.
    let spans = spans.map(|part| part.and_then(|(_, request)| request.bounds()));
    let spans = spans.map(|bounds| bounds.unwrap_or((&no_bound, &no_bound, 0)));
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&space, keys];
    for (lower, upper, limit) in &spans {
        values.extend::<[&(dyn ToSql + Sync); 3]>([*lower, *upper, limit]);
    }
    let rows = client.query(&statements.batch, &values).await?;
    let mut bytes = AnswerBytes::of(&rows);
    let mut found: [FoundEntries; PARTS] = Default::default();
    for row in &rows {
        let part: i32 = row.try_get(2)?;
        let Some(part) = usize::try_from(part).ok().and_then(|part| found.get_mut(part)) else {
            // The statement has no other parts. Without answers the request fails where they are
            // counted; with a part of them, stored entries would pass for missing ones.
            return Ok(Vec::new());
        };
        part.entries.push(bytes.entry(row)?);
    }
    let answers = batch.iter().zip(found).filter_map(|(part, mut found)| {
        let (index, request) = (*part)?;
        // The order within a part of a union is not promised.
        found.entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        if matches!(request, EntryRequest::Span { reverse: true, .. }) {
            found.entries.reverse();
        }
        Some((index, found))
    });
    Ok(answers.collect())
}

async fn read(
    client: &Client,
    statements: &Statements,
    space: i64,
    request: &EntryRequest,
) -> Result<FoundEntries, DriverError> {
    let (KeySpan { lower, upper }, reverse, limit, records) = match request {
        EntryRequest::Keys(keys) => {
            let rows = client.query(&statements.get, &[&space, keys]).await?;
            return entries(&rows);
        }
        EntryRequest::Span { span, reverse, limit, records } => (span, *reverse, limit, records),
    };
    let limit = i64::try_from(*limit).unwrap_or(i64::MAX);
    let Some(upper) = upper else {
        let scan = if reverse { &statements.scan_back } else { &statements.scan };
        return entries(&client.query(scan, &[&space, lower, &limit]).await?);
    };
    let Some(records) = records else {
        let scan = if reverse { &statements.scan_back_within } else { &statements.scan_within };
        return entries(&client.query(scan, &[&space, lower, &limit, upper]).await?);
    };
    let scan = if reverse { &statements.index_back } else { &statements.index };
    let RecordKeys { prefix, id_bytes } = records;
    // No key is as long as the greatest number, so that none names a record.
    let id_bytes = i32::try_from(*id_bytes).unwrap_or(i32::MAX);
    let rows = client.query(scan, &[&space, lower, &limit, upper, prefix, &id_bytes]).await?;
    let mut bytes = AnswerBytes::of(&rows);
    let mut found = FoundEntries::default();
    for row in &rows {
        found.entries.push(bytes.entry(row)?);
        // Without a value the record does not exist.
        let value: Option<&[u8]> = row.try_get(2)?;
        if let Some((value, key)) = value.zip(records.of(row.try_get(0)?)) {
            found.records.push((key.into(), bytes.share(value)));
        }
    }
    Ok(found)
}

fn entries(rows: &[Row]) -> Result<FoundEntries, DriverError> {
    let mut bytes = AnswerBytes::of(rows);
    let entries = rows.iter().map(|row| bytes.entry(row)).collect::<Result<_, _>>()?;
    Ok(FoundEntries { entries, records: Vec::new() })
}

/// The keys and values of an answer, in one buffer that they share.
struct AnswerBytes(BytesMut);

impl AnswerBytes {
    /// Room for what `rows` hold.
    fn of(rows: &[Row]) -> Self {
        Self(BytesMut::with_capacity(rows.iter().map(Row::raw_size_bytes).sum()))
    }

    fn share(&mut self, bytes: &[u8]) -> Bytes {
        self.0.extend_from_slice(bytes);
        self.0.split().freeze()
    }

    fn entry(&mut self, row: &Row) -> Result<SharedEntry, DriverError> {
        Ok((self.share(row.try_get(0)?), self.share(row.try_get(1)?)))
    }
}
