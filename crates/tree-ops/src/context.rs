//! What an operation is given beside its request: the limits, who acts and when, and where new IDs
//! come from.

use std::fmt;

use leafbase_model::{BlockData, BlockId, BlockRecord, Edge, IdSource, Limits, Side, Stamp};

/// What an operation is given beside its request.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// What may not be passed.
    pub limits: &'a Limits,
    /// Who acts, and when.
    pub stamp: &'a Stamp,
    /// Where new IDs come from.
    pub ids: &'a dyn IdSource,
}

impl Context<'_> {
    pub(crate) fn new_id(&self) -> BlockId {
        BlockId::from_bytes(self.ids.new_id(self.stamp.at))
    }

    /// A new block that says `data`.
    pub(crate) fn born(&self, data: BlockData) -> BlockRecord {
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

/// A position whose target is a known block: days are already looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResolvedPosition {
    /// First or last among the children of this block.
    Within(Edge, BlockId),
    /// Next to this block.
    Beside(Side, BlockId),
}

impl ResolvedPosition {
    /// The path of the block in a request that names it.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Within(..) => "position.pageId",
            Self::Beside(..) => "position.siblingId",
        }
    }

    pub(crate) const fn block(self) -> BlockId {
        match self {
            Self::Within(_, block) | Self::Beside(_, block) => block,
        }
    }
}
