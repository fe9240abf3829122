//! The lock of index updates: held while the index is updated, rebuilt or merged, and while the
//! store is compacted.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

use leafbase_model::{Error, ErrorKind, Result};

#[derive(Default)]
pub(super) struct UpdateLock {
    lock: Mutex<()>,
    /// The thread that holds the lock: its progress callback may call the space again.
    holder: Mutex<Option<ThreadId>>,
}

pub(super) struct UpdateGuard<'l> {
    _guard: MutexGuard<'l, ()>,
    lock: &'l UpdateLock,
}

impl UpdateLock {
    /// Waits for the lock.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if the calling thread holds it: it would wait for itself.
    pub(super) fn lock(&self) -> Result<UpdateGuard<'_>> {
        // No other thread can set the holder to this thread.
        if self.holder() == Some(thread::current().id()) {
            let message = "the search index is being updated by a call whose progress callback \
                           made this one: make it after that call";
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        Ok(self.held(self.lock.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The lock; `None` while a thread has it.
    pub(super) fn try_lock(&self) -> Option<UpdateGuard<'_>> {
        match self.lock.try_lock() {
            Ok(guard) => Some(self.held(guard)),
            Err(TryLockError::Poisoned(guard)) => Some(self.held(guard.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn held<'l>(&'l self, guard: MutexGuard<'l, ()>) -> UpdateGuard<'l> {
        self.set_holder(Some(thread::current().id()));
        UpdateGuard { _guard: guard, lock: self }
    }

    fn holder(&self) -> Option<ThreadId> {
        *self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_holder(&self, holder: Option<ThreadId>) {
        *self.holder.lock().unwrap_or_else(PoisonError::into_inner) = holder;
    }
}

impl Drop for UpdateGuard<'_> {
    fn drop(&mut self) {
        // Before the lock is released, which happens when the fields are dropped.
        self.lock.set_holder(None);
    }
}
