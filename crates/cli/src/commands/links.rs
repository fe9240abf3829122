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
        section(app, &notes, &folders, ("links to", "links nowhere"), &links.links, |link| link.target_document_id)?;
        let back = ("is linked from", "is linked from nowhere");
        section(app, &notes, &folders, back, &links.back_links, |link| Some(link.document_id))
    }
}

/// The other document of each link, and what the block says.
fn section(
    app: &mut App,
    notes: &Connection,
    folders: &Folders,
    (some, none): (&str, &str),
    links: &[Link],
    other: impl Fn(&Link) -> Option<DocumentId>,
) -> Result<()> {
    let heading = if links.is_empty() { none } else { some };
    app.out.line(app.out.paint(styles::TITLE, heading))?;
    let mut rows = Vec::with_capacity(links.len());
    for link in links {
        let path = match (other(link), link.target_date) {
            (Some(document), _) => folders.path_of(&notes.document(document)?),
            (None, Some(day)) => day.to_string(),
            (None, None) => "what is gone".to_owned(),
        };
        let words = Cell::styled(line::first(&link.markdown), styles::QUIET);
        rows.push(vec![Cell::new(""), Cell::styled(path, styles::TITLE), words]);
    }
    table::write(&mut app.out, &rows)
}
