//! What a Leafbase block tree allows: reads through a trait, returns edits. It writes nothing.
//!
//! Each operation checks its whole request before it returns: an error means that no part of it may
//! happen, and names the first offending entry by its path. Nothing recurses over user data.

mod context;
mod read;

mod batch;
mod inbox;
mod place;

mod drafts;

mod delete;
mod document;
mod fetch;
mod folders;
mod insert;
mod items;
mod moves;
mod update;

pub use context::{Context, ResolvedPosition};
pub use delete::{Deleted, delete};
pub use document::{
    Created, Relocated, check_purge, check_root, copy_document, create_document, delete_documents,
    erase_document, move_documents, restore_daily_notes,
};
pub use drafts::check_draft;
pub use fetch::{assemble, fetch};
pub use folders::{
    FolderPlan, MovedFolders, ReadFolders, create_folders, delete_folders, folders_within,
    move_folders,
};
pub use inbox::{Takes, edge_for};
pub use insert::{Inserted, insert, insert_at};
pub use items::{NewItem, check_writable, insert_items, open_collection, show_forest};
pub use moves::{Moved, move_blocks};
pub use place::{Opened, open_place, open_place_for};
pub use read::ReadTree;
pub use update::{Texts, Updated, revise, update, update_texts};
