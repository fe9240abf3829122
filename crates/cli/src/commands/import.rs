//! `leafbase import`: imports a folder of markdown files, an Obsidian vault or a Logseq graph.

use std::path::PathBuf;

use clap::Args;
use leafbase::{Connection, Destination, FolderId, bulk};
use leafbase_vault::{ImportOptions, ImportReport, import_folder};

use crate::context::CommandContext;
use crate::error::{CliError, CliResult, Exit};
use crate::names;
use crate::progress::ProgressLine;
use crate::show::{line, reports};
use crate::task_numbers;

/// Import a folder of markdown files, an Obsidian vault or a Logseq graph
///
/// Directories become folders, files become documents, and files named by a day become daily notes.
/// Wiki links and relative links become block links. Files referenced by documents are imported as
/// attachments. Every warning is reported. The source folder is never written to. A folder that was
/// imported before updates its documents. The report ends with the changes that undo takes back.
#[derive(Debug, Args)]
pub(crate) struct ImportCommand {
    /// The folder, vault or graph
    path: PathBuf,
    /// Folder of the space to import into; created if missing
    #[arg(long, value_name = "FOLDER")]
    into: Option<String>,
    /// Import files named by a day as ordinary documents
    #[arg(long)]
    no_daily_notes: bool,
    /// Skip attachments
    #[arg(long)]
    no_attachments: bool,
    /// List every warning instead of two of each kind
    #[arg(long)]
    all: bool,
}

#[derive(serde::Serialize)]
struct ImportReply<'a> {
    #[serde(flatten)]
    report: &'a ImportReport,
    sequences: &'a [u64],
}

impl ImportCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<Exit> {
        if !self.path.is_dir() {
            let message = format!("{} is not a directory", self.path.display());
            return Err(CliError::not_found(message)
                .hint("name the folder that contains the markdown files"));
        }
        let notes = context.writer()?;
        let mut options = ImportOptions::new()
            .daily_notes(!self.no_daily_notes)
            .attachments(!self.no_attachments);
        let count = || bulk::read(&notes, |view| Ok(view.folders()?.len()));
        let folders = count()?;
        let (into, mut changes) = bulk::record(&notes, |notes| self.destination(notes));
        if let Some(folder) = into? {
            options = options.into_folder(folder);
        }
        let created = count()?.saturating_sub(folders) as u64;
        let mut progress = ProgressLine::new("importing");
        let (report, imported) = bulk::record(&notes, |notes| {
            import_folder(notes, &self.path, &options, &mut |step| {
                progress.report(step.done, step.total)
            })
        });
        drop(progress);
        changes.extend(imported);
        let mut report = report.map_err(|error| {
            let kept = reports::written(&notes, &changes).map(|written| {
                format!(
                    "{written} stay in the space: free some space on the device and repeat the \
                     command"
                )
            });
            CliError::of_steps(error, &kept.unwrap_or_default())
        })?;
        report.folders += created;
        // A shell goes on with the space. No error of a write is lost: it is flushed.
        notes.space().flush()?;
        let exit = if report.canceled { Exit::Interrupted } else { Exit::Done };
        if context.options.json {
            let reply = ImportReply { report: &report, sequences: &changes };
            return context.out.json(&reply).map(|()| exit);
        }
        let parts = [
            line::count(report.documents, "document", "documents"),
            line::count(report.blocks, "block", "blocks"),
            line::count(report.folders, "folder", "folders"),
            line::count(report.links, "link", "links"),
            line::count(report.attachments, "attachment", "attachments"),
        ];
        let how = if report.canceled { "interrupted; imported so far: " } else { "imported " };
        context.out.line(format_args!("{how}{}", parts.join(", ")))?;
        reports::changes(&mut context.out, &report.changes)?;
        if report.unchanged > 0 {
            let unchanged = line::count(report.unchanged, "file", "files");
            context.out.line(format_args!("{unchanged} unchanged"))?;
        }
        reports::write(&mut context.out, &report.warnings, &report.skipped, self.all)?;
        if !changes.is_empty() {
            let numbers = task_numbers::ranges(&changes);
            context.out.line(format_args!("undo with: leafbase undo {numbers}"))?;
        }
        Ok(exit)
    }

    /// The folder to import into, which is created if it is missing.
    fn destination(&self, notes: &Connection) -> CliResult<Option<FolderId>> {
        let Some(name) = &self.into else { return Ok(None) };
        if let Destination::Folder(folder) = names::destination(notes, name)? {
            return Ok(Some(folder));
        }
        Err(CliError::usage("--into takes the name of an ordinary folder, existing or new"))
    }
}
