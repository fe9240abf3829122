//! The files of a mirrored folder: the trait, and a directory of the file system.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use leafbase::{Error, Result};

use crate::folder::{
    FolderSource, ImportSource, SourceEntry, create_new, io_error, keep_permissions,
};
use crate::report::Skipped;

/// Name of a file while it is written.
const UNFINISHED: &str = ".leafbase-unfinished";

/// Age from which a modification time is relied on: a file that is written twice within one tick of
/// the file system's clock keeps it.
const RELIABLE_AGE: Duration = Duration::from_secs(2);

/// A file, as its directory describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// The path relative to the folder, with `/` as separator.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// The modification time, in any unit. `None` if it cannot be relied on: then the file is read
    /// to see whether it changed.
    pub modified: Option<i64>,
}

/// Contents of a folder.
#[derive(Clone, Debug, Default)]
pub struct FileListing {
    /// All files that are not hidden.
    pub files: Vec<FileStat>,
    /// Entries that are left out.
    pub skipped: Vec<Skipped>,
    /// Directories without entries, which an import makes folders.
    pub empty_directories: Vec<String>,
}

/// The files of a mirrored folder: a directory, or a store of the host.
pub trait MirrorFiles: ImportSource {
    /// All files, in any order.
    ///
    /// # Errors
    /// Errors of the store; the mirror fails.
    fn list(&mut self) -> Result<FileListing>;

    /// A file. `None` if there is none.
    ///
    /// # Errors
    /// [`leafbase::ErrorKind::Validation`] if something else has the path, such as a directory: the
    /// file is skipped. Errors of the store; the mirror fails.
    fn stat(&mut self, path: &str) -> Result<Option<FileStat>>;

    /// Writes a file with what `fill` writes: replaces the one that is there, all or nothing.
    ///
    /// # Errors
    /// The errors of `fill` and of the store; the mirror fails, and the next one continues.
    fn write(
        &mut self,
        path: &str,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()>;

    /// Renames a file. There is none at the path `to`.
    ///
    /// # Errors
    /// Errors of the store; the mirror fails, and the next one continues.
    fn rename(&mut self, from: &str, to: &str) -> Result<()>;

    /// Removes a file, and the directories that are empty then.
    ///
    /// # Errors
    /// Errors of the store; the mirror fails, and the next one continues.
    fn remove(&mut self, path: &str) -> Result<()>;

    /// Identity of this folder among others. Default: empty.
    fn identity(&self) -> String {
        String::new()
    }
}

/// A directory of the file system. Symbolic links are not followed.
#[derive(Debug)]
pub(super) struct MirrorDirectory {
    top: PathBuf,
    source: FolderSource,
}

impl MirrorDirectory {
    /// The directory `path`, which is created if it is missing.
    pub(super) fn new(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| io_error("make the directory", path, error))?;
        Self::existing(path)
    }

    /// The directory `path`.
    pub(super) fn existing(path: &Path) -> Result<Self> {
        let top = path.canonicalize();
        let top = top.map_err(|error| io_error("read the directory", path, error))?;
        Ok(Self { source: FolderSource::new(&top), top })
    }

    /// Creates the directories of `path`. None of them may be a symbolic link, which could lead
    /// outside.
    fn create_parents(&self, path: &str) -> io::Result<()> {
        let mut at = self.top.clone();
        for part in crate::link_paths::directory(path).split('/').filter(|part| !part.is_empty()) {
            at.push(part);
            match fs::symlink_metadata(&at) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(io::Error::other("a part of its path is not a directory")),
                Err(_) => fs::create_dir(&at)?,
            }
        }
        Ok(())
    }
}

/// Writes a file under another name, and renames it.
fn write_file(
    path: &Path,
    fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let unfinished = path.with_file_name(UNFINISHED);
    let mut file = create_new(&unfinished)?;
    let written = keep_permissions(&file, path).and_then(|()| fill(&mut file)).and_then(|()| {
        // Without the fsync a power loss after the rename could lose both versions.
        file.sync_all()?;
        fs::rename(&unfinished, path)
    });
    if written.is_err() {
        drop(fs::remove_file(&unfinished));
    }
    written
}

fn stat(path: &str, found: &fs::Metadata, now: SystemTime) -> FileStat {
    let modified = found
        .modified()
        .ok()
        .filter(|modified| now.duration_since(*modified).is_ok_and(|age| age >= RELIABLE_AGE));
    let nanos = modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
    let modified = nanos.and_then(|since| i64::try_from(since.as_nanos()).ok());
    FileStat { path: path.to_owned(), size: found.len(), modified }
}

impl ImportSource for MirrorDirectory {
    fn entries(&mut self) -> Result<Vec<SourceEntry>> {
        self.source.entries()
    }

    fn read(&mut self, path: &str, max_bytes: usize) -> Result<Vec<u8>> {
        self.source.read(path, max_bytes)
    }

    fn open(&mut self, path: &str, max_bytes: u64) -> Result<Box<dyn Read + '_>> {
        self.source.open(path, max_bytes)
    }
}

impl MirrorFiles for MirrorDirectory {
    fn list(&mut self) -> Result<FileListing> {
        let now = SystemTime::now();
        let mut listing = FileListing::default();
        let top = &self.top;
        self.source.walk(&mut |entry, described| {
            match entry {
                SourceEntry::File(path) => {
                    // Of the open directory: a path would be resolved from the root again.
                    match described.map(fs::DirEntry::metadata).transpose() {
                        Ok(found) => {
                            listing.files.extend(found.map(|found| stat(&path, &found, now)));
                        }
                        // Removed since it was listed.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => return Err(io_error("read", &top.join(&path), error)),
                    }
                }
                SourceEntry::Skipped(skipped) => listing.skipped.push(skipped),
                SourceEntry::EmptyDirectory(path) => listing.empty_directories.push(path),
            }
            Ok(())
        })?;
        Ok(listing)
    }

    fn stat(&mut self, path: &str) -> Result<Option<FileStat>> {
        match fs::symlink_metadata(self.top.join(path)) {
            Ok(found) if found.is_file() => Ok(Some(stat(path, &found, SystemTime::now()))),
            Ok(_) => Err(Error::validation(format!("{path} is not a file"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                let message =
                    format!("{path} is not a file: a part of its path is not a directory");
                Err(Error::validation(message).with_source(error))
            }
            Err(error) => Err(io_error("read", &self.top.join(path), error)),
        }
    }

    fn write(
        &mut self,
        path: &str,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let target = self.top.join(path);
        let written = self.create_parents(path).and_then(|()| write_file(&target, fill));
        written.map_err(|error| io_error("write", &target, error))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        let target = self.top.join(to);
        let renamed =
            self.create_parents(to).and_then(|()| fs::rename(self.top.join(from), &target));
        renamed.map_err(|error| io_error("rename a file to", &target, error))?;
        self.prune(from);
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        let target = self.top.join(path);
        fs::remove_file(&target).map_err(|error| io_error("remove", &target, error))?;
        self.prune(path);
        Ok(())
    }

    fn identity(&self) -> String {
        self.top.to_string_lossy().into_owned()
    }
}

impl MirrorDirectory {
    /// Removes the directories of `path` that are empty.
    fn prune(&self, path: &str) {
        let mut directory = crate::link_paths::directory(path);
        // A directory that is not empty stays, and so do those above it.
        while !directory.is_empty() && fs::remove_dir(self.top.join(directory)).is_ok() {
            directory = crate::link_paths::directory(directory);
        }
    }
}
