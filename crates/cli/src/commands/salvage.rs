//! `leafbase salvage`: saves from a damaged space what can be read.

use std::path::PathBuf;

use clap::Args;
use leafbase::{Error, ErrorKind, SalvageReport, Space};

use crate::app::App;
use crate::fault::{Exit, Fault, Result};
use crate::progress::Line;
use crate::show::{line, styles};

/// Losses that are shown, unless all are asked for.
const SHOWN: usize = 10;

/// Save what can be read of a damaged space into a new one; exit code 4 if something is lost
///
/// The damaged space is only read, and no other program may have it open. The new one is whole, as
/// leafbase check verifies.
#[derive(Debug, Args)]
pub(crate) struct Salvage {
    /// The new directory
    path: PathBuf,
    /// Tell of the first 1,000 losses, not of ten
    #[arg(long)]
    all: bool,
}

impl Salvage {
    pub(crate) fn run(self, app: &mut App) -> Result<Exit> {
        let from = app.path()?;
        let mut progress = Line::new("salvaging");
        let saving = || {
            Space::salvage_with(&from, &self.path, &mut |step| progress.tell(step.done, step.total))
        };
        let report = app.patiently(saving).map_err(tell_hopeless)?;
        drop(progress);
        let exit = if report.is_whole() { Exit::Done } else { Exit::Damaged };
        if app.common.json {
            return app.out.json(&report).map(|()| exit);
        }
        self.tell_saved(app, &report)?;
        self.tell_lost(app, &report).map(|()| exit)
    }

    fn tell_saved(&self, app: &mut App, report: &SalvageReport) -> Result<()> {
        let saved = &report.saved;
        let parts = [
            line::count(saved.documents, "document", "documents"),
            line::count(saved.blocks, "block", "blocks"),
            line::count(saved.folders, "folder", "folders"),
            line::count(saved.files, "file", "files"),
        ];
        app.out.line(format_args!("saved {} into {}", parts.join(", "), self.path.display()))
    }

    fn tell_lost(&self, app: &mut App, report: &SalvageReport) -> Result<()> {
        if report.is_whole() {
            return app.out.line(app.out.paint(styles::GOOD, "nothing is lost"));
        }
        let most = if self.all { usize::MAX } else { SHOWN };
        for loss in report.losses.iter().take(most) {
            app.out.line(format_args!("  {}", line::plain(&loss.to_string())))?;
        }
        let lost = report.lost.values().copied().fold(0, u64::saturating_add);
        let lost = app.out.paint(styles::LATE, line::count(lost, "loss", "losses"));
        let more = if report.losses.len() > most {
            "; to see more of them, salvage into another directory with --all"
        } else {
            ""
        };
        app.out.line(format_args!("{lost}{more}"))
    }
}

/// An error of salvaging: of damage beyond it, the usual hint would name this command.
fn tell_hopeless(error: Error) -> Fault {
    let is_hopeless = error.kind() == ErrorKind::Corrupted;
    let fault = Fault::from(error);
    if is_hopeless { fault.hint("nothing of it can be read: go back to a backup") } else { fault }
}
