//! `leafbase backup`: copies the current state of the space.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::context::{self, CommandContext, SPACE_EXTENSION};
use crate::error::{CliError, CliResult};
use crate::progress::ProgressLine;
use crate::show::line;

/// Copy the space to a new directory, where it opens like any other space
///
/// Verifies every checksum while copying. To verify the copy in full: leafbase check --space COPY
#[derive(Debug, Args)]
pub(crate) struct BackupCommand {
    /// The new directory
    path: PathBuf,
}

#[derive(serde::Serialize)]
struct BackupReply {
    path: String,
    bytes: u64,
}

impl BackupCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        context::check_outside_of_other_spaces(&self.path)?;
        check_name(&context.path()?, &self.path)?;
        let notes = context.reader()?;
        let mut progress = ProgressLine::new("copying");
        notes
            .space()
            .backup_with(&self.path, &mut |step| progress.report(step.done, step.total))?;
        drop(progress);
        // Opening the copy read-only proves that it opens, and leaves it unchanged.
        let bytes = leafbase::Space::builder().read_only(true).open(&self.path)?.stats()?.bytes;
        let path = self.path.display().to_string();
        if context.options.json {
            return context.out.json(&BackupReply { path, bytes });
        }
        context.out.line(format_args!("copied to {path}, {}", line::bytes(bytes)))
    }
}

/// Refuses a copy in the directory of the space under a name that later commands would open.
fn check_name(space: &Path, copy: &Path) -> CliResult<()> {
    let directory = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).canonicalize().ok()
    };
    let is_space_name = copy.extension().is_some_and(|extension| extension == SPACE_EXTENSION);
    let beside = directory(copy).filter(|beside| directory(space).as_ref() == Some(beside));
    let Some(beside) = beside.filter(|_| is_space_name) else { return Ok(()) };
    let message = format!("{} would contain several spaces", beside.display());
    let other = copy.with_extension("backup");
    Err(CliError::usage(message).hint(format!(
        "commands without --space could not choose; name another directory, or {}",
        other.display()
    )))
}
