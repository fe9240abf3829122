//! Wakes those who wait for writes.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Is given after every write of a space, when a scope changes, and when the space closes.
#[derive(Debug, Default)]
pub(crate) struct CommitSignal {
    /// Held while a condition is looked at, so that no write is missed between that and the wait.
    writes: Mutex<()>,
    given: Condvar,
    /// Tasks to wake once.
    #[cfg(feature = "stream")]
    wakers: Mutex<Vec<std::task::Waker>>,
}

impl CommitSignal {
    pub(crate) fn give(&self) {
        // Waits for those who look at their condition: they see the write, or are woken by it.
        drop(self.writes.lock().unwrap_or_else(PoisonError::into_inner));
        self.given.notify_all();
        #[cfg(feature = "stream")]
        for waker in std::mem::take(&mut *self.wakers()) {
            waker.wake();
        }
    }

    /// Wakes a task after the next write.
    #[cfg(feature = "stream")]
    pub(crate) fn wake(&self, waker: &std::task::Waker) {
        let mut wakers = self.wakers();
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }

    #[cfg(feature = "stream")]
    fn wakers(&self) -> std::sync::MutexGuard<'_, Vec<std::task::Waker>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `is_met` after a write, or until `timeout` has passed.
    pub(crate) fn wait(&self, timeout: Duration, mut is_met: impl FnMut() -> bool) {
        let writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.given.wait_timeout_while(writes, timeout, |()| !is_met());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}
