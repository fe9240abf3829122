//! What stands between redb and a file: it holds writes back until the store is known to be in
//! order, and can be shut.
//!
//! redb writes to a file before it finds that the file is damaged, or somebody else's; and where it
//! closes one it writes again. So what it writes while it opens is kept in memory, seen by its own
//! reads only, and goes to the file when the first change does. A store that does not open, or is
//! only read, leaves the file as it was.
//!
//! Nor does it follow a page to one that would be larger than the file: it would take the memory
//! first.
//!
//! A gate that is shut answers everything with an error. redb panics on damaged pages, and what it
//! drops then may panic again, which ends the process: behind a shut gate it does not get to read
//! or write them.

use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use redb::{BackendError, StorageBackend};

use super::guard::Guard;
use super::overlay::Overlay;
use super::within::{Piece, accounts, keep_within};

/// The bytes below redb. Copies are the same gate.
#[derive(Clone, Debug)]
pub(super) struct Gate(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    below: Box<dyn StorageBackend>,
    /// None once writes go through.
    held: RwLock<Option<Held>>,
    is_shut: AtomicBool,
    guard: Guard,
    /// Where redb's account of its tables began when the gate was made, as long as nothing else is
    /// written there.
    accounts: RwLock<Vec<u64>>,
}

#[derive(Debug)]
struct Held {
    overlay: Overlay,
    /// What is to be done below, in this order: a crash between two steps is one that redb recovers
    /// from.
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Write(u64, Vec<u8>),
    Length(u64),
    Sync,
}

impl Gate {
    /// Holds back every write to `below`.
    pub(super) fn over(below: Box<dyn StorageBackend>, guard: Guard) -> io::Result<Self> {
        let held = Held { overlay: Overlay::over(&*below)?, steps: Vec::new() };
        let is_shut = AtomicBool::new(false);
        let accounts = RwLock::new(accounts(&*below));
        Ok(Self(Arc::new(Inner { below, held: RwLock::new(Some(held)), is_shut, guard, accounts })))
    }

    /// What is known of the pages that were read.
    pub(super) fn guard(&self) -> &Guard {
        &self.0.guard
    }

    fn held(&self) -> io::Result<RwLockReadGuard<'_, Option<Held>>> {
        self.check()?;
        Ok(self.0.held.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn held_mut(&self) -> io::Result<RwLockWriteGuard<'_, Option<Held>>> {
        self.check()?;
        Ok(self.0.held.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn accounts(&self) -> RwLockReadGuard<'_, Vec<u64>> {
        self.0.accounts.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> io::Result<()> {
        if self.0.is_shut.load(Ordering::Acquire) {
            return Err(io::Error::other("the store's file was let go"));
        }
        Ok(())
    }

    /// Does below what was held back, and lets all that follows through. After an error it goes on
    /// holding back.
    pub(super) fn release(&self) -> io::Result<()> {
        let mut held = self.held_mut()?;
        for step in held.iter().flat_map(|held| &held.steps) {
            match step {
                Step::Write(offset, data) => self.0.below.write(*offset, data)?,
                Step::Length(length) => self.0.below.set_len(*length)?,
                Step::Sync => self.0.below.sync_data()?,
            }
        }
        *held = None;
        Ok(())
    }

    /// Whether nothing was written below.
    pub(super) fn is_held(&self) -> bool {
        self.0.held.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Whether more is held back than the mark that redb makes in a file which it opens: it mended
    /// something.
    pub(super) fn holds_repairs(&self) -> bool {
        let held = self.0.held.read().unwrap_or_else(PoisonError::into_inner);
        let changes =
            held.iter().flat_map(|held| &held.steps).filter(|step| !matches!(step, Step::Sync));
        changes.count() > 1
    }

    /// From now on nothing is read or written.
    pub(super) fn shut(&self) {
        self.0.is_shut.store(true, Ordering::Release);
    }
}

impl Gate {
    fn read_unseen(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match &*self.held()? {
            Some(held) => held.overlay.read(&*self.0.below, offset, out),
            None => self.0.below.read(offset, out),
        }
    }
}

impl StorageBackend for Gate {
    fn len(&self) -> io::Result<u64> {
        match &*self.held()? {
            Some(held) => Ok(held.overlay.len()),
            None => self.0.below.len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_unseen(offset, out)?;
        let piece = match offset {
            0 => Piece::Header,
            _ if self.accounts().contains(&offset) => Piece::Account,
            _ => Piece::Page,
        };
        let is_cut = keep_within(piece, out, &|| self.len())?;
        self.0.guard.saw(&|offset, out| self.read_unseen(offset, out).is_ok(), offset, out, is_cut);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut held = self.held_mut()?;
        let Some(held) = &mut *held else { return self.0.below.set_len(length) };
        held.overlay.set_len(length);
        held.steps.push(Step::Length(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut held = self.held_mut()?;
        let Some(held) = &mut *held else { return self.0.below.sync_data() };
        held.steps.push(Step::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.guard.wrote(offset, data.len());
        if self.accounts().contains(&offset) {
            self.0
                .accounts
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .retain(|account| *account != offset);
        }
        let mut held = self.held_mut()?;
        let Some(held) = &mut *held else { return self.0.below.write(offset, data) };
        held.overlay.write(&*self.0.below, offset, data)?;
        held.steps.push(Step::Write(offset, data.to_vec()));
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.0.below.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.below.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.0.below.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.below.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.below.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.below.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.below.query_lock_range(start, end)
    }
}
