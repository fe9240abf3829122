//! The model: which directories there are, what was acknowledged in each, and which process has it
//! open. It follows directories as they are renamed, copied and replaced.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use leafbase_store::directory::{STORE_FILE, WAL_FILE};

/// The directory of the search index in that of a space.
pub const INDEX: &str = "index";

/// An acknowledged write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedWrite {
    /// Its position in the change log.
    pub position: String,
    pub document: String,
    /// None if the document was deleted.
    pub title: Option<String>,
}

/// A directory of a space, wherever it is at the moment.
#[derive(Clone, Debug)]
pub struct SpaceDirectory {
    pub path: PathBuf,
    pub log: Vec<LoggedWrite>,
    /// The title of a document whose creation a kill interrupted.
    pub in_flight: Option<String>,
    pub handles: Vec<OpenHandle>,
}

/// A handle of a process on a directory.
#[derive(Clone, Debug)]
pub struct OpenHandle {
    pub process: usize,
    pub name: String,
    pub is_read_only: bool,
    /// The path of the directory when it was opened.
    pub opened_at: PathBuf,
}

impl SpaceDirectory {
    pub fn new(path: PathBuf) -> Self {
        Self { path, log: Vec::new(), in_flight: None, handles: Vec::new() }
    }

    pub fn is_open(&self) -> bool {
        !self.handles.is_empty()
    }

    /// The title of each document that is not deleted.
    pub fn documents(&self) -> BTreeMap<&str, &str> {
        let mut documents = BTreeMap::new();
        for write in &self.log {
            match &write.title {
                Some(title) => documents.insert(write.document.as_str(), title.as_str()),
                None => documents.remove(write.document.as_str()),
            };
        }
        documents
    }

    /// The writes after a position, or none if it is of another history.
    pub fn after(&self, position: &str) -> Option<&[LoggedWrite]> {
        let at = self.log.iter().position(|write| write.position == position)?;
        self.log.get(at + 1..)
    }

    /// A closed copy of it at another path, as it is on disk.
    pub fn copied(&self, path: PathBuf) -> Self {
        Self { path, handles: Vec::new(), ..self.clone() }
    }
}

/// All directories of a trial.
#[derive(Debug, Default)]
pub struct SpaceTree {
    pub directories: Vec<SpaceDirectory>,
}

impl SpaceTree {
    /// The indexes of directories that `is_meant` accepts.
    pub fn which(&self, is_meant: impl Fn(&SpaceDirectory) -> bool) -> Vec<usize> {
        let all = self.directories.iter().enumerate();
        all.filter(|(_, directory)| is_meant(directory)).map(|(at, _)| at).collect()
    }

    /// Whether a directory has another path than when it was opened.
    pub fn is_moved(&self, at: usize, handle: &OpenHandle) -> bool {
        self.directories[at].path != handle.opened_at
    }

    /// Renames a directory: of a space, or one with spaces in it.
    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        for directory in &mut self.directories {
            directory.path = renamed(&directory.path, from, to);
        }
        Ok(())
    }

    /// Exchanges the paths of two directories.
    pub fn swap(&mut self, one: &Path, other: &Path) -> io::Result<()> {
        let aside = one.with_file_name("aside");
        self.rename(one, &aside)?;
        self.rename(other, one)?;
        self.rename(&aside, other)
    }

    /// Copies the files of a closed space to a new directory.
    pub fn copy(&mut self, from: usize, to: PathBuf) -> io::Result<()> {
        copy_files(&self.directories[from].path, &to)?;
        let copy = self.directories[from].copied(to);
        self.directories.push(copy);
        Ok(())
    }

    /// Puts the store of a closed space over that of another; the index of the target stays, unless
    /// `with_index`.
    pub fn restore(&mut self, from: usize, to: usize, with_index: bool) -> io::Result<()> {
        let [source, target] = [from, to].map(|at| self.directories[at].path.clone());
        for name in [STORE_FILE, WAL_FILE] {
            match fs::copy(source.join(name), target.join(name)) {
                Err(error) if name == STORE_FILE => return Err(error),
                // A closed space has no write-ahead log. The target may keep a stale one.
                _ => {}
            }
        }
        if with_index && source.join(INDEX).exists() {
            copy_files(&source.join(INDEX), &target.join(INDEX))?;
        }
        self.directories[to] = self.directories[from].copied(target);
        Ok(())
    }

    /// Exchanges the indexes of two closed spaces.
    pub fn swap_indexes(&self, one: usize, other: usize) -> io::Result<()> {
        let [one, other] = [one, other].map(|at| self.directories[at].path.join(INDEX));
        let aside = one.with_file_name("aside");
        for (from, to) in [(&one, &aside), (&other, &one), (&aside, &other)] {
            match fs::rename(from, to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Where `path` is after `from` was renamed to `to`.
pub fn renamed(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(rest) if rest == Path::new("") => to.to_owned(),
        Ok(rest) => to.join(rest),
        Err(_) => path.to_owned(),
    }
}

/// `path` as seen from `current`, both absolute and without symbolic links.
pub fn relative(path: &Path, current: &Path) -> PathBuf {
    let shared = path.components().zip(current.components());
    let shared = shared.take_while(|(left, right)| left == right).count();
    let up = current.components().skip(shared).map(|_| Path::new(".."));
    up.chain(path.components().skip(shared).map(|part| Path::new(part.as_os_str()))).collect()
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_files(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
