//! `leafbase grep`: finds blocks by a regular expression.

use std::ops::Range;

use clap::Args;
use leafbase::{BlockId, BlockMatch, Connection, Document, Limits, SearchBlocks, SearchDocuments};

use super::search::{self, TRASH};
use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, Exit};
use crate::names;
use crate::progress;
use crate::show::snippets::{self, Marks};
use crate::show::styles;

/// Find blocks by a regular expression; exit code 1 if none matches
///
/// A pattern matches within the markdown of one block, ignoring case by default. Without names, the
/// twenty documents with the most matching blocks are shown.
#[derive(Debug, Args)]
pub(crate) struct GrepCommand {
    /// The pattern: RE2 syntax plus look-ahead and fixed-width look-behind
    pattern: String,
    /// Search only these documents, or below these blocks
    names: Vec<String>,
    /// Search only documents in this folder, or in trash
    #[arg(long = "in", value_name = "FOLDER", conflicts_with = "names")]
    folder: Option<String>,
    /// Match case
    #[arg(long)]
    case_sensitive: bool,
    /// Show this many blocks before and after each match
    #[arg(short = 'C', long, value_name = "BLOCKS", default_value_t = 0)]
    context: usize,
    /// List only the matching documents
    #[arg(short = 'l', long)]
    list: bool,
}

/// Matches of one document.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct DocumentMatches {
    document_id: leafbase::DocumentId,
    title: String,
    #[serde(skip)]
    path: String,
    matches: Vec<BlockMatch>,
}

impl GrepCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<Exit> {
        if self.context > Limits::CONTEXT_BLOCKS {
            return Err(CliError::usage(format!(
                "--context is at most {}",
                Limits::CONTEXT_BLOCKS
            )));
        }
        // Only a search across documents needs the index.
        let notes = if self.names.is_empty() { context.searcher()? } else { context.reader()? };
        let found = progress::while_running("searching", || self.found(&notes))?;
        let exit = if found.is_empty() { Exit::Nothing } else { Exit::Done };
        if context.options.json {
            return context.out.json(&leafbase::Items(found)).map(|()| exit);
        }
        for found in &found {
            self.show(context, found)?;
        }
        Ok(exit)
    }

    fn found(&self, notes: &Connection) -> CliResult<Vec<DocumentMatches>> {
        let folders = FolderCatalog::read(notes)?;
        let mut found = Vec::new();
        for (document, within) in self.places(notes, &folders)? {
            let matches = self.matches(notes, within)?;
            if !matches.is_empty() {
                let (path, document_id) = (folders.path_of(&document), document.id());
                found.push(DocumentMatches { document_id, title: document.title, path, matches });
            }
        }
        // Sorted by path, not by relevance: output can be compared between runs.
        found.sort_by_cached_key(|found| (found.path.to_lowercase(), found.document_id));
        Ok(found)
    }

    /// The documents and blocks to search: those named, or those found through the search index.
    fn places(
        &self,
        notes: &Connection,
        folders: &FolderCatalog,
    ) -> CliResult<Vec<(Document, BlockId)>> {
        if !self.names.is_empty() {
            return self.names.iter().map(|name| place(notes, name)).collect();
        }
        let pattern = if self.case_sensitive {
            format!("(?-i){}", self.pattern)
        } else {
            self.pattern.clone()
        };
        let mut request = SearchDocuments::pattern(pattern);
        if let Some(name) = &self.folder {
            let place = names::folder(folders, name)?;
            request = if place == TRASH {
                request.at(leafbase::BuiltInLocation::Trash)
            } else {
                search::within(request, place)
            };
        }
        let found = notes.search(request)?;
        found
            .iter()
            .map(|hit| Ok((notes.document(hit.document_id)?, hit.document_id.root())))
            .collect()
    }

    fn matches(&self, notes: &Connection, within: BlockId) -> CliResult<Vec<BlockMatch>> {
        let mut request =
            SearchBlocks::new(within, &self.pattern).context(self.context, self.context);
        if self.case_sensitive {
            request = request.case_sensitive();
        }
        let mut found = Vec::new();
        loop {
            let page = notes.search_blocks(request.clone())?;
            found.extend(page.items);
            match page.next_cursor {
                Some(cursor) => request = request.after(cursor),
                None => return Ok(found),
            }
        }
    }

    fn show(&self, context: &mut CommandContext, found: &DocumentMatches) -> CliResult<()> {
        let path = context.out.paint(styles::TITLE, &found.path);
        if self.list {
            return context.out.line(path);
        }
        for BlockMatch { markdown, ranges, before, after, .. } in &found.matches {
            let mut line = |sign: char, text: &str, ranges: &[Range<usize>]| {
                let shown = snippets::paint(&context.out, text, ranges, Marks::None);
                context.out.line(format_args!("{path}{sign} {shown}"))
            };
            before.iter().try_for_each(|block| line('-', &block.markdown, &[]))?;
            line(':', markdown, ranges)?;
            after.iter().try_for_each(|block| line('-', &block.markdown, &[]))?;
            if self.context > 0 {
                context.out.line(context.out.paint(styles::QUIET, "--"))?;
            }
        }
        Ok(())
    }
}

fn place(notes: &Connection, name: &str) -> CliResult<(Document, BlockId)> {
    Ok(match names::document_or_block(notes, name)? {
        names::ResolvedName::Document(document) => {
            let root = document.id().root();
            (*document, root)
        }
        names::ResolvedName::Block(block) => (notes.document(notes.document_of(block)?)?, block),
    })
}
