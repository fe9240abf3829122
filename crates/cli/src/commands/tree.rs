//! `leafbase tree`: shows folders with their documents, or the blocks of a document.

use clap::Args;
use leafbase::{BuiltInLocation, Connection, Fetch, Folder, FolderRef, ListDocuments, Location};

use super::list;
use crate::catalog::{Catalog, FolderCatalog};
use crate::context::CommandContext;
use crate::error::CliResult;
use crate::names::{self, ResolvedName};
use crate::show::table::Cell;
use crate::show::{blocks, styles, tree};

/// Show folders with their documents, or the blocks of a document, as a tree
#[derive(Debug, Args)]
pub(crate) struct TreeCommand {
    /// A folder, unsorted, daily_notes, templates, trash, a document or a block ID; default: the
    /// whole space
    name: Option<String>,
    /// Maximum depth
    #[arg(short, long, value_name = "LEVELS", default_value_t = usize::MAX, hide_default_value = true)]
    depth: usize,
}

impl TreeCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let Some(name) = &self.name else { return self.space(context, &notes, None) };
        let folder = names::find_folder(&FolderCatalog::read(&notes)?, name)?;
        // A trailing slash means the folder; without one, a document of the same name takes
        // precedence.
        if folder.is_some_and(|_| name.ends_with('/')) {
            return self.space(context, &notes, folder);
        }
        match (names::document_or_block(&notes, name), folder) {
            (Ok(ResolvedName::Document(document)), _) => {
                self.blocks(context, &notes, Fetch::new(document.id()))
            }
            (Ok(ResolvedName::Block(block)), _) => self.blocks(context, &notes, Fetch::new(block)),
            (Err(_), Some(folder)) => self.space(context, &notes, Some(folder)),
            (Err(fault), None) => Err(fault),
        }
    }

    fn blocks(
        &self,
        context: &mut CommandContext,
        notes: &Connection,
        fetch: Fetch,
    ) -> CliResult<()> {
        let fetch = if self.depth == usize::MAX { fetch } else { fetch.depth(self.depth) };
        let root = notes.fetch(fetch)?;
        if context.options.json {
            return context.out.json(&root);
        }
        tree::write(&mut context.out, &blocks::tree(&root, self.depth))
    }

    fn space(
        &self,
        context: &mut CommandContext,
        notes: &Connection,
        below: Option<FolderRef>,
    ) -> CliResult<()> {
        if context.options.json {
            return entries_json(context, notes, below);
        }
        let catalog = Catalog::read(notes)?;
        let mut lines = Vec::new();
        for (depth, folder) in catalog.folders.listed.iter().flat_map(Folder::walk) {
            let is_named = below == Some(folder.id);
            // Unless they are named, empty built-in locations are omitted, and so is the trash.
            let is_hidden = folder.folder_id().is_none()
                && (folder.document_count == 0
                    || folder.id == FolderRef::BuiltIn(BuiltInLocation::Trash));
            if is_named || !is_hidden {
                lines.extend(folder_nodes(&catalog, folder, depth));
            }
        }
        let top = below.and_then(|below| position(&lines, below)).unwrap_or(0);
        // Depths are relative to the folder that was asked for.
        let level = lines.get(top).map_or(0, |(depth, ..)| *depth);
        let ends = |(index, (depth, ..)): &(usize, TreeLine)| {
            below.is_some() && *index > 0 && *depth <= level
        };
        let shown = lines.into_iter().skip(top).enumerate().take_while(|line| !ends(line));
        let shown = shown
            .map(|(_, (depth, cell, _))| (depth - level, cell))
            .filter(|(depth, _)| *depth <= self.depth);
        tree::write(&mut context.out, &shown.collect::<Vec<_>>())
    }
}

/// Writes the folders at the top with those in them, then the documents, as lines of JSON.
fn entries_json(
    context: &mut CommandContext,
    notes: &Connection,
    below: Option<FolderRef>,
) -> CliResult<()> {
    let folders = FolderCatalog::read(notes)?;
    let request = match below {
        Some(FolderRef::Folder(folder)) => ListDocuments::new().within(folder),
        Some(FolderRef::BuiltIn(location)) => ListDocuments::new().at(location),
        None => ListDocuments::new(),
    };
    let top = if below.is_none() { &folders.listed } else { folders.within(below) };
    context.out.json_lines(top)?;
    list::documents_json(context, notes, request)
}

/// A line of the tree: its depth, its text, and the folder that it shows.
type TreeLine = (usize, Cell, Option<FolderRef>);

/// A folder and its documents.
fn folder_nodes(catalog: &Catalog, folder: &Folder, depth: usize) -> Vec<TreeLine> {
    let location = match folder.id {
        FolderRef::Folder(id) => Location::Folder(id),
        FolderRef::BuiltIn(location) => location.into(),
    };
    let title = Cell::styled(format!("{}/", folder.name), styles::FOLDER);
    let documents =
        catalog.at(location).map(|document| (depth + 1, Cell::new(&document.title), None));
    std::iter::once((depth, title, Some(folder.id))).chain(documents).collect()
}

fn position(nodes: &[TreeLine], folder: FolderRef) -> Option<usize> {
    nodes.iter().position(|(.., id)| *id == Some(folder))
}
