//! The directory of a space: made whole or not at all, opened by one handle at a time.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use leafbase_model::{Error, ErrorKind, Result};

use crate::failure::from_io;
pub use crate::journaling::JOURNAL_FILE;
use crate::lock::Lock;
use crate::options::OpenOptions;
use crate::redb_store::{RedbStore, Verify, create_store_file};
use crate::structure::Slot;
use crate::wreck::FileBytes;

/// The file that holds everything.
pub const STORE_FILE: &str = "space.redb";
/// The file whose lock tells that a handle is open. It is empty and stays.
pub const LOCK_FILE: &str = "lock";

/// What a redb file begins with.
const MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";
/// How much the header takes.
const HEADER_BYTES: u64 = 320;
/// The version of redb's format that Leafbase writes and reads.
const FORMAT: u8 = 3;

/// Makes the directory `path` with an empty store in it, and opens it.
///
/// It is made under another name and renamed, so that no crash leaves a directory that does not
/// open. What a crash leaves under the other name is in nobody's way.
///
/// # Errors
/// [`ErrorKind::Validation`] if something is at `path` already; what the operating system reports.
pub fn create(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    create_with(path, options, |_| Ok(()))
}

/// The same, with what `fill` writes in it: no crash leaves a directory at `path` without all of
/// that, and no error does.
///
/// # Errors
/// As [`create`], and what `fill` returned.
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
    let making = Making(unused_sibling(&parent, &name)?);
    create_store_file(&making.0.join(STORE_FILE), options)?;
    let store = RedbStore::open_nameless(&making.0.join(STORE_FILE), options)?;
    fill(&store)?;
    store.close()?;
    // Until here no write to this file waited for the disk.
    sync(&making.0.join(STORE_FILE))?;
    File::create(making.0.join(LOCK_FILE)).map_err(|error| cannot_create(path, error))?;
    sync(&making.0)?;
    // Renaming replaces an empty directory that another program has made meanwhile; anything else
    // makes it fail.
    fs::rename(&making.0, path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::DirectoryNotEmpty
        | io::ErrorKind::NotADirectory => exists(path),
        _ => cannot_create(path, error),
    })?;
    sync(&parent)?;
    open(path, options)
}

/// Opens the store in the directory `path`.
///
/// # Errors
/// [`ErrorKind::NotFound`] if nothing is there; [`ErrorKind::NotASpace`] if something else is;
/// [`ErrorKind::AlreadyOpen`]; [`ErrorKind::ReadOnly`] if it may be read but not written;
/// [`ErrorKind::NewerFormat`]; [`ErrorKind::Corrupted`].
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<RedbStore> {
    open_with(path, options, &mut |_| Ok(()))
}

/// The same, if `verify` is content with what the store holds. After any error the files are as
/// they were.
///
/// # Errors
/// As [`open`], and what `verify` returned.
pub fn open_with(
    path: impl AsRef<Path>,
    options: &OpenOptions,
    verify: Verify<'_>,
) -> Result<RedbStore> {
    let path = path.as_ref();
    let file = path.join(STORE_FILE);
    check_is_space(path, &file)?;
    let lock = lock(path, options.read_only)?;
    RedbStore::open_file(&file, options, lock, verify)
}

/// The bytes of the store in the directory `path`, however damaged they are, and the lock that
/// keeps writers out.
///
/// # Errors
/// As [`open`], but for damage.
pub fn open_wreck(path: &Path) -> Result<(FileBytes, Option<Lock>)> {
    let file = path.join(STORE_FILE);
    check_has_store(path, &file)?;
    match check_header(path, &file) {
        Err(error) if error.kind() == ErrorKind::NewerFormat => return Err(error),
        _ => {}
    }
    let lock = lock(path, true)?;
    let opened = File::open(&file).map_err(|error| cannot_read(path, error))?;
    Ok((FileBytes(opened), lock))
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

/// A directory in the making: removed unless it got its name.
struct Making(PathBuf);

impl Drop for Making {
    fn drop(&mut self) {
        // Once it was renamed there is nothing to remove.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn unused_sibling(parent: &Path, name: &str) -> Result<PathBuf> {
    let process = std::process::id();
    let mut number = 0_u32;
    loop {
        let sibling = parent.join(format!(".{name}.new-{process}-{number}"));
        match fs::create_dir(&sibling) {
            Ok(()) => return Ok(sibling),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 10_000 => {
                number += 1
            }
            Err(error) => return Err(cannot_create(&parent.join(name), error)),
        }
    }
}

/// Makes a file, or the names in a directory, survive the loss of power.
fn sync(path: &Path) -> Result<()> {
    // Only Unix has names to sync apart from the files themselves.
    if cfg!(not(unix)) && path.is_dir() {
        return Ok(());
    }
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|error| from_io("the new space could not be written to the device", error))
}

fn check_is_space(path: &Path, file: &Path) -> Result<()> {
    check_has_store(path, file)?;
    check_header(path, file)
}

fn check_has_store(path: &Path, file: &Path) -> Result<()> {
    let directory = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Error::new(ErrorKind::NotFound, format!("there is nothing at {}", path.display()))
        }
        _ => cannot_read(path, error),
    })?;
    if !directory.is_dir() {
        return Err(not_a_space(path, "it is not a directory"));
    }
    match fs::metadata(file) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(not_a_space(path, "its store is not a file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(not_a_space(path, "it holds no store"))
        }
        Err(error) => Err(cannot_read(path, error)),
    }
}

/// redb would start a new database in an empty file, and mend what it takes for its own: it gets
/// only files that it made.
fn check_header(path: &Path, file: &Path) -> Result<()> {
    let mut header = Vec::new();
    File::open(file)
        .and_then(|file| file.take(HEADER_BYTES).read_to_end(&mut header))
        .map_err(|error| cannot_read(path, error))?;
    check_header_bytes(path, &header)
}

/// The same for what the store's file begins with; `path` names it in errors.
///
/// # Errors
/// [`ErrorKind::NotASpace`], [`ErrorKind::NewerFormat`] and [`ErrorKind::Corrupted`] as [`open`].
pub fn check_header_bytes(path: &Path, header: &[u8]) -> Result<()> {
    if !header.starts_with(&MAGIC) {
        return Err(not_a_space(path, "its store is a file of another kind"));
    }
    let damaged = || Error::corrupted(format_args!("the store of {}", path.display()));
    let [primary, secondary] = Slot::both(header).ok_or_else(damaged)?;
    let version = primary.version();
    if version == FORMAT && secondary.version() == FORMAT {
        return Ok(());
    }
    // A version that is not the one expected is believed if it cannot be a byte that was damaged.
    if version != secondary.version() && (version == FORMAT || !primary.agrees()) {
        return Err(damaged());
    }
    if version > FORMAT {
        let message = format!("{} was written by a later version of Leafbase", path.display());
        return Err(Error::new(ErrorKind::NewerFormat, message));
    }
    Err(not_a_space(path, "its store has a format that no version of Leafbase wrote"))
}

/// The lock is on a file of its own: the store's file may be replaced under its name, and a lock on
/// it would not tell.
fn lock(path: &Path, read_only: bool) -> Result<Option<Lock>> {
    let name = path.join(LOCK_FILE);
    let file = if read_only {
        match File::open(&name) {
            Ok(file) => file,
            // A copy on a medium that cannot be written: nobody else can be writing to it either.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot_read(path, error)),
        }
    } else {
        File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&name)
            .map_err(|error| from_io(&format!("{} could not be locked", path.display()), error))?
    };
    match Lock::try_on(file, read_only) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => {
            let message = format!(
                "{} is open in another handle, of this process or another one",
                path.display()
            );
            Err(Error::new(ErrorKind::AlreadyOpen, message))
        }
        Err(error) => Err(from_io(&format!("{} could not be locked", path.display()), error)),
    }
}

fn exists(path: &Path) -> Error {
    Error::validation(format!("there is something at {} already", path.display()))
}

fn not_a_space(path: &Path, why: &str) -> Error {
    Error::new(ErrorKind::NotASpace, format!("{} is not a space: {why}", path.display()))
}

fn cannot_create(path: &Path, error: io::Error) -> Error {
    from_io(&format!("{} could not be created", path.display()), error)
}

fn cannot_read(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Storage, format!("{} could not be read", path.display()))
        .with_source(error)
}
