//! `leafbase tags`: lists tags with the number of their documents.

use clap::Args;
use leafbase::ListTags;

use crate::context::CommandContext;
use crate::error::CliResult;
use crate::show::styles;
use crate::show::table::{self, Cell};

/// List tags with the number of documents that have each, or a tag nested in it
#[derive(Debug, Args)]
pub(crate) struct TagsCommand {
    /// Prefix of the tags, without regard to case
    prefix: Option<String>,
    /// Maximum number of tags
    #[arg(long, value_name = "TAGS")]
    limit: Option<usize>,
}

impl TagsCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let mut request = ListTags::new().starting(self.prefix.unwrap_or_default());
        request.paging.limit = self.limit;
        let notes = context.reader()?;
        if context.options.json {
            return context.out.json_pages(request.paging.clone(), |paging| {
                request.paging = paging;
                notes.list_tags(request.clone())
            });
        }
        let tags = notes.list_tags(request)?;
        if tags.is_empty() {
            return context.out.line("no tags");
        }
        let rows = tags.iter().map(|tag| {
            let count = Cell::new(tag.document_count.to_string());
            vec![count, Cell::styled(format!("#{}", tag.tag), styles::TITLE)]
        });
        table::write(&mut context.out, &rows.collect::<Vec<_>>())
    }
}
