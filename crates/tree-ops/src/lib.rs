//! Rules of Leafbase block trees: which operations are allowed, and which edits they make.
//!
//! The functions read a tree through the trait [`ReadTree`] and return [`leafbase_model::Edit`]s;
//! they write nothing. Each one validates its whole request before it returns: an error means that
//! no edit may be applied, and its path names the first invalid entry. User data of any depth is
//! traversed without recursion.

mod context;
mod position;
mod ranges;
mod read;

mod inbox;
mod request;

mod target;

mod drafts;

mod delete;
mod document;
mod document_update;
mod fetch;
mod folders;
mod insert;
mod items;
mod moves;
mod update;

mod text_edits;

pub use context::Context;
pub use delete::{DeletedBlocks, delete};
pub use document::{
    CreatedDocument, MovedDocuments, check_purge, check_root, copy_document, create_document,
    delete_documents, move_documents, restore_daily_notes,
};
pub use document_update::{DocumentUpdate, PatchedDocument};
pub use drafts::check_draft;
pub use fetch::{assemble, fetch};
pub use folders::{
    FolderPlan, MovedFolders, ReadFolders, create_folders, delete_folders, folders_within,
    move_folders, update_folder,
};
pub use inbox::{AllowedChildren, task_edge};
pub use insert::{InsertedBlocks, insert, insert_at};
pub use items::{ItemInsertion, insert_items, locate_writable, prepare_collection, show_subtrees};
pub use moves::{MovedBlocks, move_blocks};
pub use position::ResolvedPosition;
pub use ranges::{SiblingRange, copy_subtrees, shifted_position, sibling_range};
pub use read::ReadTree;
pub use target::{PreparedTarget, prepare_target, prepare_target_for};
pub use text_edits::{EditedTexts, LocatedText, indent, locate_text, merge, split};
pub use update::{BlockUpdate, PatchedBlock, UpdatedBlocks, title_error, update, update_edit};
