//! `leafbase grep`: blocks that match a regular expression.

use std::ops::Range;

use clap::Args;
use leafbase::{BlockId, BlockMatch, Connection, Document, Limits, SearchBlocks, SearchDocuments};

use super::search::{self, TRASH};
use crate::app::App;
use crate::catalog::Folders;
use crate::fault::{Exit, Fault, Result};
use crate::names;
use crate::progress;
use crate::show::snippets::{self, Marks};
use crate::show::styles;

/// Find blocks by a regular expression; exit code 1 if none matches
///
/// A pattern matches within the markdown of one block. Upper and lower case don't matter unless
/// asked for. Without a document the twenty documents in which most blocks match are shown.
#[derive(Debug, Args)]
pub(crate) struct Grep {
    /// The pattern: RE2, with look-ahead and look-behind of one width
    pattern: String,
    /// Only in these documents, or below these blocks
    names: Vec<String>,
    /// Only in documents of this folder, or of trash
    #[arg(long = "in", value_name = "FOLDER", conflicts_with = "names")]
    folder: Option<String>,
    /// Upper and lower case matter
    #[arg(long)]
    case_sensitive: bool,
    /// So many blocks before and after each match
    #[arg(short = 'C', long, value_name = "BLOCKS", default_value_t = 0)]
    context: usize,
    /// Only the documents
    #[arg(short = 'l', long)]
    list: bool,
}

/// The matches in one document.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    document_id: leafbase::DocumentId,
    title: String,
    #[serde(skip)]
    path: String,
    matches: Vec<BlockMatch>,
}

impl Grep {
    pub(crate) fn run(self, app: &mut App) -> Result<Exit> {
        if self.context > Limits::CONTEXT_BLOCKS {
            return Err(Fault::usage(format!("--context is at most {}", Limits::CONTEXT_BLOCKS)));
        }
        let notes = if self.names.is_empty() { app.searcher()? } else { app.reader()? };
        let found = progress::while_running("searching", || self.found(&notes))?;
        let exit = if found.is_empty() { Exit::Nothing } else { Exit::Done };
        if app.common.json {
            return app.out.json(&leafbase::Items(found)).map(|()| exit);
        }
        for found in &found {
            self.show(app, found)?;
        }
        Ok(exit)
    }

    fn found(&self, notes: &Connection) -> Result<Vec<Found>> {
        let folders = Folders::read(notes)?;
        let mut found = Vec::new();
        for (document, within) in self.places(notes, &folders)? {
            let matches = self.matches(notes, within)?;
            if !matches.is_empty() {
                let (path, document_id) = (folders.path_of(&document), document.id());
                found.push(Found { document_id, title: document.title, path, matches });
            }
        }
        found.sort_by_cached_key(|found| (found.path.to_lowercase(), found.document_id));
        Ok(found)
    }

    /// Where to look: what is named, or the documents that an index finds.
    fn places(&self, notes: &Connection, folders: &Folders) -> Result<Vec<(Document, BlockId)>> {
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

    fn matches(&self, notes: &Connection, within: BlockId) -> Result<Vec<BlockMatch>> {
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

    fn show(&self, app: &mut App, found: &Found) -> Result<()> {
        let path = app.out.paint(styles::TITLE, &found.path);
        if self.list {
            return app.out.line(path);
        }
        for BlockMatch { markdown, ranges, before, after, .. } in &found.matches {
            let mut line = |sign: char, text: &str, ranges: &[Range<usize>]| {
                let shown = snippets::paint(&app.out, text, ranges, Marks::None);
                app.out.line(format_args!("{path}{sign} {shown}"))
            };
            before.iter().try_for_each(|block| line('-', &block.markdown, &[]))?;
            line(':', markdown, ranges)?;
            after.iter().try_for_each(|block| line('-', &block.markdown, &[]))?;
            if self.context > 0 {
                app.out.line(app.out.paint(styles::QUIET, "--"))?;
            }
        }
        Ok(())
    }
}

fn place(notes: &Connection, name: &str) -> Result<(Document, BlockId)> {
    Ok(match names::document_or_block(notes, name)? {
        names::Named::Document(document) => {
            let root = document.id().root();
            (*document, root)
        }
        names::Named::Block(block) => (notes.document(notes.document_of(block)?)?, block),
    })
}
