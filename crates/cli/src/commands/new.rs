//! `leafbase new`: makes a space.

use std::path::PathBuf;

use clap::Args;
use leafbase::{Space, SpaceMeta};

use crate::app::App;
use crate::fault::{Fault, Result};

/// Make a space
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The new directory; by custom its name ends in .leafbase
    path: Option<PathBuf>,
    /// What it is called; without this as the directory
    #[arg(long)]
    name: Option<String>,
    /// The time zone that decides what today is, by its IANA name; without this the one of this
    /// system
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
}

#[derive(serde::Serialize)]
struct Made<'a> {
    id: String,
    name: &'a str,
    zone: &'a str,
    path: String,
}

impl New {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let path = self.path.or_else(|| app.common.space.clone());
        let path = path.ok_or_else(|| {
            Fault::usage("say where the space is to be").hint("leafbase new notes.leafbase")
        })?;
        let zone = self.zone.unwrap_or_else(local_zone);
        let space =
            Space::builder().name(self.name.unwrap_or_default()).zone(zone).create(&path)?;
        let SpaceMeta { id, name, zone } = space.meta()?;
        space.close()?;
        let path = path.display().to_string();
        if app.common.json {
            return app.out.json(&Made { id: id.to_string(), name: &name, zone: &zone, path });
        }
        app.out
            .line(format_args!("made the space {name:?} at {path}; its days are those of {zone}"))
    }
}

/// The IANA name of the system's zone; UTC where it has none.
fn local_zone() -> String {
    let zone = jiff::tz::TimeZone::try_system().ok();
    zone.as_ref().and_then(|zone| zone.iana_name()).unwrap_or("UTC").to_owned()
}
