//! `leafbase grep`: finds blocks by a regular expression.

use std::collections::HashMap;
use std::ops::Range;

use clap::Args;
use leafbase::{BlockId, BlockMatch, Connection, DocumentId, FolderRef, Limits, SearchBlocks};

use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, Exit};
use crate::names;
use crate::progress;
use crate::show::snippets::{self, Marks};
use crate::show::{line, styles};

/// Find lines by a regular expression
///
/// A pattern matches within the markdown of one block, ignoring case by default. All matches of all
/// documents are shown, line by line, in the order of the documents' IDs. Exit code 0 if a block
/// matches, 1 if none does, 2 for errors.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct GrepCommand {
    /// The pattern: RE2 syntax plus look-ahead and fixed-width look-behind
    pattern: String,
    /// Search only these documents, or below these blocks
    names: Vec<String>,
    /// Search only documents in this folder, or in trash
    #[arg(long = "in", value_name = "FOLDER", conflicts_with = "names")]
    folder: Option<String>,
    /// Ignore case (the default)
    #[arg(short = 'i', long, overrides_with = "case_sensitive")]
    ignore_case: bool,
    /// Match case
    #[arg(long, overrides_with = "ignore_case")]
    case_sensitive: bool,
    /// Show the number of each block in its document, the title being 1; items of collections count
    #[arg(short = 'n', long)]
    number: bool,
    /// Show only what matches, each match on a line
    #[arg(short = 'o', long)]
    only_matching: bool,
    /// Show the number of matching blocks of each document
    #[arg(short = 'c', long, conflicts_with_all = ["list", "number", "only_matching"])]
    count: bool,
    /// Show this many blocks before and after each match
    #[arg(short = 'C', long, value_name = "BLOCKS", default_value_t = 0)]
    context: usize,
    /// List only the matching documents
    #[arg(short = 'l', long, conflicts_with_all = ["number", "only_matching"])]
    list: bool,
}

/// A document with matches.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct MatchedDocument {
    document_id: DocumentId,
    title: String,
    #[serde(skip)]
    path: String,
    /// Its matching blocks so far.
    #[serde(skip)]
    count: usize,
    /// Read for `--number` alone.
    #[serde(skip)]
    numbers: HashMap<BlockId, usize>,
}

/// The JSON of a document with `--count` or `--list`.
#[derive(serde::Serialize)]
struct DocumentJson<'a> {
    #[serde(flatten)]
    document: &'a MatchedDocument,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

/// The JSON of a match.
#[derive(serde::Serialize)]
struct MatchJson<'a> {
    title: &'a str,
    #[serde(flatten)]
    found: BlockMatch,
}

impl GrepCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<Exit> {
        // The exit code 1 says that nothing matches, and so no failure may have it.
        self.search(context).map_err(|error| error.with_exit(Exit::Usage))
    }

    fn search(&self, context: &mut CommandContext) -> CliResult<Exit> {
        if self.context > Limits::CONTEXT_BLOCKS {
            return Err(CliError::usage(format!(
                "--context is at most {}",
                Limits::CONTEXT_BLOCKS
            )));
        }
        // Only a search across documents needs the index.
        let notes = if self.names.is_empty() { context.searcher()? } else { context.reader()? };
        let folders = FolderCatalog::read(&notes)?;
        let requests = self.requests(&notes, &folders)?;
        let mut shown = MatchStream { command: self, document: None, has_shown: false };
        let mut exit = Exit::Nothing;
        for mut request in requests {
            loop {
                let page =
                    progress::while_running("searching", || notes.search_blocks(request.clone()))?;
                for found in page.items {
                    exit = Exit::Done;
                    shown.add(context, (&notes, &folders), found)?;
                }
                // What was found is shown while the next page is searched.
                context.out.flush()?;
                let Some(cursor) = page.next_cursor else { break };
                request = request.after(cursor);
            }
            shown.end(context)?;
        }
        Ok(exit)
    }

    /// The searches: of each named document or block, or of all documents.
    fn requests(
        &self,
        notes: &Connection,
        folders: &FolderCatalog,
    ) -> CliResult<Vec<SearchBlocks>> {
        let mut all = SearchBlocks::everywhere(&self.pattern).context(self.context, self.context);
        if self.case_sensitive {
            all = all.case_sensitive();
        }
        if let Some(name) = &self.folder {
            all = match names::folder(folders, name)? {
                FolderRef::BuiltIn(location) => all.at(location),
                FolderRef::Folder(folder) => all.within_folder(folder),
            };
        }
        if self.names.is_empty() {
            return Ok(vec![all]);
        }
        let within = |name: &String| {
            let mut request = all.clone();
            request.within = Some(match names::document_or_block(notes, name)? {
                names::ResolvedName::Document(document) => document.id().root(),
                names::ResolvedName::Block(block) => block,
            });
            Ok(request)
        };
        self.names.iter().map(within).collect()
    }
}

/// Shows matches as they are found.
struct MatchStream<'c> {
    command: &'c GrepCommand,
    /// The document of the last match.
    document: Option<MatchedDocument>,
    /// Whether a match precedes the next one, which a line separates if they have a context.
    has_shown: bool,
}

impl MatchStream<'_> {
    fn add(
        &mut self,
        context: &mut CommandContext,
        (notes, folders): (&Connection, &FolderCatalog),
        found: BlockMatch,
    ) -> CliResult<()> {
        if self.document.as_ref().is_none_or(|last| last.document_id != found.document_id) {
            self.end(context)?;
            let document = notes.document(found.document_id)?;
            let (path, title) = (folders.path_of(&document), document.title);
            let numbers = if self.command.number {
                block_numbers(notes, found.document_id)?
            } else {
                HashMap::new()
            };
            let document_id = found.document_id;
            self.document = Some(MatchedDocument { document_id, title, path, count: 0, numbers });
        }
        let Some(document) = &mut self.document else { return Ok(()) };
        document.count += 1;
        if self.command.count || self.command.list {
            return Ok(());
        }
        if context.options.json {
            return context.out.json(&MatchJson { title: &document.title, found });
        }
        if self.has_shown && self.command.context > 0 {
            context.out.line(context.out.paint(styles::QUIET, "--"))?;
        }
        self.has_shown = true;
        self.command.show(context, document, &found)
    }

    /// Ends the document of the last match.
    fn end(&mut self, context: &mut CommandContext) -> CliResult<()> {
        let Some(document) = self.document.take() else { return Ok(()) };
        let GrepCommand { count, list, .. } = *self.command;
        if !count && !list {
            return Ok(());
        }
        if context.options.json {
            let count = count.then_some(document.count);
            return context.out.json(&DocumentJson { document: &document, count });
        }
        let path = context.out.paint(styles::TITLE, line::plain(&document.path));
        if list {
            context.out.line(path)
        } else {
            context.out.line(format_args!("{path}: {}", document.count))
        }
    }
}

impl GrepCommand {
    fn show(
        &self,
        context: &mut CommandContext,
        document: &MatchedDocument,
        found: &BlockMatch,
    ) -> CliResult<()> {
        let path = context.out.paint(styles::TITLE, line::plain(&document.path));
        let mut show = |sign: char, block: BlockId, text: &str, ranges: &[Range<usize>]| {
            let number = document.numbers.get(&block);
            let number = number.map(|number| format!("{sign}{number}")).unwrap_or_default();
            let shown = snippets::paint(&context.out, text, ranges, Marks::None);
            context.out.line(format_args!("{path}{number}{sign} {shown}"))
        };
        found
            .before
            .iter()
            .try_for_each(|block| show('-', block.block_id, &block.markdown, &[]))?;
        for (text, ranges) in matching_lines(found) {
            if !self.only_matching {
                show(':', found.block_id, text, &ranges)?;
                continue;
            }
            for range in ranges {
                let part = text.get(range).unwrap_or_default();
                let all = 0..part.len();
                show(':', found.block_id, part, std::slice::from_ref(&all))?;
            }
        }
        found.after.iter().try_for_each(|block| show('-', block.block_id, &block.markdown, &[]))
    }
}

/// The lines of a block with a match, each with the parts that match; all lines if the matches are
/// empty. A match of a line break alone is at the end of its line.
fn matching_lines(found: &BlockMatch) -> Vec<(&str, Vec<Range<usize>>)> {
    let mut begin = 0;
    let mut lines = Vec::new();
    for text in found.markdown.split('\n') {
        let end = begin + text.len();
        let within = found.ranges.iter().filter_map(|range| {
            // A match may go on in the next line.
            let part = range.start.max(begin)..range.end.min(end);
            let has_part = part.start < part.end || range.start == end;
            has_part.then(|| part.start - begin..part.end - begin)
        });
        let ranges: Vec<_> = within.collect();
        if !ranges.is_empty() || found.ranges.is_empty() {
            lines.push((text, ranges));
        }
        // One byte for the line break that `split` removed.
        begin = end + 1;
    }
    lines
}

/// The blocks of a document in the order in which they are searched, numbered from 1.
fn block_numbers(notes: &Connection, document: DocumentId) -> CliResult<HashMap<BlockId, usize>> {
    let mut numbers = HashMap::new();
    let mut request = SearchBlocks::new(document, "").context(0, 0);
    loop {
        let page = notes.search_blocks(request.clone())?;
        numbers.extend(page.iter().map(|block| block.block_id).zip(numbers.len() + 1..));
        let Some(cursor) = page.next_cursor else { return Ok(numbers) };
        request = request.after(cursor);
    }
}
