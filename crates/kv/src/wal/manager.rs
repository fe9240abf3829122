//! The life of a write-ahead log: when it starts and ends, and what its next record has to hold.
//!
//! After a handle has seen [`STARTS_AT_WRITE`] durable writes, it creates a log, and the next
//! checkpoint records this in the store's file together with the epoch. From then on a small
//! durable write appends a record, and its entries stay in the memtable until the next checkpoint,
//! as after a relaxed write. A handle that closes removes the log, so a closed store is one
//! file.

use std::io;
use std::mem;
use std::sync::Arc;

use leafbase_model::{Error, ErrorKind, Result, invariant};

use crate::io_errors::io_error;
use crate::memtable::{Entry, Memtable};
use crate::store_files::StoreFiles;
use crate::wal::file::{WalEpoch, WalFile, replay};

/// The durable write of a handle that creates the log: a program that writes once needs none.
const STARTS_AT_WRITE: u32 = 2;
/// Larger writes go to the store's file directly, since a checkpoint would write them again.
const MAX_RECORD_BYTES: usize = 128 << 10;

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
    /// Entries of relaxed writes since the last record or checkpoint: the next record has to hold
    /// them, too.
    dirty: Vec<Entry>,
    dirty_bytes: usize,
}

enum WalState {
    /// No log yet, after this many durable writes.
    Counting(u32),
    Running(WalFile),
    /// An append failed. The records are valid until the next checkpoint, and this handle adds no
    /// more.
    Failed(WalFile),
    /// The log could not be created, or the store has none.
    Disabled,
}

/// The result of [`WalManager::append`].
pub(crate) enum Appended {
    Durable,
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
        Ok((Self { files, header, state, dirty: Vec::new(), dirty_bytes: 0 }, replayed))
    }

    /// Records that relaxed writes put `entries`.
    pub(crate) fn record_dirty(&mut self, entries: Vec<Entry>, bytes: usize) {
        self.dirty_bytes = self.dirty_bytes.saturating_add(bytes);
        if self.dirty_bytes > MAX_RECORD_BYTES {
            // They no longer fit into a record, so the next durable write is a checkpoint.
            self.dirty = Vec::new();
        } else if !matches!(self.state, WalState::Disabled) {
            self.dirty.extend(entries);
        }
    }

    /// Whether every write is durable.
    pub(crate) const fn is_clean(&self) -> bool {
        self.dirty_bytes == 0 && self.dirty.is_empty()
    }

    /// Marks every write as durable.
    pub(crate) fn mark_clean(&mut self) {
        self.dirty.clear();
        self.dirty_bytes = 0;
    }

    /// Makes the entries of `written` and of all relaxed writes durable, with the values that they
    /// have in `memtable`.
    pub(crate) fn append(
        &mut self,
        memtable: &Memtable,
        written: &[Entry],
        bytes: usize,
    ) -> Result<Appended> {
        if self.dirty_bytes.saturating_add(bytes) > MAX_RECORD_BYTES {
            return Ok(Appended::NeedsCheckpoint);
        }
        self.start_if_due();
        let WalState::Running(wal) = &mut self.state else { return Ok(Appended::NeedsCheckpoint) };
        if !self.header.in_use {
            // Recovery replays the log only if the store's file says that there is one.
            return Ok(Appended::NeedsCheckpoint);
        }
        let mut keys: Vec<&[u8]> = self.dirty.iter().chain(written).map(Entry::key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut entries = Vec::with_capacity(keys.len());
        for key in keys {
            let Some(entry) = memtable.get(key) else {
                invariant!("the memtable holds every key that was written since the checkpoint")
            };
            entries.push(entry);
        }
        invariant!(!entries.is_empty(), "a record holds at least one entry");
        match wal.append(entries.into_iter())? {
            Ok(()) => {
                self.mark_clean();
                Ok(Appended::Durable)
            }
            Err(error) => {
                if let WalState::Running(wal) = mem::replace(&mut self.state, WalState::Disabled) {
                    self.state = WalState::Failed(wal);
                }
                Ok(Appended::Failed(error))
            }
        }
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
            Err(error) => {
                if error.kind() != io::ErrorKind::Unsupported {
                    tracing::warn!(%error, "the write-ahead log could not be created");
                }
                WalState::Disabled
            }
        };
    }

    fn create(&self) -> io::Result<WalFile> {
        let wal = WalFile::create(self.files.create_wal()?)?;
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
        self.mark_clean();
        self.reopened(header);
    }

    /// The store's file was opened again and records `header`. If that has changed, a checkpoint
    /// truncated the log. Dirty entries stay: they may be in neither file.
    pub(crate) fn reopened(&mut self, header: WalHeader) {
        if header == self.header {
            return;
        }
        self.header = header;
        match &mut self.state {
            WalState::Running(wal) if header.in_use => wal.start_epoch(header.epoch),
            WalState::Running(_) => {
                self.state = WalState::Counting(0);
                self.files.remove_wal();
            }
            WalState::Failed(_) => {
                self.state = WalState::Disabled;
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
