//! The watermark of an index: which changes of the space it contains.

use std::fmt;

use leafbase_model::ChangePosition;

/// Which changes of the space an index contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexWatermark {
    /// The index contains all changes up to this one.
    pub sequence: u64,
    /// The last change that any document of the index contains: later than `sequence` where
    /// documents were written again while the index was updated. A space that does not have this
    /// change, with its token, has another history than the one indexed.
    pub newest: ChangePosition,
}

impl IndexWatermark {
    /// Reads what [`fmt::Display`] writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (sequence, newest) = text.split_once(' ')?;
        Some(Self { sequence: sequence.parse().ok()?, newest: newest.parse().ok()? })
    }
}

impl From<ChangePosition> for IndexWatermark {
    /// All changes up to a position, and none after it.
    fn from(position: ChangePosition) -> Self {
        Self { sequence: position.sequence(), newest: position }
    }
}

impl From<u64> for IndexWatermark {
    fn from(sequence: u64) -> Self {
        ChangePosition::from(sequence).into()
    }
}

impl fmt::Display for IndexWatermark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.sequence, self.newest)
    }
}
