//! The life of a write-ahead log: when it starts and ends, and which writes it holds.
//!
//! After a handle has seen [`STARTS_AT_WRITE`] writes, it creates a log, and the next checkpoint
//! records this in the store's file together with the epoch. From then on a small write appends a
//! record, a durable one fsyncs it, and the entries stay in the memtable until the next checkpoint.
//! While there is no log, every write is a checkpoint. A handle that closes removes the log, so a
//! closed store is one file.

use std::io;
use std::mem;
use std::sync::Arc;

use leafbase_model::{Error, ErrorKind, Result};

use crate::io_errors::io_error;
use crate::memtable::{Entry, Memtable};
use crate::store::{Durability, WriteOptions};
use crate::store_files::StoreFiles;
use crate::wal::file::{WalEpoch, WalFile, replay};

/// The write of a handle that creates the log: a program that writes once needs none.
const STARTS_AT_WRITE: u32 = 2;
/// Larger writes go to the store's file directly: a checkpoint would write them again. It limits
/// the memory of a record. Batches of 100 edits in 100 documents, of some 300 KB, take 0.4 of the
/// time of a checkpoint each.
const MAX_RECORD_BYTES: usize = 2 << 20;

/// The record of the log in the store's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WalHeader {
    pub(crate) epoch: WalEpoch,
    /// Whether a log exists. It may hold acknowledged writes.
    pub(crate) in_use: bool,
}

/// The log of an open store.
pub(crate) struct WalManager {
    files: Arc<dyn StoreFiles>,
    /// The header in the store's file.
    header: WalHeader,
    state: WalState,
    /// When the oldest relaxed write since the last fsync was made: [`WriteOptions::at_millis`].
    /// `None` if every write is durable.
    oldest_unsynced_millis: Option<i64>,
}

enum WalState {
    /// No log yet, after this many writes.
    Counting(u32),
    Running(WalFile),
    /// An append failed. The records are valid until the next checkpoint, and this handle adds no
    /// more.
    Failed(WalFile),
    /// The store's files have none.
    Disabled,
}

/// The result of [`WalManager::append`].
pub(crate) enum Appended {
    /// The log holds the write, with the durability that was asked for.
    Logged,
    /// The write needs a checkpoint.
    NeedsCheckpoint,
    Failed(io::Error),
}

impl WalManager {
    /// Opens the log that `header` describes and replays it.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] if the log is corrupt or missing; I/O errors.
    pub(crate) fn open(files: Arc<dyn StoreFiles>, header: WalHeader) -> Result<(Self, Memtable)> {
        let replayed =
            if header.in_use { recover(&*files, header.epoch)? } else { Memtable::default() };
        let state = WalState::Counting(0);
        Ok((Self { files, header, state, oldest_unsynced_millis: None }, replayed))
    }

    /// Whether every write is durable.
    pub(crate) const fn is_clean(&self) -> bool {
        self.oldest_unsynced_millis.is_none()
    }

    /// Marks every write as durable.
    pub(crate) const fn mark_clean(&mut self) {
        self.oldest_unsynced_millis = None;
    }

    /// Whether the oldest relaxed write that may be lost was made more than `bound_millis` before
    /// the present time, which `now` gives in milliseconds. A clock that was set back counts as
    /// well.
    pub(crate) fn is_overdue(&self, bound_millis: u64, now: &dyn Fn() -> i64) -> bool {
        self.oldest_unsynced_millis.is_some_and(|oldest| {
            let now = now();
            now < oldest || now.abs_diff(oldest) > bound_millis
        })
    }

    /// Appends the entries that a batch wrote, in its order, `bytes` bytes in all. A durable batch
    /// makes all earlier ones durable, too.
    pub(crate) fn append(
        &mut self,
        written: &[Entry],
        bytes: usize,
        options: WriteOptions,
    ) -> Result<Appended> {
        if bytes > MAX_RECORD_BYTES {
            return Ok(Appended::NeedsCheckpoint);
        }
        self.start_if_due();
        let WalState::Running(wal) = &mut self.state else { return Ok(Appended::NeedsCheckpoint) };
        // Recovery replays the log only if the store's file says that there is one.
        if !self.header.in_use || wal.is_full_for(written.len(), bytes) {
            return Ok(Appended::NeedsCheckpoint);
        }
        let appended =
            if written.is_empty() { wal.sync() } else { wal.append(written, options.durability)? };
        if let Err(error) = appended {
            if let WalState::Running(wal) = mem::replace(&mut self.state, WalState::Disabled) {
                self.state = WalState::Failed(wal);
            }
            return Ok(Appended::Failed(error));
        }
        match options.durability {
            Durability::Durable => self.mark_clean(),
            Durability::Relaxed => {
                // The first one counts: later writes do not postpone the sync that it waits for.
                self.oldest_unsynced_millis.get_or_insert(options.at_millis);
            }
        }
        Ok(Appended::Logged)
    }

    /// Removes the record whose append failed.
    pub(crate) fn truncate_tail(&self) -> io::Result<()> {
        match &self.state {
            WalState::Running(wal) | WalState::Failed(wal) => wal.truncate_tail(),
            WalState::Counting(_) | WalState::Disabled => Ok(()),
        }
    }

    /// Creates the log if it is due. A store without one is slower and as durable.
    fn start_if_due(&mut self) {
        if self.header.in_use {
            // The existing log holds writes that no checkpoint has yet.
            return;
        }
        let WalState::Counting(seen) = &mut self.state else { return };
        *seen += 1;
        if *seen < STARTS_AT_WRITE {
            return;
        }
        self.state = match self.create() {
            Ok(wal) => WalState::Running(wal),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => WalState::Disabled,
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log could not be created");
                // A part of it would take room on a full disk.
                self.files.remove_wal();
                WalState::Counting(0)
            }
        };
    }

    fn create(&self) -> io::Result<WalFile> {
        let wal = WalFile::create(self.files.create_wal()?)?;
        // The name before the first record: after a power loss a log without a name is lost, with
        // the acknowledged writes in it.
        self.files.sync_wal_name()?;
        Ok(wal)
    }

    /// The header that a checkpoint of `memtable` writes; `None` if it does not change. `is_last`
    /// if the handle closes.
    pub(crate) fn next_header(&self, memtable: &Memtable, is_last: bool) -> Option<WalHeader> {
        let in_use = matches!(self.state, WalState::Running(_)) && !is_last;
        let is_new = in_use || self.header.in_use;
        is_new.then(|| WalHeader { epoch: self.header.epoch.next(memtable), in_use })
    }

    /// The store's file holds every write and records `header`.
    pub(crate) fn checkpointed(&mut self, header: WalHeader) {
        debug_assert!(
            header.epoch.number >= self.header.epoch.number,
            "epoch {} after {}",
            header.epoch.number,
            self.header.epoch.number
        );
        self.mark_clean();
        self.reopened(header);
    }

    /// The store's file was opened again and records `header`. If that has changed, a checkpoint
    /// truncated the log.
    pub(crate) fn reopened(&mut self, header: WalHeader) {
        if header == self.header {
            return;
        }
        self.header = header;
        match &mut self.state {
            WalState::Running(wal) if header.in_use => wal.start_epoch(header.epoch),
            WalState::Running(_) | WalState::Failed(_) => {
                self.state = WalState::Counting(0);
                self.files.remove_wal();
            }
            WalState::Counting(_) | WalState::Disabled if !header.in_use => self.files.remove_wal(),
            WalState::Counting(_) | WalState::Disabled => {}
        }
    }

    pub(crate) const fn header(&self) -> WalHeader {
        self.header
    }
}

/// Replays the log of `epoch`.
fn recover(files: &dyn StoreFiles, epoch: WalEpoch) -> Result<Memtable> {
    let file = files.open_wal().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Error::new(ErrorKind::Corrupted, "damaged: the store's write-ahead log is missing")
                .with_source(error)
        }
        _ => io_error("the write-ahead log could not be opened", error),
    })?;
    replay(&*file, epoch)
}
