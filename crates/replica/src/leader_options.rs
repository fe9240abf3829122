//! How a space is shipped, option by option.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use leafbase::{Clock, SystemClock, Timestamp};

/// How a space is shipped.
#[derive(Clone)]
pub struct LeaderOptions {
    pub(crate) holder: String,
    pub(crate) scratch: PathBuf,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) term: Duration,
    pub(crate) take_over: bool,
    pub(crate) start_over: bool,
    pub(crate) snapshot_after: u64,
    pub(crate) keep_snapshots: usize,
}

impl fmt::Debug for LeaderOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderOptions").field("holder", &self.holder).finish_non_exhaustive()
    }
}

impl LeaderOptions {
    /// Options for the leader `holder`, a name that no other process uses: a leader of the same
    /// name is taken for an earlier run of this one. Copies of the space are made in `scratch`, a
    /// directory with room for one, and removed.
    pub fn new(holder: impl Into<String>, scratch: impl Into<PathBuf>) -> Self {
        Self {
            holder: holder.into(),
            scratch: scratch.into(),
            clock: Arc::new(SystemClock),
            term: Duration::from_secs(30),
            take_over: false,
            start_over: false,
            snapshot_after: 64 << 20,
            keep_snapshots: 8,
        }
    }

    /// The clock that terms are measured with. Default: [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// How long after a [`Leader::ship`](crate::Leader::ship) no other process becomes the leader
    /// unasked. Which leader writes does not depend on clocks. Default: 30 seconds.
    pub fn term(mut self, term: Duration) -> Self {
        self.term = term;
        self
    }

    /// Whether to become the leader although the term of another one has not ended. It writes
    /// nothing more from then on. Default: no.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Whether to ship from a new snapshot on, and to delete all else in the store, if what was
    /// shipped is not the past of this space: after a backup was restored, or after compaction
    /// dropped changes before they were shipped. Default: no, it is an error.
    pub fn start_over(mut self, start_over: bool) -> Self {
        self.start_over = start_over;
        self
    }

    /// After how many bytes of changes a snapshot is made. A restore and a new follower read at
    /// most about as many. Default: 64 MiB.
    pub fn snapshot_after(mut self, bytes: u64) -> Self {
        self.snapshot_after = bytes;
        self
    }

    /// How many snapshots are kept, at least one. The space can be restored to every change since
    /// the oldest one, but for changes that were compacted before they were shipped. Default: 8.
    pub fn keep_snapshots(mut self, count: usize) -> Self {
        self.keep_snapshots = count.max(1);
        self
    }

    /// The end of a term that begins now.
    pub(crate) fn term_end(&self) -> Timestamp {
        let term = i64::try_from(self.term.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.clock.now().as_millis().saturating_add(term))
    }
}
