//! The locks of the redb adapter: those of the standard library, or with `--cfg shuttle` ones whose
//! schedules `tests/schedules.rs` explores.

use std::time::Duration;

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Waits on `condvar` while `condition` holds, for at most `timeout`. `guard` is of `mutex`.
#[cfg(not(shuttle))]
pub(crate) fn wait_while_for<'m, T>(
    condvar: &Condvar,
    _mutex: &'m Mutex<T>,
    guard: MutexGuard<'m, T>,
    timeout: Duration,
    condition: impl Fn(&T) -> bool,
) -> MutexGuard<'m, T> {
    let waited = condvar.wait_timeout_while(guard, timeout, |state| condition(state));
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// As above. Waits of shuttle never time out, so the schedule decides when this one does.
#[cfg(shuttle)]
pub(crate) fn wait_while_for<'m, T>(
    _condvar: &Condvar,
    mutex: &'m Mutex<T>,
    mut guard: MutexGuard<'m, T>,
    _timeout: Duration,
    condition: impl Fn(&T) -> bool,
) -> MutexGuard<'m, T> {
    use std::sync::PoisonError;

    use shuttle::rand::{Rng, thread_rng};

    while condition(&guard) && thread_rng().gen_bool(0.5) {
        drop(guard);
        shuttle::thread::yield_now();
        guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    }
    guard
}
