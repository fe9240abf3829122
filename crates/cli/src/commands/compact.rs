//! `leafbase compact`: gives unused room back.

use clap::Args;

use crate::app::App;
use crate::fault::Result;
use crate::progress;
use crate::show::line;

/// Give unused room back to the file system
#[derive(Debug, Args)]
pub(crate) struct Compact {}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Compacted {
    bytes_before: u64,
    bytes: u64,
}

impl Compact {
    pub(crate) fn run(app: &mut App) -> Result<()> {
        let notes = app.writer()?;
        let space = notes.space();
        let bytes_before = space.stats()?.bytes;
        progress::while_running(format!("compacting {}", line::bytes(bytes_before)), || {
            space.compact()
        })?;
        let bytes = space.stats()?.bytes;
        if app.common.json {
            return app.out.json(&Compacted { bytes_before, bytes });
        }
        app.out.line(format_args!(
            "{} before, {} now",
            line::bytes(bytes_before),
            line::bytes(bytes)
        ))
    }
}
