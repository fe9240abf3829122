//! `leafbase links`: shows the outgoing and incoming links of a document.

use std::collections::HashSet;

use clap::Args;
use leafbase::{Connection, DocumentId, Link};

use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::error::CliResult;
use crate::names;
use crate::show::table::{self, Cell};
use crate::show::{line, styles};

/// Show the outgoing and incoming links of a document
#[derive(Debug, Args)]
pub(crate) struct LinksCommand {
    /// The document
    name: String,
}

/// A link as JSON: out of the document, or in from another one.
#[derive(serde::Serialize)]
struct LinkJson<'a> {
    direction: &'static str,
    #[serde(flatten)]
    link: &'a Link,
}

impl LinksCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let document = names::document(&notes, &self.name)?;
        let links = notes.document_links(document.id())?;
        if context.options.json {
            let json = |direction| move |link| LinkJson { direction, link };
            context.out.json_lines(links.links.iter().map(json("out")))?;
            return context.out.json_lines(links.back_links.iter().map(json("in")));
        }
        let folders = FolderCatalog::read(&notes)?;
        section(
            context,
            &notes,
            &folders,
            ("links to", "no outgoing links"),
            (&links.links, false),
            |link| link.target_document_id,
        )?;
        let back = ("linked from", "no incoming links");
        section(context, &notes, &folders, back, (&links.back_links, true), |link| {
            Some(link.document_id)
        })
    }
}

/// Lists the other document of each link with the text of the linking block, sorted by path unless
/// the links have a reading order.
fn section(
    context: &mut CommandContext,
    notes: &Connection,
    folders: &FolderCatalog,
    (some, none): (&str, &str),
    (links, sorts): (&[Link], bool),
    other: impl Fn(&Link) -> Option<DocumentId>,
) -> CliResult<()> {
    let heading = if links.is_empty() { none } else { some };
    context.out.line(context.out.paint(styles::TITLE, heading))?;
    let mut rows: Vec<(String, Vec<Cell>)> = Vec::with_capacity(links.len());
    let mut listed = HashSet::new();
    for link in links {
        // A block that links twice is one row.
        if !listed.insert((link.block_id, other(link), link.target_date)) {
            continue;
        }
        let path = match (other(link), link.target_date) {
            (Some(document), _) => folders.path_of(&notes.document(document)?),
            (None, Some(day)) => day.to_string(),
            (None, None) => "a deleted target".to_owned(),
        };
        let words = Cell::styled(line::first(&link.markdown), styles::QUIET);
        let row = vec![Cell::new(""), Cell::styled(&path, styles::TITLE), words];
        rows.push((path, row));
    }
    // Back links have no reading order; paths make the output deterministic.
    if sorts {
        rows.sort_by_cached_key(|(path, _)| path.to_lowercase());
    }
    table::write(&mut context.out, &rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>())
}
