//! Wakes threads and tasks that wait for commits.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

/// A signal that is given after every commit, and when something else changes that a waiting thread
/// looks at. All handles of a store within a process share one
/// ([`Store::commit_signal`](crate::Store::commit_signal)).
#[derive(Debug, Default)]
pub struct CommitSignal {
    /// Held while a condition is evaluated, so that no signal is missed between that and the wait.
    condition: Mutex<()>,
    given: Condvar,
    /// Tasks to wake once.
    wakers: Mutex<Vec<Waker>>,
    poll_interval: Option<Duration>,
}

impl CommitSignal {
    /// How often a waiting thread looks again if the store has no signal of its own.
    pub const DEFAULT_POLL_INTERVAL: Duration = Duration::from_millis(250);

    /// A signal that every writer gives.
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal for a store that others write to without giving it, as other processes do: a
    /// waiting thread looks again after `interval`. Tasks are woken by the signal alone.
    pub fn polling(interval: Duration) -> Self {
        Self { poll_interval: Some(interval), ..Self::default() }
    }

    /// Wakes all that wait.
    pub fn give(&self) {
        // Waits for threads that evaluate their condition: they see the commit, or are woken.
        drop(lock(&self.condition));
        self.given.notify_all();
        // Unlocked before they are called: a waker may poll its task, which asks to be woken again.
        let wakers = std::mem::take(&mut *lock(&self.wakers));
        for waker in wakers {
            waker.wake();
        }
    }

    /// Wakes a task when the signal is given next.
    pub fn wake(&self, waker: &Waker) {
        let mut wakers = lock(&self.wakers);
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }

    /// Waits until `is_met`, which is evaluated at once, after each signal, and at the poll
    /// interval if there is one; or until `timeout` has passed. `is_met` must not give the signal.
    pub fn wait(&self, timeout: Duration, mut is_met: impl FnMut() -> bool) {
        // `None` is further away than the clock can tell.
        let end = Instant::now().checked_add(timeout);
        let mut condition = lock(&self.condition);
        while !is_met() {
            let left = end.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return;
            }
            let wait = self.poll_interval.map_or(left, |interval| interval.min(left));
            let waited = self.given.wait_timeout(condition, wait);
            (condition, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// How long it takes until a change is noticed that another thread makes.
    fn wait_with(signal: &CommitSignal, gives: bool, timeout: Duration) -> (bool, Duration) {
        let (is_changed, started) = (AtomicBool::new(false), Instant::now());
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                is_changed.store(true, Ordering::SeqCst);
                if gives {
                    signal.give();
                }
            });
            let mut is_met = false;
            signal.wait(timeout, || {
                is_met = is_changed.load(Ordering::SeqCst);
                is_met
            });
            (is_met, started.elapsed())
        })
    }

    #[test]
    fn a_wait_ends_with_the_signal_at_the_interval_or_at_the_timeout() {
        let (met, waited) = wait_with(&CommitSignal::new(), true, PATIENCE);
        assert!(met && waited < PATIENCE);
        let polling = CommitSignal::polling(Duration::from_millis(5));
        let (met, waited) = wait_with(&polling, false, PATIENCE);
        assert!(met && waited < PATIENCE);
        // The control: no signal, no interval.
        let (_, waited) = wait_with(&CommitSignal::new(), false, Duration::from_millis(200));
        assert!(waited >= Duration::from_millis(200));
    }
}
