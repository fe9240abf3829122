//! `leafbase export`: writes the space as a folder of markdown files.

use std::path::PathBuf;

use clap::Args;
use leafbase::ErrorKind;
use leafbase_vault::{ExportOptions, LinkStyle, export_folder};

use crate::context::{self, CommandContext};
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
    /// How links between documents are written
    #[arg(long, value_name = "STYLE", value_enum, default_value_t)]
    links: LinkFormat,
    /// List every warning instead of two of each kind
    #[arg(long)]
    all: bool,
}

/// The styles of links, as options name them.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum LinkFormat {
    /// As the imported files had them; new links as relative ones
    #[default]
    AsWritten,
    /// Links between files, which every renderer follows
    Relative,
    #[value(help = "[[Note]] and [[Note|words]], as Obsidian writes them")]
    Wiki,
    #[value(help = "A graph of Logseq: [[Page]], ((id)), journals/ and pages/")]
    Logseq,
}

impl From<LinkFormat> for LinkStyle {
    fn from(format: LinkFormat) -> Self {
        match format {
            LinkFormat::AsWritten => Self::AsWritten,
            LinkFormat::Relative => Self::Relative,
            LinkFormat::Wiki => Self::Wiki,
            LinkFormat::Logseq => Self::Logseq,
        }
    }
}

impl ExportCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<Exit> {
        context::check_outside_of_spaces(&self.path)?;
        let notes = context.reader()?;
        let style = LinkStyle::from(self.links);
        let options = ExportOptions::new().into_existing(self.into_existing).links(style);
        let (mut progress, mut done) = (ProgressLine::new("exporting"), 0);
        let report = export_folder(&notes, &self.path, &options, &mut |step| {
            done = step.done;
            progress.report(step.done, step.total)
        });
        drop(progress);
        let files = line::count(done, "file", "files");
        let kept = format!(
            "{files} exported so far: free some space on the device and repeat the command with \
             --into-existing"
        );
        let report = report.map_err(|error| match error.kind() {
            ErrorKind::Validation => {
                CliError::from(error).hint("to write into it anyway: --into-existing")
            }
            _ => CliError::of_steps(error, &kept),
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
