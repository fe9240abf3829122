//! `leafbase backup`: copies the current state of the space.

use std::path::PathBuf;

use clap::Args;

use crate::context::CommandContext;
use crate::error::CliResult;
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
