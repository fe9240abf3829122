//! `leafbase search`: finds documents by words.

use clap::Args;
use leafbase::{
    BuiltInLocation, Connection, CorrectedTerm, FolderRef, SearchDocuments, SearchMatch,
};

use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::error::CliResult;
use crate::names;
use crate::progress;
use crate::show::snippets::{self, Marks};
use crate::show::styles;

/// Find documents by words, the most relevant first
///
/// Documents with every word come first, then those with most. Case and accents are ignored,
/// English words match their inflected forms, and the last word also matches as a prefix. A word
/// that no document has is read as words like it. Quoted words match as a phrase.
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
    #[arg(long, value_name = "DOCUMENTS", default_value_t = 20)]
    limit: usize,
}

impl SearchCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.searcher()?;
        let folders = FolderCatalog::read(&notes)?;
        let request = self.request(&folders)?;
        let mut found = progress::while_running("searching", || notes.search(request))?;
        found.0.truncate(self.limit);
        if context.options.json {
            return context.out.json(&found);
        }
        if found.is_empty() {
            return context.out.line("no matches");
        }
        for CorrectedTerm { term, read_as } in corrections(&found) {
            let line = context.out.paint(styles::QUIET, format_args!("{term}: read as {read_as}"));
            context.out.line(line)?;
        }
        found.iter().try_for_each(|hit| show(context, &notes, &folders, hit))
    }

    fn request(&self, folders: &FolderCatalog) -> CliResult<SearchDocuments> {
        let mut request = SearchDocuments::words(self.words.join(" "));
        if self.all {
            request = request.all_words();
        } else if self.any {
            request = request.any_word();
        }
        if let Some(pattern) = &self.pattern {
            request = request.matching(pattern);
        }
        request.filter.tags.clone_from(&self.tags);
        Ok(match self.folder.as_deref().map(|name| names::folder(folders, name)).transpose()? {
            Some(place) => within(request, place),
            None => request,
        })
    }
}

pub(super) fn within(request: SearchDocuments, place: FolderRef) -> SearchDocuments {
    match place {
        FolderRef::Folder(folder) => request.within_folder(folder),
        FolderRef::BuiltIn(location) => request.at(location),
    }
}

/// The location that searches exclude by default.
pub(super) const TRASH: FolderRef = FolderRef::BuiltIn(BuiltInLocation::Trash);

fn show(
    context: &mut CommandContext,
    notes: &Connection,
    folders: &FolderCatalog,
    hit: &SearchMatch,
) -> CliResult<()> {
    let path = folders.path_of(&notes.document(hit.document_id)?);
    let (path, id) =
        (context.out.paint(styles::TITLE, path), context.out.paint(styles::QUIET, hit.document_id));
    context.out.line(format_args!("{path}  {id}"))?;
    for text in pieces(hit) {
        let shown = snippets::paint(&context.out, text.0, &text.1, Marks::Asterisks);
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

/// Lines of a snippet, each with its highlights.
fn pieces(hit: &SearchMatch) -> Vec<(&str, Vec<std::ops::Range<usize>>)> {
    let mut begin = 0;
    let mut lines = Vec::new();
    for text in hit.markdown.split('\n') {
        let end = begin + text.len();
        let within = hit.highlights.iter().filter(|range| begin <= range.start && range.end <= end);
        let moved = within.map(|range| range.start - begin..range.end - begin).collect();
        if !text.trim().is_empty() {
            lines.push((text, moved));
        }
        // One byte for the line break that `split` removed.
        begin = end + 1;
    }
    lines
}
