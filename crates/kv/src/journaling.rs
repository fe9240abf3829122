//! When a durable write is told by the journal: where the journal is, what it has to hold next, and
//! how it begins and ends.
//!
//! A commit of the store's file costs several writes and a sync; a record of the journal costs one.
//! So once a handle has seen a few durable writes it makes a journal and says so in the file, with
//! the epoch; from then on a small durable write is a record of it, and held in memory like a
//! relaxed one until the next commit. A handle that closes takes the journal away again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use leafbase_model::{Error, ErrorKind, Result};
use redb::StorageBackend;
use redb::backends::FileBackend;

use super::failure::from_io;
use super::journal::{Epoch, Journal, replay};
use super::view::{Edits, Row};

/// The file of the journal, beside the one of the store.
pub const JOURNAL_FILE: &str = "space.journal";
/// A journal begins with the durable write of a handle that has this number: a program that writes
/// once and ends needs none.
const BEGINS_WITH: u32 = 2;
/// What is longer goes to the store's file at once: it would be written twice.
const MAX_RECORD_BYTES: usize = 128 << 10;

/// What a store's file says of its journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) epoch: Epoch,
    /// Whether there is a journal, which may hold what was acknowledged.
    pub(super) in_use: bool,
}

/// Where a journal is kept.
pub(super) enum Place {
    /// Nowhere: each durable write is a commit.
    Nowhere,
    /// In this file.
    File(PathBuf),
    /// Where a caller says.
    Backend(Box<dyn Fn() -> Box<dyn StorageBackend> + Send + Sync>),
}

impl Place {
    /// The bytes of the journal that is there.
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        match self {
            Self::Nowhere => Err(io::ErrorKind::NotFound.into()),
            Self::File(path) => backend(File::open(path)?),
            Self::Backend(make) => Ok(make()),
        }
    }

    /// Begins a new one, which survives the loss of power.
    fn create(&self) -> io::Result<Journal> {
        match self {
            Self::Nowhere => Err(io::ErrorKind::Unsupported.into()),
            Self::File(path) => {
                let options =
                    File::options().read(true).write(true).create(true).truncate(true).clone();
                let journal = Journal::create(backend(options.open(path)?)?)?;
                sync_directory_of(path)?;
                Ok(journal)
            }
            Self::Backend(make) => Journal::create(make()),
        }
    }

    /// One that is left counts for nothing, and is written over.
    fn remove(&self) {
        match self {
            Self::File(path) => drop(fs::remove_file(path)),
            Self::Nowhere | Self::Backend(_) => {}
        }
    }

    const fn is_somewhere(&self) -> bool {
        match self {
            Self::Nowhere => false,
            _ => true,
        }
    }
}

fn backend(file: File) -> io::Result<Box<dyn StorageBackend>> {
    Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
}

/// Makes the name of a new file survive.
fn sync_directory_of(path: &Path) -> io::Result<()> {
    // Only Unix has names to sync apart from the files themselves.
    match path.parent() {
        Some(parent) if cfg!(unix) => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}

/// The journal of a handle.
pub(super) struct Journaling {
    place: Place,
    /// What the file says.
    mark: Mark,
    state: State,
    /// Keys that relaxed writes put since the last record or commit; a record has to hold them too.
    touched: Vec<Row>,
    touched_bytes: usize,
}

enum State {
    /// So many durable writes were commits.
    Waiting(u32),
    Running(Journal),
    /// It failed. What it holds stands until the next commit, and no more comes to it in the life
    /// of this handle.
    Failed(Journal),
    /// It cannot be made, or there is no place for it.
    Off,
}

/// What became of a write that asked for a record.
pub(super) enum Appended {
    Done,
    /// It has to be a commit.
    Refused,
    Failed(io::Error),
}

impl Journaling {
    /// With what the store's file says, and what the journal holds beyond it.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] if the journal is damaged, or gone; what the operating system
    /// reports.
    pub(super) fn open(place: Place, mark: Mark) -> Result<(Self, Edits)> {
        let edits = if mark.in_use { recover(&place, mark.epoch)? } else { Edits::default() };
        let state = if place.is_somewhere() { State::Waiting(0) } else { State::Off };
        Ok((Self { place, mark, state, touched: Vec::new(), touched_bytes: 0 }, edits))
    }

    /// Remembers what a relaxed write has put.
    pub(super) fn touch(&mut self, keys: Vec<Row>, bytes: usize) {
        self.touched_bytes = self.touched_bytes.saturating_add(bytes);
        if self.touched_bytes > MAX_RECORD_BYTES {
            // It does not fit into a record any more.
            self.touched = Vec::new();
        } else if !matches!(self.state, State::Off) {
            self.touched.extend(keys);
        }
    }

    /// Whether all that was written survives.
    pub(super) const fn is_settled(&self) -> bool {
        self.touched_bytes == 0
    }

    /// Makes `edits` durable, which differ from what is durable in `keys` and in what relaxed
    /// writes have put.
    pub(super) fn append(&mut self, edits: &Edits, keys: &[Row], bytes: usize) -> Appended {
        if self.touched_bytes.saturating_add(bytes) > MAX_RECORD_BYTES {
            return Appended::Refused;
        }
        self.begin();
        let State::Running(journal) = &mut self.state else { return Appended::Refused };
        if !self.mark.in_use {
            // The store's file has to say first that there is one.
            return Appended::Refused;
        }
        let mut keys: Vec<&[u8]> = self.touched.iter().chain(keys).map(Row::key).collect();
        keys.sort_unstable();
        keys.dedup();
        match journal.append(keys.into_iter().filter_map(|key| edits.get(key))) {
            Ok(()) => {
                self.settled();
                Appended::Done
            }
            Err(error) => {
                self.fail();
                Appended::Failed(error)
            }
        }
    }

    /// All writes survive.
    pub(super) fn settled(&mut self) {
        self.touched.clear();
        self.touched_bytes = 0;
    }

    fn fail(&mut self) {
        if let State::Running(journal) = std::mem::replace(&mut self.state, State::Off) {
            self.state = State::Failed(journal);
        }
    }

    /// Makes sure that the record which could not be added is not there.
    pub(super) fn retract(&self) -> io::Result<()> {
        match &self.state {
            State::Running(journal) | State::Failed(journal) => journal.retract(),
            State::Waiting(_) | State::Off => Ok(()),
        }
    }

    /// Makes a journal if it is time to. One that can't be made is done without.
    fn begin(&mut self) {
        if self.mark.in_use {
            // The one that is there holds what no commit does yet.
            return;
        }
        let State::Waiting(seen) = &mut self.state else { return };
        *seen += 1;
        if *seen >= BEGINS_WITH {
            self.state = self.place.create().map_or_else(
                |error| {
                    tracing::warn!(%error, "there is no journal: it could not be made");
                    State::Off
                },
                State::Running,
            );
        }
    }

    /// What a commit of these edits says of the journal, if that is something new; `is_last` if the
    /// handle closes.
    pub(super) fn next_mark(&self, edits: &Edits, is_last: bool) -> Option<Mark> {
        let in_use = matches!(self.state, State::Running(_)) && !is_last;
        (in_use || self.mark.in_use).then(|| Mark { epoch: self.mark.epoch.after(edits), in_use })
    }

    /// All writes are in the file, which says this now.
    pub(super) fn committed(&mut self, mark: Mark) {
        self.settled();
        self.opened(mark);
    }

    /// The file was opened again, and says this. If it is something new, the journal is empty. What
    /// relaxed writes have put has still to go into the next record, if it is not in the file.
    pub(super) fn opened(&mut self, mark: Mark) {
        if mark == self.mark {
            return;
        }
        self.mark = mark;
        match &mut self.state {
            State::Running(journal) if mark.in_use => journal.restart(mark.epoch),
            State::Running(_) => {
                self.state = State::Waiting(0);
                self.place.remove();
            }
            State::Failed(_) => {
                self.state = State::Off;
                self.place.remove();
            }
            State::Waiting(_) | State::Off if !mark.in_use => self.place.remove(),
            State::Waiting(_) | State::Off => {}
        }
    }

    pub(super) const fn mark(&self) -> Mark {
        self.mark
    }
}

/// The edits that the journal of this epoch holds.
fn recover(place: &Place, epoch: Epoch) -> Result<Edits> {
    let file = place.open().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Error::new(ErrorKind::Corrupted, "damaged: the journal of the store is gone")
                .with_source(error)
        }
        _ => from_io("the journal could not be opened", error),
    })?;
    replay(&*file, epoch)
}
