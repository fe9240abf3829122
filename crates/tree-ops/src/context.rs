//! The context of an operation: limits, stamp and source of IDs.

use std::fmt;

use leafbase_model::{BlockData, BlockId, BlockRecord, IdSource, Limits, Stamp};

/// Parameters of an operation besides its request.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Upper bounds of requests and trees.
    pub limits: &'a Limits,
    /// Author and time of the write.
    pub stamp: &'a Stamp,
    /// Source of new IDs.
    pub ids: &'a dyn IdSource,
}

impl Context<'_> {
    pub(crate) fn new_id(&self) -> BlockId {
        BlockId::from_bytes(self.ids.new_id(self.stamp.at))
    }

    /// A new block with its first revision.
    pub fn new_block(&self, data: BlockData) -> BlockRecord {
        BlockRecord {
            id: self.new_id(),
            rev: 1,
            created: self.stamp.clone(),
            modified: self.stamp.clone(),
            data,
        }
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("limits", &self.limits)
            .field("stamp", &self.stamp)
            .finish_non_exhaustive()
    }
}
