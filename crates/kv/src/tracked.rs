//! A file that can make up for a failed sync: it knows what was written since the last one that
//! succeeded.
//!
//! After a failed sync an operating system may take the lost pages for written: they are read as if
//! they were there, the next sync succeeds without them, and they are gone after a loss of power.
//! redb would build on them. So before a store is opened again, whatever is read at those places is
//! written and synced once more: then what is seen is what is there.
//!
//! What could not even be written is no such place: redb puts pages where nothing is that counts,
//! and refers to them only when all are written. On a full disk a place may have no room for bytes
//! at all, and to ask for it again would keep the store closed for as long.

use std::io;
use std::ops::{Bound, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::{BackendError, StorageBackend};

use super::gathered::{Found, Gathered};

/// Places written since the last sync that succeeded, as offset and length. Shared by one store's
/// handles, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsynced(Arc<Mutex<Vec<(u64, usize)>>>);

impl Unsynced {
    fn places(&self) -> MutexGuard<'_, Vec<(u64, usize)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where redb's header is: the one place that is written anew in each commit.
const HEADER: u64 = 0;
const ALL: Range<u64> = 0..u64::MAX;

/// The bytes below redb, watched.
#[derive(Debug)]
pub(super) struct Tracked {
    below: Box<dyn StorageBackend>,
    unsynced: Unsynced,
    gathered: Mutex<Gathered>,
}

impl Tracked {
    /// Watches `below`, after making up for what an earlier handle could not sync.
    pub(super) fn over(below: Box<dyn StorageBackend>, unsynced: &Unsynced) -> io::Result<Self> {
        let mut places = unsynced.places();
        if !places.is_empty() {
            write_again(&*below, &places)?;
            places.clear();
        }
        drop(places);
        Ok(Self { below, unsynced: unsynced.clone(), gathered: Mutex::default() })
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what was gathered near these bytes, and says how many windows that were. Others may
    /// read between two of them.
    fn write_gathered(&self, bytes: Range<u64>) -> io::Result<usize> {
        for windows in 0.. {
            let mut gathered = self.gathered();
            let Some(start) = gathered.first_within(bytes.clone()) else { return Ok(windows) };
            gathered.write(start, &*self.below, |offset, size| {
                self.unsynced.places().push((offset, size))
            })?;
        }
        Ok(0)
    }
}

fn write_again(below: &dyn StorageBackend, places: &[(u64, usize)]) -> io::Result<()> {
    let length = below.len()?;
    // The length itself may be what was not synced.
    below.set_len(length)?;
    let mut bytes = Vec::new();
    for &(offset, size) in places {
        // The file may have been cut shorter since.
        let there = usize::try_from(length.saturating_sub(offset)).unwrap_or(usize::MAX).min(size);
        bytes.clear();
        bytes.resize(there, 0);
        if there > 0 {
            below.read(offset, &mut bytes)?;
            below.write(offset, &bytes)?;
        }
    }
    below.sync_data()
}

impl StorageBackend for Tracked {
    fn len(&self) -> io::Result<u64> {
        self.below.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        // What reads must not fail because something beside it can't be written.
        let found = self.gathered().read(offset, out);
        match found {
            Found::Here => return Ok(()),
            Found::Below => {}
            Found::Both => {
                self.write_gathered(offset..offset.saturating_add(out.len() as u64))?;
            }
        }
        self.below.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.write_gathered(ALL)?;
        // An empty place still asks for the length to be set again.
        self.unsynced.places().push((0, 0));
        self.below.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        // redb writes from one thread at a time, so nothing is written between the sync and its
        // mark.
        let windows = self.write_gathered(ALL)?;
        if windows > 0 {
            self.gathered().keep(windows);
        }
        self.below.sync_data()?;
        self.unsynced.places().clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let is_full = {
            let mut gathered = self.gathered();
            if !gathered.is_full() && gathered.take(offset, data) {
                return Ok(());
            }
            gathered.is_full()
        };
        let beside = offset..offset.saturating_add(data.len() as u64);
        self.write_gathered(if is_full { ALL } else { beside })?;
        let written = self.below.write(offset, data);
        if written.is_ok() || offset == HEADER {
            self.unsynced.places().push((offset, data.len()));
        }
        written
    }

    fn close(&self) -> io::Result<()> {
        let written = self.write_gathered(ALL);
        self.below.close()?;
        written.map(drop)
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.below.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.below.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.below.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.below.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.below.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.below.query_lock_range(start, end)
    }
}
