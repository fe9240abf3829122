//! `leafbase check`: verifies the integrity of a space.

use clap::Args;

use crate::context::CommandContext;
use crate::error::{CliResult, Exit};
use crate::progress::ProgressLine;
use crate::show::{line, styles};

/// Read and verify everything; exit code 4 if anything is damaged
///
/// A backup is verified like any other space: leafbase check --space COPY
#[derive(Debug, Args)]
pub(crate) struct CheckCommand {}

impl CheckCommand {
    pub(crate) fn run(context: &mut CommandContext) -> CliResult<Exit> {
        let notes = context.reader()?;
        let mut progress = ProgressLine::new("checking");
        let report =
            notes.space().check_with(&mut |step| progress.report(step.done, step.total))?;
        drop(progress);
        // Damage is a result, not an error: the report goes to the standard output.
        let exit = if report.is_clean() { Exit::Done } else { Exit::Damaged };
        if context.options.json {
            return context.out.json(&report).map(|()| exit);
        }
        for problem in &report.problems {
            context.out.line(line::plain(&problem.to_string()))?;
        }
        let parts = [
            line::count(report.documents, "document", "documents"),
            line::count(report.blocks, "block", "blocks"),
            line::count(report.rows, "record", "records"),
        ];
        let verdict = if report.is_clean() {
            context.out.paint(styles::GOOD, "whole")
        } else {
            let found = u64::try_from(report.problems.len())
                .unwrap_or(u64::MAX)
                .saturating_add(report.unlisted);
            context.out.paint(styles::LATE, line::count(found, "problem", "problems"))
        };
        context.out.line(format_args!("{verdict}: {}", parts.join(", ")))?;
        if !report.is_clean() {
            context
                .out
                .line("restore a backup, or recover what is readable: leafbase salvage NEW_PATH")?;
        }
        Ok(exit)
    }
}
