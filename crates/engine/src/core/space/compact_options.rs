//! What compaction keeps of the change log.

use std::time::Duration;

use leafbase_model::Timestamp;
use leafbase_store::LogRetention;

/// What [`Space::compact_with`](crate::Space::compact_with) keeps of the change log. By default
/// everything: documents never depend on it, only undo, feeds and histories do.
///
/// A change is dropped if any of the bounds excludes it. Sequences keep their meaning and are never
/// reused.
///
/// ```
/// use std::time::Duration;
/// use leafbase::{CompactOptions, Space};
/// # fn main() -> leafbase::Result<()> {
/// let space = Space::in_memory()?;
/// let notes = space.connect();
/// let trip = notes.create_document("Trip")?;
/// let line = notes.insert_markdown("p", trip.id())?[0].id;
/// for typed in ["pa", "pas", "pass"] {
///     notes.update_markdown(line, typed)?;
/// }
/// let day = Duration::from_secs(24 * 60 * 60);
/// let options = CompactOptions::new()
///     .keep_for(90 * day)
///     .keep_changes(3)
///     .merge_edits_within(Duration::from_secs(60));
/// space.compact_with(options)?;
///
/// assert_eq!(notes.log_begins_at()?.sequence(), 2);
/// let changes: Vec<_> = notes.changes_since(2).collect::<Result<_, _>>()?;
/// assert_eq!((changes.len(), changes[0].first_sequence, changes[0].sequence), (1, 3, 5));
/// let gone = notes.changes_since(0).next().unwrap().unwrap_err();
/// assert_eq!(gone.code(), "HISTORY_GONE");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct CompactOptions {
    keep_for: Option<Duration>,
    keep_changes: Option<u64>,
    keep_bytes: Option<u64>,
    merge_edits_within: Option<Duration>,
}

impl CompactOptions {
    /// Keeps every change.
    pub fn new() -> Self {
        Self::default()
    }

    /// Drops changes older than this, up to the first one that is not. Default: none.
    pub const fn keep_for(mut self, age: Duration) -> Self {
        self.keep_for = Some(age);
        self
    }

    /// Keeps at most this many of the last changes. Default: all.
    pub const fn keep_changes(mut self, changes: u64) -> Self {
        self.keep_changes = Some(changes);
        self
    }

    /// Keeps at most this many bytes of the last changes, counted as they are stored when
    /// compaction begins: what an earlier one has compressed counts less. Default: all.
    pub const fn keep_bytes(mut self, bytes: u64) -> Self {
        self.keep_bytes = Some(bytes);
        self
    }

    /// Merges edits of the text of one block by one author into one change, if each comes at most
    /// this long after the one before, in whole milliseconds, and no other write lies between. The
    /// change covers their sequences ([`Change::first_sequence`](crate::Change::first_sequence)),
    /// has the text before the first and after the last of them, and the token, time and author of
    /// the last, so that it counts as made at the time of the last. A feed that stopped between
    /// them is [`HistoryGone`](crate::ErrorKind::HistoryGone). Default: none are merged.
    pub const fn merge_edits_within(mut self, gap: Duration) -> Self {
        self.merge_edits_within = Some(gap);
        self
    }

    /// What that means at the instant `now`, for the changes up to `last_sequence`.
    pub(super) fn retention(self, now: Timestamp, last_sequence: u64) -> LogRetention {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let since = self.keep_for.map(|age| {
            let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
            Timestamp::from_millis(now.as_millis().saturating_sub(age))
        });
        LogRetention {
            since,
            changes: self.keep_changes,
            bytes: self.keep_bytes,
            merge_within_millis: self.merge_edits_within.map(millis),
            last_sequence: Some(last_sequence),
        }
    }
}
