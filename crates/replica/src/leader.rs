//! The leader of a replica: ships the changes of its space.

use std::collections::HashMap;
use std::sync::Arc;

use leafbase::bulk::invariant;
use leafbase::{
    AssetRecord, ChangePosition, ChangeRow, Connection, Error, ErrorKind, Result, Space,
};

use crate::frames;
use crate::leader_options::LeaderOptions;
use crate::lease::{self, HeldLease};
use crate::log_continuation::{LogContinuation, check_past, diverged};
use crate::manifest::{FileEntry, Manifest, PREFIXES, SegmentEntry, SnapshotEntry, file_prefix};
use crate::parts::put_parts;
use crate::snapshots;
use crate::store::{ReplicaStore, missing};

/// Bytes of rows in a new segment: bounds memory.
const SEGMENT_BYTES: usize = 4 << 20;
/// Segments smaller than this are joined ...
const SMALL_SEGMENT_BYTES: u64 = 1 << 20;
/// ... once this many are in a row.
const MAX_SMALL_SEGMENTS: usize = 32;

/// What a [`Leader::ship`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shipment {
    /// The rows of the change log that were shipped.
    pub changes: u64,
    /// The snapshots that were made since the last call, or since the leader began.
    pub snapshots: u64,
    /// The position up to which all is shipped.
    pub position: ChangePosition,
}

/// The one process that ships the changes of a space to a store.
///
/// Each leader has a number, its fence, which is higher than those of all before it. A leader that
/// finds a higher one in the store is fenced: it writes nothing more there, and its space becomes
/// read-only ([`Space::demote`]).
///
/// ```
/// use std::sync::Arc;
/// use leafbase::Space;
/// use leafbase_replica::{DirectoryStore, Leader, LeaderOptions, RestorePoint, restore};
/// # fn main() -> leafbase::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let directory = directory.path();
/// let space = Space::create(directory.join("notes.leafbase"))?;
/// let store = Arc::new(DirectoryStore::new(directory.join("replica")));
/// let options = LeaderOptions::new("desk", directory.join("scratch"));
/// let mut leader = Leader::acquire(&space, store.clone(), options)?;
///
/// space.connect().create_document("Trip")?;
/// assert_eq!(leader.ship()?.position, space.connect().last_position()?);
///
/// let copy = directory.join("copy.leafbase");
/// restore(&*store, &copy, RestorePoint::Newest)?;
/// assert_eq!(Space::open(&copy)?.connect().documents()?[0].title, "Trip");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Leader {
    space: Space,
    store: Arc<dyn ReplicaStore>,
    options: LeaderOptions,
    lease: HeldLease,
    /// Changes shipped and snapshots made since the last reply of [`Leader::ship`].
    changes: u64,
    snapshots: u64,
    /// Copies that were begun: each has a name of its own, so that none replaces a part of one that
    /// the manifest names.
    copies: u64,
}

impl Leader {
    /// Makes this process the leader. Into an empty store it ships a snapshot; changes are shipped
    /// by [`Self::ship`].
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyOpen`] if another leader's term has not ended; [`ErrorKind::Validation`]
    /// if the store has the replica of another space; [`ErrorKind::HistoryGone`] if what was
    /// shipped is not the past of this space, or compaction dropped changes that were not shipped,
    /// see [`LeaderOptions::start_over`];
    /// [`ErrorKind::RuleViolation`] if the space is a follower, see
    /// [`Follower::promote`](crate::Follower::promote); errors of the store and of the space.
    pub fn acquire(
        space: &Space,
        store: Arc<dyn ReplicaStore>,
        options: LeaderOptions,
    ) -> Result<Self> {
        if space.is_follower() {
            return Err(Error::rule("a follower is promoted before it leads"));
        }
        let id = space.meta()?.id;
        // Before the lease: a space that may not lead fences no other.
        if let Some((manifest, _)) = crate::manifest::find(&*store)? {
            lease::check_space(&manifest, id)?;
            if !options.start_over {
                check_past(space, &manifest)?;
            }
        }
        let lease = lease::acquire(&*store, id, &options)?;
        Self::begin(space, store, options, lease)
    }

    /// Begins to lead under a lease.
    pub(crate) fn begin(
        space: &Space,
        store: Arc<dyn ReplicaStore>,
        options: LeaderOptions,
        lease: HeldLease,
    ) -> Result<Self> {
        let is_past = match check_past(space, lease.manifest()) {
            Err(error) if error.kind() == ErrorKind::HistoryGone && options.start_over => false,
            checked => checked.map(|()| true)?,
        };
        let space = space.clone();
        let mut leader = Self { space, store, options, lease, changes: 0, snapshots: 0, copies: 0 };
        // Of a leader that ended between its puts and its manifest.
        leader.delete_garbage()?;
        if !is_past || leader.lease.manifest().snapshots.is_empty() {
            leader.reset(Vec::new())?;
        }
        Ok(leader)
    }

    /// The number of this leader.
    pub const fn fence(&self) -> u64 {
        self.lease.manifest().fence
    }

    /// The position up to which all is shipped.
    pub fn position(&self) -> ChangePosition {
        self.lease.manifest().end().unwrap_or_default()
    }

    /// Ships the changes that are not shipped yet, and extends the term. A host calls it after
    /// [`Connection::wait_for`] has returned, and at least once in each term.
    ///
    /// A change that purges a document is shipped with a new snapshot; all older snapshots and
    /// segments, which have the document, are deleted.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if this leader is fenced; [`ErrorKind::HistoryGone`] if the store of
    /// the space went back to before the last shipment; errors of the store and of the space. What
    /// was shipped before stays, and the next call goes on.
    pub fn ship(&mut self) -> Result<Shipment> {
        self.check_fence()?;
        let mut shipment = Shipment::default();
        loop {
            let rows = match self.space.connect().change_rows(self.position(), SEGMENT_BYTES) {
                Ok(rows) => rows,
                // Compaction dropped or merged rows that were not shipped: a copy has what they
                // did.
                Err(error) if error.kind() == ErrorKind::HistoryGone => {
                    self.snapshot()?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if rows.is_empty() {
                break;
            }
            if rows.iter().any(|row| row.change().is_redacted()) {
                // A follower can apply none of them, and the snapshot has all.
                self.reset(Vec::new())?;
                continue;
            }
            // The files of a row may be erased before they are read: the next rows say so.
            let Some(segment) = self.put_segment(&rows)? else { continue };
            if rows.iter().any(ChangeRow::purges) {
                self.reset(vec![segment])?;
            } else {
                let mut manifest = self.lease.manifest().clone();
                manifest.segments.push(segment);
                self.publish(manifest)?;
            }
            self.join_small_segments()?;
            if self.bytes_since_snapshot() >= self.options.snapshot_after {
                self.snapshot()?;
            }
        }
        // Most calls have shipped something and extended the term with it.
        if self.lease.is_due(self.options.clock.now(), self.options.term) {
            self.publish(self.lease.manifest().clone())?;
        }
        shipment.position = self.position();
        shipment.changes = std::mem::take(&mut self.changes);
        shipment.snapshots = std::mem::take(&mut self.snapshots);
        Ok(shipment)
    }

    /// Makes a snapshot, whatever was shipped since the last one, ships the changes in it, and
    /// deletes the snapshots that are no longer kept. Returns the position after its last change.
    ///
    /// # Errors
    /// As [`Self::ship`].
    pub fn snapshot(&mut self) -> Result<ChangePosition> {
        self.check_fence()?;
        // A store that went back under the space, such as a database that failed over: the replica
        // alone has what was lost.
        if matches!(
            LogContinuation::of(&self.space, self.lease.manifest())?,
            LogContinuation::Diverged
        ) {
            return Err(diverged(self.position()));
        }
        let snapshot = self.put_snapshot()?;
        // Without a change in between, the new copy takes the place of the last one.
        let position = snapshot.position;
        let segments = match self.put_segments(self.position(), position)? {
            Some(segments) => segments,
            None if self.may_have_purged()? => {
                self.restart(snapshot, Vec::new())?;
                return Ok(position);
            }
            // No rows lead to the copy: earlier shipments stay, and end before a gap.
            None => Vec::new(),
        };
        let mut manifest = self.lease.manifest().clone();
        manifest.segments.extend(segments);
        manifest.snapshots.retain(|other| other.position != position);
        manifest.snapshots.push(snapshot);
        let surplus = manifest.snapshots.len().saturating_sub(self.options.keep_snapshots);
        manifest.snapshots.drain(..surplus);
        if let Some(oldest) = manifest.snapshots.first() {
            let begins = oldest.position.sequence();
            // The last one stays in any case: the next rows follow it.
            let last = manifest.segments.pop();
            manifest.segments.retain(|segment| segment.last.sequence() > begins);
            manifest.segments.extend(last);
        }
        self.publish(manifest)?;
        self.snapshots += 1;
        self.delete_garbage()?;
        Ok(position)
    }

    /// Ends the term: another process can become the leader at once. What is not shipped yet is not
    /// shipped.
    ///
    /// # Errors
    /// As [`Self::ship`].
    pub fn release(mut self) -> Result<()> {
        self.check_fence()?;
        let mut manifest = self.lease.manifest().clone();
        manifest.lease = None;
        let replaced = self.lease.replace(&*self.store, manifest);
        self.settle(replaced)
    }

    /// Fails if there is a newer leader: nothing is written then.
    fn check_fence(&mut self) -> Result<()> {
        let read = self.lease.refresh(&*self.store);
        self.settle(read)
    }

    /// Replaces the manifest by one with a new term.
    fn publish(&mut self, manifest: Manifest) -> Result<()> {
        let is_ascending = manifest.snapshots.is_sorted_by_key(|entry| entry.position.sequence())
            && manifest.segments.is_sorted_by(|one, other| one.last.sequence() < other.first);
        invariant!(is_ascending, "copies and segments are in the order of their changes");
        let manifest = lease::extended(manifest, &self.options);
        let replaced = self.lease.replace(&*self.store, manifest);
        self.settle(replaced)
    }

    /// The space of a fenced leader takes no more writes: they would be lost.
    fn settle(&self, outcome: Result<()>) -> Result<()> {
        outcome.inspect_err(|error| {
            if error.kind() == ErrorKind::Conflict {
                self.space.demote();
            }
        })
    }

    /// Begins with a new snapshot and `segments` that no older change is in, and deletes all else:
    /// a purge redacted older changes, or they are not the past of this space.
    fn reset(&mut self, segments: Vec<SegmentEntry>) -> Result<()> {
        let snapshot = self.put_snapshot()?;
        let newer = match segments.last() {
            Some(segment) => self.put_segments(segment.last, snapshot.position)?,
            None => None,
        };
        // Without the newer ones, followers begin with the snapshot.
        let segments =
            newer.map_or_else(Vec::new, |newer| segments.into_iter().chain(newer).collect());
        self.restart(snapshot, segments)
    }

    /// Makes the replica these and nothing else.
    fn restart(&mut self, snapshot: SnapshotEntry, segments: Vec<SegmentEntry>) -> Result<()> {
        let mut manifest = self.lease.manifest().clone();
        manifest.snapshots = vec![snapshot];
        manifest.segments = segments;
        self.publish(manifest)?;
        self.snapshots += 1;
        self.delete_garbage()
    }

    fn put_snapshot(&mut self) -> Result<SnapshotEntry> {
        let name = (self.fence(), self.copies);
        self.copies += 1;
        let previous = self.lease.manifest().snapshots.last();
        snapshots::put(&self.space, &*self.store, name, previous, &self.options)
    }

    /// Whether a change that is not shipped may have erased what is: one that is in the log, or one
    /// that compaction dropped.
    fn may_have_purged(&self) -> Result<bool> {
        let shipped = self.position().sequence();
        let mut from = match LogContinuation::of(&self.space, self.lease.manifest())? {
            LogContinuation::Next => self.position(),
            LogContinuation::Merged(from) => from,
            LogContinuation::Dropped => return Ok(true),
            LogContinuation::Diverged => return Err(diverged(self.position())),
        };
        loop {
            let rows = match self.space.connect().change_rows(from, SEGMENT_BYTES) {
                Ok(rows) => rows,
                // Compaction dropped some meanwhile.
                Err(error) if error.kind() == ErrorKind::HistoryGone => return Ok(true),
                Err(error) => return Err(error),
            };
            let Some(last) = rows.last() else { return Ok(false) };
            from = last.position();
            let mut newer = rows.iter().filter(|row| row.position().sequence() > shipped);
            if newer.any(|row| row.purges() || row.change().is_redacted()) {
                return Ok(true);
            }
        }
    }

    fn delete_garbage(&self) -> Result<()> {
        for prefix in PREFIXES {
            let names = self.store.list(prefix)?;
            let mut garbage = self.lease.manifest().garbage(&names);
            garbage.try_for_each(|name| self.store.delete(name))?;
        }
        Ok(())
    }

    /// Puts the segments of the rows from `from` to the snapshot at `to`, which may be newer: the
    /// space is written while it is copied. `None` if only the snapshot has what these rows did:
    /// compaction dropped some, or a purge is or changed one of them.
    fn put_segments(
        &mut self,
        mut from: ChangePosition,
        to: ChangePosition,
    ) -> Result<Option<Vec<SegmentEntry>>> {
        let mut segments = Vec::new();
        while from.sequence() < to.sequence() {
            let rows = match self.space.connect().change_rows(from, SEGMENT_BYTES) {
                Ok(rows) => rows,
                Err(error) if error.kind() == ErrorKind::HistoryGone => return Ok(None),
                Err(error) => return Err(error),
            };
            if rows.iter().any(|row| row.purges() || row.change().is_redacted()) {
                return Ok(None);
            }
            // The files of a row may be erased before they are read: the next rows say so.
            let Some(segment) = self.put_segment(&rows)? else { continue };
            from = segment.last;
            segments.push(segment);
        }
        Ok(Some(segments))
    }

    /// Puts the segment of these rows and the files that they create. `None` if one of these was
    /// erased in the meantime.
    fn put_segment(&mut self, rows: &[ChangeRow]) -> Result<Option<SegmentEntry>> {
        let notes = self.space.connect();
        let mut files: HashMap<String, FileEntry> = HashMap::new();
        for file in rows.iter().flat_map(ChangeRow::files) {
            // One file may be shown under several IDs: it is read and put once.
            let Some(sha256) = file.sha256.map(|hash| hash.to_string()) else { continue };
            if files.contains_key(&sha256) {
                continue;
            }
            match self.put_file(&notes, file, &sha256) {
                Ok(entry) => files.insert(sha256, entry),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
        }
        let mut files: Vec<FileEntry> = files.into_values().collect();
        files.sort_by(|one, other| one.sha256.cmp(&other.sha256));
        let bytes = frames::encode(rows)?;
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            // `None` would make the caller read the same rows again, without an end.
            invariant!("a segment has rows")
        };
        // Otherwise the caller would ship the same rows without an end.
        invariant!(
            last.position().sequence() > self.position().sequence(),
            "rows up to {} follow what is shipped",
            last.position().sequence()
        );
        let segment = SegmentEntry {
            first: first.change().first_sequence,
            last: last.position(),
            fence: self.fence(),
            bytes: bytes.len() as u64,
            files,
        };
        self.store.put(&segment.name(), &bytes)?;
        self.changes += rows.len() as u64;
        Ok(Some(segment))
    }

    fn put_file(&self, notes: &Connection, file: &AssetRecord, sha256: &str) -> Result<FileEntry> {
        let shipped = self.lease.manifest().segments.iter().flat_map(|segment| &segment.files);
        // Of a segment, not of the store: only what the manifest names is known to be complete.
        if let Some(entry) = shipped.into_iter().find(|entry| entry.sha256 == *sha256) {
            return Ok(entry.clone());
        }
        let fence = self.fence();
        let reader = notes.open_file(file.id)?;
        let parts = put_parts(&*self.store, &file_prefix(sha256, fence), reader)?;
        Ok(FileEntry { sha256: sha256.to_owned(), fence, parts })
    }

    fn bytes_since_snapshot(&self) -> u64 {
        let Manifest { snapshots, segments, .. } = self.lease.manifest();
        let newest = snapshots.last().map_or(0, |snapshot| snapshot.position.sequence());
        let newer = segments.iter().filter(|segment| segment.last.sequence() > newest);
        newer.map(|segment| segment.bytes).sum()
    }

    /// Makes one segment of the newest ones if they are small and many, so that a manifest and a
    /// restore have few of them.
    fn join_small_segments(&mut self) -> Result<()> {
        let manifest = self.lease.manifest();
        let is_small = |segment: &&SegmentEntry| segment.bytes < SMALL_SEGMENT_BYTES;
        // From the newest one back: what is older than a large segment would be out of order, and a
        // segment has no gap.
        let mut next = None;
        let is_joined = |segment: &&SegmentEntry| {
            let last = segment.last.sequence();
            let follows = next.replace(segment.first).is_none_or(|next| last + 1 == next);
            follows && is_small(segment)
        };
        let small = manifest.segments.iter().rev().take_while(is_joined).count();
        if small < MAX_SMALL_SEGMENTS {
            return Ok(());
        }
        let mut manifest = manifest.clone();
        let joined = manifest.segments.split_off(manifest.segments.len() - small);
        let mut contents = Vec::with_capacity(joined.len());
        for segment in &joined {
            let name = segment.name();
            let found = self.store.get(&name)?.ok_or_else(|| missing(&name))?;
            contents.push((name, found.bytes));
        }
        let bytes = frames::join(&contents)?;
        let (Some(first), Some(last)) = (joined.first(), joined.last()) else {
            invariant!("{small} small segments are joined")
        };
        let mut files: Vec<FileEntry> =
            joined.iter().flat_map(|segment| segment.files.clone()).collect();
        files.sort_by(|one, other| one.sha256.cmp(&other.sha256));
        // Sorted, so that equal hashes are neighbours.
        files.dedup_by(|one, other| one.sha256 == other.sha256);
        let segment = SegmentEntry {
            first: first.first,
            last: last.last,
            fence: self.fence(),
            bytes: bytes.len() as u64,
            files,
        };
        self.store.put(&segment.name(), &bytes)?;
        manifest.segments.push(segment);
        self.publish(manifest)?;
        // After the manifest that does without them; a follower that reads one reads it again.
        contents.iter().try_for_each(|(name, _)| self.store.delete(name))
    }
}
