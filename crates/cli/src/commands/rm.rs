//! `leafbase rm`: documents into the trash, blocks and folders away, the trash emptied.

use clap::Args;
use leafbase::{
    BlockId, Connection, DeleteBlocks, DeleteDocuments, DeleteFolders, DocumentId, PurgeDocuments,
};

use super::mv;
use crate::app::App;
use crate::catalog::Folders;
use crate::fault::{Fault, Result};
use crate::names::{self, Named};
use crate::show::line;

/// Put documents into the trash, delete blocks and folders, or empty the trash
///
/// Documents can be brought back with mv. Blocks are deleted for good, with all below them. What is
/// in a deleted folder goes to the folder above.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// Documents, IDs of blocks, or folders with a slash at their end
    #[arg(required_unless_present = "older_than")]
    names: Vec<String>,
    /// Erase documents of the trash for good
    #[arg(long)]
    purge: bool,
    /// Erase everything that has been in the trash for so many days
    #[arg(long, value_name = "DAYS", requires = "purge", conflicts_with = "names")]
    older_than: Option<u32>,
}

#[derive(Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names of requests")]
struct Removed {
    document_ids: Vec<DocumentId>,
    block_ids: Vec<BlockId>,
    folder_ids: Vec<leafbase::FolderId>,
}

impl Remove {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.writer()?;
        let removed = match self.older_than {
            Some(days) => Removed {
                document_ids: notes.purge_documents(PurgeDocuments::OlderThanDays(days))?.0,
                ..Removed::default()
            },
            None => self.remove(&notes)?,
        };
        if app.common.json {
            return app.out.json(&removed);
        }
        let documents = if self.purge { "erased" } else { "moved to the trash:" };
        for (what, count, one, several) in [
            (documents, removed.document_ids.len(), "document", "documents"),
            (
                "deleted",
                removed.block_ids.len(),
                "block with all below it",
                "blocks with all below them",
            ),
            ("deleted", removed.folder_ids.len(), "folder", "folders"),
        ] {
            if count > 0 || (self.purge && one == "document") {
                let count = line::count(u64::try_from(count).unwrap_or(u64::MAX), one, several);
                app.out.line(format_args!("{what} {count}"))?;
            }
        }
        Ok(())
    }

    /// All names are looked up before anything is deleted.
    fn remove(&self, notes: &Connection) -> Result<Removed> {
        let folders = Folders::read(notes)?;
        let (mut found, mut refs) = (Removed::default(), Vec::new());
        for name in &self.names {
            if name.ends_with('/') {
                refs.push(mv::own(&folders, name)?);
                continue;
            }
            match names::document_or_block(notes, name)? {
                Named::Document(document) => found.document_ids.push(document.id()),
                Named::Block(block) => found.block_ids.push(block),
            }
        }
        if self.purge && (!refs.is_empty() || !found.block_ids.is_empty()) {
            return Err(Fault::usage("--purge is for documents of the trash"));
        }
        if self.purge {
            let purged = notes.purge_documents(PurgeDocuments::new(found.document_ids.clone()));
            purged.map_err(|error| {
                Fault::from(error).hint("only what is in the trash is erased: leafbase ls trash")
            })?;
            return Ok(found);
        }
        // One kind after the other: each is one write.
        if !found.document_ids.is_empty() {
            notes.delete_documents(DeleteDocuments::new(found.document_ids.iter().copied()))?;
        }
        if !found.block_ids.is_empty() {
            notes.delete_blocks(DeleteBlocks::new(found.block_ids.iter().copied()))?;
        }
        if !refs.is_empty() {
            found.folder_ids =
                notes.delete_folders(DeleteFolders { folder_ids: refs, must_be_empty: false })?.0;
        }
        Ok(found)
    }
}
