//! What compaction keeps of the change log.

use leafbase_model::Timestamp;

/// What compaction keeps of the change log. By default everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogRetention {
    /// Changes before this instant are dropped, up to the first one that is not.
    pub since: Option<Timestamp>,
    /// At most this many of the last sequences are kept.
    pub changes: Option<u64>,
    /// At most this many bytes of the last changes are kept, as they are stored before this
    /// compaction compresses them.
    pub bytes: Option<u64>,
    /// Edits of one text by one author, each at most this many milliseconds after the one before,
    /// are merged into one change.
    pub merge_within_millis: Option<u64>,
    /// Later changes are neither dropped nor merged; by default those that are made meanwhile.
    pub last_sequence: Option<u64>,
}
