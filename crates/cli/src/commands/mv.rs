//! `leafbase mv`: documents and folders to another folder, or a new title.

use clap::Args;
use leafbase::{
    BuiltInLocation, Connection, Destination, Document, FolderDestination, FolderId, FolderRef,
    Location, MoveDocuments, MoveFolders, RestoreDailyNotes,
};

use crate::app::App;
use crate::catalog::Folders;
use crate::fault::{Fault, Result};
use crate::names;
use crate::show::line;

/// Move documents or folders to another folder, out of the trash, or give a document another title
#[derive(Debug, Args)]
pub(crate) struct Move {
    /// Documents, or folders with a slash at their end, and last where they go: a folder, which is
    /// made if there is none, unsorted, templates, daily_notes for notes of the trash, or / for
    /// folders
    #[arg(required = true)]
    names: Vec<String>,
    /// Give the document this title instead
    #[arg(long, value_name = "TITLE")]
    rename: Option<String>,
}

impl Move {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.writer()?;
        if let Some(title) = &self.rename {
            return rename(app, &notes, &self.names, title);
        }
        let Some((to, [first, rest @ ..])) = self.names.split_last() else {
            return Err(
                Fault::usage("say what to move, and where").hint("leafbase mv Bread Kitchen")
            );
        };
        if first.ends_with('/') {
            return folders(app, &notes, &self.names, to);
        }
        let named = std::iter::once(first).chain(rest).map(|name| names::document(&notes, name));
        let documents = named.collect::<Result<Vec<_>>>()?;
        let moved = relocate(&notes, &documents, to)?;
        if app.common.json {
            return app.out.json(&leafbase::Items(moved));
        }
        let folders = Folders::read(&notes)?;
        moved.iter().try_for_each(|document| {
            app.out.line(format_args!("moved to {}", folders.path_of(document)))
        })
    }
}

fn relocate(notes: &Connection, documents: &[Document], to: &str) -> Result<Vec<Document>> {
    let ids = documents.iter().map(Document::id);
    let are_notes = documents.iter().all(|document| document.record.day.is_some());
    let is_for_notes = to == BuiltInLocation::DailyNotes.as_str();
    if is_for_notes
        && are_notes
        && documents.iter().all(|document| document.record.location == Location::Trash)
    {
        return Ok(notes.restore_daily_notes(RestoreDailyNotes::new(ids))?.0);
    }
    let destination: Destination = names::destination(notes, to)?;
    Ok(notes.move_documents(MoveDocuments::new(ids, destination))?.0)
}

fn rename(app: &mut App, notes: &Connection, names: &[String], title: &str) -> Result<()> {
    let [name] = names else { return Err(Fault::usage("--rename takes one document")) };
    let document = names::document(notes, name)?;
    let changed = notes.update_markdown(document.id(), title)?;
    if app.common.json {
        return app.out.json(&changed);
    }
    app.out.line(format_args!("renamed {} to {title}", document.title))
}

fn folders(app: &mut App, notes: &Connection, named: &[String], to: &str) -> Result<()> {
    let count = named.len().saturating_sub(1);
    let known = Folders::read(notes)?;
    let ids = named.iter().take(count).map(|name| own(&known, name)).collect::<Result<Vec<_>>>()?;
    let destination = if to == "/" {
        FolderDestination::Root
    } else {
        match names::destination(notes, to)? {
            Destination::Folder(folder) => FolderDestination::Folder(folder.into()),
            _ => {
                return Err(
                    Fault::usage(format!("folders cannot be kept in {to}")).hint("to the top: /")
                );
            }
        }
    };
    let moved = notes.move_folders(MoveFolders { folder_ids: ids, destination })?;
    if app.common.json {
        return app.out.json(&moved);
    }
    let count = line::count(u64::try_from(moved.len()).unwrap_or(u64::MAX), "folder", "folders");
    app.out.line(format_args!("moved {count} to {to}"))
}

/// The folder of this name that may be moved or deleted.
pub(super) fn own(folders: &Folders, name: &str) -> Result<FolderRef> {
    let found: Option<FolderId> = names::own_folder(folders, name)?;
    match found {
        Some(folder) => Ok(folder.into()),
        None => names::folder(folders, name)
            .and_then(|_| Err(Fault::usage(format!("{name} is no folder of your own")))),
    }
}
