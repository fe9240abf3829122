//! `leafbase import`: takes in a folder of markdown, an Obsidian vault or a Logseq graph.

use std::path::PathBuf;

use clap::Args;
use leafbase::{Destination, ImportOptions};

use crate::app::App;
use crate::fault::{Exit, Fault, Result};
use crate::names;
use crate::progress::Line;
use crate::show::{line, reports};

/// Take in a folder of markdown files, an Obsidian vault or a Logseq graph
///
/// Directories become folders, files become documents, files named by a day become daily notes.
/// Wiki links and relative links become links to blocks, and files that documents show are taken
/// in. What had to be adapted is told. The folder is only read.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The folder, vault or graph
    path: PathBuf,
    /// The folder of the space that everything goes into; it is made if there is none
    #[arg(long, value_name = "FOLDER")]
    into: Option<String>,
    /// Files named by a day become ordinary documents
    #[arg(long)]
    no_daily_notes: bool,
    /// Files that documents show are not taken in
    #[arg(long)]
    no_attachments: bool,
    /// Tell of every warning, not of two of each kind
    #[arg(long)]
    all: bool,
}

impl Import {
    pub(crate) fn run(self, app: &mut App) -> Result<Exit> {
        if !self.path.is_dir() {
            let message = format!("{} is no directory", self.path.display());
            return Err(
                Fault::not_found(message).hint("name the folder that holds the markdown files")
            );
        }
        let notes = app.writer()?;
        let mut options = ImportOptions::new()
            .daily_notes(!self.no_daily_notes)
            .attachments(!self.no_attachments);
        if let Some(name) = &self.into {
            options = match names::destination(&notes, name)? {
                Destination::Folder(folder) => options.into_folder(folder),
                _ => {
                    return Err(Fault::usage(
                        "--into takes a folder of your own, or a name for a new one",
                    ));
                }
            };
        }
        let mut progress = Line::new("importing");
        let report = notes.import_folder(&self.path, &options, &mut |step| {
            progress.tell(step.done, step.total)
        })?;
        drop(progress);
        notes.space().clone().close()?;
        let exit = if report.canceled { Exit::Interrupted } else { Exit::Done };
        if app.common.json {
            return app.out.json(&report).map(|()| exit);
        }
        let parts = [
            line::count(report.documents, "document", "documents"),
            line::count(report.blocks, "block", "blocks"),
            line::count(report.folders, "folder", "folders"),
            line::count(report.links, "link", "links"),
            line::count(report.attachments, "attachment", "attachments"),
        ];
        let how = if report.canceled { "interrupted; imported so far: " } else { "imported " };
        app.out.line(format_args!("{how}{}", parts.join(", ")))?;
        reports::write(&mut app.out, &report.warnings, &report.skipped, self.all)?;
        Ok(exit)
    }
}
