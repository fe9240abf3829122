//! Writes exported files below one directory, each whole or not at all, and nothing outside of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use leafbase_model::{Error, Result};

use crate::transfer::source::failed;

/// The name that a file has until it is whole. Hidden, so that what a crash leaves is not imported.
const UNFINISHED: &str = ".leafbase-unfinished";

/// Where exported files go.
#[derive(Debug)]
pub(super) struct FolderWriter(PathBuf);

impl FolderWriter {
    /// Begins in `path`: a directory that is made if it is not there, and is empty unless `into_existing`.
    pub(super) fn new(path: &Path, into_existing: bool) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| failed("make the directory", path, error))?;
        let mut entries = fs::read_dir(path).map_err(|error| failed("read the directory", path, error))?;
        if !into_existing && entries.next().is_some() {
            let message = format!("{} is not empty; name a new directory, or allow an existing one", path.display());
            return Err(Error::validation(message));
        }
        Ok(Self(path.to_owned()))
    }

    /// Makes the directory `path`, whose parent was made before.
    pub(super) fn directory(&self, path: &str) -> Result<()> {
        let path = self.0.join(path);
        let made = fs::create_dir(&path).or_else(|error| match fs::symlink_metadata(&path) {
            // A symbolic link is none: it could lead outside.
            Ok(there) if there.is_dir() => Ok(()),
            _ => Err(error),
        });
        made.map_err(|error| failed("make the directory", &path, error))
    }

    /// Writes the file `path`, whose directory was made before.
    pub(super) fn file(&self, path: &str, text: &str) -> Result<()> {
        let path = self.0.join(path);
        let unfinished = path.with_file_name(UNFINISHED);
        let written = new_file(&unfinished)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&unfinished, &path));
        written.map_err(|error| {
            // The first error is the one to report.
            drop(fs::remove_file(&unfinished));
            failed("write", &path, error)
        })
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    let make = || OpenOptions::new().write(true).create_new(true).open(path);
    make().or_else(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            fs::remove_file(path)?;
            return make();
        }
        Err(error)
    })
}
