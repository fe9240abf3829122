//! The traits of an ordered key-value store.
//!
//! Keys compare as unsigned bytes. Reads pass borrowed bytes to a callback, so a store with cached
//! or memory-mapped pages copies nothing. The traits are object safe: no code above them is generic
//! over the store.

use std::fmt;
use std::ops::{Bound, ControlFlow, RangeBounds};
use std::sync::Arc;

use leafbase_model::Result;

use crate::commit_signal::CommitSignal;
use crate::write_batch::WriteBatch;

/// A range of keys and the direction of a scan over it.
#[derive(Clone, Copy, Debug)]
pub struct KeyRange<'a> {
    /// The lower bound.
    pub lower: Bound<&'a [u8]>,
    /// The upper bound.
    pub upper: Bound<&'a [u8]>,
    /// Whether a scan runs in descending order.
    pub reverse: bool,
}

impl<'a> KeyRange<'a> {
    /// The keys from `lower`, inclusive, to `upper`, exclusive, ascending.
    pub fn half_open(lower: &'a [u8], upper: &'a [u8]) -> Self {
        Self { lower: Bound::Included(lower), upper: Bound::Excluded(upper), reverse: false }
    }

    /// The same keys in the opposite direction.
    pub fn reversed(self) -> Self {
        Self { reverse: !self.reverse, ..self }
    }

    /// Whether a key is within the bounds.
    pub fn contains(&self, key: &[u8]) -> bool {
        RangeBounds::<[u8]>::contains(&(self.lower, self.upper), key)
    }

    /// Whether the bounds exclude every key. Check this before passing the bounds to a map of the
    /// standard library, which panics on bounds that cross.
    pub fn is_empty(&self) -> bool {
        match (self.lower, self.upper) {
            (Bound::Unbounded, Bound::Excluded(upper)) => upper.is_empty(),
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
            (
                Bound::Included(lower) | Bound::Excluded(lower),
                Bound::Excluded(upper) | Bound::Included(upper),
            ) => lower >= upper,
        }
    }
}

/// Callback of a scan with key and value of an entry; `Break` ends the scan.
pub type Visit<'f> = &'f mut dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>;

/// Callback of a lookup of several keys with the index of a key and its value, if present.
pub type VisitMany<'f> = &'f mut dyn FnMut(usize, Option<&[u8]>) -> Result<()>;

/// A read that a caller is about to make: see [`Read::prefetch`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ReadHint<'a> {
    /// A lookup of a key.
    Key(&'a [u8]),
    /// A scan, of which about this number of entries is needed.
    Range(KeyRange<'a>, usize),
    /// A scan of an index, and a lookup of the record that each of its entries names.
    Index(IndexHint<'a>),
}

/// A scan of an index whose keys end with the ID of a record, and the lookups of these records: see
/// [`ReadHint::Index`].
#[derive(Clone, Copy, Debug)]
pub struct IndexHint<'a> {
    /// The range of the index.
    pub range: KeyRange<'a>,
    /// About how many of its entries are needed.
    pub entries: usize,
    /// The key of a record is this prefix ..
    pub record_prefix: &'a [u8],
    /// .. followed by this number of bytes from the end of a key of the index. A shorter key names
    /// no record.
    pub id_bytes: usize,
}

/// Reads of one consistent state. A callback may read again, but not write.
pub trait Read {
    /// Passes the value of `key` to `visit` and returns `true`, or returns `false` if there is
    /// none.
    ///
    /// # Errors
    /// Errors of the store and of `visit`.
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool>;

    /// Passes the entries of `range` to `visit` in order, until it breaks.
    ///
    /// # Errors
    /// Errors of the store and of `visit`.
    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()>;

    /// Passes the value of each key to `visit`, in the order of `keys`. A remote store answers in
    /// one round trip.
    ///
    /// # Errors
    /// Errors of the store and of `visit`.
    fn get_many(&self, keys: &[&[u8]], visit: VisitMany<'_>) -> Result<()> {
        for (index, key) in keys.iter().enumerate() {
            let found = self.get(key, &mut |value| visit(index, Some(value)))?;
            if !found {
                visit(index, None)?;
            }
        }
        Ok(())
    }

    /// Whether a read waits for another machine, so that [`Self::prefetch`] saves time. A caller
    /// asks before it collects hints.
    fn is_remote(&self) -> bool {
        false
    }

    /// Whether a read of `key` waits for no other machine: always with a near store, and with a
    /// remote one once the key was read or prefetched.
    fn is_loaded(&self, key: &[u8]) -> bool {
        let _ = key;
        !self.is_remote()
    }

    /// Loads what the caller is about to read: a remote store answers in one round trip, and the
    /// reads that follow from its memory. Changes no result. By default does nothing.
    ///
    /// # Errors
    /// Errors of the store.
    fn prefetch(&self, hints: &[ReadHint<'_>]) -> Result<()> {
        let _ = hints;
        Ok(())
    }
}

/// Writes that commit atomically. Reads see the transaction's own writes.
pub trait Transaction: Read {
    /// Sets `key` to `value`.
    ///
    /// # Errors
    /// Errors of the store.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Deletes `key`, if it exists.
    ///
    /// # Errors
    /// Errors of the store.
    fn delete(&mut self, key: &[u8]) -> Result<()>;

    /// Applies the entries of a batch in order. Fastest if their keys ascend.
    ///
    /// # Errors
    /// Errors of the store.
    fn apply(&mut self, batch: &WriteBatch) -> Result<()> {
        for (key, value) in batch.iter() {
            match value {
                Some(value) => self.put(key, value)?,
                None => self.delete(key)?,
            }
        }
        Ok(())
    }

    /// Deletes the keys from `lower`, inclusive, to `upper`, exclusive.
    ///
    /// # Errors
    /// Errors of the store.
    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()>;
}

impl WriteBatch {
    /// Applies the batch to `transaction` and clears it.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn write_to(&mut self, transaction: &mut dyn Transaction) -> Result<()> {
        if !self.is_empty() {
            transaction.apply(self)?;
        }
        self.clear();
        Ok(())
    }
}

/// An immutable state of the store.
pub trait Snapshot: Read + Send + Sync {
    /// The approximate number of keys, for progress reports, if the store knows it without a scan.
    fn approximate_len(&self) -> Option<u64> {
        None
    }

    /// The number of this state among those of the store: snapshots of one store value with equal
    /// numbers have equal entries, and later ones do not have a lower number. `None`, the default,
    /// if the store cannot tell without a read, as when other processes write to it: its callers
    /// then read what identifies a state from the entries.
    fn version(&self) -> Option<u64> {
        None
    }
}

/// The guarantee of a returned commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// The write is durable: it survives a power loss.
    #[default]
    Durable,
    /// The write survives the end of the process, however it ends, and is durable once a later
    /// durable write, a flush, a close, or [`Store::sync_overdue`] has synced it. A power loss or a
    /// crash of the operating system before that takes a suffix of the relaxed writes, each of them
    /// entirely.
    Relaxed,
}

/// Options of one write.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The guarantee of the commit. Default: [`Durability::Durable`].
    pub durability: Durability,
    /// The present time of the caller in milliseconds since any fixed moment, for
    /// [`Store::sync_overdue`]: a store reads no clock. Default: 0.
    pub at_millis: i64,
}

impl WriteOptions {
    /// Options with the given durability.
    pub const fn durability(durability: Durability) -> Self {
        Self { durability, at_millis: 0 }
    }

    /// Sets [`Self::at_millis`].
    pub const fn at_millis(self, at_millis: i64) -> Self {
        Self { at_millis, ..self }
    }

    /// The options of two writes that commit together: durable if one of them is, and made when the
    /// earlier one was.
    pub(crate) fn joined(self, other: Self) -> Self {
        let durability = if self.is_durable() { self.durability } else { other.durability };
        Self { durability, at_millis: self.at_millis.min(other.at_millis) }
    }

    pub(crate) fn is_durable(self) -> bool {
        self.durability == Durability::Durable
    }
}

/// An ordered key-value store.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// A snapshot with every write that has returned, whatever its durability, and no part of a
    /// running one. Does not wait for a running write. A snapshot prevents the reuse of space while
    /// it lives, so hold it for one call only.
    ///
    /// # Errors
    /// Errors of the store.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>>;

    /// A snapshot of the state at its first read, if that is later than this call: a remote store
    /// saves a round trip. By default [`Self::snapshot`].
    ///
    /// # Errors
    /// As [`Self::snapshot`].
    fn snapshot_at_first_read(&self) -> Result<Box<dyn Snapshot>> {
        self.snapshot()
    }

    /// Whether [`Read::is_remote`] holds for the reads of this store.
    fn is_remote(&self) -> bool {
        false
    }

    /// Runs `f` in a transaction. Commits if it returns `Ok` and rolls back if it returns `Err`.
    ///
    /// One closure runs at a time; the next one waits, so `f` must not write to the same store.
    /// Durable writes of several threads may share an fsync. `f` runs again if a write that it read
    /// fails: it must reset at its start whatever it computes.
    ///
    /// # Errors
    /// Errors of `f` and of the store. After an error nothing of the write is visible, now or after
    /// a restart, with one exception: an indeterminate commit, whose message says that the outcome
    /// is known only when the store can be opened again.
    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()>;

    /// Makes every write that has returned durable.
    ///
    /// # Errors
    /// Errors of the store.
    fn flush(&self) -> Result<()>;

    /// Makes every write that has returned durable if the oldest relaxed one that is not durable
    /// yet was made longer ago than the store's options allow, so that a power loss takes relaxed
    /// writes of a bounded time only. `now` gives the present time as in
    /// [`WriteOptions::at_millis`], and is called only if there is such a write. Does not wait for
    /// a commit in flight. By default, for stores whose writes are durable or in memory, does
    /// nothing.
    ///
    /// # Errors
    /// Errors of the store. The writes stay visible, and the next call tries again.
    fn sync_overdue(&self, now: &dyn Fn() -> i64) -> Result<()> {
        let _ = now;
        Ok(())
    }

    /// The signal that the handles of this store share within the process. A writer of a space
    /// gives it after each commit; a store that hears of commits elsewhere gives it, too. `None`,
    /// the default, if handles do not learn of each other's commits: they then look at
    /// [`CommitSignal::DEFAULT_POLL_INTERVAL`].
    fn commit_signal(&self) -> Option<Arc<CommitSignal>> {
        None
    }

    /// Returns unused space to the file system as far as the store can. May need as much again
    /// while it runs. Waits for writers.
    ///
    /// # Errors
    /// Errors of the store; the data is unchanged.
    fn compact(&self) -> Result<()>;

    /// Verifies the store's own structures and returns whether they are intact. Reads everything,
    /// changes nothing, and excludes writers.
    ///
    /// # Errors
    /// Errors of the store.
    fn verify(&self) -> Result<bool>;

    /// The size of the store in bytes: file length, or memory.
    ///
    /// # Errors
    /// Errors of the store.
    fn bytes(&self) -> Result<u64>;
}
