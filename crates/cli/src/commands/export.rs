//! `leafbase export`: writes the space as a folder of markdown.

use std::path::PathBuf;

use clap::Args;
use leafbase::{ErrorKind, ExportOptions};

use crate::app::App;
use crate::fault::{Exit, Fault, Result};
use crate::progress::Line;
use crate::show::{line, reports};

/// Write the space as a folder of markdown files
///
/// Folders become directories, documents become files, uploaded files go to attachments/. The
/// trash, the inbox and comments are left out. An import of the folder gives the same blocks again.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The folder: new or empty
    path: PathBuf,
    /// The folder may hold something: files of the same names are replaced, others stay
    #[arg(long)]
    into_existing: bool,
    /// Tell of every warning, not of two of each kind
    #[arg(long)]
    all: bool,
}

impl Export {
    pub(crate) fn run(self, app: &mut App) -> Result<Exit> {
        let notes = app.reader()?;
        let options = ExportOptions::new().into_existing(self.into_existing);
        let mut progress = Line::new("exporting");
        let report = notes
            .export_folder(&self.path, &options, &mut |step| progress.tell(step.done, step.total));
        drop(progress);
        let report = report.map_err(|error| match error.kind() {
            ErrorKind::Validation => {
                Fault::from(error).hint("to write into it all the same: --into-existing")
            }
            _ => error.into(),
        })?;
        let exit = if report.canceled { Exit::Interrupted } else { Exit::Done };
        if app.common.json {
            return app.out.json(&report).map(|()| exit);
        }
        let parts = [
            line::count(report.documents, "document", "documents"),
            line::count(report.blocks, "block", "blocks"),
            line::count(report.folders, "folder", "folders"),
            line::count(report.attachments, "attachment", "attachments"),
            line::bytes(report.bytes),
        ];
        let how = if report.canceled { "interrupted; exported so far: " } else { "exported " };
        app.out.line(format_args!("{how}{}", parts.join(", ")))?;
        reports::write(&mut app.out, &report.warnings, &report.skipped, self.all)?;
        Ok(exit)
    }
}
