//! `leafbase mv`: moves documents and folders, or renames a document.

use clap::Args;
use leafbase::{
    BuiltInLocation, Connection, Destination, Document, FolderDestination, FolderId, FolderRef,
    Location, MoveDocuments, MoveFolders, RestoreDailyNotes,
};

use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult};
use crate::names;
use crate::show::line;

/// Move documents or folders, restore documents from the trash, or rename a document
#[derive(Debug, Args)]
pub(crate) struct MoveCommand {
    /// Documents, or folders with a trailing slash, then the destination: a folder (created if
    /// missing), unsorted, templates, daily_notes for daily notes in the trash, or / for folders
    #[arg(required = true)]
    names: Vec<String>,
    /// Rename the document instead
    #[arg(long, value_name = "TITLE")]
    rename: Option<String>,
}

impl MoveCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.writer()?;
        if let Some(title) = &self.rename {
            return rename(context, &notes, &self.names, title);
        }
        let Some((to, [first, rest @ ..])) = self.names.split_last() else {
            return Err(CliError::usage("name an entry and its destination")
                .hint("leafbase mv Bread Kitchen"));
        };
        if first.ends_with('/') {
            return folders(context, &notes, &self.names, to);
        }
        let named = std::iter::once(first).chain(rest).map(|name| names::document(&notes, name));
        let documents = named.collect::<CliResult<Vec<_>>>()?;
        let moved = relocate(&notes, &documents, to)?;
        if context.options.json {
            return context.out.json(&leafbase::Items(moved));
        }
        let folders = FolderCatalog::read(&notes)?;
        moved.iter().try_for_each(|document| {
            context.out.line(format_args!("moved to {}", folders.path_of(document)))
        })
    }
}

fn relocate(notes: &Connection, documents: &[Document], to: &str) -> CliResult<Vec<Document>> {
    let ids = documents.iter().map(Document::id);
    // A daily note returns to its own day, which only its own operation knows.
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

fn rename(
    context: &mut CommandContext,
    notes: &Connection,
    names: &[String],
    title: &str,
) -> CliResult<()> {
    let [name] = names else { return Err(CliError::usage("--rename takes exactly one document")) };
    let document = names::document(notes, name)?;
    let changed = notes.update_markdown(document.id(), title)?;
    if context.options.json {
        return context.out.json(&changed);
    }
    context.out.line(format_args!("renamed {} to {title}", document.title))
}

fn folders(
    context: &mut CommandContext,
    notes: &Connection,
    named: &[String],
    to: &str,
) -> CliResult<()> {
    let count = named.len().saturating_sub(1);
    let known = FolderCatalog::read(notes)?;
    let ids =
        named.iter().take(count).map(|name| own(&known, name)).collect::<CliResult<Vec<_>>>()?;
    let destination = if to == "/" {
        FolderDestination::Root
    } else {
        match names::destination(notes, to)? {
            Destination::Folder(folder) => FolderDestination::Folder(folder.into()),
            _ => {
                return Err(CliError::usage(format!("{to} cannot contain folders"))
                    .hint("to the top level: /"));
            }
        }
    };
    let moved = notes.move_folders(MoveFolders { folder_ids: ids, destination })?;
    if context.options.json {
        return context.out.json(&moved);
    }
    let count = line::count(moved.len(), "folder", "folders");
    context.out.line(format_args!("moved {count} to {to}"))
}

/// Finds a folder that can be moved or deleted, so no built-in location.
pub(super) fn own(folders: &FolderCatalog, name: &str) -> CliResult<FolderRef> {
    let found: Option<FolderId> = names::own_folder(folders, name)?;
    match found {
        Some(folder) => Ok(folder.into()),
        None => names::folder(folders, name)
            .and_then(|_| Err(CliError::usage(format!("{name} is a built-in location")))),
    }
}
