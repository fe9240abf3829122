//! `leafbase new`: creates a space.

use std::path::PathBuf;

use clap::Args;
use leafbase::{Space, SpaceMeta};

use crate::context::{self, CommandContext};
use crate::error::{CliError, CliResult};

/// Create a space
#[derive(Debug, Args)]
pub(crate) struct NewCommand {
    /// The new directory; conventionally its name ends in .leafbase
    path: Option<PathBuf>,
    /// Name of the space [default: the name of the directory]
    #[arg(long)]
    name: Option<String>,
    /// IANA time zone that determines the current day [default: the zone of this system]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
}

#[derive(serde::Serialize)]
struct NewSpaceReply<'a> {
    id: String,
    name: &'a str,
    zone: &'a str,
    path: String,
}

impl NewCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let path = self.path.or_else(|| context.options.space.clone());
        let path = path.ok_or_else(|| {
            CliError::usage("the path of the new space is missing")
                .hint("leafbase new notes.leafbase")
        })?;
        context::check_outside_of_other_spaces(&path)?;
        let zone = self.zone.unwrap_or_else(local_zone);
        let space =
            Space::builder().name(self.name.unwrap_or_default()).zone(zone).create(&path)?;
        let SpaceMeta { id, name, zone, .. } = space.meta()?;
        space.close()?;
        let path = path.display().to_string();
        if context.options.json {
            return context.out.json(&NewSpaceReply {
                id: id.to_string(),
                name: &name,
                zone: &zone,
                path,
            });
        }
        context.out.line(format_args!("created space {name:?} at {path}, time zone {zone}"))
    }
}

/// The IANA name of the system's time zone, UTC if it has none.
fn local_zone() -> String {
    let zone = jiff::tz::TimeZone::try_system().ok();
    zone.as_ref().and_then(|zone| zone.iana_name()).unwrap_or("UTC").to_owned()
}
