//! Writes exported files below one directory, each whole or not at all, and nothing outside of it.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use leafbase_model::{Error, Result};

use crate::operations::transfer::names;
use crate::operations::transfer::source::failed;

/// The name that a file has until it is whole. Hidden, so that what a crash leaves is not imported.
const UNFINISHED: &str = ".leafbase-unfinished";

/// Where exported files go.
#[derive(Debug)]
pub(super) struct FolderWriter {
    top: PathBuf,
    /// Whether a file may be replaced that was there before.
    into_existing: bool,
    /// The paths written, as [`names::fold`] has them.
    written: HashSet<String>,
}

impl FolderWriter {
    /// Begins in `path`: a directory that is made if it is not there, and is empty unless
    /// `into_existing`.
    pub(super) fn new(path: &Path, into_existing: bool) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| failed("make the directory", path, error))?;
        let mut entries =
            fs::read_dir(path).map_err(|error| failed("read the directory", path, error))?;
        if !into_existing && entries.next().is_some() {
            let message = format!(
                "{} is not empty; name a new directory, or allow an existing one",
                path.display()
            );
            return Err(Error::validation(message));
        }
        Ok(Self { top: path.to_owned(), into_existing, written: HashSet::new() })
    }

    /// Makes the directory `path`, whose parent was made before.
    pub(super) fn directory(&self, path: &str) -> Result<()> {
        let path = self.top.join(path);
        let made = fs::create_dir(&path).or_else(|error| match fs::symlink_metadata(&path) {
            // A symbolic link is none: it could lead outside.
            Ok(there) if there.is_dir() => Ok(()),
            _ => Err(error),
        });
        made.map_err(|error| failed("make the directory", &path, error))
    }

    /// Writes the file `path`, whose directory was made before, with what `fill` puts into it.
    /// Never replaces a file that was written by [`Self::file`].
    pub(super) fn file(
        &mut self,
        path: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let first = self.written.insert(names::fold(path));
        let path = self.top.join(path);
        let replaces = fs::symlink_metadata(&path).is_ok();
        if replaces && !(first && self.into_existing) {
            let error = io::Error::new(
                io::ErrorKind::AlreadyExists,
                "a file of this name was not there before",
            );
            return Err(failed("write", &path, error));
        }
        let unfinished = path.with_file_name(UNFINISHED);
        let written = new_file(&unfinished)
            .and_then(|mut file| {
                fill(&mut file)?;
                // What is lost with the power must not be both the old and the new one.
                if replaces { file.sync_all() } else { Ok(()) }
            })
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
        assert_eq!(
            (refused.kind(), read("a.md").as_str()),
            (leafbase_model::ErrorKind::Storage, "one")
        );
        let mut writer = FolderWriter::new(directory.path(), true).expect("begun");
        write(&mut writer, "three").expect("written");
        write(&mut writer, "four").expect_err("it is written");
        assert_eq!(read("a.md"), "three");
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
    }
}
