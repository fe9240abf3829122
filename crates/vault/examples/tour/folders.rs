//! Folders: the tree with its counts, made, moved and deleted.

use std::io::Write;

use leafbase::{
    Connection, CreateDocuments, CreateFolders, DeleteFolders, Folder, FolderDraft, FolderId,
    FolderRef, MoveFolders,
};

use crate::Result;
use crate::show::{lines, number};

/// The built-in locations and all folders, each with the number of documents right in it.
pub(crate) fn show(out: &mut impl Write, notes: &Connection) -> Result<()> {
    let folders = notes.folders()?;
    lines(out, &folders.iter().flat_map(tree).collect::<Vec<_>>())
}

fn tree(folder: &Folder) -> Vec<String> {
    let line = |(depth, folder): (usize, &Folder)| {
        let slash = if folder.folder_id().is_some() { "/" } else { "" };
        let name = format!("{}{}{slash}", "  ".repeat(depth), folder.name);
        format!("{name:<24}{:>6}", number(folder.document_count))
    };
    folder.walk().map(line).collect()
}

/// Gives the folder that the rest of the tour keeps its documents in.
pub(crate) fn edit(out: &mut impl Write, notes: &Connection) -> Result<FolderId> {
    writeln!(
        out,
        "\n- a folder with two in it, made in one call; two documents in the first of those"
    )?;
    let within = [FolderDraft::new("Drafts"), FolderDraft::new("Old")];
    let made = notes
        .create_folders(CreateFolders::new([FolderDraft::new("Tour").with_folders(within)]))?;
    let [tour, drafts, old] = made.0.as_slice() else {
        return Err("the request made other folders".into());
    };
    notes
        .create_documents(CreateDocuments::titled(["First draft", "Second draft"]).at(drafts.id))?;
    show_one(out, notes, tour.id)?;

    writeln!(out, "- Old moves into Drafts; then Drafts is deleted, and its content moves up")?;
    notes.move_folders(MoveFolders::new([old.id], drafts.id))?;
    notes.delete_folders(DeleteFolders::new([drafts.id]))?;
    show_one(out, notes, tour.id)?;
    Ok(tour.id)
}

fn show_one(out: &mut impl Write, notes: &Connection, id: FolderId) -> Result<()> {
    let folders = notes.folders()?;
    let folder = folders
        .iter()
        .find(|folder| folder.id == FolderRef::Folder(id))
        .ok_or("the folder is gone")?;
    lines(out, &tree(folder).into_iter().map(|line| format!("    {line}")).collect::<Vec<_>>())
}
