//! `leafbase replicate`: ships the changes of the space to a replica.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use leafbase::{ChangePosition, Connection, ErrorKind, Space};
use leafbase_replica::{Leader, LeaderOptions, Shipment};

use super::follow;
use crate::context::{CommandContext, open_beside};
use crate::error::{CliError, CliResult};
use crate::interrupt;
use crate::out;
use crate::replica_address::ReplicaAddress;
use crate::show::line;

const MIB: u64 = 1 << 20;

/// Ship the changes of the space to a replica, until interrupted
///
/// A replica is a directory, on another disk or a network drive. Whatever was shipped can be
/// restored to any change or time (leafbase restore), and followed (leafbase follow).
/// Between rounds the space is closed, so that other programs can write to it; while one that does
/// not share it has it open, nothing is shipped. Of several machines with the same space one ships:
/// another one waits until its term has ended.
#[derive(Debug, Args)]
pub(crate) struct ReplicateCommand {
    #[command(flatten)]
    replica: ReplicaAddress,
    /// Ship once and exit
    #[arg(long)]
    once: bool,
    /// Seconds between rounds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    interval: u64,
    /// Make a snapshot after this many MiB of changes
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    snapshot_mib: u64,
    /// Keep this many snapshots, and the changes since the oldest one
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    keep_snapshots: usize,
    /// Ship instead of the machine that does now, which writes nothing more to the replica
    #[arg(long)]
    take_over: bool,
    /// Delete what was shipped if it is not the past of this space, as after a restored backup
    #[arg(long)]
    start_over: bool,
    /// Name under which this machine ships
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(serde::Serialize)]
struct ShipmentReply {
    changes: u64,
    snapshots: u64,
    position: ChangePosition,
}

impl ReplicateCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        interrupt::listen();
        let store = self.replica.store_to_write()?;
        let scratch = tempfile::tempdir()
            .map_err(|error| CliError::system("the directory for snapshots", &error))?;
        let mut options = LeaderOptions::new(self.name(), scratch.path())
            .snapshot_after(self.snapshot_mib.saturating_mul(MIB))
            .keep_snapshots(self.keep_snapshots)
            .term(Duration::from_secs(self.interval.saturating_mul(4).max(30)))
            .take_over(self.take_over)
            .start_over(self.start_over);
        let lead = |notes: &Connection, options: &LeaderOptions| {
            Leader::acquire(notes.space(), store.clone(), options.clone())
        };
        let notes = context.reader()?;
        let led = context.retry_while_open(|| lead(&notes, &options));
        let mut leader = led.map_err(|error| match error.kind() {
            ErrorKind::HistoryGone => CliError::from(error)
                .hint("to delete what was shipped and ship this space instead: --start-over"),
            _ => error.into(),
        })?;
        let path = context.path()?;
        // A copy that ships is a space of its own from here on.
        follow::unmark(&path)?;
        show(context, &leader.ship()?)?;
        if self.once {
            return Ok(leader.release()?);
        }
        // The first one was asked for; what happens later is not expected.
        options = options.take_over(false).start_over(false);
        let mut shipped = leader.position();
        // Released between rounds, so that other programs can open the space for writing.
        drop((leader, notes));
        let mut is_waiting = false;
        while !interrupt::pause(Duration::from_secs(self.interval)) {
            context.out.flush()?;
            let notes = match open_beside(&Space::builder().read_only(true), &path) {
                Ok(space) => space.connect(),
                // Another program is writing: a later round ships it.
                Err(error) if error.kind() == ErrorKind::AlreadyOpen => {
                    if !is_waiting {
                        // A failed write loses the line alone.
                        let mut errors = out::error_stream(context.options.color);
                        drop(writeln!(errors, "waiting to ship: {error}"));
                    }
                    is_waiting = true;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            is_waiting = false;
            if notes.last_position()? == shipped {
                continue;
            }
            let mut leader = lead(&notes, &options)?;
            show(context, &leader.ship()?)?;
            shipped = leader.position();
        }
        let notes = context.reader()?;
        Ok(lead(&notes, &options)?.release()?)
    }

    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("leafbase process {}", std::process::id()))
    }
}

fn show(context: &mut CommandContext, shipment: &Shipment) -> CliResult<()> {
    let Shipment { changes, snapshots, position, .. } = *shipment;
    if context.options.json {
        return context.out.json(&ShipmentReply { changes, snapshots, position });
    }
    context.out.line(format_args!(
        "shipped {} and {} up to change {}",
        line::count(changes, "change", "changes"),
        line::count(snapshots, "snapshot", "snapshots"),
        position.sequence()
    ))
}
