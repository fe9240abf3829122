//! `leafbase follow`: keeps a copy of a space up to date from a replica.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use leafbase::{ChangePosition, Error, ErrorKind, Space};
use leafbase_replica::{Follower, ReplicaStore};

use crate::context::{self, CommandContext};
use crate::error::{CliError, CliResult};
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
    /// Replace the copy by a new one where it cannot follow: after a purge, or after it was
    /// written; a space that follow did not make is refused
    #[arg(long)]
    start_over: bool,
}

#[derive(serde::Serialize)]
struct FollowReply {
    path: String,
    position: ChangePosition,
}

/// The empty file in the directory of a copy: `--start-over` replaces no other space.
const COPY_MARK: &str = "followed";

/// Marks a copy that was just made.
fn mark(copy: &Path) -> leafbase::Result<()> {
    fs::write(copy.join(COPY_MARK), b"").map_err(|error| {
        let message = format!("cannot mark the copy {}", copy.display());
        Error::new(ErrorKind::Storage, message).with_source(error)
    })
}

/// Removes the mark from a copy that is written from here on.
pub(super) fn unmark(space: &Path) -> CliResult<()> {
    let mark = space.join(COPY_MARK);
    match fs::remove_file(&mark) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CliError::system(mark.display().to_string(), &error))
        }
        _ => Ok(()),
    }
}

impl FollowCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        context::check_outside_of_other_spaces(&self.path)?;
        interrupt::listen();
        let (store, mut seen) = (self.replica.store()?, None);
        self.check_start_over()?;
        loop {
            match self.round(context, &store) {
                Ok(position) if seen == Some(position) => {}
                Ok(position) => {
                    seen = Some(position);
                    self.show(context, position)?;
                }
                // Another program has the copy open: the next round is soon.
                Err(error) if error.kind() == ErrorKind::AlreadyOpen && !self.once => {}
                Err(error) if error.kind() == ErrorKind::HistoryGone => {
                    return Err(CliError::from(error)
                        .hint("to replace the copy by a new one: --start-over"));
                }
                Err(error) => return Err(error.into()),
            }
            context.out.flush()?;
            if self.once || interrupt::pause(Duration::from_secs(self.interval)) {
                return Ok(());
            }
        }
    }

    /// Refuses to replace a space that is not a copy, such as the one that ships.
    fn check_start_over(&self) -> CliResult<()> {
        if !self.start_over || !Space::is_at(&self.path) || self.path.join(COPY_MARK).exists() {
            return Ok(());
        }
        let message = format!("{} was not made by follow: it is not replaced", self.path.display());
        Err(CliError::failed(message).hint("name another directory for the copy"))
    }

    /// Applies what was shipped, with the copy open meanwhile.
    fn round(
        &self,
        context: &CommandContext,
        store: &Arc<dyn ReplicaStore>,
    ) -> leafbase::Result<ChangePosition> {
        let is_new = !Space::is_at(&self.path);
        let mut follower =
            context.retry_while_open(|| Follower::open(&self.path, store.clone()))?;
        if is_new {
            mark(&self.path)?;
        }
        let mut position = follower.catch_up();
        if position.as_ref().is_err_and(|error| error.kind() == ErrorKind::HistoryGone)
            && self.start_over
        {
            follower = follower.start_over()?;
            mark(&self.path)?;
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
