//! Positions with a known target block.

use leafbase_model::{BlockId, Edge, Side};

/// A [`leafbase_model::Position`] whose day, if it names one, is resolved to the root of its note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResolvedPosition {
    /// First or last among the children of this block.
    Within(Edge, BlockId),
    /// Next to this sibling.
    Beside(Side, BlockId),
}

impl ResolvedPosition {
    /// Path of the request field that names the block.
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
