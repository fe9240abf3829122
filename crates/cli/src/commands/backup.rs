//! `leafbase backup`: a copy of the space as it is now.

use std::path::PathBuf;

use clap::Args;

use crate::app::App;
use crate::fault::Result;
use crate::progress::Line;
use crate::show::line;

/// Copy the space, which then opens like any other
///
/// Every checksum is verified while it is copied. To verify the copy in full: leafbase check
/// --space COPY
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The new directory
    path: PathBuf,
}

#[derive(serde::Serialize)]
struct Made {
    path: String,
    bytes: u64,
}

impl Backup {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.reader()?;
        let mut progress = Line::new("copying");
        notes.space().backup_with(&self.path, &mut |step| progress.tell(step.done, step.total))?;
        drop(progress);
        let bytes = leafbase::Space::builder().read_only(true).open(&self.path)?.stats()?.bytes;
        let path = self.path.display().to_string();
        if app.common.json {
            return app.out.json(&Made { path, bytes });
        }
        app.out.line(format_args!("copied to {path}, {}", line::bytes(bytes)))
    }
}
