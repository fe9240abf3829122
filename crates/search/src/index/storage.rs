//! A directory over storage that tests implement, so that they can inject errors and power loss.

use std::fmt::Debug;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

/// Files by name.
#[expect(clippy::missing_errors_doc, reason = "each fails like the file operation")]
pub trait IndexStorage: Debug + Send + Sync {
    /// The names of all files.
    fn names(&self) -> io::Result<Vec<String>>;
    /// All bytes of a file.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;
    /// Creates a file; fails if it exists.
    fn create(&self, name: &str) -> io::Result<()>;
    /// Appends to a file.
    fn append(&self, name: &str, data: &[u8]) -> io::Result<()>;
    /// Makes the content of a file durable.
    fn sync(&self, name: &str) -> io::Result<()>;
    /// Replaces a file atomically by a durable one.
    fn replace(&self, name: &str, data: &[u8]) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes all names durable, as an fsync of a directory does.
    fn sync_names(&self) -> io::Result<()>;
}

/// A tantivy directory over a storage.
#[derive(Clone, Debug)]
pub(super) struct StorageDirectory(pub(super) Arc<dyn IndexStorage>);

fn name(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
}

fn read_error(path: &Path, error: io::Error) -> OpenReadError {
    match error.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path.to_path_buf()),
        _ => OpenReadError::wrap_io_error(error, path.to_path_buf()),
    }
}

impl Directory for StorageDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        Ok(Arc::new(OwnedBytes::new(self.atomic_read(path)?)))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        name(path).and_then(|name| self.0.remove(name)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_path_buf()),
            _ => DeleteError::IoError { io_error: Arc::new(error), filepath: path.to_path_buf() },
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        let names = self.0.names().map_err(|error| read_error(path, error))?;
        Ok(names.iter().any(|found| Path::new(found) == path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let created = name(path).and_then(|name| self.0.create(name).map(|()| name.to_owned()));
        let name = created.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_path_buf()),
            _ => OpenWriteError::wrap_io_error(error, path.to_path_buf()),
        })?;
        Ok(BufWriter::new(Box::new(StorageFile { storage: Arc::clone(&self.0), name })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        name(path).and_then(|name| self.0.read(name)).map_err(|error| read_error(path, error))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.0.replace(name(path)?, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_names()
    }

    /// Locks nothing: tests reopen a storage in one process, where a file lock would still be held.
    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A file that tantivy writes.
struct StorageFile {
    storage: Arc<dyn IndexStorage>,
    name: String,
}

impl Write for StorageFile {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.storage.append(&self.name, data).map(|()| data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for StorageFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.storage.sync(&self.name)
    }
}
