//! Snapshots: copies of the whole space as objects.

use std::fs::File;

use leafbase::bulk::invariant;
use leafbase::{ChangePosition, Connection, Result, Space, Timestamp};

use crate::apply::{SPACE_FILE, ScratchDirectory};
use crate::directory_store::io_error;
use crate::leader_options::LeaderOptions;
use crate::manifest::{FenceNumber, SnapshotEntry, snapshot_prefix};
use crate::parts::put_parts;
use crate::store::ReplicaStore;

/// Puts a copy of the space as it is now, as the one with this number of the leader.
pub(crate) fn put(
    space: &Space,
    store: &dyn ReplicaStore,
    (fence, number): (FenceNumber, u64),
    options: &LeaderOptions,
) -> Result<SnapshotEntry> {
    let stem = options.scratch.join(format!("leafbase-snapshot-{}", std::process::id()));
    let scratch = ScratchDirectory::create(&stem)?;
    let path = scratch.path().join("copy");
    space.backup_to(&path)?;
    // What is shipped survives here, too: otherwise this space would be another one's after a power
    // loss.
    space.flush()?;
    // The copy says itself which change is its last: others write in the meantime.
    let copy = Space::builder().read_only(true).open(&path)?;
    let (found, expected) = (copy.meta()?.id, space.meta()?.id);
    invariant!(found == expected, "a copy of space {expected} is shipped, not one of {found}");
    let notes = copy.connect();
    let position = notes.last_position()?;
    let at = last_change(&notes, position)?.unwrap_or_else(|| options.clock.now());
    copy.close()?;
    let path = path.join(SPACE_FILE);
    let file = File::open(&path).map_err(|error| io_error("read", &path, error))?;
    let prefix = snapshot_prefix(position.sequence(), fence, number);
    let parts = put_parts(store, &prefix, file)?;
    Ok(SnapshotEntry { position, at, fence, number, parts })
}

/// The time of the last change; `None` if the log does not have it.
fn last_change(notes: &Connection, position: ChangePosition) -> Result<Option<Timestamp>> {
    if position == notes.log_begins_at()? {
        return Ok(None);
    }
    // The last row may cover several sequences, whose log goes on before the first of them.
    let rows = match notes.changes_since(position.sequence().saturating_sub(1)).next() {
        Some(Ok(change)) => Some(change.stamp.at),
        _ => None,
    };
    Ok(rows)
}
