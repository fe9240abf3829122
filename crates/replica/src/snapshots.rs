//! Snapshots: copies of the whole space as objects.

use std::fs::File;

use leafbase::bulk::invariant;
use leafbase::{ChangePosition, Connection, ErrorKind, Result, Space, Timestamp};

use crate::apply::{SPACE_FILE, ScratchDirectory};
use crate::directory_store::io_error;
use crate::leader_options::LeaderOptions;
use crate::manifest::{FenceNumber, SnapshotEntry, snapshot_prefix};
use crate::parts::put_parts;
use crate::store::ReplicaStore;

/// Puts a copy of the space as it is now, as the one with this number of the leader. `previous` is
/// the copy before.
pub(crate) fn put(
    space: &Space,
    store: &dyn ReplicaStore,
    (fence, number): (FenceNumber, u64),
    previous: Option<&SnapshotEntry>,
    options: &LeaderOptions,
) -> Result<SnapshotEntry> {
    let stem = options.scratch.join(format!("leafbase-snapshot-{}", std::process::id()));
    let scratch = ScratchDirectory::create(&stem)?;
    let path = scratch.path().join("copy");
    space.backup_to(&path)?;
    // Shipped changes survive here, too: otherwise this space would be another one's after a power
    // loss.
    space.flush()?;
    // The copy says itself which change is its last: others write in the meantime.
    let copy = Space::builder().read_only(true).open(&path)?;
    let (found, expected) = (copy.meta()?.id, space.meta()?.id);
    invariant!(found == expected, "a copy of space {expected} is shipped, not one of {found}");
    let notes = copy.connect();
    let position = notes.last_position()?;
    let at = latest_time(&notes, previous)?.unwrap_or_else(|| options.clock.now());
    copy.close()?;
    let path = path.join(SPACE_FILE);
    let file = File::open(&path).map_err(|error| io_error("read", &path, error))?;
    let prefix = snapshot_prefix(position.sequence(), fence, number);
    let parts = put_parts(store, &prefix, file)?;
    Ok(SnapshotEntry { position, at, fence, number, parts })
}

/// The latest time of all changes, which a clock that was set back may have given to any of them;
/// `None` if the log has no change.
fn latest_time(notes: &Connection, previous: Option<&SnapshotEntry>) -> Result<Option<Timestamp>> {
    let since = |position: ChangePosition| -> Result<Option<Timestamp>> {
        let mut latest = None;
        for change in notes.changes_since(position) {
            latest = latest.max(Some(change?.stamp.at));
        }
        Ok(latest)
    };
    if let Some(previous) = previous {
        match since(previous.position) {
            // The log no longer has that change, or it is of another history.
            Err(error) if error.kind() == ErrorKind::HistoryGone => {}
            latest => return Ok(latest?.max(Some(previous.at))),
        }
    }
    since(notes.log_begins_at()?)
}
