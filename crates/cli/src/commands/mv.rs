//! `leafbase mv`: moves documents and folders, or renames one.

use clap::Args;
use leafbase::{
    BuiltInLocation, Connection, Destination, Document, Error, ErrorKind, FolderDestination,
    FolderId, FolderPatch, FolderRef, Location, MoveDocuments, MoveFolders, RestoreDailyNotes,
    UpdateFolders,
};

use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult};
use crate::names;
use crate::show::line;

/// Move or rename documents and folders, or restore documents from the trash
#[derive(Debug, Args)]
pub(crate) struct MoveCommand {
    /// Documents, or folders with a trailing slash, then the destination: a folder (created if
    /// missing), unsorted, templates, daily_notes for daily notes in the trash, or / for folders
    #[arg(required = true)]
    names: Vec<String>,
    /// Rename the document or folder instead
    #[arg(long, value_name = "TITLE")]
    rename: Option<String>,
}

impl MoveCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.writer()?;
        if let Some(title) = &self.rename {
            return rename(context, &notes, &self.names, title);
        }
        let Some((to, named @ [first, ..])) = self.names.split_last() else {
            return Err(CliError::usage("name an entry and its destination")
                .hint("leafbase mv Bread Kitchen"));
        };
        if first.ends_with('/') {
            return folders(context, &notes, &self.names, to);
        }
        let moved = relocate(&notes, named, to)?;
        if context.options.json {
            return context.out.json(&leafbase::Items(moved));
        }
        let folders = FolderCatalog::read(&notes)?;
        moved.iter().try_for_each(|document| {
            context.out.line(format_args!("moved to {}", folders.shown_path(document)))
        })
    }
}

fn relocate(notes: &Connection, named: &[String], to: &str) -> CliResult<Vec<Document>> {
    let is_for_notes = to == BuiltInLocation::DailyNotes.as_str();
    let document = |name: &String| {
        // Only documents in the trash go to the daily notes.
        let trashed = if is_for_notes { names::in_trash(notes, name)? } else { None };
        trashed.map_or_else(|| names::document(notes, name), Ok)
    };
    let documents = named.iter().map(document).collect::<CliResult<Vec<_>>>()?;
    let ids = documents.iter().map(Document::id);
    // A daily note returns to its own day, which only its own operation knows.
    let are_notes = documents.iter().all(|document| document.record.day.is_some());
    if is_for_notes
        && are_notes
        && documents.iter().all(|document| document.record.location == Location::Trash)
    {
        let restored = notes.restore_daily_notes(RestoreDailyNotes::new(ids));
        return Ok(restored.map_err(not_restored)?.0);
    }
    let mut notes_of_days = documents.iter().filter(|document| document.record.day.is_some());
    if let Some(note) = notes_of_days.next()
        && !is_for_notes
    {
        let error = CliError::failed(format!("{}: a daily note stays with its day", note.title));
        return Err(if note.record.location == Location::Trash {
            error.hint("take it out of the trash: leafbase mv NAME daily_notes")
        } else {
            error
        });
    }
    let (place, mut is_made) = (names::planned_destination(notes, to)?, false);
    // One change, with the folders that it creates.
    let moved = notes.batch(|batch| {
        let destination = place.create(batch)?;
        is_made = true;
        batch.move_documents(MoveDocuments::new(ids.clone(), destination))
    });
    let error_of =
        |error| if is_made { CliError::of_entry(error, named) } else { CliError::from(error) };
    Ok(moved.map_err(error_of)?.0)
}

fn not_restored(error: Error) -> CliError {
    match error.kind() {
        ErrorKind::Conflict => CliError::failed(error.message())
            .hint("move that one to the trash first: leafbase rm DAY"),
        _ => error.into(),
    }
}

fn rename(
    context: &mut CommandContext,
    notes: &Connection,
    names: &[String],
    title: &str,
) -> CliResult<()> {
    let [name] = names else {
        return Err(CliError::usage("--rename takes exactly one document or folder"));
    };
    if name.ends_with('/') {
        let folder = own(&FolderCatalog::read(notes)?, name)?;
        let patch = FolderPatch::of(folder).named(title);
        let renamed = notes.update_folders(UpdateFolders::new([patch]));
        let renamed = renamed.map_err(|error| CliError::of_entry(error, names))?;
        if context.options.json {
            return context.out.json(&renamed);
        }
        let title = line::plain(title);
        return context.out.line(format_args!("renamed {} to {title}/", line::plain(name)));
    }
    let document = names::document(notes, name)?;
    let changed = notes.update_markdown(document.id(), title);
    let changed = changed.map_err(|error| CliError::of_entry(error, names))?;
    if context.options.json {
        return context.out.json(&changed);
    }
    let (from, to) = (line::plain(&document.title), line::plain(title));
    context.out.line(format_args!("renamed {from} to {to}"))
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
    let ids = ids.into_iter().map(FolderRef::from).collect();
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
    let moved = notes.move_folders(MoveFolders { folder_ids: ids, destination });
    let moved = moved.map_err(|error| CliError::of_entry(error, named))?;
    if context.options.json {
        return context.out.json(&moved);
    }
    let count = line::count(moved.len(), "folder", "folders");
    context.out.line(format_args!("moved {count} to {to}"))
}

/// Finds a folder that can be moved or deleted, so no built-in location.
pub(super) fn own(folders: &FolderCatalog, name: &str) -> CliResult<FolderId> {
    let found: Option<FolderId> = names::own_folder(folders, name)?;
    match found {
        Some(folder) => Ok(folder),
        None => names::folder(folders, name)
            .and_then(|_| Err(CliError::usage(format!("{name} is a built-in location")))),
    }
}
