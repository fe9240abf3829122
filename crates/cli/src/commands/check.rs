//! `leafbase check`: whether a space is whole.

use clap::Args;

use crate::app::App;
use crate::fault::{Exit, Result};
use crate::progress::Line;
use crate::show::{line, styles};

/// Read everything and verify it; exit code 4 if something is damaged
///
/// A backup is verified like any other space: leafbase check --space COPY
#[derive(Debug, Args)]
pub(crate) struct Check {}

impl Check {
    pub(crate) fn run(app: &mut App) -> Result<Exit> {
        let notes = app.reader()?;
        let mut progress = Line::new("checking");
        let report = notes.space().check_with(&mut |step| progress.tell(step.done, step.total))?;
        drop(progress);
        let exit = if report.is_clean() { Exit::Done } else { Exit::Damaged };
        if app.common.json {
            return app.out.json(&report).map(|()| exit);
        }
        for problem in &report.problems {
            app.out.line(line::plain(&problem.to_string()))?;
        }
        let parts = [
            line::count(report.documents, "document", "documents"),
            line::count(report.blocks, "block", "blocks"),
            line::count(report.rows, "record", "records"),
        ];
        let verdict = if report.is_clean() {
            app.out.paint(styles::GOOD, "whole")
        } else {
            let found = u64::try_from(report.problems.len())
                .unwrap_or(u64::MAX)
                .saturating_add(report.unlisted);
            app.out.paint(styles::LATE, line::count(found, "problem", "problems"))
        };
        app.out.line(format_args!("{verdict}: {}", parts.join(", ")))?;
        if !report.is_clean() {
            app.out
                .line("go back to a backup, or save what can be read: leafbase salvage NEW_PATH")?;
        }
        Ok(exit)
    }
}
