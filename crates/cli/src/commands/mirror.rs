//! `leafbase mirror`: keeps a folder of markdown files and the space equal, both ways.

use std::path::PathBuf;

use clap::Args;
use leafbase::{Destination, ErrorKind, bulk};
use leafbase_vault::{LinkStyle, MirrorOptions, mirror};

use super::export::LinkFormat;
use crate::context::{self, CommandContext};
use crate::error::{CliError, CliResult, Exit};
use crate::names;
use crate::progress::ProgressLine;
use crate::show::{line, reports};

/// Keep a folder of markdown files and the space equal: edits go both ways
///
/// What changed since the last time on either side is carried over to the other. Edits of different
/// blocks of one note are merged; otherwise both versions are kept, the file's as a second
/// file. Hidden files are ignored, so that it works next to git and other programs.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct MirrorCommand {
    /// The folder; created if missing
    path: PathBuf,
    /// Folder of the space to mirror, instead of the whole space
    #[arg(long, value_name = "FOLDER")]
    of: Option<String>,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Change documents by files and nothing else: import a folder again
    #[arg(long)]
    import_only: bool,
    /// Move all documents to the trash if all files are gone
    #[arg(long)]
    allow_empty: bool,
    /// How links between documents are written
    #[arg(long, value_name = "STYLE", value_enum, default_value_t)]
    links: LinkFormat,
    /// List every warning instead of two of each kind
    #[arg(long)]
    all: bool,
}

impl MirrorCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<Exit> {
        context::check_outside_of_spaces(&self.path)?;
        let notes = context.writer()?;
        let mut options = MirrorOptions::new()
            .dry_run(self.dry_run)
            .allow_empty(self.allow_empty)
            .import_only(self.import_only)
            .links(LinkStyle::from(self.links));
        if let Some(name) = &self.of {
            options = match names::destination(&notes, name)? {
                Destination::Folder(folder) => options.of_folder(folder),
                _ => {
                    return Err(CliError::usage("--of takes the name of an ordinary folder"));
                }
            };
        }
        let mut progress = ProgressLine::new("mirroring");
        let (report, changes) = bulk::record(&notes, |notes| {
            mirror(notes, &self.path, &options, &mut |step| progress.report(step.done, step.total))
        });
        drop(progress);
        let report = report.map_err(|error| {
            if error.kind() == ErrorKind::Conflict {
                let hint = "to move all documents to the trash: --allow-empty";
                return CliError::from(error).hint(hint);
            }
            let written = reports::written(&notes, &changes);
            let written = written.map(|written| format!(" ({written} in the space)"));
            let kept = format!(
                "changes carried over so far stay{}: free some space on the device and repeat the \
                 command",
                written.unwrap_or_default()
            );
            CliError::of_steps(error, &kept)
        })?;
        // A shell goes on with the space. No error of a write is lost: it is flushed.
        notes.space().flush()?;
        let exit = if report.canceled { Exit::Interrupted } else { Exit::Done };
        if context.options.json {
            return context.out.json(&report).map(|()| exit);
        }
        reports::changes(&mut context.out, &report.changes)?;
        let unchanged = line::count(report.unchanged, "file", "files");
        context.out.line(format_args!("{unchanged} unchanged"))?;
        reports::write(&mut context.out, &report.warnings, &report.skipped, self.all)?;
        Ok(exit)
    }
}
