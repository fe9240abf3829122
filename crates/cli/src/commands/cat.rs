//! `leafbase cat`: prints a document as markdown.

use clap::Args;
use leafbase::Fetch;

use crate::context::CommandContext;
use crate::error::CliResult;
use crate::names::{self, ResolvedName};

/// Print a document as markdown
///
/// Of a document, a page or an item of a collection the content is printed, as edit takes it.
#[derive(Debug, Args)]
pub(crate) struct CatCommand {
    /// A document, or the ID of a block
    name: String,
    /// With --json: levels of nested pages to include
    #[arg(short, long, value_name = "LEVELS", requires = "json")]
    depth: Option<usize>,
    /// With --json: include times, authors and comments
    #[arg(long, requires = "json")]
    metadata: bool,
}

impl CatCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let named = names::document_or_block(&notes, &self.name)?;
        if context.options.json {
            return context.out.json(&notes.fetch(self.fetch(&named))?);
        }
        let block = named.block();
        let text = if names::is_page(&notes, block)? {
            notes.content_markdown(block)?
        } else {
            notes.fetch_markdown(Fetch::new(block))?
        };
        context.out.text(&text)
    }

    fn fetch(&self, named: &ResolvedName) -> Fetch {
        let block = named.block();
        let fetch = Fetch { max_depth: self.depth, ..Fetch::new(block) };
        if self.metadata { fetch.with_metadata() } else { fetch }
    }
}
