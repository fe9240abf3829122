//! Staged rows of a transaction: what its edits changed and is not written yet.

pub(super) mod collections;
pub(super) mod cross_move;
pub(super) mod documents;
pub(super) mod embeddings;
pub(super) mod locations;
pub(super) mod purges;
pub(super) mod runs;
pub(super) mod tag_rows;
pub(super) mod task_rows;
