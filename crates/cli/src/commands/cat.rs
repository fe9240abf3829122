//! `leafbase cat`: what a document says.

use clap::Args;
use leafbase::{BlockId, Fetch};

use crate::app::App;
use crate::fault::Result;
use crate::names::{self, Named};

/// Print a document as markdown
#[derive(Debug, Args)]
pub(crate) struct Cat {
    /// A document, or the ID of a block
    name: String,
    /// With --json: so many levels of pages in pages
    #[arg(short, long, value_name = "LEVELS", requires = "json")]
    depth: Option<usize>,
    /// With --json: with times, authors and comments
    #[arg(long, requires = "json")]
    metadata: bool,
}

impl Cat {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.reader()?;
        let named = names::document_or_block(&notes, &self.name)?;
        if app.common.json {
            return app.out.json(&notes.fetch(self.fetch(&named))?);
        }
        let text = match &named {
            Named::Document(document) => notes.content_markdown(document.id())?,
            Named::Block(block) => notes.fetch_markdown(Fetch::new(*block))?,
        };
        app.out.text(&text)
    }

    fn fetch(&self, named: &Named) -> Fetch {
        let block: BlockId = match named {
            Named::Document(document) => document.id().root(),
            Named::Block(block) => *block,
        };
        let fetch = Fetch { max_depth: self.depth, ..Fetch::new(block) };
        if self.metadata { fetch.with_metadata() } else { fetch }
    }
}
