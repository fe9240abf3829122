//! The manifest: which objects make the replica, and who leads.
//!
//! It alone says what counts. Objects are put before a manifest names them, and deleted after one
//! that does not; it is replaced by conditional puts, so that of two leaders one learns that it is
//! none any more.

use std::collections::BTreeSet;

use leafbase::{ChangePosition, Error, ErrorKind, Result, SpaceId, Timestamp};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::parts::StoredParts;
use crate::store::{ObjectVersion, ReplicaStore, damaged};

/// The name of the manifest.
pub(crate) const MANIFEST: &str = "manifest";
/// The prefixes of the names of all other objects.
pub(crate) const PREFIXES: [&str; 3] = ["segments/", "files/", "snapshots/"];
/// What its first line begins with.
const TITLE: &str = "leafbase-replica";
/// How often a manifest is read again that a leader replaced while its objects were read.
const MAX_ATTEMPTS: usize = 8;
/// The version of the format of all objects.
const FORMAT: u32 = 1;

/// The number of a leader: each has a higher one than those before it.
pub(crate) type FenceNumber = u64;

/// Who leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaderLease {
    /// The name that the leader gave itself.
    pub(crate) holder: String,
    /// Until then no other one takes over unasked.
    pub(crate) until: Timestamp,
}

/// A copy of the space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SnapshotEntry {
    /// The position after the last change in it.
    pub(crate) position: ChangePosition,
    /// The latest time of its changes; if its log has none, the time of the copy.
    pub(crate) at: Timestamp,
    /// The leader that made it.
    pub(crate) fence: FenceNumber,
    /// The number of the copy among all that this leader began.
    pub(crate) number: u64,
    /// The parts of its file.
    pub(crate) parts: StoredParts,
}

/// A file that a change of a segment creates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileEntry {
    /// Its hash.
    pub(crate) sha256: String,
    /// The leader that put it.
    pub(crate) fence: FenceNumber,
    /// Its parts.
    pub(crate) parts: StoredParts,
}

/// Rows of the change log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SegmentEntry {
    /// The first sequence of its changes.
    pub(crate) first: u64,
    /// The position after the last one.
    pub(crate) last: ChangePosition,
    /// The leader that put it.
    pub(crate) fence: FenceNumber,
    /// Its bytes.
    pub(crate) bytes: u64,
    /// The files that its changes create.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<FileEntry>,
}

/// Which objects make the replica, and who leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    /// The space that is shipped.
    pub(crate) space: SpaceId,
    /// The number of the newest leader.
    pub(crate) fence: FenceNumber,
    /// Its lease; `None` once it was released.
    pub(crate) lease: Option<LeaderLease>,
    /// Copies, oldest first.
    pub(crate) snapshots: Vec<SnapshotEntry>,
    /// Rows, oldest first; the first one follows the first snapshot, or is in it. After a gap of
    /// changes that were compacted before they were shipped, they follow a snapshot as well.
    pub(crate) segments: Vec<SegmentEntry>,
}

impl SnapshotEntry {
    /// The prefix of the names of its parts.
    pub(crate) fn prefix(&self) -> String {
        snapshot_prefix(self.position.sequence(), self.fence, self.number)
    }
}

/// The prefix of the parts of a copy.
pub(crate) fn snapshot_prefix(sequence: u64, fence: FenceNumber, number: u64) -> String {
    format!("snapshots/{sequence:020}-{fence:010}-{number:06}")
}

impl FileEntry {
    /// The prefix of the names of its parts.
    pub(crate) fn prefix(&self) -> String {
        file_prefix(&self.sha256, self.fence)
    }
}

/// The prefix of the parts of a file.
pub(crate) fn file_prefix(sha256: &str, fence: FenceNumber) -> String {
    format!("files/{sha256}-{fence:010}")
}

impl SegmentEntry {
    /// The name of the object.
    pub(crate) fn name(&self) -> String {
        let Self { first, last, fence, .. } = self;
        format!("segments/{first:020}-{:020}-{fence:010}", last.sequence())
    }
}

/// The fence in the name of an object other than the manifest; `None` if no leader gives such a
/// name: a store may have objects that are not the replica's.
fn fence_of(name: &str) -> Option<FenceNumber> {
    let parts: Vec<&str> = name.split('/').collect();
    let words: Vec<&str> = parts.get(1)?.split('-').collect();
    match (parts.as_slice(), words.as_slice()) {
        (["segments", _], [first, last, fence]) => {
            number(first, 20)?;
            number(last, 20)?;
            number(fence, 10)
        }
        (["files", _, part], [sha256, fence]) => {
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            (sha256.len() == 64 && sha256.bytes().all(is_digit)).then_some(())?;
            number(part, 6)?;
            number(fence, 10)
        }
        (["snapshots", _, part], [sequence, fence, copy]) => {
            number(sequence, 20)?;
            number(copy, 6)?;
            number(part, 6)?;
            number(fence, 10)
        }
        _ => None,
    }
}

/// A number with as many digits as it has in a name.
fn number(text: &str, digits: usize) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (format!("{number:0digits$}") == text).then_some(number)
}

impl Manifest {
    /// The manifest of a space that nothing was shipped of.
    pub(crate) const fn new(space: SpaceId) -> Self {
        Self { space, fence: 0, lease: None, snapshots: Vec::new(), segments: Vec::new() }
    }

    /// The position up to which all was shipped; `None` if nothing was.
    pub(crate) fn end(&self) -> Option<ChangePosition> {
        let snapshot = self.snapshots.last().map(|snapshot| snapshot.position);
        let segment = self.segments.last().map(|segment| segment.last);
        // No rows lead to a copy of changes that were compacted before they were shipped.
        snapshot.into_iter().chain(segment).max_by_key(|position| position.sequence())
    }

    /// What the names of objects in use are, or begin with.
    fn used(&self) -> BTreeSet<String> {
        let files = self.segments.iter().flat_map(|segment| &segment.files);
        let snapshots = self.snapshots.iter().map(SnapshotEntry::prefix);
        let prefixes = snapshots.chain(files.map(FileEntry::prefix));
        prefixes.chain(self.segments.iter().map(SegmentEntry::name)).collect()
    }

    /// Which of `names` no manifest refers to from this one on: unused ones of this leader and of
    /// those before it.
    pub(crate) fn garbage<'n>(&self, names: &'n [String]) -> impl Iterator<Item = &'n String> {
        let (used, fence) = (self.used(), self.fence);
        names.iter().filter(move |name| {
            let parts = name.rsplit_once('/').map_or("", |(prefix, _)| prefix);
            !used.contains(*name)
                && !used.contains(parts)
                // A higher fence is that of a leader which took over: it puts objects before its
                // manifest names them.
                && fence_of(name).is_some_and(|made_by| made_by <= fence)
        })
    }

    /// The bytes of the object.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_string_pretty(self)
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        Ok(format!("{TITLE} {FORMAT} {:016x}\n{json}\n", xxh3_64(json.as_bytes())).into_bytes())
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let text = str::from_utf8(bytes).map_err(|_| damaged(MANIFEST, "it is not UTF-8"))?;
        let parsed = text.split_once('\n').and_then(|(line, json)| {
            let mut words = line.split(' ');
            let words = (words.next()?, words.next()?, words.next()?);
            (words.0 == TITLE).then_some((words.1, words.2, json.strip_suffix('\n')?))
        });
        let (format, checksum, json) =
            parsed.ok_or_else(|| damaged(MANIFEST, "its first line is not that of a manifest"))?;
        if format.parse::<u32>().is_ok_and(|format| format > FORMAT) {
            let message = format!("a later version of this library wrote the replica: {format}");
            return Err(Error::new(ErrorKind::NewerFormat, message));
        }
        if checksum != format!("{:016x}", xxh3_64(json.as_bytes())) {
            return Err(damaged(MANIFEST, "its checksum is wrong"));
        }
        serde_json::from_str(json).map_err(|error| damaged(MANIFEST, error))
    }
}

/// The manifest in `store` with its version; `None` if there is none.
pub(crate) fn find(store: &dyn ReplicaStore) -> Result<Option<(Manifest, ObjectVersion)>> {
    let Some(found) = store.get(MANIFEST)? else { return Ok(None) };
    Ok(Some((Manifest::from_bytes(&found.bytes)?, found.version)))
}

/// The manifest in `store`, which must have one.
pub(crate) fn read(store: &dyn ReplicaStore) -> Result<Manifest> {
    let nothing =
        || Error::new(ErrorKind::NotFound, "there is no replica: nothing was shipped yet");
    find(store)?.map(|(manifest, _)| manifest).ok_or_else(nothing)
}

/// Runs `use_it` with the manifest, and again with a later one if there is one by the time it
/// failed: a leader deletes objects that its manifest does without.
pub(crate) fn with_manifest<T>(
    store: &dyn ReplicaStore,
    mut use_it: impl FnMut(&Manifest) -> Result<T>,
) -> Result<T> {
    let mut manifest = read(store)?;
    for _ in 1..MAX_ATTEMPTS {
        match use_it(&manifest) {
            // An object that a later manifest does without looks the same as one that was lost.
            Err(error) if error.kind() == ErrorKind::Corrupted => {
                let later = read(store)?;
                if later == manifest {
                    return Err(error);
                }
                manifest = later;
            }
            outcome => return outcome,
        }
    }
    use_it(&manifest)
}
