//! The files of a store in a directory.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;
use redb::backends::FileBackend;

use crate::store_files::StoreFiles;

/// The file of the redb database.
pub const STORE_FILE: &str = "space.redb";
/// The file of the write-ahead log, next to it. A closed store has none.
pub const WAL_FILE: &str = "space.journal";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DirectoryMode {
    ReadWrite,
    ReadOnly,
    /// The directory gets its name later: files are created and not synced.
    Temporary,
}

/// The files in a directory, which is identified by its inode.
///
/// The path is resolved once. If it leads to another directory later, because this one was moved or
/// replaced, its files belong to another store: they are neither opened nor removed. The handles
/// that are kept open prevent the file system from reusing an inode.
#[derive(Debug)]
pub(super) struct DirectoryFiles {
    path: PathBuf,
    mode: DirectoryMode,
    directory: Option<KeptFile>,
    /// The main file as it was opened first.
    store: Mutex<Option<KeptFile>>,
    /// The WAL that this handle created or replayed.
    wal: Mutex<Option<KeptFile>>,
}

/// A file or directory that is kept open, with its description at that time.
#[derive(Debug)]
struct KeptFile {
    file: File,
    metadata: Metadata,
}

impl KeptFile {
    fn new(file: File) -> io::Result<Self> {
        Ok(Self { metadata: file.metadata()?, file })
    }

    fn is(&self, other: &Metadata) -> bool {
        is_same(&self.metadata, other)
    }
}

impl DirectoryFiles {
    /// Resolves `path`.
    pub(super) fn open(path: &Path, mode: DirectoryMode) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        // Only Unix opens directories as files.
        let directory = if cfg!(unix) { Some(KeptFile::new(File::open(&path)?)?) } else { None };
        Ok(Self { path, mode, directory, store: Mutex::default(), wal: Mutex::default() })
    }

    fn check_directory(&self) -> io::Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        if directory.is(&fs::metadata(&self.path)?) {
            return Ok(());
        }
        Err(io::Error::other("the directory of the store was moved or replaced"))
    }

    fn open_store(&self, is_writable: bool) -> io::Result<Box<dyn StorageBackend>> {
        self.check_directory()?;
        let file = File::options()
            .read(true)
            .write(is_writable)
            .create(is_writable && self.mode == DirectoryMode::Temporary)
            .truncate(false)
            .open(self.path.join(STORE_FILE))?;
        let mut first = lock(&self.store);
        match &*first {
            Some(first) if !first.is(&file.metadata()?) => {
                return Err(io::Error::other("the file of the store was replaced"));
            }
            Some(_) => {}
            None => *first = Some(KeptFile::new(file.try_clone()?)?),
        }
        file_backend(file)
    }

    fn wal_path(&self) -> PathBuf {
        self.path.join(WAL_FILE)
    }

    fn remember_wal(&self, file: &File) -> io::Result<()> {
        *lock(&self.wal) = Some(KeptFile::new(file.try_clone()?)?);
        Ok(())
    }

    /// Whether the WAL under its name belongs to this store.
    fn owns_wal(&self) -> io::Result<bool> {
        self.check_directory()?;
        match &*lock(&self.wal) {
            Some(wal) => Ok(wal.is(&fs::metadata(self.wal_path())?)),
            // An earlier handle on this directory did not remove it.
            None => Ok(true),
        }
    }
}

impl StoreFiles for DirectoryFiles {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.open_store(self.mode != DirectoryMode::ReadOnly)
    }

    fn open_to_read(&self) -> io::Result<Box<dyn StorageBackend>> {
        match self.open_store(false) {
            // A store that is being created.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && self.mode == DirectoryMode::Temporary =>
            {
                self.open_store(true)
            }
            opened => opened,
        }
    }

    fn are_temporary(&self) -> bool {
        self.mode == DirectoryMode::Temporary
    }

    fn open_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.check_directory()?;
        let file = File::open(self.wal_path())?;
        self.remember_wal(&file)?;
        file_backend(file)
    }

    fn create_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.check_directory()?;
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(self.wal_path())?;
        self.remember_wal(&file)?;
        file_backend(file)
    }

    fn sync_wal_name(&self) -> io::Result<()> {
        // Only Unix syncs names separately from files.
        self.directory.as_ref().map_or(Ok(()), |directory| directory.file.sync_all())
    }

    fn remove_wal(&self) {
        if self.owns_wal().unwrap_or(false) {
            let _ = fs::remove_file(self.wal_path());
        }
        *lock(&self.wal) = None;
    }

    fn bytes(&self) -> io::Result<u64> {
        self.check_directory()?;
        let wal_bytes = fs::metadata(self.wal_path()).map_or(0, |metadata| metadata.len());
        Ok(fs::metadata(self.path.join(STORE_FILE))?.len() + wal_bytes)
    }
}

fn lock(file: &Mutex<Option<KeptFile>>) -> MutexGuard<'_, Option<KeptFile>> {
    file.lock().unwrap_or_else(PoisonError::into_inner)
}

fn file_backend(file: File) -> io::Result<Box<dyn StorageBackend>> {
    Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
}

/// Whether both are the same file or directory.
#[cfg(unix)]
fn is_same(left: &Metadata, right: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    left.dev() == right.dev() && left.ino() == right.ino()
}

/// Elsewhere an open file cannot be replaced under its name.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}
