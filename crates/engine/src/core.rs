//! What every operation goes through: the space, connections and their transactions, visibility,
//! redaction, cascades, and the search index.
//!
//! Nothing here imports an operation.

pub(crate) mod batch;
pub(crate) mod batch_door;
pub(crate) mod change_recorder;
pub(crate) mod connection;
pub(crate) mod scope;
pub(crate) mod scope_changes;
pub(crate) mod scope_folders;
pub(crate) mod scope_pages;
pub(crate) mod scope_roots;
pub(crate) mod scope_undo;
pub(crate) mod transaction;

pub(crate) mod cascades;
pub(crate) mod redaction;
pub(crate) mod space;
pub(crate) mod tree;

pub(crate) mod access;
pub(crate) mod visibility;

pub(crate) mod edges;
#[cfg(feature = "search")]
pub(crate) mod embedding_matrix;
pub(crate) mod orphaned_uploads;
pub(crate) mod progress;
pub(crate) mod search_index;
pub(crate) mod tags;
