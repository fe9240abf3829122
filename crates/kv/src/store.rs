//! The ordered key-value trait that everything in a space is stored behind.
//!
//! Keys are compared byte by byte, unsigned. Readers are handed borrowed bytes, so that an engine
//! with memory-mapped or cached pages copies nothing. The traits are object safe and nothing above
//! them is generic over the engine.

use std::fmt;
use std::ops::{Bound, ControlFlow};

use leafbase_model::Result;

use crate::rows::Rows;

/// Keys from `lower` to `upper`, in ascending order or in descending.
#[derive(Clone, Copy, Debug)]
pub struct KeyRange<'a> {
    /// Where the range begins.
    pub lower: Bound<&'a [u8]>,
    /// Where the range ends.
    pub upper: Bound<&'a [u8]>,
    /// Whether the last key comes first.
    pub reverse: bool,
}

impl<'a> KeyRange<'a> {
    /// From `lower` on, up to but without `upper`.
    pub fn half_open(lower: &'a [u8], upper: &'a [u8]) -> Self {
        Self { lower: Bound::Included(lower), upper: Bound::Excluded(upper), reverse: false }
    }

    /// The same keys, last one first.
    pub fn reversed(self) -> Self {
        Self { reverse: !self.reverse, ..self }
    }

    /// Whether no key can lie within. Maps of the standard library panic on bounds that cross.
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

/// What a scan calls for each entry: `Break` ends the scan.
pub type Visit<'f> = &'f mut dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>;

/// What a read of several keys calls for each: its index and its value, if there is one.
pub type VisitMany<'f> = &'f mut dyn FnMut(usize, Option<&[u8]>) -> Result<()>;

/// Reads of one consistent state. A visit may read again; it may not write.
pub trait Read {
    /// Hands the value of `key` to `visit`; `false` if there is none. The borrow ends with the
    /// visit.
    ///
    /// # Errors
    /// What the engine reports, or what `visit` returned.
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool>;

    /// Hands each entry of `range` to `visit` in order, until it breaks.
    ///
    /// # Errors
    /// What the engine reports, or what `visit` returned.
    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()>;

    /// Hands the value of each key to `visit` together with its index in `keys`, in the order of
    /// `keys`. A remote engine answers in one round trip.
    ///
    /// # Errors
    /// What the engine reports, or what `visit` returned.
    fn get_many(&self, keys: &[&[u8]], visit: VisitMany<'_>) -> Result<()> {
        for (index, key) in keys.iter().enumerate() {
            let found = self.get(key, &mut |value| visit(index, Some(value)))?;
            if !found {
                visit(index, None)?;
            }
        }
        Ok(())
    }
}

/// Writes that become visible together or not at all. It reads its own writes.
pub trait Transaction: Read {
    /// Sets `key` to `value`, whatever was there.
    ///
    /// # Errors
    /// What the engine reports.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Removes `key`, if it is there.
    ///
    /// # Errors
    /// What the engine reports.
    fn delete(&mut self, key: &[u8]) -> Result<()>;

    /// Puts and deletes `rows`, one after the other; fastest where their keys ascend.
    ///
    /// # Errors
    /// What the engine reports.
    fn put_all(&mut self, rows: &Rows) -> Result<()> {
        for (key, value) in rows.iter() {
            match value {
                Some(value) => self.put(key, value)?,
                None => self.delete(key)?,
            }
        }
        Ok(())
    }

    /// Removes every key from `lower` on, up to but without `upper`.
    ///
    /// # Errors
    /// What the engine reports.
    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()>;
}

/// A state that stays as it is while others write.
pub trait Snapshot: Read + Send + Sync {
    /// About how many keys there are, where the engine knows that without a look at them: for those
    /// who are told how far a scan is.
    fn approximate_len(&self) -> Option<u64> {
        None
    }
}

/// What a commit promises when it returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// The write survives the loss of power.
    #[default]
    Durable,
    /// The write is visible to every later read, and survives once a later durable write, a flush
    /// or a close of the space has returned. A crash before that may lose it, together with every
    /// relaxed write after it: the last ones, all after one point, and never half of one.
    Relaxed,
}

/// How a write is done.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// What the commit promises.
    pub durability: Durability,
}

impl WriteOptions {
    /// Options with the given durability.
    pub const fn durability(durability: Durability) -> Self {
        Self { durability }
    }
}

/// An engine that keeps ordered keys.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// A state with every write that returned before this call, whatever its durability, and with
    /// no part of one that is still running. It does not wait for a running write. It holds back
    /// the reuse of space for as long as it lives, so keep it for one call and no longer.
    ///
    /// # Errors
    /// What the engine reports.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>>;

    /// Runs `f` in a transaction and commits if it returns `Ok`, rolls back if it returns `Err`.
    /// One closure runs at a time: a second one waits, so `f` must not write to the same store.
    /// Durable writes of several threads may be made durable together. `f` may be run again, where
    /// a write fails that it had read: whatever it computes must be reset at its start.
    ///
    /// # Errors
    /// What `f` returned, or what the engine reports. In either case nothing of the write is
    /// visible, now or after a restart; but for one error, which says of itself that the outcome
    /// shows only once the store can be opened again.
    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()>;

    /// Makes every write that has returned survive the loss of power.
    ///
    /// # Errors
    /// What the engine reports.
    fn flush(&self) -> Result<()>;

    /// Gives unused space back to the file system, as far as the engine can, which may need as much
    /// again while it lasts. Waits for writers.
    ///
    /// # Errors
    /// What the engine reports; the data stays as it was.
    fn compact(&self) -> Result<()>;

    /// Verifies the engine's own structures and says whether they are whole. Reads everything and
    /// changes nothing. Waits for writers, and makes them wait.
    ///
    /// # Errors
    /// What the engine reports.
    fn verify(&self) -> Result<bool>;

    /// How many bytes the engine occupies where it stores: file length, or memory.
    ///
    /// # Errors
    /// What the engine reports.
    fn bytes(&self) -> Result<u64>;
}
