//! `leafbase compact`: returns unused space to the file system, and shortens the change log.

use std::time::Duration;

use clap::Args;
use leafbase::CompactOptions;

use crate::context::CommandContext;
use crate::error::CliResult;
use crate::progress;
use crate::show::line;

const DAY: Duration = Duration::from_hours(24);
const MINUTE: Duration = Duration::from_mins(1);
const MIB: u64 = 1 << 20;

/// Return unused space to the file system, and drop old changes
///
/// Without options the change log stays whole. Dropped changes cannot be undone or shown by
/// `leafbase log`; documents do not change.
#[derive(Debug, Args)]
pub(crate) struct CompactCommand {
    /// Drop changes older than this many days
    #[arg(long, value_name = "DAYS")]
    keep_days: Option<u32>,
    /// Keep at most this many of the last changes
    #[arg(long, value_name = "CHANGES")]
    keep_changes: Option<u64>,
    /// Keep at most this many MiB of the last changes
    #[arg(long, value_name = "MIB")]
    keep_mib: Option<u32>,
    /// Merge edits of one text by one author, each at most this many minutes after the one before
    #[arg(long, value_name = "MINUTES")]
    merge_edits: Option<u32>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct CompactReply {
    bytes_before: u64,
    bytes: u64,
}

impl CompactCommand {
    fn options(&self) -> CompactOptions {
        let mut options = CompactOptions::new();
        if let Some(days) = self.keep_days {
            options = options.keep_for(DAY * days);
        }
        if let Some(changes) = self.keep_changes {
            options = options.keep_changes(changes);
        }
        if let Some(mib) = self.keep_mib {
            options = options.keep_bytes(u64::from(mib) * MIB);
        }
        if let Some(minutes) = self.merge_edits {
            options = options.merge_edits_within(MINUTE * minutes);
        }
        options
    }

    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.writer()?;
        let space = notes.space();
        let bytes_before = space.stats()?.bytes;
        progress::while_running(format!("compacting {}", line::bytes(bytes_before)), || {
            space.compact_with(self.options())
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
