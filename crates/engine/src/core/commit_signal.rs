//! Wakes those who wait for writes.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Is given after every write of a space, and when it closes.
#[derive(Debug, Default)]
pub(crate) struct CommitSignal {
    /// Held while a condition is looked at, so that no write is missed between that and the wait.
    writes: Mutex<()>,
    given: Condvar,
}

impl CommitSignal {
    pub(in crate::core) fn give(&self) {
        // Waits for those who look at their condition: they see the write, or are woken by it.
        drop(self.writes.lock().unwrap_or_else(PoisonError::into_inner));
        self.given.notify_all();
    }

    /// Waits until `is_met` after a write, or until `timeout` has passed.
    pub(crate) fn wait(&self, timeout: Duration, mut is_met: impl FnMut() -> bool) {
        let writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.given.wait_timeout_while(writes, timeout, |()| !is_met());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}
