//! Looking into a store's file without changing it: redb opens, and mends, a copy that keeps only what is written to it.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use leafbase_model::{ErrorKind, Result};
use redb::{Builder, Database, StorageBackend};

use super::base::Base;
use super::failure::Health;

const PAGE: usize = 4_096;
const PAGE_BYTES: u64 = PAGE as u64;
/// The check reads each page about once: caching would not help it.
const CACHE_BYTES: usize = 4 << 20;

/// Whether the file behind `storage` is whole. Nobody may write to it meanwhile.
pub(super) fn is_whole(storage: Box<dyn StorageBackend>) -> Result<bool> {
    let health = Health::default();
    let checked = health.guard(|| {
        let check = || -> Result<bool, redb::Error> {
            let scratch = Scratch::over(storage)?;
            let mut database = Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(scratch)?;
            Ok(database.check_integrity()?)
        };
        check().map_err(|error| health.report(error))
    });
    match checked {
        Err(error) if error.kind() == ErrorKind::Corrupted => Ok(false),
        checked => checked,
    }
}

/// Opens the file behind `storage` as it would be for good, and reports what that would meet: redb writes to a file before it
/// finds that it is damaged, or somebody else's.
pub(super) fn rehearse_opening(storage: Box<dyn StorageBackend>) -> Result<()> {
    let health = Arc::new(Health::default());
    let database = health.guard(|| {
        let open = || -> Result<Database, redb::Error> {
            let scratch = Scratch::over(storage)?;
            Ok(Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(scratch)?)
        };
        open().map_err(|error| health.report(error))
    })?;
    Base::begin(&database, &health)?;
    health.guard(|| {
        drop(database);
        Ok(())
    })
}

/// Reads go through to `below` where nothing was written; writes stay here, and so do no locks.
#[derive(Debug)]
struct Scratch {
    below: Box<dyn StorageBackend>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    length: u64,
    /// How much of `below` still counts: less than all of it after the copy was cut shorter.
    length_below: u64,
    pages: BTreeMap<u64, Box<[u8; PAGE]>>,
}

impl Scratch {
    fn over(below: Box<dyn StorageBackend>) -> io::Result<Self> {
        let length = below.len()?;
        Ok(Self { below, state: Mutex::new(State { length, length_below: length, pages: BTreeMap::new() }) })
    }

    /// Calls `work` with each page that `length` bytes from `offset` on touch, and with the part of it that they take.
    fn pieces(
        &self,
        offset: u64,
        length: usize,
        mut work: impl FnMut(&mut State, u64, std::ops::Range<usize>, std::ops::Range<usize>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if offset.checked_add(length as u64).is_none_or(|end| end > state.length) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "beyond the end"));
        }
        let mut done = 0;
        while done < length {
            let at = offset + done as u64;
            let start = in_page(at % PAGE_BYTES);
            let taken = (PAGE - start).min(length - done);
            work(&mut state, at - start as u64, start..start + taken, done..done + taken)?;
            done += taken;
        }
        Ok(())
    }

    fn page_below(&self, state: &State, at: u64) -> io::Result<Box<[u8; PAGE]>> {
        let mut page = Box::new([0; PAGE]);
        let there = in_page(state.length_below.saturating_sub(at).min(PAGE_BYTES));
        if let Some(part) = page.get_mut(..there).filter(|part| !part.is_empty()) {
            self.below.read(at, part)?;
        }
        Ok(page)
    }
}

/// A place in a page, which is never beyond it.
fn in_page(at: u64) -> usize {
    usize::try_from(at).unwrap_or(PAGE)
}

fn part<T: AsRef<[u8]> + ?Sized>(bytes: &T, range: std::ops::Range<usize>) -> &[u8] {
    bytes.as_ref().get(range).unwrap_or_default()
}

fn part_mut(bytes: &mut [u8], range: std::ops::Range<usize>) -> &mut [u8] {
    bytes.get_mut(range).unwrap_or_default()
}

impl StorageBackend for Scratch {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state.lock().unwrap_or_else(PoisonError::into_inner).length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.pieces(offset, out.len(), |state, at, within, of_out| {
            let out = part_mut(out, of_out);
            match state.pages.get(&at) {
                Some(page) => out.copy_from_slice(part(&**page, within)),
                None => out.copy_from_slice(part(&*self.page_below(state, at)?, within)),
            }
            Ok(())
        })
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if length < state.length {
            state.length_below = state.length_below.min(length);
            state.pages.retain(|at, _| *at < length);
            let last = length - length % PAGE_BYTES;
            if let Some(page) = state.pages.get_mut(&last) {
                part_mut(&mut page[..], in_page(length - last)..PAGE).fill(0);
            }
        }
        state.length = length;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.pieces(offset, data.len(), |state, at, within, of_data| {
            let mut page = match state.pages.remove(&at) {
                Some(page) => page,
                None => self.page_below(state, at)?,
            };
            part_mut(&mut page[..], within).copy_from_slice(part(data, of_data));
            state.pages.insert(at, page);
            Ok(())
        })
    }

    fn close(&self) -> io::Result<()> {
        self.below.close()
    }
}
