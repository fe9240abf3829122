//! `leafbase restore`: makes a space as it was from a replica.

use std::path::PathBuf;

use clap::Args;
use leafbase::{ChangePosition, ErrorKind, Timestamp};
use leafbase_replica::{RestorePoint, restore};

use crate::context::{self, CommandContext};
use crate::days::SpokenDay;
use crate::error::{CliError, CliResult};
use crate::progress;
use crate::replica_address::ReplicaAddress;

/// Make a space as it was at any change or time, from its replica
///
/// The new space has its own history from there. log lists changes with their numbers and times.
#[derive(Debug, Args)]
pub(crate) struct RestoreCommand {
    #[command(flatten)]
    replica: ReplicaAddress,
    /// The directory of the new space
    path: PathBuf,
    /// The number of the last change to have, or a time: 2026-03-01, 2026-03-01T09:30 or
    /// 2026-03-01T09:30:00Z, or a day such as yesterday or "last friday" [default: all that was
    /// shipped]
    #[arg(long, value_name = "CHANGE|TIME", allow_hyphen_values = true, value_parser = moment)]
    at: Option<RestorePoint>,
}

#[derive(serde::Serialize)]
struct RestoreReply {
    path: String,
    position: ChangePosition,
}

/// A number, an instant, or a time or day in the time zone of the system. A day is its beginning.
fn moment(text: &str) -> Result<RestorePoint, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text
            .parse()
            .map(RestorePoint::Sequence)
            .map_err(|_| "the number is too large".to_owned());
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(RestorePoint::Time(time));
    }
    let expected =
        |_| format!("expected a number, or a time such as 2026-03-01T09:30:00Z, got {text:?}");
    let zone = jiff::tz::TimeZone::try_system().unwrap_or(jiff::tz::TimeZone::UTC);
    let day = text.parse::<SpokenDay>().ok().and_then(|day| {
        let today = jiff::Timestamp::now().to_zoned(zone.clone()).date().to_string();
        day.date(today.parse().ok()?).ok()
    });
    let time = day.map_or_else(|| text.to_owned(), |day| day.to_string());
    let time: jiff::civil::DateTime = time.parse().map_err(expected)?;
    let time = time.to_zoned(zone).map_err(expected)?;
    Ok(RestorePoint::Time(Timestamp::from_millis(time.timestamp().as_millisecond())))
}

impl RestoreCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        context::check_outside_of_other_spaces(&self.path)?;
        let store = self.replica.store()?;
        let position = progress::while_running("restoring".to_owned(), || {
            restore(&*store, &self.path, self.at.unwrap_or_default())
        });
        let position = position.map_err(|error| match error.kind() {
            ErrorKind::HistoryGone => {
                CliError::from(error).hint("name a later change or time: --at")
            }
            _ => error.into(),
        })?;
        let path = self.path.display().to_string();
        if context.options.json {
            return context.out.json(&RestoreReply { path, position });
        }
        context.out.line(format_args!("restored to {path} at change {}", position.sequence()))
    }
}
