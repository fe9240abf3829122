//! `leafbase salvage`: recovers the readable content of a damaged space.

use std::path::PathBuf;

use clap::Args;
use leafbase::{Error, ErrorKind, SalvageReport, Space};

use crate::context::{self, CommandContext};
use crate::error::{CliError, CliResult, Exit};
use crate::progress::ProgressLine;
use crate::show::{line, styles};

/// Losses listed without `--all`.
const MAX_LOSSES: usize = 10;

/// Recover a damaged space into a new one; exit code 4 if anything is lost
///
/// The damaged space is opened read-only; no other program may have it open. The new space is
/// intact, as leafbase check verifies.
#[derive(Debug, Args)]
pub(crate) struct SalvageCommand {
    /// The new directory
    path: PathBuf,
    /// List the first 1,000 losses instead of ten
    #[arg(long)]
    all: bool,
}

impl SalvageCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<Exit> {
        context::check_outside_of_other_spaces(&self.path)?;
        let from = context.path()?;
        let mut progress = ProgressLine::new("salvaging");
        let saving = || {
            Space::salvage_with(&from, &self.path, &mut |step| {
                progress.report(step.done, step.total)
            })
        };
        // Pages are read without the store: no other program may have it open, not even shared.
        let report = context.retry_while_open(saving).map_err(recovery_error)?;
        drop(progress);
        let exit = if report.is_whole() { Exit::Done } else { Exit::Damaged };
        if context.options.json {
            return context.out.json(&report).map(|()| exit);
        }
        self.report_saved(context, &report)?;
        self.report_lost(context, &report).map(|()| exit)
    }

    fn report_saved(&self, context: &mut CommandContext, report: &SalvageReport) -> CliResult<()> {
        let saved = &report.saved;
        let parts = [
            line::count(saved.documents, "document", "documents"),
            line::count(saved.blocks, "block", "blocks"),
            line::count(saved.folders, "folder", "folders"),
            line::count(saved.files, "file", "files"),
        ];
        context.out.line(format_args!(
            "recovered {} into {}",
            parts.join(", "),
            self.path.display()
        ))
    }

    fn report_lost(&self, context: &mut CommandContext, report: &SalvageReport) -> CliResult<()> {
        if report.is_whole() {
            return context.out.line(context.out.paint(styles::GOOD, "nothing was lost"));
        }
        let most = if self.all { usize::MAX } else { MAX_LOSSES };
        for loss in report.losses.iter().take(most) {
            context.out.line(format_args!("  {}", line::plain(&loss.to_string())))?;
        }
        let lost = report.lost.values().copied().fold(0, u64::saturating_add);
        let lost = context.out.paint(styles::LATE, line::count(lost, "loss", "losses"));
        let more = if report.losses.len() > most {
            "; for a longer list, salvage into another directory with --all"
        } else {
            ""
        };
        context.out.line(format_args!("{lost}{more}"))
    }
}

/// Replaces hints: the usual one for damage names this command, and the one for an open space says
/// that sharing it would do.
fn recovery_error(error: Error) -> CliError {
    let hint = match error.kind() {
        ErrorKind::Corrupted => "nothing of it is readable; restore a backup",
        ErrorKind::AlreadyOpen => "close every program that has it open, or wait: --wait 60",
        _ => return CliError::from(error),
    };
    CliError::from(error).hint(hint)
}
