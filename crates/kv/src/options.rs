//! Options for opening a redb store.

use std::time::Duration;

use crate::entry_format::EntryFormat;

/// How a store is opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Size of the page cache in bytes. Default: 48 MiB, so that the process stays below 64 MiB
    /// during an upload of any length.
    pub cache_bytes: usize,
    /// Whether writes are refused. Recovery from a crash then happens in memory and leaves the
    /// files unchanged. Default: `false`.
    pub read_only: bool,
    /// Whether other processes may have the store open at the same time. Each of them has to open
    /// it so. Default: `false`.
    pub shared: bool,
    /// How entries are verified and named.
    pub entries: EntryFormat,
    /// Whether each page read from the file is compared with the checksum in its parent. Without
    /// this, redb returns wrong data for 28 % of random bit flips. Default: `true`.
    pub verify_pages: bool,
    /// How long after the oldest relaxed write that is not durable a call of
    /// [`Store::sync_overdue`](crate::Store::sync_overdue) makes it durable; in whole milliseconds.
    /// Default: one second.
    pub sync_relaxed_after: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 48 << 20,
            read_only: false,
            shared: false,
            entries: EntryFormat::default(),
            verify_pages: true,
            sync_relaxed_after: Duration::from_secs(1),
        }
    }
}

impl OpenOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`Self::cache_bytes`].
    pub fn cache_bytes(self, cache_bytes: usize) -> Self {
        Self { cache_bytes, ..self }
    }

    /// Sets [`Self::read_only`].
    pub fn read_only(self, read_only: bool) -> Self {
        Self { read_only, ..self }
    }

    /// Sets [`Self::shared`].
    pub fn shared(self, shared: bool) -> Self {
        Self { shared, ..self }
    }

    /// Sets [`Self::entries`].
    pub fn entries(self, entries: EntryFormat) -> Self {
        Self { entries, ..self }
    }

    /// Sets [`Self::verify_pages`].
    pub fn verify_pages(self, verify_pages: bool) -> Self {
        Self { verify_pages, ..self }
    }

    /// Sets [`Self::sync_relaxed_after`].
    pub fn sync_relaxed_after(self, sync_relaxed_after: Duration) -> Self {
        Self { sync_relaxed_after, ..self }
    }
}
