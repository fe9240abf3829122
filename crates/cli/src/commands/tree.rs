//! `leafbase tree`: folders with their documents, or the blocks of one document.

use clap::Args;
use leafbase::{Connection, Fetch, Folder, FolderRef, Location};

use super::list;
use crate::app::App;
use crate::catalog::{Catalog, Folders};
use crate::fault::Result;
use crate::names::{self, Named};
use crate::show::table::Cell;
use crate::show::{blocks, styles, tree};

/// Show folders with their documents, or the blocks of a document, as a tree
#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// A folder, a document, or the ID of a block; without one the whole space
    name: Option<String>,
    /// So many levels
    #[arg(short, long, value_name = "LEVELS", default_value_t = usize::MAX, hide_default_value = true)]
    depth: usize,
}

impl Tree {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.reader()?;
        let Some(name) = &self.name else { return self.space(app, &notes, None) };
        let folder = names::own_folder(&Folders::read(&notes)?, name)?;
        // A name with a slash at its end is one of a folder; of another one a document may have it,
        // too.
        if folder.is_some_and(|_| name.ends_with('/')) {
            return self.space(app, &notes, folder.map(FolderRef::from));
        }
        match (names::document_or_block(&notes, name), folder) {
            (Ok(Named::Document(document)), _) => {
                self.blocks(app, &notes, Fetch::new(document.id()))
            }
            (Ok(Named::Block(block)), _) => self.blocks(app, &notes, Fetch::new(block)),
            (Err(_), Some(folder)) => self.space(app, &notes, Some(folder.into())),
            (Err(fault), None) => Err(fault),
        }
    }

    fn blocks(&self, app: &mut App, notes: &Connection, fetch: Fetch) -> Result<()> {
        let fetch = if self.depth == usize::MAX { fetch } else { fetch.depth(self.depth) };
        let root = notes.fetch(fetch)?;
        if app.common.json {
            return app.out.json(&root);
        }
        tree::write(&mut app.out, &blocks::tree(&root, self.depth))
    }

    fn space(&self, app: &mut App, notes: &Connection, below: Option<FolderRef>) -> Result<()> {
        let catalog = Catalog::read(notes)?;
        if app.common.json {
            return list::everything(app, &catalog);
        }
        let mut lines = Vec::new();
        for (depth, folder) in catalog.folders.listed.iter().flat_map(Folder::walk) {
            lines.extend(folder_nodes(&catalog, folder, depth));
        }
        let top = below.and_then(|below| position(&lines, below)).unwrap_or(0);
        let level = lines.get(top).map_or(0, |(depth, ..)| *depth);
        let ends =
            |(index, (depth, ..)): &(usize, Node)| below.is_some() && *index > 0 && *depth <= level;
        let shown = lines.into_iter().skip(top).enumerate().take_while(|line| !ends(line));
        let shown = shown
            .map(|(_, (depth, cell, _))| (depth - level, cell))
            .filter(|(depth, _)| *depth <= self.depth);
        tree::write(&mut app.out, &shown.collect::<Vec<_>>())
    }
}

/// A line of the tree: its depth, what it shows, and which folder it is.
type Node = (usize, Cell, Option<FolderRef>);

/// A folder and its documents. Built-in locations are shown where something is in them, and the
/// trash never is.
fn folder_nodes(catalog: &Catalog, folder: &Folder, depth: usize) -> Vec<Node> {
    let location = match folder.id {
        FolderRef::Folder(id) => Location::Folder(id),
        FolderRef::BuiltIn(leafbase::BuiltInLocation::Trash) => return Vec::new(),
        FolderRef::BuiltIn(location) => location.into(),
    };
    if folder.folder_id().is_none() && folder.document_count == 0 {
        return Vec::new();
    }
    let title = Cell::styled(format!("{}/", folder.name), styles::FOLDER);
    let documents =
        catalog.at(location).map(|document| (depth + 1, Cell::new(&document.title), None));
    std::iter::once((depth, title, Some(folder.id))).chain(documents).collect()
}

fn position(nodes: &[Node], folder: FolderRef) -> Option<usize> {
    nodes.iter().position(|(.., id)| *id == Some(folder))
}
