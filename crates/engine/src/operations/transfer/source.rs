//! Where imported files come from: a directory, or memory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use leafbase_model::{Error, ErrorKind, Result};

use crate::operations::transfer::report::Skipped;

/// Something that a source holds. Paths are from its top, with `/` between their parts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceEntry {
    /// A file.
    File(String),
    /// A directory with nothing in it; others are known by their files.
    EmptyDirectory(String),
    /// Something that the source itself leaves out.
    Skipped(Skipped),
}

/// Where imported files come from. Each file is read when its turn comes: once, but for an
/// attachment whose file in the space others delete while the import runs.
pub trait ImportSource {
    /// All that it holds, in any order.
    ///
    /// # Errors
    /// What the source reports; nothing is imported then.
    fn entries(&mut self) -> Result<Vec<SourceEntry>>;

    /// The bytes of a file that [`Self::entries`] named; of one longer than `at_most`, any more
    /// than that.
    ///
    /// # Errors
    /// What the source reports: the file is skipped, with the error as the reason.
    fn read(&mut self, path: &str, at_most: usize) -> Result<Vec<u8>>;

    /// The bytes of a file that documents show, piece by piece: a picture, or another attachment.
    /// As given here it is read whole, up to `at_most` bytes and a few more.
    ///
    /// # Errors
    /// What the source reports: the file is not taken in, with the error as the reason.
    fn open(&mut self, path: &str, at_most: u64) -> Result<Box<dyn Read + '_>> {
        let bytes = self.read(path, usize::try_from(at_most).unwrap_or(usize::MAX))?;
        Ok(Box::new(Cursor::new(bytes)))
    }
}

/// Files in memory: `MemorySource::from_iter([("Trip.md", "# Packing")])`.
///
/// ```
/// use leafbase::{ImportSource, MemorySource, SourceEntry};
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
        self.0.get(path).cloned().ok_or_else(Error::not_found)
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

impl ImportSource for FolderSource {
    fn entries(&mut self) -> Result<Vec<SourceEntry>> {
        let mut found = Vec::new();
        let mut waiting = vec![String::new()];
        while let Some(directory) = waiting.pop() {
            let at_top = directory.is_empty();
            if let Err(error) = list(&self.0, &directory, &mut waiting, &mut found) {
                if at_top {
                    return Err(failed("read the directory", &self.0, error));
                }
                found.push(skipped(directory, format!("it cannot be read: {error}")));
            }
        }
        Ok(found)
    }

    fn read(&mut self, path: &str, at_most: usize) -> Result<Vec<u8>> {
        let path = self.0.join(path);
        let limit = u64::try_from(at_most).unwrap_or(u64::MAX).saturating_add(1);
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
        read.map_err(|error| failed("read", &path, error))?;
        Ok(bytes)
    }

    fn open(&mut self, path: &str, _: u64) -> Result<Box<dyn Read + '_>> {
        let path = self.0.join(path);
        let file = File::open(&path).map_err(|error| failed("read", &path, error))?;
        Ok(Box::new(file))
    }
}

fn list(
    top: &Path,
    directory: &str,
    waiting: &mut Vec<String>,
    found: &mut Vec<SourceEntry>,
) -> std::io::Result<()> {
    let mut empty = true;
    for entry in fs::read_dir(top.join(directory))? {
        let entry = entry?;
        empty = false;
        let slash = if directory.is_empty() { "" } else { "/" };
        let name = entry.file_name();
        let path = format!("{directory}{slash}{}", name.to_string_lossy());
        let kind = entry.file_type()?;
        if name.to_str().is_none() {
            found.push(skipped(path, "its name is not UTF-8"));
        } else if kind.is_symlink() {
            found.push(skipped(path, "a symbolic link"));
        } else if kind.is_dir() && hidden(&path) {
            found.push(skipped(path, "hidden"));
        } else if kind.is_dir() {
            waiting.push(path);
        } else if kind.is_file() {
            found.push(SourceEntry::File(path));
        } else {
            found.push(skipped(path, "not a file"));
        }
    }
    if empty && !directory.is_empty() {
        found.push(SourceEntry::EmptyDirectory(directory.to_owned()));
    }
    Ok(())
}

/// Why the file or directory of this path is not imported, if it is not.
pub(super) fn reason_to_skip(path: &str) -> Option<&'static str> {
    if path.split('/').any(|part| part.is_empty() || part == "." || part == "..")
        || path.contains('\\')
    {
        Some("not a path within the folder")
    } else if hidden(path) {
        Some("hidden")
    } else {
        None
    }
}

fn hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

fn skipped(path: String, reason: impl Into<String>) -> SourceEntry {
    SourceEntry::Skipped(Skipped { path, reason: reason.into() })
}

/// An error of the operating system as ours.
pub(super) fn failed(what: &str, path: &Path, error: std::io::Error) -> Error {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => ErrorKind::NotFound,
        std::io::ErrorKind::StorageFull => ErrorKind::NoSpace,
        _ => ErrorKind::Storage,
    };
    Error::new(kind, format!("cannot {what} {}: {error}", path.display())).with_source(error)
}
