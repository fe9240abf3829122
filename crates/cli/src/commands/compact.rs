//! `leafbase compact`: returns unused space to the file system.

use clap::Args;

use crate::context::CommandContext;
use crate::error::CliResult;
use crate::progress;
use crate::show::line;

/// Return unused space to the file system
#[derive(Debug, Args)]
pub(crate) struct CompactCommand {}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct CompactReply {
    bytes_before: u64,
    bytes: u64,
}

impl CompactCommand {
    pub(crate) fn run(context: &mut CommandContext) -> CliResult<()> {
        let notes = context.writer()?;
        let space = notes.space();
        let bytes_before = space.stats()?.bytes;
        progress::while_running(format!("compacting {}", line::bytes(bytes_before)), || {
            space.compact()
        })?;
        let bytes = space.stats()?.bytes;
        if context.options.json {
            return context.out.json(&CompactReply { bytes_before, bytes });
        }
        context.out.line(format_args!(
            "{} before, {} now",
            line::bytes(bytes_before),
            line::bytes(bytes)
        ))
    }
}
