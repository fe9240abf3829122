//! The thread of a watcher with a function.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leafbase_model::{Error, ErrorKind, Result};

use crate::core::space::Space;
use crate::support::named_thread::NamedThread;

/// A thread that calls a function when a watched result changes. Dropped, it ends: after that the
/// function is not called any more.
#[must_use = "dropped, it ends"]
pub struct WatchThread {
    space: Space,
    is_stopped: Arc<AtomicBool>,
    /// Taken when it is dropped.
    thread: Option<NamedThread>,
}

impl std::fmt::Debug for WatchThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WatchThread").finish_non_exhaustive()
    }
}

impl WatchThread {
    pub(super) fn begin(
        space: Space,
        is_stopped: Arc<AtomicBool>,
        run: impl FnOnce() + Send + 'static,
    ) -> Result<Self> {
        let thread = NamedThread::spawn("leafbase-watch", run).map_err(|error| {
            Error::new(ErrorKind::Storage, format!("no thread for a watcher: {error}"))
        })?;
        Ok(Self { space, is_stopped, thread: Some(thread) })
    }
}

impl Drop for WatchThread {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Release);
        self.space.commit_signal().give();
        // The function itself may drop the handle: then this is its thread, which is not joined.
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the function of a watcher panicked");
        }
    }
}
