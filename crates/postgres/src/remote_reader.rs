//! Reads of a transaction of the database, whose state no other transaction changes: a snapshot,
//! or that of a writer that holds the lock of its space.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::future::try_join;
use leafbase_kv::{IndexHint, KeyRange, ReadHint, Visit};
use leafbase_model::{Error, ErrorKind, Result, invariant};
use tokio_postgres::{Client, Error as DriverError};

use crate::entry_request::{EntryRequest, FoundEntries, RecordKeys, read_all};
use crate::failure::{FailureKind, RequestFailure};
use crate::key_span::{KeySpan, successor};
use crate::known_entry::KnownEntry;
use crate::pool::{Lease, MAX_ATTEMPTS, SessionPool, pause_after};
use crate::read_cache::{ReadCache, SharedEntry};
use crate::session::Statements;
use crate::session_link::LinkError;

/// Entries that the first request of a scan asks for.
const FIRST_PAGE: usize = 64;
/// Entries and bytes that a later request asks for, about.
const MAX_PAGE: usize = 4_096;
const PAGE_BYTES: usize = 1 << 20;

/// How a transaction begins.
#[derive(Clone, Debug)]
pub(crate) struct TransactionStart {
    pub(crate) text: String,
    /// Whether the space is locked for a writer.
    pub(crate) locks: bool,
}

/// Reads of a transaction, with what they found.
#[derive(Debug)]
pub(crate) struct RemoteReader {
    space: i64,
    connection: Mutex<ReaderConnection>,
    cache: Mutex<ReadCache>,
}

#[derive(Debug)]
pub(crate) struct ReaderConnection {
    pool: Arc<SessionPool>,
    /// `None` until the first request.
    lease: Option<Lease>,
    /// How the transaction begins, which the first request does.
    start: Option<TransactionStart>,
    /// The first failure: the transaction is lost.
    failure: Option<RequestFailure>,
}

impl ReaderConnection {
    /// Sends `request`, and before it what begins the transaction, unless that was done: both take
    /// one round trip.
    pub(crate) fn send<'c, T, F>(
        &'c mut self,
        request: impl FnOnce(&'c Client, &'c Statements, Option<TransactionStart>) -> F,
    ) -> Result<T, RequestFailure>
    where
        F: Future<Output = Result<T, DriverError>> + 'c,
    {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let Self { pool, lease, start, failure } = self;
        if lease.is_none() {
            let leased = pool.lease().inspect_err(|refused| *failure = Some(refused.clone()));
            *lease = Some(leased?);
        }
        let start = start.take();
        let answered = match lease {
            Some(lease) => {
                // Even if the answer is lost: the server may have begun it.
                lease.set_open(true);
                let session = lease.session();
                session.and_then(|session| {
                    session.wait(|client, statements| request(client, statements, start))
                })
            }
            None => Err(LinkError::Ended),
        };
        answered.map_err(|error| {
            let meaning = pool.failure(&error);
            *failure = Some(meaning.clone());
            meaning
        })
    }

    /// The failure of a request, after which the transaction cannot go on.
    pub(crate) const fn failure(&self) -> Option<&RequestFailure> {
        self.failure.as_ref()
    }

    pub(crate) const fn pool(&self) -> &Arc<SessionPool> {
        &self.pool
    }

    /// Fails every later request.
    pub(crate) fn fail(&mut self, failure: RequestFailure) {
        self.failure = Some(failure);
    }

    /// The transaction has ended, by a commit or by its failure.
    pub(crate) fn end(&mut self) {
        if let Some(lease) = &mut self.lease {
            lease.set_open(false);
        }
    }
}

/// Begins a transaction. Returns whether its space exists, as far as it is locked.
pub(crate) async fn begin(
    client: &Client,
    statements: &Statements,
    space: i64,
    start: Option<TransactionStart>,
) -> Result<bool, DriverError> {
    let Some(start) = start else { return Ok(true) };
    if !start.locks {
        return client.batch_execute(&start.text).await.map(|()| true);
    }
    // Sent together, and run in this order.
    let locked = async { client.query(&statements.lock, &[&space]).await };
    let ((), rows) = try_join(client.batch_execute(&start.text), locked).await?;
    Ok(!rows.is_empty())
}

/// The error of a space that another host removed.
pub(crate) fn space_is_gone() -> Error {
    Error::new(ErrorKind::NotFound, "the space is no longer in the database")
}

impl RemoteReader {
    /// Reads of a transaction that the first request begins as `start` says.
    pub(crate) fn new(pool: Arc<SessionPool>, space: i64, start: TransactionStart) -> Self {
        let start = Some(start);
        let connection = ReaderConnection { pool, lease: None, start, failure: None };
        Self { space, connection: Mutex::new(connection), cache: Mutex::default() }
    }

    pub(crate) fn connection(&self) -> MutexGuard<'_, ReaderConnection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn connection_mut(&mut self) -> &mut ReaderConnection {
        self.connection.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn cache(&self) -> MutexGuard<'_, ReadCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what was read, because the transaction writes.
    pub(crate) fn clear_cache(&mut self) {
        self.cache.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Makes the requests in one round trip.
    fn request(&self, requests: &[EntryRequest]) -> Result<Vec<FoundEntries>> {
        let mut connection = self.connection();
        // A snapshot that was not read yet begins again if its connection is lost. A writer runs
        // again as a whole.
        let start = connection.start.clone().filter(|start| !start.locks);
        let mut attempt = 0;
        loop {
            let space = self.space;
            let answered = connection.send(|client, statements, start| async move {
                let begun = begin(client, statements, space, start);
                try_join(begun, read_all(client, statements, space, requests)).await
            });
            match answered {
                Ok((true, rows)) => return Ok(rows),
                Ok((false, _)) => {
                    let error = space_is_gone();
                    connection.fail(RequestFailure::refused(error.clone()));
                    return Err(error);
                }
                Err(failure) => {
                    let is_lost = failure.kind == FailureKind::Lost && attempt < MAX_ATTEMPTS;
                    let Some(start) = start.as_ref().filter(|_| is_lost) else {
                        return Err(failure.error);
                    };
                    connection.lease = None;
                    connection.failure = None;
                    connection.start = Some(start.clone());
                    connection.pool.close_idle();
                    pause_after(attempt);
                    attempt += 1;
                }
            }
        }
    }

    /// Begins the transaction, if that was not done, and reads what `hints` name and is not cached,
    /// in one round trip.
    pub(crate) fn load(&self, hints: &[ReadHint<'_>]) -> Result<()> {
        let mut requests = self.missing(hints);
        if requests.is_empty() {
            if self.connection().start.is_none() {
                return Ok(());
            }
            // The state is that of the first query, whatever that reads.
            requests.push(EntryRequest::Keys(Vec::new()));
        }
        let answers = self.request(&requests)?;
        invariant!(
            answers.len() == requests.len(),
            "{} answers to {} requests would be cached under the wrong keys",
            answers.len(),
            requests.len()
        );
        let mut cache = self.cache();
        for (request, found) in requests.into_iter().zip(answers) {
            add(&mut cache, request, found);
        }
        Ok(())
    }

    /// The requests for what is not cached of `hints`.
    fn missing(&self, hints: &[ReadHint<'_>]) -> Vec<EntryRequest> {
        let cache = self.cache();
        let (mut keys, mut requests) = (Vec::new(), Vec::new());
        for hint in hints {
            match hint {
                ReadHint::Key(key) if cache.get(key).is_none() => keys.push(key.to_vec()),
                ReadHint::Range(range, entries) => {
                    requests.extend(uncached(&cache, *range, *entries, None));
                }
                ReadHint::Index(IndexHint { range, entries, record_prefix, id_bytes }) => {
                    let prefix = record_prefix.to_vec();
                    let records = RecordKeys { prefix, id_bytes: *id_bytes };
                    requests.extend(uncached(&cache, *range, *entries, Some(records)));
                }
                // A cached key, or a later kind of hint, without which a read takes a round trip.
                _ => {}
            }
        }
        if !keys.is_empty() {
            requests.push(EntryRequest::Keys(keys));
        }
        requests
    }

    /// Whether it is cached what `key` has, or that it does not exist.
    pub(crate) fn is_loaded(&self, key: &[u8]) -> bool {
        self.cache().get(key).is_some()
    }

    /// Whether all entries of `span` are cached.
    pub(crate) fn has_cached(&self, span: &KeySpan) -> bool {
        self.cache().scan(span, false).is_some_and(|cached| cached.rest.is_none())
    }

    /// The value of `key`, if it exists.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        if let Some(known) = self.cache().get(key) {
            return Ok(known.value());
        }
        let mut answers = self.request(&[EntryRequest::Keys(vec![key.to_vec()])])?;
        let found = answers.pop().and_then(|mut found| found.entries.pop());
        let value = found.map(|(_, value)| value);
        self.cache().add(Bytes::copy_from_slice(key), value.clone());
        Ok(value)
    }

    /// The values of `keys`, in one round trip.
    pub(crate) fn get_all(&self, keys: &[&[u8]]) -> Result<Vec<Option<Bytes>>> {
        let mut found: Vec<_> = {
            let cache = self.cache();
            keys.iter().map(|key| cache.get(key)).collect()
        };
        let unknown = keys.iter().zip(&found).filter(|(_, known)| known.is_none());
        let unknown: Vec<Vec<u8>> = unknown.map(|(key, _)| key.to_vec()).collect();
        if !unknown.is_empty() {
            let answers = self.request(&[EntryRequest::Keys(unknown.clone())])?;
            let values: HashMap<_, _> =
                answers.into_iter().flat_map(|found| found.entries).collect();
            let mut cache = self.cache();
            for key in unknown {
                let value = values.get(&*key).cloned();
                cache.add(key.into(), value);
            }
            for (key, slot) in keys.iter().zip(&mut found).filter(|(_, slot)| slot.is_none()) {
                *slot = Some(values.get(*key).cloned().into());
            }
        }
        // An unknown key would read as one that does not exist.
        debug_assert!(found.iter().all(Option::is_some), "each key is known after the request");
        Ok(found.into_iter().map(|known| known.and_then(KnownEntry::value)).collect())
    }

    /// Passes the entries of `span` to `visit`, page by page.
    pub(crate) fn scan(&self, mut span: KeySpan, reverse: bool, visit: Visit<'_>) -> Result<()> {
        let mut limit = FIRST_PAGE;
        while !span.is_empty() {
            // The cache is unlocked again before entries are visited: `visit` may read, too.
            let cached = self.cache().scan(&span, reverse);
            let (entries, rest) = match cached {
                Some(cached) => (cached.entries, cached.rest),
                None => self.page(span, reverse, &mut limit)?,
            };
            for (key, value) in &entries {
                if visit(key, value)?.is_break() {
                    return Ok(());
                }
            }
            match rest {
                Some(rest) => span = rest,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The first `limit` entries of `span`, and what is left of it.
    fn page(
        &self,
        span: KeySpan,
        reverse: bool,
        limit: &mut usize,
    ) -> Result<(Vec<SharedEntry>, Option<KeySpan>)> {
        let requested = *limit;
        let request =
            EntryRequest::Span { span: span.clone(), reverse, limit: requested, records: None };
        let Some(FoundEntries { entries, .. }) =
            self.request(std::slice::from_ref(&request))?.pop()
        else {
            invariant!("one request has one reply")
        };
        invariant!(
            entries.len() <= requested,
            "{} entries where {requested} were requested",
            entries.len()
        );
        let (covered, rest) = divide(span, reverse, requested, &entries);
        // Later pages are those of long scans, which are not repeated.
        if requested == FIRST_PAGE {
            self.cache().add_span(covered, entries.iter().cloned());
        }
        let bytes: usize = entries.iter().map(|(key, value)| key.len() + value.len()).sum();
        // Above the limit of the first page, by which the cache tells first pages from later ones.
        let fitting = PAGE_BYTES.saturating_mul(entries.len()) / bytes.max(1);
        *limit = fitting.clamp(FIRST_PAGE + 1, MAX_PAGE);
        Ok((entries, rest))
    }
}

/// The part of `span` that `entries` cover, which `limit` were asked for, and the rest.
fn divide(
    span: KeySpan,
    reverse: bool,
    limit: usize,
    entries: &[SharedEntry],
) -> (KeySpan, Option<KeySpan>) {
    debug_assert!(entries.len() <= limit, "{} entries of at most {limit}", entries.len());
    // Fewer than the limit: the database has no more in the span.
    let last = entries.last().filter(|_| entries.len() >= limit);
    let Some((last, _)) = last else { return (span, None) };
    let KeySpan { lower, upper } = span;
    if reverse {
        let last = last.to_vec();
        let rest = KeySpan { lower, upper: Some(last.clone()) };
        return (KeySpan { lower: last, upper }, Some(rest));
    }
    let next = successor(last);
    let rest = KeySpan { lower: next.clone(), upper };
    (KeySpan { lower, upper: Some(next) }, Some(rest))
}

/// The request for up to `limit` entries of `range`, if they are not cached.
fn uncached(
    cache: &ReadCache,
    range: KeyRange<'_>,
    limit: usize,
    records: Option<RecordKeys>,
) -> Option<EntryRequest> {
    let (mut span, reverse, limit) = (KeySpan::of(range), range.reverse, limit.clamp(1, MAX_PAGE));
    if span.is_empty() {
        return None;
    }
    if let Some(cached) = cache.scan(&span, reverse) {
        // The entries before the rest are cached already.
        span = cached.rest.filter(|_| cached.entries.len() < limit)?;
    }
    Some(EntryRequest::Span { span, reverse, limit, records })
}

/// Adds the answer to a request.
fn add(
    cache: &mut ReadCache,
    request: EntryRequest,
    FoundEntries { entries, records }: FoundEntries,
) {
    match request {
        EntryRequest::Keys(keys) => {
            let found: HashMap<_, _> = entries.into_iter().collect();
            for key in keys {
                let value = found.get(&*key).cloned();
                cache.add(key.into(), value);
            }
        }
        EntryRequest::Span { span, reverse, limit, .. } => {
            let (covered, _) = divide(span, reverse, limit, &entries);
            cache.add_span(covered, entries);
            for (key, value) in records {
                cache.add(key, Some(value));
            }
        }
    }
}
