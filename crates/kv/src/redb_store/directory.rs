//! Stores in directories: created entirely or not at all, and open in one handle at a time, or in
//! several that share it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use leafbase_model::{Error, ErrorKind, Result};
use redb::StorageBackend;
use redb::backends::FileBackend;

use super::creation::{NewDirectory, create_in};
use super::directory_files::{DirectoryFiles, DirectoryMode};
pub use super::directory_files::{STORE_FILE, WAL_FILE};
use super::file_format::HEADER_BYTES;
pub use super::file_format::check_header;
use super::shared_store::SharedRedbStore;
use super::store::{RedbStore, VerifyContent};
use crate::io_errors::io_error;
use crate::lock::FileLock;
use crate::options::OpenOptions;

/// The file that an open handle locks. It is empty and never removed.
pub const LOCK_FILE: &str = "lock";

/// What follows the name of a store in that of its temporary directory, before two numbers.
const TEMPORARY_INFIX: &str = ".new-";

/// Most names that are tried for a temporary directory.
const MAX_TEMPORARY_NAMES: u32 = 10_000;

/// How long an opening waits for a handle that holds the lock for a moment: one that recovers a
/// shared store, or looks whether a new one is abandoned.
const MAX_LOCK_WAIT: Duration = Duration::from_millis(250);
const LOCK_POLL: Duration = Duration::from_millis(5);

/// Creates the directory `path` with an empty store and opens it.
///
/// The directory is created under a temporary name and renamed, so that no crash leaves one that
/// does not open. A crash may leave the temporary directory; the next store that is created next to
/// it removes it.
///
/// # Errors
/// [`ErrorKind::Validation`] if `path` exists; I/O errors.
pub fn create(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    create_with(path, options, |_| Ok(()))
}

/// Creates the directory `path` with a store that `fill` has written to. After a crash or an error
/// the directory does not exist.
///
/// # Errors
/// As [`create`], and errors of `fill`.
pub fn create_with(
    path: impl AsRef<Path>,
    options: &OpenOptions,
    fill: impl FnOnce(&RedbStore) -> Result<()>,
) -> Result<RedbStore> {
    let path = path.as_ref();
    let (parent, name) = split(path)?;
    if fs::symlink_metadata(path).is_ok() {
        return Err(exists(path));
    }
    remove_abandoned(&parent);
    let (temporary, lock) = create_sibling(&parent, &name)?;
    let opened = DirectoryFiles::open(&temporary.0, DirectoryMode::Temporary);
    let files = opened.map_err(|error| cannot_create(path, error))?;
    let mut directory = UnnamedDirectory { temporary, lock, parent: &parent, path };
    create_in(Arc::new(files), &mut directory, options, fill)?;
    open_created(path, options)
}

/// Opens a directory that was just given its name. A concurrent [`remove_abandoned`] that opened
/// its lock file under the temporary name locks it for a moment.
fn open_created(path: &Path, options: &OpenOptions) -> Result<RedbStore> {
    let started = Instant::now();
    loop {
        match open(path, options) {
            Err(error)
                if error.kind() == ErrorKind::AlreadyOpen && started.elapsed() < MAX_LOCK_WAIT =>
            {
                thread::sleep(LOCK_POLL);
            }
            opened => return opened,
        }
    }
}

/// Creates the directory `path` as [`create_with`] does, and opens it as [`open_shared`].
///
/// # Errors
/// As [`create_with`] and [`open_shared`].
pub fn create_shared_with(
    path: impl AsRef<Path>,
    options: &OpenOptions,
    fill: impl FnOnce(&RedbStore) -> Result<()>,
) -> Result<SharedRedbStore> {
    create_with(path.as_ref(), &options.clone().shared(false), fill)?.close()?;
    open_shared(path, options, &mut |_| Ok(()))
}

/// A directory with a temporary name in `parent`, which gets the name `path`.
struct UnnamedDirectory<'p> {
    temporary: TemporaryDirectory,
    lock: Option<FileLock>,
    parent: &'p Path,
    path: &'p Path,
}

impl NewDirectory for UnnamedDirectory<'_> {
    fn sync_store(&self) -> Result<()> {
        sync(&self.temporary.0.join(STORE_FILE))
    }

    fn sync_names(&self) -> Result<()> {
        sync(&self.temporary.0)
    }

    fn rename(&mut self) -> Result<()> {
        // Windows does not rename a directory with open files. Elsewhere the lock is held until the
        // directory has its name, so that no other process takes it for abandoned.
        if cfg!(windows) {
            self.lock = None;
        }
        // Renaming replaces an empty directory that another program has created meanwhile, and
        // fails for anything else.
        fs::rename(&self.temporary.0, self.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists
            | io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::NotADirectory => exists(self.path),
            _ => cannot_create(self.path, error),
        })?;
        self.lock = None;
        Ok(())
    }

    fn sync_parent(&self) -> Result<()> {
        sync(self.parent)
    }
}

/// Opens the store in the directory `path`.
///
/// # Errors
/// [`ErrorKind::NotFound`] if `path` does not exist; [`ErrorKind::NotASpace`] if it is something
/// else; [`ErrorKind::AlreadyOpen`]; [`ErrorKind::ReadOnly`] if it cannot be written;
/// [`ErrorKind::NewerFormat`]; [`ErrorKind::Corrupted`].
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    open_with(path, options, &mut |_| Ok(()))
}

/// Opens the store in the directory `path` if `verify` accepts its contents. After an error the
/// files are unchanged.
///
/// # Errors
/// As [`open`], and errors of `verify`.
pub fn open_with(
    path: impl AsRef<Path>,
    options: &OpenOptions,
    verify: VerifyContent<'_>,
) -> Result<RedbStore> {
    let path = path.as_ref();
    check_store_file(path)?;
    check_header_of(path)?;
    let lock = lock(path, options.read_only)?;
    let mode = if options.read_only { DirectoryMode::ReadOnly } else { DirectoryMode::ReadWrite };
    let files = DirectoryFiles::open(path, mode).map_err(|error| cannot_read(path, error))?;
    let options = options.clone().shared(false);
    RedbStore::open(Arc::new(files), &options, lock, verify).map_err(|error| {
        // The lock of a handle that reads alone does not exclude handles that share the store.
        if error.kind() == ErrorKind::AlreadyOpen { open_in_shared_handles(path) } else { error }
    })
}

/// Opens the store in the directory `path` if `verify` accepts its contents, so that other
/// processes may open it as well, each with this function. What a crashed handle of [`open`] left
/// is recovered before. A handle that only reads writes to the files nevertheless: its locks, and
/// redb's recovery.
///
/// # Errors
/// As [`open`], [`ErrorKind::AlreadyOpen`] if a handle does not share the store; errors of
/// `verify`.
pub fn open_shared(
    path: impl AsRef<Path>,
    options: &OpenOptions,
    verify: VerifyContent<'_>,
) -> Result<SharedRedbStore> {
    let path = path.as_ref();
    check_store_file(path)?;
    check_header_of(path)?;
    let started = Instant::now();
    let lock = loop {
        match lock(path, false) {
            // No other handle is open: this one may recover the files, and check all of them.
            Ok(alone) => {
                let files = DirectoryFiles::open(path, DirectoryMode::ReadWrite)
                    .map_err(|error| cannot_read(path, error))?;
                let options = OpenOptions { shared: false, read_only: false, ..options.clone() };
                RedbStore::open(Arc::new(files), &options, alone, verify)?.close()?;
            }
            Err(error) if error.kind() == ErrorKind::AlreadyOpen => {}
            Err(error) => return Err(error),
        }
        // Another handle may get in between. If it shares the store it has recovered it, too.
        match self::lock(path, true) {
            Ok(Some(lock)) => break lock,
            Err(error)
                if error.kind() == ErrorKind::AlreadyOpen && started.elapsed() < MAX_LOCK_WAIT =>
            {
                thread::sleep(LOCK_POLL);
            }
            Err(error) => return Err(error),
            Ok(None) => {}
        }
    };
    let files = DirectoryFiles::open(path, DirectoryMode::ReadWrite)
        .map_err(|error| cannot_read(path, error))?;
    let options = options.clone().shared(true);
    SharedRedbStore::open(Arc::new(files), &options, lock, verify).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyOpen {
            let message = format!(
                "{} is open for reading in a handle that does not share it",
                path.display()
            );
            Error::new(ErrorKind::AlreadyOpen, message)
        } else {
            error
        }
    })
}

fn open_in_shared_handles(path: &Path) -> Error {
    let message = format!(
        "{} is open in handles that share it, of this or other processes: open it shared, too",
        path.display()
    );
    Error::new(ErrorKind::AlreadyOpen, message)
}

/// The files of a store that may be too corrupt to open, locked against all other handles.
#[derive(Debug)]
pub struct RawFiles {
    /// The main file.
    pub store: Box<dyn StorageBackend>,
    /// The write-ahead log, if there is one.
    pub wal: Option<Box<dyn StorageBackend>>,
    /// The lock, unless the directory has no lock file.
    pub lock: Option<FileLock>,
}

/// Opens the files of the store in the directory `path` to read them.
///
/// # Errors
/// As [`open`], except for corruption.
pub fn open_raw(path: &Path) -> Result<RawFiles> {
    check_store_file(path)?;
    match check_header_of(path) {
        Err(error) if error.kind() == ErrorKind::NewerFormat => return Err(error),
        _ => {}
    }
    let lock = lock_for_raw_reads(path)?;
    let open = |name: &str| -> io::Result<Box<dyn StorageBackend>> {
        let backend = FileBackend::new(File::open(path.join(name))?);
        Ok(Box::new(backend.map_err(io::Error::other)?))
    };
    let store = open(STORE_FILE).map_err(|error| cannot_read(path, error))?;
    let wal = match open(WAL_FILE) {
        Ok(wal) => Some(wal),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(io_error("the write-ahead log could not be read", error)),
    };
    Ok(RawFiles { store, wal, lock })
}

fn split(path: &Path) -> Result<(PathBuf, String)> {
    let name = path
        .file_name()
        .ok_or_else(|| Error::validation("the path of a space must end in a name"))?;
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    Ok((parent, name.to_string_lossy().into_owned()))
}

/// A directory that is removed on drop, unless it was renamed.
struct TemporaryDirectory(PathBuf);

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // After the renaming nothing is there.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Creates a directory next to `name`, and locks it against [`remove_abandoned`].
fn create_sibling(parent: &Path, name: &str) -> Result<(TemporaryDirectory, Option<FileLock>)> {
    let process = std::process::id();
    for number in 0..MAX_TEMPORARY_NAMES {
        let sibling = parent.join(format!(".{name}{TEMPORARY_INFIX}{process}-{number}"));
        match fs::create_dir(&sibling) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(cannot_create(&parent.join(name), error)),
        }
        let sibling = TemporaryDirectory(sibling);
        match lock(&sibling.0, false) {
            Ok(lock) if sibling.0.join(LOCK_FILE).exists() => return Ok((sibling, lock)),
            // Another process found it without a lock, and has removed it before this one got the
            // lock of a file that is no longer there, or is removing it.
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyOpen || !sibling.0.exists() => {}
            Err(error) => return Err(error),
        }
    }
    let error = io::Error::from(io::ErrorKind::AlreadyExists);
    Err(cannot_create(&parent.join(name), error))
}

/// Removes the temporary directories in `parent` that no process has locked: what a crash left
/// while a store was created. What cannot be removed stays.
fn remove_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().filter_map(io::Result::ok);
    for entry in entries.filter(|entry| is_temporary_name(&entry.file_name().to_string_lossy())) {
        let path = entry.path();
        // Without a lock file, its creator has not begun to write: it is removed if it is empty.
        let lock = File::open(path.join(LOCK_FILE)).map(|file| FileLock::try_lock(file, false));
        match lock {
            Ok(Ok(Some(_lock))) => {
                // Only files that stores have: a directory of this name may be another program's.
                for name in [WAL_FILE, STORE_FILE, LOCK_FILE] {
                    let _ = fs::remove_file(path.join(name));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => continue,
        }
        let _ = fs::remove_dir(&path);
    }
}

/// Whether [`create_sibling`] gives such names: `.NAME.new-PROCESS-NUMBER`.
fn is_temporary_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.starts_with('.')
        && name
            .rsplit_once(TEMPORARY_INFIX)
            .and_then(|(_, numbers)| numbers.split_once('-'))
            .is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Makes a file, or the names in a directory, durable.
fn sync(path: &Path) -> Result<()> {
    // Only Unix syncs names separately from files.
    if cfg!(not(unix)) && path.is_dir() {
        return Ok(());
    }
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|error| io_error("the new space could not be written to the device", error))
}

fn check_store_file(path: &Path) -> Result<()> {
    let directory = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Error::new(ErrorKind::NotFound, format!("there is nothing at {}", path.display()))
        }
        _ => cannot_read(path, error),
    })?;
    if !directory.is_dir() {
        return Err(not_a_space(path, "it is not a directory"));
    }
    match fs::metadata(path.join(STORE_FILE)) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(not_a_space(path, "its store is not a file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(not_a_space(path, "it contains no store"))
        }
        Err(error) => Err(cannot_read(path, error)),
    }
}

fn check_header_of(path: &Path) -> Result<()> {
    let mut header = Vec::with_capacity(HEADER_BYTES);
    File::open(path.join(STORE_FILE))
        .and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut header))
        .map_err(|error| cannot_read(path, error))?;
    check_header(&path.display().to_string(), &header)
}

/// Locks a file of its own: the store's file may be replaced under its name, and a lock on it would
/// not show that.
fn lock(path: &Path, is_shared: bool) -> Result<Option<FileLock>> {
    let name = path.join(LOCK_FILE);
    let cannot_lock = |error| io_error(&format!("{} could not be locked", path.display()), error);
    let file = if is_shared {
        match File::open(&name) {
            Ok(file) => file,
            // A copy on read-only media: no other handle can write to it either.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot_read(path, error)),
        }
    } else {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        options.open(&name).map_err(cannot_lock)?
    };
    let lock = FileLock::try_lock(file, is_shared).map_err(cannot_lock)?;
    if lock.is_some() {
        return Ok(lock);
    }
    let is_held_shared =
        || Ok(FileLock::try_lock(File::open(&name)?, true)?.is_some()) as io::Result<bool>;
    if !is_shared && is_held_shared().unwrap_or(false) {
        return Err(open_in_shared_handles(path));
    }
    Err(open_elsewhere(path))
}

/// Locks the store exclusively without changing the directory, which may be read-only. Handles
/// that share a store hold the lock shared and write nevertheless, so a shared lock would not
/// exclude them.
fn lock_for_raw_reads(path: &Path) -> Result<Option<FileLock>> {
    let file = match File::open(path.join(LOCK_FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot_read(path, error)),
    };
    let lock = FileLock::try_lock(file, false)
        .map_err(|error| io_error(&format!("{} could not be locked", path.display()), error))?;
    lock.map(Some).ok_or_else(|| open_elsewhere(path))
}

fn open_elsewhere(path: &Path) -> Error {
    let message =
        format!("{} is open in another handle of this or another process", path.display());
    Error::new(ErrorKind::AlreadyOpen, message)
}

fn exists(path: &Path) -> Error {
    Error::validation(format!("{} already exists", path.display()))
}

fn not_a_space(path: &Path, why: &str) -> Error {
    Error::new(ErrorKind::NotASpace, format!("{} is not a space: {why}", path.display()))
}

fn cannot_create(path: &Path, error: io::Error) -> Error {
    io_error(&format!("{} could not be created", path.display()), error)
}

fn cannot_read(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Storage, format!("{} could not be read", path.display()))
        .with_source(error)
}
