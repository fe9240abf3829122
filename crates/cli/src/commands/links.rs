//! `leafbase links`: where a document leads, and what leads to it.

use clap::Args;
use leafbase::{Connection, DocumentId, Link};

use crate::app::App;
use crate::catalog::Folders;
use crate::fault::Result;
use crate::names;
use crate::show::table::{self, Cell};
use crate::show::{line, styles};

/// Show the links of a document, out and back
#[derive(Debug, Args)]
pub(crate) struct Links {
    /// The document
    name: String,
}

impl Links {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.reader()?;
        let document = names::document(&notes, &self.name)?;
        let links = notes.document_links(document.id())?;
        if app.common.json {
            return app.out.json(&links);
        }
        let folders = Folders::read(&notes)?;
        section(
            app,
            &notes,
            &folders,
            ("links to", "links nowhere"),
            (&links.links, false),
            |link| link.target_document_id,
        )?;
        let back = ("is linked from", "is linked from nowhere");
        section(app, &notes, &folders, back, (&links.back_links, true), |link| {
            Some(link.document_id)
        })
    }
}

/// The other document of each link, and what the block says; by path, if there is no order of
/// reading.
fn section(
    app: &mut App,
    notes: &Connection,
    folders: &Folders,
    (some, none): (&str, &str),
    (links, sorts): (&[Link], bool),
    other: impl Fn(&Link) -> Option<DocumentId>,
) -> Result<()> {
    let heading = if links.is_empty() { none } else { some };
    app.out.line(app.out.paint(styles::TITLE, heading))?;
    let mut rows: Vec<(String, Vec<Cell>)> = Vec::with_capacity(links.len());
    for link in links {
        let path = match (other(link), link.target_date) {
            (Some(document), _) => folders.path_of(&notes.document(document)?),
            (None, Some(day)) => day.to_string(),
            (None, None) => "what is gone".to_owned(),
        };
        let words = Cell::styled(line::first(&link.markdown), styles::QUIET);
        let row = vec![Cell::new(""), Cell::styled(&path, styles::TITLE), words];
        rows.push((path, row));
    }
    if sorts {
        rows.sort_by_cached_key(|(path, _)| path.to_lowercase());
    }
    table::write(&mut app.out, &rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>())
}
