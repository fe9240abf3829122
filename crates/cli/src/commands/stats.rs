//! `leafbase stats`: shows the size of a space.

use clap::Args;
use leafbase::{EmbeddingModel, SpaceMeta};

use crate::context::CommandContext;
use crate::error::CliResult;
use crate::plot::SpacePlot;
use crate::show::line::{self, bytes, number};
use crate::show::styles;
use crate::show::table::{self, Cell};

/// Show the size of the space, its vectors, and with --plot its growth and activity
#[derive(Debug, Args)]
pub(crate) struct StatsCommand {
    /// Draw the growth by month, the largest documents, and the changes of the last year as a
    /// calendar
    #[arg(long)]
    plot: bool,
}

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
    embedding_models: Vec<EmbeddingModel>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    plot: Option<SpacePlot>,
}

impl StatsCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let (stats, meta) = (notes.space().stats()?, notes.space().meta()?);
        let models = notes.embedding_models()?.0;
        let plot = self.plot.then(|| SpacePlot::read(&notes)).transpose()?;
        if context.options.json {
            return context.out.json(&shown(&stats, &meta, models, plot));
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
        rows.extend(models.iter().map(|model| {
            let (count, size) = (number(model.embeddings), number(model.dimensions));
            ("vectors", format!("{count} of {}, {size} dimensions", line::plain(&model.model)))
        }));
        let cells = |(name, value)| vec![Cell::styled(name, styles::QUIET), Cell::new(value)];
        let rows: Vec<_> = rows.into_iter().map(cells).collect();
        table::write(&mut context.out, &rows)?;
        plot.map_or(Ok(()), |plot| plot.write(&mut context.out))
    }
}

fn shown(
    stats: &leafbase::SpaceStats,
    meta: &SpaceMeta,
    embedding_models: Vec<EmbeddingModel>,
    plot: Option<SpacePlot>,
) -> StatsReply {
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
        embedding_models,
        plot,
    }
}
