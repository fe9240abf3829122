//! Where an index lies: each one made is a generation, in a directory of its own below `index/` of
//! the space. What is in a generation is never repaired: it is whole, or another one is made.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use leafbase_model::{Error, ErrorKind, Result};
use leafbase_search::Index;

/// The directory in that of a space.
const DIRECTORY: &str = "index";
/// No generation has a longer name.
const DIGITS: usize = 12;

/// Where the indexes of a space are kept.
pub(crate) enum Home {
    /// In memory, and made anew whenever the space is opened.
    Memory,
    /// In this directory; only read, if the space is.
    Directory { path: PathBuf, read_only: bool },
    /// On a disk that a test made.
    #[cfg(feature = "testkit")]
    Device(std::sync::Arc<dyn super::device::Device>),
}

/// An index, and its number; none for one in memory.
pub(super) struct Generation {
    pub(super) index: Index,
    number: Option<u64>,
}

impl Home {
    /// That of a space in the directory `path`.
    pub(crate) fn of_space(path: &Path, read_only: bool) -> Self {
        Self::Directory { path: path.join(DIRECTORY), read_only }
    }

    /// Whether an index in it must stay as it is.
    pub(super) const fn is_read_only(&self) -> bool {
        matches!(self, Self::Directory { read_only: true, .. })
    }

    /// The newest generation, if it is whole.
    pub(super) fn newest(&self, owner: &str) -> Option<Generation> {
        let number = self.numbers().into_iter().max()?;
        let index = guarded(|| Ok(self.open(number, owner))).ok()??;
        Some(Generation { index, number: Some(number) })
    }

    /// A new, empty generation: in memory, where the directory cannot be written.
    pub(super) fn begin(&self, owner: &str) -> Result<Generation> {
        if self.is_written() {
            let next = self.numbers().into_iter().max().unwrap_or_default() + 1;
            match guarded(|| self.create(next, owner)) {
                Ok(index) => return Ok(Generation { index, number: Some(next) }),
                Err(error) => tracing::warn!(%error, "the search index is kept in memory"),
            }
            self.remove(next);
        }
        Generation::in_memory(owner)
    }

    /// Removes all generations but this one.
    pub(super) fn sweep(&self, kept: &Generation) {
        if self.is_written() {
            let others = self.numbers().into_iter().filter(|other| kept.number != Some(*other));
            others.for_each(|other| self.remove(other));
        }
    }

    /// Gives a generation up.
    pub(super) fn give_up(&self, generation: Generation) {
        let Generation { index, number } = generation;
        drop(index);
        if let Some(number) = number {
            self.remove(number);
        }
    }

    /// Whether an index that is made is kept.
    pub(super) const fn is_written(&self) -> bool {
        !matches!(self, Self::Memory) && !self.is_read_only()
    }

    fn numbers(&self) -> Vec<u64> {
        match self {
            Self::Memory => Vec::new(),
            Self::Directory { path, .. } => numbers(path),
            #[cfg(feature = "testkit")]
            Self::Device(device) => device.directories().unwrap_or_default(),
        }
    }

    fn open(&self, number: u64, owner: &str) -> Option<Index> {
        match self {
            Self::Memory => None,
            Self::Directory { path, .. } => Index::open(&path.join(number.to_string()), owner),
            #[cfg(feature = "testkit")]
            Self::Device(device) => Index::open_on(device.shelf(number), owner),
        }
    }

    fn create(&self, number: u64, owner: &str) -> Result<Index> {
        match self {
            Self::Memory => Index::in_memory(owner),
            Self::Directory { path, .. } => Index::create(&path.join(number.to_string()), owner),
            #[cfg(feature = "testkit")]
            Self::Device(device) => {
                let failed =
                    |error| Error::new(ErrorKind::Storage, "no directory").with_source(error);
                device.make_directory(number).map_err(failed)?;
                Index::create_on(device.shelf(number), owner)
            }
        }
    }

    /// What cannot be removed is in nobody's way.
    fn remove(&self, number: u64) {
        let removed = match self {
            Self::Memory => Ok(()),
            Self::Directory { path, .. } => fs::remove_dir_all(path.join(number.to_string())),
            #[cfg(feature = "testkit")]
            Self::Device(device) => device.remove_directory(number),
        };
        if let Err(error) = removed
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "an old search index could not be removed");
        }
    }
}

impl Generation {
    pub(super) fn in_memory(owner: &str) -> Result<Self> {
        Ok(Self { index: Index::in_memory(owner)?, number: None })
    }

    pub(super) const fn is_on_disk(&self) -> bool {
        self.number.is_some()
    }
}

/// The generations in a directory. What has another name is somebody else's.
fn numbers(directory: &Path) -> Vec<u64> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_number = |name: &String| {
        name.len() <= DIGITS
            && !name.starts_with('0')
            && name.bytes().all(|letter| letter.is_ascii_digit())
    };
    names.filter(is_number).filter_map(|name| name.parse().ok()).collect()
}

/// Runs what reads or writes an index: on damaged files that may panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.unwrap_or_else(|_| Err(Error::new(ErrorKind::Storage, "the search index is damaged")))
}
