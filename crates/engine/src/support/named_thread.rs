//! Threads of the library. Only the process that started one waits for its end.

use std::thread::{self, JoinHandle};
use std::{io, process};

/// A thread with a name, and the process that started it.
#[derive(Debug)]
pub(crate) struct NamedThread {
    handle: JoinHandle<()>,
    process: u32,
}

impl NamedThread {
    pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let handle = thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Self { handle, process: process::id() })
    }

    /// Waits for the end of the thread; an error is its panic. Returns at once on the thread
    /// itself, and in a forked process: that has a copy of the handle, but not of the thread.
    pub(crate) fn join(self) -> thread::Result<()> {
        let is_own = self.handle.thread().id() == thread::current().id();
        if is_own || self.process != process::id() { Ok(()) } else { self.handle.join() }
    }
}
