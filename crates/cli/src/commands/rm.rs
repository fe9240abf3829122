//! `leafbase rm`: moves documents to the trash, deletes blocks and folders, empties the trash.

use clap::Args;
use leafbase::{
    BlockId, Connection, DeleteBlocks, DeleteDocuments, DeleteFolders, DocumentId, PurgeDocuments,
};

use super::mv;
use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult};
use crate::names::{self, ResolvedName};
use crate::show::line;

/// Move documents to the trash, delete blocks and folders, or empty the trash
///
/// A document in the trash can be restored with mv. Blocks are deleted permanently with their
/// descendants. The content of a deleted folder moves to its parent folder.
#[derive(Debug, Args)]
pub(crate) struct RemoveCommand {
    /// Documents, block IDs, or folders with a trailing slash
    #[arg(required_unless_present = "older_than")]
    names: Vec<String>,
    /// Erase documents in the trash permanently
    #[arg(long)]
    purge: bool,
    /// Erase everything that has been in the trash for this many days
    #[arg(long, value_name = "DAYS", requires = "purge", conflicts_with = "names")]
    older_than: Option<u32>,
}

#[derive(Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names of requests")]
struct RemoveReply {
    document_ids: Vec<DocumentId>,
    block_ids: Vec<BlockId>,
    folder_ids: Vec<leafbase::FolderId>,
}

impl RemoveCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.writer()?;
        let removed = match self.older_than {
            Some(days) => RemoveReply {
                document_ids: notes.purge_documents(PurgeDocuments::OlderThanDays(days))?.0,
                ..RemoveReply::default()
            },
            None => self.remove(&notes)?,
        };
        if context.options.json {
            return context.out.json(&removed);
        }
        let documents = if self.purge { "erased" } else { "moved to the trash:" };
        for (what, count, one, several) in [
            (documents, removed.document_ids.len(), "document", "documents"),
            (
                "deleted",
                removed.block_ids.len(),
                "block with its descendants",
                "blocks with their descendants",
            ),
            ("deleted", removed.folder_ids.len(), "folder", "folders"),
        ] {
            if count > 0 || (self.purge && one == "document") {
                let count = line::count(count, one, several);
                context.out.line(format_args!("{what} {count}"))?;
            }
        }
        Ok(())
    }

    /// Resolves every name before it deletes anything.
    fn remove(&self, notes: &Connection) -> CliResult<RemoveReply> {
        let folders = FolderCatalog::read(notes)?;
        let (mut found, mut refs) = (RemoveReply::default(), Vec::new());
        for name in &self.names {
            if name.ends_with('/') {
                refs.push(mv::own(&folders, name)?.into());
                continue;
            }
            let trashed = if self.purge { names::in_trash(notes, name)? } else { None };
            let named = match trashed {
                Some(document) => ResolvedName::Document(Box::new(document)),
                None => names::document_or_block(notes, name)?,
            };
            match named {
                ResolvedName::Document(document) => found.document_ids.push(document.id()),
                ResolvedName::Block(block) => found.block_ids.push(block),
            }
        }
        // Checked before any deletion: the request fails as a whole.
        if self.purge && (!refs.is_empty() || !found.block_ids.is_empty()) {
            return Err(CliError::usage("--purge takes documents only"));
        }
        if self.purge {
            let purged = notes.purge_documents(PurgeDocuments::new(found.document_ids.clone()));
            purged.map_err(|error| {
                CliError::of_entry(error, &self.names)
                    .hint("only documents in the trash can be erased: leafbase ls trash")
            })?;
            return Ok(found);
        }
        // One write per kind: documents, blocks, folders.
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
