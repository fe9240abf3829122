//! The context of a command: the global options, the output, and the space that it opens.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use leafbase::{Connection, Error, ErrorKind, SearchIndexing, Space, SpaceBuilder};

use crate::error::{CliError, CliResult};
use crate::names;
use crate::options::GlobalOptions;
use crate::out::Out;

/// Pause between attempts to open a space that another program has open.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// The extension of the directories that commands take for spaces.
pub(crate) const SPACE_EXTENSION: &str = "leafbase";

/// The environment of one command.
pub(crate) struct CommandContext {
    pub(crate) options: GlobalOptions,
    pub(crate) out: Out,
    held: Option<HeldSpace>,
}

/// A space that a shell keeps open, with its directory.
#[derive(Clone, Debug)]
pub(crate) struct HeldSpace {
    pub(crate) space: Space,
    pub(crate) path: PathBuf,
}

impl CommandContext {
    pub(crate) fn new(options: GlobalOptions, held: Option<HeldSpace>) -> Self {
        let out = Out::new(options.color);
        Self { options, out, held }
    }

    /// A connection to the space that the shell holds, if the command is for that space.
    fn held(&self, path: &Path) -> Option<Connection> {
        let held = self.held.as_ref().filter(|held| held.path == path)?;
        let author = self.options.author.as_deref().unwrap_or("");
        Some(held.space.connect().acting_as(author))
    }

    /// Opens the space beside other programs, for as long as a shell lasts; read-only if it cannot
    /// be written.
    pub(crate) fn hold(&self) -> CliResult<HeldSpace> {
        let path = self.path()?;
        let builder = Space::builder().search_indexing(SearchIndexing::OnDemand).shared(true);
        let opened = match self.retry_while_open(|| builder.clone().open(&path)) {
            Err(error) if error.kind() == ErrorKind::ReadOnly => {
                let builder = Space::builder().read_only(true);
                self.retry_while_open(|| open_beside(&builder, &path))
            }
            opened => opened,
        };
        let space = opened.map_err(|error| open_error(error, &path))?;
        Ok(HeldSpace { space, path })
    }

    /// A connection that shares the space with other programs for as long as it lasts.
    pub(crate) fn sharer(&self) -> CliResult<Connection> {
        if let Some(notes) = self.held(&self.path()?) {
            return Ok(notes);
        }
        let author = self.options.author.as_deref().unwrap_or("");
        Ok(self.hold()?.space.connect().acting_as(author))
    }

    /// Opens the space read-only: other programs may read it at the same time.
    pub(crate) fn reader(&self) -> CliResult<Connection> {
        self.open(&Space::builder().read_only(true))
    }

    /// Opens the space for reading and writing.
    pub(crate) fn writer(&self) -> CliResult<Connection> {
        self.open(&Space::builder())
    }

    /// Opens the space for searches: the index is updated and stored, unless the space is
    /// read-only.
    pub(crate) fn searcher(&self) -> CliResult<Connection> {
        let builder = Space::builder().search_indexing(SearchIndexing::OnDemand);
        let path = self.path()?;
        if let Some(notes) = self.held(&path) {
            return Ok(notes);
        }
        match self.retry_while_open(|| open_beside(&builder, &path)) {
            // The stored index may be stale then; the search covers newer documents itself.
            Err(error) if error.kind() == ErrorKind::ReadOnly => self.reader(),
            opened => Ok(opened.map_err(|error| open_error(error, &path))?.connect()),
        }
    }

    fn open(&self, builder: &SpaceBuilder) -> CliResult<Connection> {
        let path = self.path()?;
        if let Some(notes) = self.held(&path) {
            return Ok(notes);
        }
        let opened = self.retry_while_open(|| open_beside(builder, &path));
        Ok(opened
            .map_err(|error| open_error(error, &path))?
            .connect()
            .acting_as(self.options.author.as_deref().unwrap_or("")))
    }

    /// Retries `open` while another program has the space open, for up to `--wait` seconds.
    pub(crate) fn retry_while_open<T>(
        &self,
        mut open: impl FnMut() -> leafbase::Result<T>,
    ) -> leafbase::Result<T> {
        // None is later than any clock shows.
        let until = Instant::now().checked_add(Duration::from_secs(self.options.wait));
        let may_retry = || until.is_none_or(|until| Instant::now() < until);
        loop {
            match open() {
                Err(error) if error.kind() == ErrorKind::AlreadyOpen && may_retry() => {
                    thread::sleep(RETRY_INTERVAL);
                }
                opened => return opened,
            }
        }
    }

    /// The directory of the space: `--space`, else the nearest one from the current directory
    /// upwards.
    pub(crate) fn path(&self) -> CliResult<PathBuf> {
        if let Some(path) = &self.options.space {
            return Ok(path.clone());
        }
        let here = std::env::current_dir()
            .map_err(|error| CliError::system("the current directory", &error))?;
        for directory in here.ancestors() {
            if let Some(found) = space_at(directory)? {
                return Ok(found);
            }
        }
        let message = format!("no space found in {} or any directory above it", here.display());
        Err(CliError::not_found(message)
            .hint("name one with --space PATH, or create one with: leafbase new PATH"))
    }
}

/// The space at `directory`, else the only one directly inside it.
fn space_at(directory: &Path) -> CliResult<Option<PathBuf>> {
    if Space::is_at(directory) {
        return Ok(Some(directory.to_owned()));
    }
    // A directory without read permission is skipped: the search continues above it.
    let entries =
        std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let spaces = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == SPACE_EXTENSION));
    let mut found: Vec<_> = spaces.filter(|path| Space::is_at(path)).collect();
    // The order of a directory listing is undefined; the message should not change between runs.
    found.sort();
    if found.len() > 1 {
        let names: Vec<_> = found.iter().map(|path| path.display().to_string()).collect();
        let message = format!("{} contains several spaces", directory.display());
        return Err(CliError::usage(message)
            .hint(format!("choose one with --space:\n{}", names.join("\n"))));
    }
    Ok(found.pop())
}

/// Fails if `path` is the directory of a space or in one: its files are not for other programs.
pub(crate) fn check_outside_of_spaces(path: &Path) -> CliResult<()> {
    check_outside(path, &absolute(path)?)
}

/// Fails if the space at `path`, which need not exist, is in the directory of another one.
pub(crate) fn check_outside_of_other_spaces(path: &Path) -> CliResult<()> {
    let absolute = absolute(path)?;
    check_outside(path, absolute.parent().unwrap_or(&absolute))
}

fn absolute(path: &Path) -> CliResult<PathBuf> {
    std::path::absolute(path).map_err(|error| CliError::system(path.display().to_string(), &error))
}

/// Fails if `directory`, an absolute path, is the directory of a space or in one; the error names
/// `path`.
fn check_outside(path: &Path, directory: &Path) -> CliResult<()> {
    // The part of the path that exists: links in it may lead into a space.
    let existing = directory.ancestors().find_map(|path| path.canonicalize().ok());
    let mut directories = existing.iter().flat_map(|path| path.ancestors());
    match directories.find(|directory| Space::is_at(directory)) {
        Some(space) => {
            let message = format!("{} is in the space {}", path.display(), space.display());
            Err(CliError::usage(message).hint("name a directory outside of the space"))
        }
        None => Ok(()),
    }
}

/// Opens the space at `path`, next to programs that share it if there are any.
pub(crate) fn open_beside(builder: &SpaceBuilder, path: &Path) -> leafbase::Result<Space> {
    let alone = match builder.clone().open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyOpen => error,
        opened => return opened,
    };
    let is_in_the_way = |error: &Error| error.kind() == ErrorKind::AlreadyOpen;
    let shared = builder.clone().shared(true).open(path);
    // The first error names the program that does not share the space.
    shared.map_err(|error| if is_in_the_way(&error) { alone } else { error })
}

/// Adds a hint to the error of a space that does not exist.
fn open_error(error: leafbase::Error, path: &Path) -> CliError {
    let is_missing = error.kind() == ErrorKind::NotFound;
    let error = CliError::from(error);
    if is_missing {
        let path = names::quoted(&path.display().to_string());
        error.hint(format!("create it with: leafbase new {path}"))
    } else {
        error
    }
}
