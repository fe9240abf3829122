//! Where an index lies: each one made is a generation, in a directory of its own below `index/` of the space. What is in a generation is never
//! repaired: it is whole, or another one is made.

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
}

/// An index, and where it lies.
pub(super) struct Generation {
    pub(super) index: Index,
    path: Option<PathBuf>,
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
        let Self::Directory { path, .. } = self else { return None };
        let path = path.join(numbers(path).into_iter().max()?.to_string());
        let index = guarded(|| Ok(Index::open(&path, owner))).ok()??;
        Some(Generation { index, path: Some(path) })
    }

    /// A new, empty generation: in memory, where the directory cannot be written.
    pub(super) fn begin(&self, owner: &str) -> Result<Generation> {
        if let Self::Directory { path, read_only: false } = self {
            let next = numbers(path).into_iter().max().unwrap_or_default() + 1;
            let path = path.join(next.to_string());
            match guarded(|| Index::create(&path, owner)) {
                Ok(index) => return Ok(Generation { index, path: Some(path) }),
                Err(error) => tracing::warn!(%error, "the search index is kept in memory"),
            }
            remove(&path);
        }
        Generation::in_memory(owner)
    }

    /// Removes all generations but this one.
    pub(super) fn sweep(&self, kept: &Generation) {
        let Self::Directory { path, read_only: false } = self else { return };
        let others = numbers(path).into_iter().map(|number| path.join(number.to_string()));
        others.filter(|other| kept.path.as_ref() != Some(other)).for_each(|other| remove(&other));
    }
}

impl Generation {
    pub(super) fn in_memory(owner: &str) -> Result<Self> {
        Ok(Self { index: Index::in_memory(owner)?, path: None })
    }

    pub(super) const fn is_on_disk(&self) -> bool {
        self.path.is_some()
    }

    /// Gives it up.
    pub(super) fn remove(self) {
        let Self { index, path } = self;
        drop(index);
        if let Some(path) = path {
            remove(&path);
        }
    }
}

/// The generations in a directory. What has another name is somebody else's.
fn numbers(directory: &Path) -> Vec<u64> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_number = |name: &String| {
        name.len() <= DIGITS && !name.starts_with('0') && name.bytes().all(|letter| letter.is_ascii_digit())
    };
    names.filter(is_number).filter_map(|name| name.parse().ok()).collect()
}

/// What cannot be removed is in nobody's way.
fn remove(path: &Path) {
    if let Err(error) = fs::remove_dir_all(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::debug!(%error, "an old search index could not be removed");
    }
}

/// Runs what reads or writes an index: on damaged files that may panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.unwrap_or_else(|_| Err(Error::new(ErrorKind::Storage, "the search index is damaged")))
}
