//! `leafbase stats`: how large a space is.

use clap::Args;
use leafbase::SpaceMeta;

use crate::app::App;
use crate::fault::Result;
use crate::show::line::{bytes, number};
use crate::show::styles;
use crate::show::table::{self, Cell};

/// Show how large the space is
#[derive(Debug, Args)]
pub(crate) struct Stats {}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    id: String,
    name: String,
    timezone: String,
    documents: u64,
    blocks: u64,
    folders: u64,
    collections: u64,
    items: u64,
    bytes: u64,
    sequence: u64,
}

impl Stats {
    pub(crate) fn run(app: &mut App) -> Result<()> {
        let notes = app.reader()?;
        let (stats, meta) = (notes.space().stats()?, notes.space().meta()?);
        if app.common.json {
            return app.out.json(&shown(&stats, &meta));
        }
        let rows = [
            ("name", meta.name),
            ("id", meta.id.to_string()),
            ("time zone", meta.zone),
            ("documents", number(stats.documents)),
            ("blocks", number(stats.blocks)),
            ("folders", number(stats.folders)),
            ("collections", number(stats.collections)),
            ("items", number(stats.items)),
            ("writes", number(stats.sequence)),
            ("size", bytes(stats.bytes)),
        ];
        let rows =
            rows.map(|(name, value)| vec![Cell::styled(name, styles::QUIET), Cell::new(value)]);
        table::write(&mut app.out, &rows)
    }
}

fn shown(stats: &leafbase::SpaceStats, meta: &SpaceMeta) -> Shown {
    Shown {
        id: meta.id.to_string(),
        name: meta.name.clone(),
        timezone: meta.zone.clone(),
        documents: stats.documents,
        blocks: stats.blocks,
        folders: stats.folders,
        collections: stats.collections,
        items: stats.items,
        bytes: stats.bytes,
        sequence: stats.sequence,
    }
}
