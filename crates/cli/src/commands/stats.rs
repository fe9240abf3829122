//! `leafbase stats`: shows the size of a space.

use clap::Args;
use leafbase::SpaceMeta;

use crate::context::CommandContext;
use crate::error::CliResult;
use crate::show::line::{bytes, number};
use crate::show::styles;
use crate::show::table::{self, Cell};

/// Show the size of the space
#[derive(Debug, Args)]
pub(crate) struct StatsCommand {}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct StatsReply {
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
    log_begins_at: u64,
}

impl StatsCommand {
    pub(crate) fn run(context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let (stats, meta) = (notes.space().stats()?, notes.space().meta()?);
        if context.options.json {
            return context.out.json(&shown(&stats, &meta));
        }
        let mut rows = vec![
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
        if stats.log_begins_at > 0 {
            rows.push(("log begins at", number(stats.log_begins_at)));
        }
        let cells = |(name, value)| vec![Cell::styled(name, styles::QUIET), Cell::new(value)];
        let rows: Vec<_> = rows.into_iter().map(cells).collect();
        table::write(&mut context.out, &rows)
    }
}

fn shown(stats: &leafbase::SpaceStats, meta: &SpaceMeta) -> StatsReply {
    StatsReply {
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
        log_begins_at: stats.log_begins_at,
    }
}
