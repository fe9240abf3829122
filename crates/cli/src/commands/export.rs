//! `leafbase export`: writes the space as a folder of markdown files.

use std::path::PathBuf;

use clap::Args;
use leafbase::{ErrorKind, ExportOptions};

use crate::context::CommandContext;
use crate::error::{CliError, CliResult, Exit};
use crate::progress::ProgressLine;
use crate::show::{line, reports};

/// Write the space as a folder of markdown files
///
/// Folders become directories, documents become files, and uploaded files go to attachments/. The
/// trash, the inbox and comments are not exported. Importing the folder again gives the same
/// blocks.
#[derive(Debug, Args)]
pub(crate) struct ExportCommand {
    /// The folder: new or empty
    path: PathBuf,
    /// Allow a folder with content: files of the same name are replaced, others are kept
    #[arg(long)]
    into_existing: bool,
    /// List every warning instead of two of each kind
    #[arg(long)]
    all: bool,
}

impl ExportCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<Exit> {
        let notes = context.reader()?;
        let options = ExportOptions::new().into_existing(self.into_existing);
        let mut progress = ProgressLine::new("exporting");
        let report = notes.export_folder(&self.path, &options, &mut |step| {
            progress.report(step.done, step.total)
        });
        drop(progress);
        let report = report.map_err(|error| match error.kind() {
            ErrorKind::Validation => {
                CliError::from(error).hint("to write into it anyway: --into-existing")
            }
            _ => error.into(),
        })?;
        let exit = if report.canceled { Exit::Interrupted } else { Exit::Done };
        if context.options.json {
            return context.out.json(&report).map(|()| exit);
        }
        let parts = [
            line::count(report.documents, "document", "documents"),
            line::count(report.blocks, "block", "blocks"),
            line::count(report.folders, "folder", "folders"),
            line::count(report.attachments, "attachment", "attachments"),
            line::bytes(report.bytes),
        ];
        let how = if report.canceled { "interrupted; exported so far: " } else { "exported " };
        context.out.line(format_args!("{how}{}", parts.join(", ")))?;
        reports::write(&mut context.out, &report.warnings, &report.skipped, self.all)?;
        Ok(exit)
    }
}
