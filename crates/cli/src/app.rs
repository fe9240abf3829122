//! What a command works with: its output, and the space, which is found and opened here.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use leafbase::{Connection, ErrorKind, SearchIndexing, Space, SpaceBuilder};

use crate::args::Common;
use crate::fault::{Fault, Result};
use crate::out::Out;

/// How long to wait before a space is tried again that another program has open.
const AGAIN: Duration = Duration::from_millis(50);

/// A run of the program.
pub(crate) struct App {
    pub(crate) common: Common,
    pub(crate) out: Out,
}

impl App {
    pub(crate) fn new(common: Common) -> Self {
        let out = Out::new(common.color);
        Self { common, out }
    }

    /// The space, to be read only: other programs may read it, too.
    pub(crate) fn reader(&self) -> Result<Connection> {
        self.open(&Space::builder().read_only(true))
    }

    /// The space, to be read and written.
    pub(crate) fn writer(&self) -> Result<Connection> {
        self.open(&Space::builder())
    }

    /// The space, to be searched: the index is brought up to date and kept, unless the space may
    /// only be read.
    pub(crate) fn searcher(&self) -> Result<Connection> {
        let builder = Space::builder().search_indexing(SearchIndexing::OnDemand);
        let path = self.path()?;
        match self.patiently(|| builder.clone().open(&path)) {
            Err(error) if error.kind() == ErrorKind::ReadOnly => self.reader(),
            opened => Ok(opened.map_err(|error| tell_space(error, &path))?.connect()),
        }
    }

    fn open(&self, builder: &SpaceBuilder) -> Result<Connection> {
        let path = self.path()?;
        let opened = self.patiently(|| builder.clone().open(&path));
        Ok(opened
            .map_err(|error| tell_space(error, &path))?
            .connect()
            .acting_as(self.common.author.as_deref().unwrap_or_default()))
    }

    /// Tries until the space is free, as long as was asked for.
    pub(crate) fn patiently<T>(
        &self,
        mut open: impl FnMut() -> leafbase::Result<T>,
    ) -> leafbase::Result<T> {
        let until = Instant::now() + Duration::from_secs(self.common.wait);
        loop {
            match open() {
                Err(error) if error.kind() == ErrorKind::AlreadyOpen && Instant::now() < until => {
                    thread::sleep(AGAIN)
                }
                opened => return opened,
            }
        }
    }

    /// The directory of the space.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        if let Some(path) = &self.common.space {
            return Ok(path.clone());
        }
        let here = std::env::current_dir()
            .map_err(|error| Fault::system("the current directory", &error))?;
        for directory in here.ancestors() {
            if let Some(found) = space_at(directory)? {
                return Ok(found);
            }
        }
        let message = format!("there is no space at {} or above", here.display());
        Err(Fault::not_found(message)
            .hint("name one with --space PATH, or make one with: leafbase new PATH"))
    }
}

/// The space that `directory` is, or the only one in it.
fn space_at(directory: &Path) -> Result<Option<PathBuf>> {
    if Space::is_at(directory) {
        return Ok(Some(directory.to_owned()));
    }
    // What may not be listed holds no space for us.
    let entries =
        std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let spaces =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "leafbase"));
    let mut found: Vec<_> = spaces.filter(|path| Space::is_at(path)).collect();
    found.sort();
    if found.len() > 1 {
        let names: Vec<_> = found.iter().map(|path| path.display().to_string()).collect();
        let message = format!("there are several spaces in {}", directory.display());
        return Err(
            Fault::usage(message).hint(format!("name one with --space:\n{}", names.join("\n")))
        );
    }
    Ok(found.pop())
}

/// An error of opening, with what to do about a space that is not there.
fn tell_space(error: leafbase::Error, path: &Path) -> Fault {
    let is_missing = error.kind() == ErrorKind::NotFound;
    let fault = Fault::from(error);
    if is_missing {
        fault.hint(format!("make it with: leafbase new {}", path.display()))
    } else {
        fault
    }
}
