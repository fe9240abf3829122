//! A directory as a store of objects.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use leafbase::{Error, ErrorKind, Result};
use xxhash_rust::xxh3::xxh3_128;

use crate::store::{ObjectVersion, ReplicaStore, StoredObject, check_name};

/// The file whose lock a writer holds.
const LOCK: &str = ".lock";
/// The name of an object while it is written. One is enough: writers hold the lock.
const UNFINISHED: &str = ".unfinished";

/// A directory as a store: each object is a file, which replaces the one before by a rename.
/// Several processes may use it at a time, also on a network file system with locks (`flock`,
/// `LockFileEx`).
///
/// ```
/// use leafbase_replica::{DirectoryStore, ReplicaStore};
/// # fn main() -> leafbase::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// let store = DirectoryStore::new(directory.path().join("replica"));
/// let first = store.put_if("manifest", b"one", None)?.unwrap();
/// assert_eq!(store.put_if("manifest", b"two", None)?, None); // there is one
/// assert!(store.put_if("manifest", b"two", Some(&first))?.is_some());
/// assert_eq!(store.put_if("manifest", b"three", Some(&first))?, None); // it changed
/// assert_eq!(store.get("manifest")?.unwrap().bytes, b"two");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DirectoryStore {
    root: PathBuf,
}

impl DirectoryStore {
    /// The store in the directory `root`, which the first write creates.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        check_name(name)?;
        Ok(self.root.join(name))
    }

    /// Waits for other writers, and keeps them out until the file is closed.
    fn lock(&self) -> Result<File> {
        let locked = || {
            create_directories(&self.root)?;
            let path = self.root.join(LOCK);
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
            file.lock()?;
            Ok(file)
        };
        locked().map_err(|error| io_error("lock the directory", &self.root, error))
    }

    /// Writes the file at `path`, under the lock.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let write = || {
            let parent = path.parent().unwrap_or(&self.root);
            create_directories(parent)?;
            let unfinished = self.root.join(UNFINISHED);
            let mut file = File::create(&unfinished)?;
            file.write_all(bytes)?;
            // Before the rename: a power loss must not leave a name without its bytes.
            file.sync_all()?;
            fs::rename(&unfinished, path)?;
            sync_directory(parent)
        };
        write().map_err(|error| io_error("write", path, error))
    }

    /// Adds the names of the files below `directory`, whose name is `prefix`.
    fn list_into(directory: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
        let mut directories = vec![(directory.to_owned(), prefix.to_owned())];
        while let Some((directory, prefix)) = directories.pop() {
            let entries = match fs::read_dir(&directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                // Files of the store itself, and of others.
                let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
                if check_name(&name).is_err() {
                    continue;
                }
                let name = format!("{prefix}{name}");
                if entry.file_type()?.is_dir() {
                    directories.push((entry.path(), name + "/"));
                } else {
                    names.push(name);
                }
            }
        }
        Ok(())
    }
}

impl ReplicaStore for DirectoryStore {
    fn get(&self, name: &str) -> Result<Option<StoredObject>> {
        // Without the lock: a rename replaces the file at once, so a reader gets one of both
        // versions.
        let path = self.path(name)?;
        match fs::read(&path) {
            Ok(bytes) => {
                let version = version_of(&bytes);
                Ok(Some(StoredObject { bytes, version }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error("read", &path, error)),
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name)?;
        let _lock = self.lock()?;
        self.write(&path, bytes)
    }

    fn put_if(
        &self,
        name: &str,
        bytes: &[u8],
        expected: Option<&ObjectVersion>,
    ) -> Result<Option<ObjectVersion>> {
        let path = self.path(name)?;
        let _lock = self.lock()?;
        // Under the lock, so that no other writer gets between the comparison and the rename.
        if self.get(name)?.map(|found| found.version).as_ref() != expected {
            return Ok(None);
        }
        self.write(&path, bytes)?;
        Ok(Some(version_of(bytes)))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let directory = match prefix.strip_suffix('/') {
            Some(directory) => self.path(directory)?,
            None => self.root.clone(),
        };
        let mut names = Vec::new();
        Self::list_into(&directory, prefix, &mut names)
            .map_err(|error| io_error("list", &directory, error))?;
        names.sort();
        Ok(names)
    }

    fn delete(&self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        // Without the lock, which would create the directory of a store that was never written.
        if !path.exists() {
            return Ok(());
        }
        let _lock = self.lock()?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error("delete", &path, error));
            }
            _ => {}
        }
        // Directories that are empty now; the first one that is not ends it.
        let mut parent = path.parent();
        while let Some(directory) = parent.filter(|directory| *directory != self.root) {
            if fs::remove_dir(directory).is_err() {
                break;
            }
            parent = directory.parent();
        }
        Ok(())
    }
}

/// Two equal contents are one version: a manifest that is what it was has the same meaning.
fn version_of(bytes: &[u8]) -> ObjectVersion {
    ObjectVersion { tag: Some(format!("{:032x}", xxh3_128(bytes))), number: None }
}

/// Creates a directory and those above it, so that they survive the loss of power.
fn create_directories(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_directories(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    path.parent().map_or(Ok(()), sync_directory)
}

/// Makes the names in a directory survive the loss of power. Only Unix has a call for it.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(OsStr::new(".")) } else { path };
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// The error of a file; `action` is a verb.
pub(crate) fn io_error(action: &str, path: &Path, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::NoSpace,
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => ErrorKind::ReadOnly,
        _ => ErrorKind::Storage,
    };
    Error::new(kind, format!("cannot {action} {}: {error}", path.display())).with_source(error)
}
