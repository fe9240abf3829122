//! `leafbase follow`: keeps a copy of a space up to date from a replica.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use leafbase::{ChangePosition, ErrorKind};
use leafbase_replica::{Follower, ReplicaStore};

use crate::context::CommandContext;
use crate::error::CliResult;
use crate::interrupt;
use crate::replica_address::ReplicaAddress;

/// Keep a copy of a space up to date from its replica, until interrupted
///
/// The copy is a space in a directory of its own, to be read and searched by other commands, which
/// can open it between rounds. A command that writes to it ends its following: the next round
/// reports that.
#[derive(Debug, Args)]
pub(crate) struct FollowCommand {
    #[command(flatten)]
    replica: ReplicaAddress,
    /// The directory of the copy; made if missing
    path: PathBuf,
    /// Apply what was shipped and exit
    #[arg(long)]
    once: bool,
    /// Seconds between rounds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    interval: u64,
    /// Replace the copy by a new one where it cannot follow: after a purge, or after it was written
    #[arg(long)]
    start_over: bool,
}

#[derive(serde::Serialize)]
struct FollowReply {
    path: String,
    position: ChangePosition,
}

impl FollowCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        interrupt::listen();
        let (store, mut seen) = (self.replica.store(), None);
        loop {
            match self.round(context, &store) {
                Ok(position) if seen == Some(position) => {}
                Ok(position) => {
                    seen = Some(position);
                    self.show(context, position)?;
                }
                // Another program has the copy open: the next round is soon.
                Err(error) if error.kind() == ErrorKind::AlreadyOpen && !self.once => {}
                Err(error) => return Err(error.into()),
            }
            context.out.flush()?;
            if self.once || interrupt::pause(Duration::from_secs(self.interval)) {
                return Ok(());
            }
        }
    }

    /// Applies what was shipped, with the copy open meanwhile.
    fn round(
        &self,
        context: &CommandContext,
        store: &Arc<dyn ReplicaStore>,
    ) -> leafbase::Result<ChangePosition> {
        let mut follower =
            context.retry_while_open(|| Follower::open(&self.path, store.clone()))?;
        let mut position = follower.catch_up();
        if position.as_ref().is_err_and(|error| error.kind() == ErrorKind::HistoryGone)
            && self.start_over
        {
            follower = follower.start_over()?;
            position = follower.catch_up();
        }
        let position = position?;
        follower.close()?;
        Ok(position)
    }

    fn show(&self, context: &mut CommandContext, position: ChangePosition) -> CliResult<()> {
        let path = self.path.display().to_string();
        if context.options.json {
            return context.out.json(&FollowReply { path, position });
        }
        context.out.line(format_args!("{path} is at change {}", position.sequence()))
    }
}
