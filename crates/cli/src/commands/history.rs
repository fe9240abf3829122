//! `leafbase history`: lists the versions of a document or block.

use clap::Args;
use leafbase::{BlockVersion, DocumentVersion, Timestamp};

use crate::context::CommandContext;
use crate::days::HistoryPoint;
use crate::error::CliResult;
use crate::names::{self, ResolvedName};
use crate::show::{line, styles};

/// Columns of the sequence number.
const SEQUENCE_COLUMNS: usize = 6;

/// List the versions of a document or block, newest first
///
/// log, diff and undo use the same numbers.
#[derive(Debug, Args)]
pub(crate) struct HistoryCommand {
    /// A document, or the ID of a block
    name: String,
    /// Number of versions
    #[arg(short = 'n', long, value_name = "VERSIONS", default_value_t = 20)]
    limit: usize,
    /// Only versions before this number
    #[arg(long, value_name = "NUMBER")]
    before: Option<u64>,
    /// Only versions since this day, or after this number
    #[arg(long, value_name = "DAY|NUMBER", allow_hyphen_values = true)]
    since: Option<HistoryPoint>,
}

impl HistoryCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let since = self.since.as_ref().map(|since| since.number(&notes)).transpose()?.unwrap_or(0);
        match names::document_or_block(&notes, &self.name)? {
            ResolvedName::Document(document) => {
                let mut versions = notes.history(document.id(), self.before, self.limit)?;
                versions.retain(|version| version.sequence > since);
                if context.options.json {
                    return context.out.json_lines(versions);
                }
                versions.iter().try_for_each(|version| {
                    let by = version.by.as_str();
                    show(context, version.sequence, version.at, by, &counts(version))
                })
            }
            ResolvedName::Block(block) => {
                let mut versions = notes.block_history(block, self.before, self.limit)?;
                versions.retain(|version| version.sequence > since);
                if context.options.json {
                    return context.out.json_lines(versions);
                }
                versions.iter().try_for_each(|version| {
                    let by = version.by.as_str();
                    show(context, version.sequence, version.at, by, &text(version))
                })
            }
        }
    }
}

fn show(
    context: &mut CommandContext,
    sequence: u64,
    at: Timestamp,
    by: &str,
    what: &str,
) -> CliResult<()> {
    let by = if by.is_empty() { String::new() } else { format!("  {}", line::plain(by)) };
    let room = context.out.width().saturating_sub(SEQUENCE_COLUMNS);
    let rest = line::clip(&format!("  {at}{by}  {}", line::plain(what)), room);
    let number = context.out.paint(styles::QUIET, format_args!("{sequence:>SEQUENCE_COLUMNS$}"));
    context.out.line(format_args!("{number}{rest}"))
}

/// How many blocks a version wrote, by kind.
fn counts(version: &DocumentVersion) -> String {
    let counts = [
        (version.updated, "changed"),
        (version.inserted, "added"),
        (version.moved, "moved"),
        (version.removed, "removed"),
        (version.commented, "commented"),
    ];
    let parts = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> =
        parts.map(|(count, what)| format!("{} {what}", line::number(count))).collect();
    if parts.is_empty() { "properties".to_owned() } else { parts.join(", ") }
}

fn text(version: &BlockVersion) -> String {
    version.markdown.clone().unwrap_or_else(|| "(not there)".to_owned())
}
