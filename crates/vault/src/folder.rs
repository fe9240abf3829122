//! Files of an import and export: sources, and the writer of a directory. No other file here
//! accesses a file system.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use leafbase::{Error, ErrorKind, Result};

use crate::file_names::fold;
use crate::report::Skipped;

/// Name of a file while it is written. Hidden, so that an import ignores what a crash leaves.
const UNFINISHED: &str = ".leafbase-unfinished";

/// An entry of a source. Paths are relative to its root, with `/` as separator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceEntry {
    /// A file.
    File(String),
    /// An empty directory. Others are implied by their files.
    EmptyDirectory(String),
    /// An entry that the source itself skips.
    Skipped(Skipped),
}

/// A source of files to import. Each file is read once, in order. An attachment is read again if it
/// is deleted from the space while the import runs.
pub trait ImportSource {
    /// All entries, in any order.
    ///
    /// # Errors
    /// Errors of the source; the import fails.
    fn entries(&mut self) -> Result<Vec<SourceEntry>>;

    /// The bytes of a file that [`Self::entries`] returned. If it is longer than `max_bytes`, any
    /// longer prefix will do.
    ///
    /// # Errors
    /// Errors of the source: the file is skipped, with the error as the reason.
    fn read(&mut self, path: &str, max_bytes: usize) -> Result<Vec<u8>>;

    /// Opens an attachment for reading. The default implementation reads it whole.
    ///
    /// # Errors
    /// Errors of the source: the attachment is not imported, with the error as the reason.
    fn open(&mut self, path: &str, max_bytes: u64) -> Result<Box<dyn Read + '_>> {
        let bytes = self.read(path, usize::try_from(max_bytes).unwrap_or(usize::MAX))?;
        Ok(Box::new(Cursor::new(bytes)))
    }
}

/// Files in memory: `MemorySource::from_iter([("Trip.md", "# Packing")])`.
///
/// ```
/// use leafbase_vault::{ImportSource, MemorySource, SourceEntry};
/// let mut source = MemorySource::from_iter([("Lisbon/Trip.md", "# Packing")]);
/// assert_eq!(source.entries()?, [SourceEntry::File("Lisbon/Trip.md".to_owned())]);
/// assert_eq!(source.read("Lisbon/Trip.md", 1_000)?, b"# Packing");
/// # Ok::<(), leafbase::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemorySource(BTreeMap<String, Vec<u8>>);

impl<P: Into<String>, T: Into<Vec<u8>>> FromIterator<(P, T)> for MemorySource {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.into(), text.into())).collect())
    }
}

impl ImportSource for MemorySource {
    fn entries(&mut self) -> Result<Vec<SourceEntry>> {
        Ok(self.0.keys().cloned().map(SourceEntry::File).collect())
    }

    fn read(&mut self, path: &str, _: usize) -> Result<Vec<u8>> {
        let found = self.0.get(path).cloned();
        found.ok_or_else(|| Error::not_found(format!("no file has the path {path}")))
    }
}

/// The files of a directory. Symbolic links are not followed.
#[derive(Debug)]
pub(super) struct FolderSource(PathBuf);

impl FolderSource {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl FolderSource {
    /// Passes all entries to `visit`, in any order, with how the directory describes them.
    pub(super) fn walk(
        &self,
        visit: &mut dyn FnMut(SourceEntry, Option<&fs::DirEntry>) -> Result<()>,
    ) -> Result<()> {
        // An explicit stack: the depth of the directory tree is not bounded.
        let mut stack = vec![String::new()];
        while let Some(directory) = stack.pop() {
            let mut found = Vec::new();
            if let Err(error) = list(&self.0, &directory, &mut stack, &mut found) {
                if directory.is_empty() {
                    return Err(io_error("read the directory", &self.0, error));
                }
                let reason = format!("it cannot be read: {error}");
                found.push((skipped(directory, reason), None));
            }
            for (entry, described) in found {
                visit(entry, described.as_ref())?;
            }
        }
        Ok(())
    }
}

impl ImportSource for FolderSource {
    fn entries(&mut self) -> Result<Vec<SourceEntry>> {
        let mut entries = Vec::new();
        self.walk(&mut |entry, _| {
            entries.push(entry);
            Ok(())
        })?;
        Ok(entries)
    }

    fn read(&mut self, path: &str, max_bytes: usize) -> Result<Vec<u8>> {
        // One byte more than the limit shows that the file is too long.
        let limit = (max_bytes as u64).saturating_add(1);
        let mut bytes = Vec::new();
        let read = self.open(path, limit)?.take(limit).read_to_end(&mut bytes);
        read.map_err(|error| io_error("read", &self.0.join(path), error))?;
        Ok(bytes)
    }

    fn open(&mut self, path: &str, _: u64) -> Result<Box<dyn Read + '_>> {
        let path = self.0.join(path);
        let file = File::open(&path).map_err(|error| io_error("read", &path, error))?;
        Ok(Box::new(file))
    }
}

/// Lists one directory: subdirectories go to `stack`, all else to `found`, with its description.
fn list(
    top: &Path,
    directory: &str,
    stack: &mut Vec<String>,
    found: &mut Vec<(SourceEntry, Option<fs::DirEntry>)>,
) -> io::Result<()> {
    let mut is_empty = true;
    for entry in fs::read_dir(top.join(directory))? {
        let entry = entry?;
        is_empty = false;
        let slash = if directory.is_empty() { "" } else { "/" };
        let name = entry.file_name();
        let path = format!("{directory}{slash}{}", name.to_string_lossy());
        let file_type = entry.file_type()?;
        let listed = if name.to_str().is_none() {
            skipped(path, "its name is not UTF-8")
        } else if file_type.is_symlink() {
            skipped(path, "a symbolic link")
        } else if file_type.is_dir() && is_hidden(&path) {
            skipped(path, "hidden")
        } else if file_type.is_dir() {
            stack.push(path);
            continue;
        } else if file_type.is_file() {
            SourceEntry::File(path)
        } else {
            skipped(path, "not a file")
        };
        found.push((listed, Some(entry)));
    }
    if is_empty && !directory.is_empty() {
        found.push((SourceEntry::EmptyDirectory(directory.to_owned()), None));
    }
    Ok(())
}

/// Why an import skips the path, if it does.
pub(super) fn reason_to_skip(path: &str) -> Option<&'static str> {
    if path.split('/').any(|part| part.is_empty() || part == "." || part == "..")
        || path.contains('\\')
    {
        Some("not a path within the folder")
    } else if is_hidden(path) {
        Some("hidden")
    } else {
        None
    }
}

fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

fn skipped(path: String, reason: impl Into<String>) -> SourceEntry {
    SourceEntry::Skipped(Skipped { path, reason: reason.into() })
}

pub(super) fn io_error(action: &str, path: &Path, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::StorageFull => ErrorKind::NoSpace,
        _ => ErrorKind::Storage,
    };
    Error::new(kind, format!("cannot {action} {}: {error}", path.display())).with_source(error)
}

/// Writes files below one directory and nowhere else, each atomically.
#[derive(Debug)]
pub(super) struct FolderWriter {
    top: PathBuf,
    /// Whether files that existed before may be replaced.
    into_existing: bool,
    /// Paths written so far, folded.
    written: HashSet<String>,
}

impl FolderWriter {
    /// Creates the directory `path`, or checks that it is empty unless `into_existing`.
    pub(super) fn new(path: &Path, into_existing: bool) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| io_error("make the directory", path, error))?;
        let mut entries =
            fs::read_dir(path).map_err(|error| io_error("read the directory", path, error))?;
        if !into_existing && entries.next().is_some() {
            let message = format!(
                "{} is not empty; name a new directory, or allow an existing one",
                path.display()
            );
            return Err(Error::validation(message));
        }
        Ok(Self { top: path.to_owned(), into_existing, written: HashSet::new() })
    }

    /// Creates the directory `path`. Its parent has to exist.
    pub(super) fn directory(&self, path: &str) -> Result<()> {
        debug_assert!(reason_to_skip(path).is_none(), "{path} is below the root and not hidden");
        let path = self.top.join(path);
        // Created one level at a time: a missing parent would be an error of the layout.
        let created = fs::create_dir(&path).or_else(|error| match fs::symlink_metadata(&path) {
            // Not for a symbolic link to a directory: it could lead outside.
            Ok(existing) if existing.is_dir() => Ok(()),
            _ => Err(error),
        });
        created.map_err(|error| io_error("make the directory", &path, error))
    }

    /// Writes the file `path` with the content that `fill` writes. Never replaces a file of this
    /// writer.
    pub(super) fn file(
        &mut self,
        path: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        // Two names may be one file on this system: the second must not overwrite the first.
        debug_assert!(!path.starts_with('/'), "{path} is relative to the root");
        let is_first = self.written.insert(fold(path));
        let path = self.top.join(path);
        let replaces = fs::symlink_metadata(&path).is_ok();
        if replaces && !(is_first && self.into_existing) {
            let message = "a file of this name was not there before";
            let error = io::Error::new(io::ErrorKind::AlreadyExists, message);
            return Err(io_error("write", &path, error));
        }
        let unfinished = path.with_file_name(UNFINISHED);
        let written = create_new(&unfinished)
            .and_then(|mut file| {
                keep_permissions(&file, &path)?;
                fill(&mut file)?;
                // Without the fsync a power loss after the rename could lose both versions.
                if replaces { file.sync_all() } else { Ok(()) }
            })
            .and_then(|()| fs::rename(&unfinished, &path));
        written.map_err(|error| {
            // The write error is reported; an error of the cleanup is dropped.
            drop(fs::remove_file(&unfinished));
            io_error("write", &path, error)
        })
    }
}

/// Gives a new file the permissions of the one that it replaces, if there is one: a private file
/// stays private.
pub(super) fn keep_permissions(new: &File, path: &Path) -> io::Result<()> {
    let Ok(replaced) = fs::symlink_metadata(path) else { return Ok(()) };
    let permissions = replaced.permissions();
    // Some file systems have none to set.
    if !replaced.is_file() || new.metadata()?.permissions() == permissions {
        return Ok(());
    }
    new.set_permissions(permissions)
}

/// Creates a file, replacing the remains of a crash.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).open(path);
    create().or_else(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            fs::remove_file(path)?;
            return create();
        }
        Err(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_not_replaced_and_what_was_there_may_be() {
        let directory = tempfile::tempdir().expect("a directory");
        let read = |name: &str| fs::read_to_string(directory.path().join(name)).expect("a file");
        let write = |writer: &mut FolderWriter, text: &str| {
            writer.file("a.md", |out| out.write_all(text.as_bytes()))
        };
        let mut writer = FolderWriter::new(directory.path(), false).expect("begun");
        write(&mut writer, "one").expect("written");
        let refused = write(&mut writer, "two").expect_err("it is written");
        assert_eq!((refused.kind(), read("a.md").as_str()), (ErrorKind::Storage, "one"));
        let mut writer = FolderWriter::new(directory.path(), true).expect("begun");
        write(&mut writer, "three").expect("written");
        write(&mut writer, "four").expect_err("it is written");
        assert_eq!(read("a.md"), "three");
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
    }
}
