//! `leafbase search`: finds documents by words.

use clap::Args;
use leafbase::{Connection, CorrectedTerm, FolderRef, Limits, SearchDocuments, SearchMatch};

use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::days;
use crate::error::CliResult;
use crate::names;
use crate::progress;
use crate::show::snippets::{self, Marks};
use crate::show::styles;

/// Find documents by words, the most relevant first
///
/// Documents with every word come first, then those with most. Case and accents are ignored,
/// English words match their inflected forms, and the last word also matches as a prefix. A word
/// that no document has is read as words like it. Quoted words match as a phrase. Filters among
/// the words: title:WORD, tag:TAG, in:FOLDER, -WORD, created:DAYS and modified:DAYS, where DAYS is
/// 2026-03-01, >=last-monday, <=today or 2026-03-01..yesterday. What is not a filter is searched as
/// text.
#[derive(Debug, Args)]
pub(crate) struct SearchCommand {
    /// The words
    #[arg(required = true)]
    words: Vec<String>,
    /// Match documents that contain all of the words
    #[arg(long, conflicts_with = "any")]
    all: bool,
    /// Match documents that contain any of the words, by score alone
    #[arg(long)]
    any: bool,
    /// Also require a match of this regular expression
    #[arg(short = 'e', long, value_name = "PATTERN")]
    pattern: Option<String>,
    /// Search only this folder, or unsorted, daily_notes, templates or trash
    #[arg(long = "in", value_name = "FOLDER")]
    folder: Option<String>,
    /// Search only documents with this tag, or a tag nested in it; several times for several tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Maximum number of documents
    #[arg(long, value_name = "DOCUMENTS", default_value_t = Limits::SEARCH_RESULTS)]
    limit: usize,
}

impl SearchCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.searcher()?;
        let folders = FolderCatalog::read(&notes)?;
        let mut request =
            self.request(&notes, &folders)?.limit(self.limit.min(Limits::SEARCH_PAGE));
        let search = |request: &SearchDocuments| {
            progress::while_running("searching", || notes.search(request.clone()))
        };
        let (mut shown, mut page) = (0, search(&request)?);
        if !context.options.json {
            for CorrectedTerm { term, read_as } in corrections(&page) {
                let line =
                    context.out.paint(styles::QUIET, format_args!("{term}: read as {read_as}"));
                context.out.line(line)?;
            }
        }
        loop {
            for hit in &page {
                if context.options.json {
                    context.out.json(hit)?;
                } else {
                    show(context, &notes, &folders, hit)?;
                }
            }
            shown += page.len();
            let rest = self.limit.saturating_sub(shown).min(Limits::SEARCH_PAGE);
            let Some(cursor) = page.next_cursor.clone().filter(|_| rest > 0) else { break };
            // What was found is shown while the next page is searched.
            context.out.flush()?;
            request = request.limit(rest).after(cursor);
            page = search(&request)?;
        }
        if context.options.json {
            return Ok(());
        }
        match page.total.saturating_sub(shown) {
            0 if shown == 0 => context.out.line("no matches"),
            0 => Ok(()),
            more => {
                let at_least = if page.total_is_lower_bound { "at least " } else { "" };
                let line = format!("{at_least}{more} more: --limit shows them");
                context.out.line(context.out.paint(styles::QUIET, line))
            }
        }
    }

    fn request(&self, notes: &Connection, folders: &FolderCatalog) -> CliResult<SearchDocuments> {
        let lookup = |name: &str| names::folder(folders, name).ok();
        let text = days::in_query(notes, &self.words.join(" "))?;
        let mut request = SearchDocuments::from_query_text(&text, lookup);
        if self.all {
            request = request.all_words();
        } else if self.any {
            request = request.any_word();
        }
        if let Some(pattern) = &self.pattern {
            // A query of filters alone has a pattern that matches everything.
            request.regexps = vec![pattern.clone()];
        }
        request.filter.tags.extend_from_slice(&self.tags);
        Ok(match self.folder.as_deref().map(|name| names::folder(folders, name)).transpose()? {
            Some(FolderRef::Folder(folder)) => request.within_folder(folder),
            Some(FolderRef::BuiltIn(location)) => request.at(location),
            None => request,
        })
    }
}

fn show(
    context: &mut CommandContext,
    notes: &Connection,
    folders: &FolderCatalog,
    hit: &SearchMatch,
) -> CliResult<()> {
    let path = folders.shown_path(&notes.document(hit.document_id)?);
    let (path, id) =
        (context.out.paint(styles::TITLE, path), context.out.paint(styles::QUIET, hit.document_id));
    context.out.line(format_args!("{path}  {id}"))?;
    for (text, hits) in snippets::lines(&hit.markdown, &hit.highlights) {
        let shown = snippets::paint(&context.out, text, &hits, Marks::Asterisks);
        context.out.line(format_args!("    {shown}"))?;
    }
    Ok(())
}

/// What misspelt words were read as, each once.
fn corrections(found: &[SearchMatch]) -> Vec<&CorrectedTerm> {
    let mut corrections: Vec<&CorrectedTerm> = Vec::new();
    for correction in found.iter().flat_map(|hit| &hit.corrected) {
        if !corrections.contains(&correction) {
            corrections.push(correction);
        }
    }
    corrections
}
