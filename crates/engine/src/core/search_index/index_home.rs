//! The home of a space's index: numbered generations in directories below `index/` of the space. A
//! generation is never repaired: it is intact, or a rebuild creates the next one.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use leafbase_model::{Error, ErrorKind, Result, is_broken_invariant};
use leafbase_search::Index;
use leafbase_store::kv::FileLock;

/// The directory of all generations.
const DIRECTORY: &str = "index";
/// The file in it that a handle locks while it writes an index that it shares.
const LOCK_FILE: &str = "lock";
/// Digits of the greatest number of a generation.
const MAX_DIGITS: usize = 12;
/// How often an index that another process may be writing is opened before it counts as damaged.
const MAX_SHARED_OPENINGS: usize = 5;

pub(crate) enum IndexHome {
    /// Rebuilt in memory each time the space is opened.
    Memory,
    Directory {
        directory: HomeDirectory,
        access: IndexAccess,
    },
    /// Directories of the host.
    Host(std::sync::Arc<dyn super::index_directories::IndexDirectories>),
}

/// Who writes the index in a directory.
pub(crate) enum IndexAccess {
    /// This handle alone.
    Exclusive,
    /// Another handle, or none.
    ReadOnly,
    /// Handles of several processes, one at a time: the one that has locked the file, which the end
    /// of its process unlocks.
    Shared(SharedIndexLock),
}

/// The right to write an index that several handles share.
pub(crate) struct SharedIndexLock {
    read_only: bool,
    /// `None` while another handle may write.
    held: Mutex<Option<FileLock>>,
}

/// The directory of a space, identified as its store identifies it: by the resolved path and the
/// inode, which the store's open handle keeps from being reused. If the path leads to another
/// directory later, because this one was moved or replaced, the index there belongs to another
/// space: it is neither read nor written.
pub(crate) struct HomeDirectory {
    space: PathBuf,
    inode: Option<Inode>,
}

/// The device and the number of an inode.
type Inode = (u64, u64);

impl HomeDirectory {
    fn resolve(path: &Path) -> Self {
        let space = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let inode = inode_of(&space);
        Self { space, inode }
    }

    fn is_moved(&self) -> bool {
        inode_of(&self.space) != self.inode
    }

    fn generations(&self) -> PathBuf {
        self.space.join(DIRECTORY)
    }

    fn generation(&self, number: u64) -> PathBuf {
        self.generations().join(number.to_string())
    }
}

#[cfg(unix)]
fn inode_of(path: &Path) -> Option<Inode> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Elsewhere a directory with open files cannot be renamed.
#[cfg(not(unix))]
fn inode_of(_: &Path) -> Option<Inode> {
    None
}

/// An index with its number; an index in memory has none.
pub(super) struct IndexGeneration {
    pub(super) index: Index,
    number: Option<u64>,
}

impl IndexHome {
    /// The home of a space in the directory `path`.
    pub(crate) fn of_space(path: &Path, read_only: bool) -> Self {
        let access = if read_only { IndexAccess::ReadOnly } else { IndexAccess::Exclusive };
        Self::Directory { directory: HomeDirectory::resolve(path), access }
    }

    /// The home of a space that several processes share.
    pub(crate) fn of_shared_space(path: &Path, read_only: bool) -> Self {
        let access = IndexAccess::Shared(SharedIndexLock { read_only, held: Mutex::default() });
        Self::Directory { directory: HomeDirectory::resolve(path), access }
    }

    pub(super) const fn is_read_only(&self) -> bool {
        matches!(self, Self::Directory { access: IndexAccess::ReadOnly, .. })
    }

    pub(super) const fn is_shared(&self) -> bool {
        matches!(self, Self::Directory { access: IndexAccess::Shared(_), .. })
    }

    /// Whether another handle may write the index now, and this one later.
    pub(super) fn is_written_elsewhere(&self) -> bool {
        match self {
            Self::Directory { directory, access: IndexAccess::Shared(shared) } => {
                !shared.read_only && !directory.is_moved() && !self.is_persistent()
            }
            _ => false,
        }
    }

    /// Begins to write an index that is shared, unless another handle does.
    pub(super) fn begin_shared_write(&self) {
        let Self::Directory { directory, access: IndexAccess::Shared(shared) } = self else {
            return;
        };
        if shared.read_only || directory.is_moved() {
            return;
        }
        let lock = || {
            fs::create_dir_all(directory.generations())?;
            let mut options = fs::File::options();
            options.read(true).write(true).create(true).truncate(false);
            FileLock::try_lock(options.open(directory.generations().join(LOCK_FILE))?, false)
        };
        match lock() {
            Ok(lock) => {
                let mut held = shared.held.lock().unwrap_or_else(PoisonError::into_inner);
                // A lock that this handle holds refuses a second one, and would be released for it.
                debug_assert!(held.is_none(), "one thread at a time begins to write");
                *held = lock;
            }
            Err(error) => tracing::warn!(%error, "the search index could not be locked"),
        }
    }

    /// Lets other handles write.
    pub(super) fn end_shared_write(&self) {
        if let Self::Directory { access: IndexAccess::Shared(shared), .. } = self {
            *shared.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// The number of the newest generation.
    pub(super) fn newest(&self) -> Option<u64> {
        self.numbers().into_iter().max()
    }

    /// The newest generation, if it is intact.
    pub(super) fn open_newest(&self, owner: &str) -> Option<IndexGeneration> {
        // Another process may remove files of a commit between the reads of its list and of them.
        let attempts = if self.is_shared() { MAX_SHARED_OPENINGS } else { 1 };
        (0..attempts).find_map(|_| {
            let number = self.newest()?;
            let index = catch_index_panic(|| Ok(self.open(number, owner))).ok()??;
            Some(IndexGeneration { index, number: Some(number) })
        })
    }

    /// Creates an empty generation, in memory if the directory cannot be written.
    pub(super) fn create_next(&self, owner: &str) -> Result<IndexGeneration> {
        if self.is_persistent() {
            let next = self.newest().map_or(1, |newest| newest + 1);
            match catch_index_panic(|| self.create(next, owner)) {
                Ok(index) => return Ok(IndexGeneration { index, number: Some(next) }),
                Err(error) => tracing::warn!(%error, "the search index is kept in memory"),
            }
            self.remove(next);
        }
        IndexGeneration::in_memory(owner)
    }

    /// Removes all other generations.
    pub(super) fn retain(&self, generation: &IndexGeneration) {
        if self.is_persistent() {
            let others = self.numbers().into_iter();
            let others = others.filter(|other| generation.number != Some(*other));
            others.for_each(|other| self.remove(other));
        }
    }

    /// Removes all generations.
    pub(super) fn clear(&self) {
        if self.is_persistent() {
            self.numbers().into_iter().for_each(|number| self.remove(number));
        }
    }

    /// Closes and removes a generation.
    pub(super) fn discard(&self, generation: IndexGeneration) {
        let IndexGeneration { index, number } = generation;
        // Windows removes no open files.
        drop(index);
        if let Some(number) = number {
            self.remove(number);
        }
    }

    /// Whether a new index outlives the process: whether this handle may write it now.
    pub(super) fn is_persistent(&self) -> bool {
        let may_write = match self {
            Self::Memory | Self::Directory { access: IndexAccess::ReadOnly, .. } => false,
            Self::Directory { access: IndexAccess::Shared(shared), .. } => {
                shared.held.lock().unwrap_or_else(PoisonError::into_inner).is_some()
            }
            Self::Directory { access: IndexAccess::Exclusive, .. } | Self::Host(_) => true,
        };
        may_write && !self.is_moved()
    }

    /// Whether the directory of the space was moved or replaced since it was opened.
    pub(super) fn is_moved(&self) -> bool {
        matches!(self, Self::Directory { directory, .. } if directory.is_moved())
    }

    /// The numbers of all generations. An unreadable directory has none: the index is rebuilt.
    fn numbers(&self) -> Vec<u64> {
        match self {
            Self::Memory => Vec::new(),
            Self::Directory { directory, .. } if directory.is_moved() => Vec::new(),
            Self::Directory { directory, .. } => generation_numbers(&directory.generations()),
            Self::Host(directories) => {
                directories.directories().ok().into_iter().flatten().collect()
            }
        }
    }

    fn open(&self, number: u64, owner: &str) -> Option<Index> {
        match self {
            Self::Memory => None,
            Self::Directory { directory, .. } => Index::open(&directory.generation(number), owner),
            Self::Host(directories) => Index::open_on(directories.storage(number), owner),
        }
    }

    fn create(&self, number: u64, owner: &str) -> Result<Index> {
        match self {
            Self::Memory => Index::in_memory(owner),
            Self::Directory { directory, .. } => {
                Index::create(&directory.generation(number), owner)
            }
            Self::Host(directories) => {
                let failed = |error| {
                    let message = "the directory of the search index could not be created";
                    Error::new(ErrorKind::Storage, message).with_source(error)
                };
                directories.make_directory(number).map_err(failed)?;
                Index::create_on(directories.storage(number), owner)
            }
        }
    }

    /// Removes a generation. A failure only wastes space.
    fn remove(&self, number: u64) {
        let removed = match self {
            Self::Memory => Ok(()),
            Self::Directory { directory, .. } if directory.is_moved() => Ok(()),
            Self::Directory { directory, .. } => fs::remove_dir_all(directory.generation(number)),
            Self::Host(directories) => directories.remove_directory(number),
        };
        if let Err(error) = removed
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "an old search index could not be removed");
        }
    }
}

impl IndexGeneration {
    pub(super) fn in_memory(owner: &str) -> Result<Self> {
        Ok(Self { index: Index::in_memory(owner)?, number: None })
    }

    pub(super) const fn is_on_disk(&self) -> bool {
        self.number.is_some()
    }

    /// The number of a generation on disk.
    pub(super) const fn number(&self) -> Option<u64> {
        self.number
    }
}

/// The numbers of the generations in a directory. Other names are ignored.
fn generation_numbers(directory: &Path) -> Vec<u64> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_number = |name: &String| {
        name.len() <= MAX_DIGITS
            && !name.starts_with('0')
            && name.bytes().all(|byte| byte.is_ascii_digit())
    };
    names.filter(is_number).filter_map(|name| name.parse().ok()).collect()
}

/// Runs `work` on an index and turns a panic into an error: tantivy panics on some corrupt files. A
/// broken invariant of our own continues to unwind.
pub(super) fn catch_index_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(panic) if is_broken_invariant(&*panic) => resume_unwind(panic),
        Err(_) => Err(Error::new(ErrorKind::Storage, "the search index is corrupt")),
    }
}
