//! Segments applied to a copy of the space, and copies made from snapshots.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use leafbase::{
    AssetRecord, ChangePosition, ChangeRow, Error, ErrorKind, Result, Space, SpaceBuilder,
    Timestamp,
};

use crate::directory_store::{io_error, sync_directory};
use crate::frames::Segment;
use crate::manifest::{FileEntry, Manifest, SegmentEntry, SnapshotEntry};
use crate::parts::PartsReader;
use crate::store::{ReplicaStore, damaged, missing};

/// Bytes of rows that are applied in one transaction: bounds memory, and how long readers of the
/// newest version wait.
const TRANSACTION_BYTES: usize = 1 << 20;
/// The file of a space in its directory.
pub(crate) const SPACE_FILE: &str = "space.redb";

/// A moment in the history of a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestorePoint {
    /// After the last change that was shipped.
    #[default]
    Newest,
    /// After the change with this sequence.
    Sequence(u64),
    /// Before the first change that is later than this time.
    Time(Timestamp),
}

impl RestorePoint {
    /// Whether a change is later.
    fn is_before(self, row: &ChangeRow) -> bool {
        match self {
            Self::Newest => false,
            Self::Sequence(sequence) => row.position().sequence() > sequence,
            Self::Time(time) => row.change().stamp.at > time,
        }
    }

    /// The newest copy that is not later.
    fn snapshot(self, manifest: &Manifest) -> Option<&SnapshotEntry> {
        manifest.snapshots.iter().rev().find(|snapshot| match self {
            Self::Newest => true,
            Self::Sequence(sequence) => snapshot.position.sequence() <= sequence,
            Self::Time(time) => snapshot.at <= time,
        })
    }
}

/// The copy to begin with on the way to `moment`.
pub(crate) fn snapshot_before(manifest: &Manifest, moment: RestorePoint) -> Result<&SnapshotEntry> {
    moment.snapshot(manifest).ok_or_else(|| match manifest.snapshots.first() {
        Some(oldest) => Error::history_gone(format!(
            "the replica begins later: its oldest snapshot is of {}, after change {}",
            oldest.at,
            oldest.position.sequence()
        )),
        None => Error::new(
            ErrorKind::NotFound,
            "the replica has no snapshot yet: its leader has not shipped the first one",
        ),
    })
}

/// A directory that is removed unless it is kept.
#[derive(Debug)]
pub(crate) struct ScratchDirectory(Option<PathBuf>);

impl ScratchDirectory {
    /// A new directory whose name begins with `stem`: each of several threads and programs gets one
    /// of its own.
    pub(crate) fn create(stem: &Path) -> Result<Self> {
        let created = || {
            stem.parent().map_or(Ok(()), fs::create_dir_all)?;
            let mut number = 0_u64;
            loop {
                let mut path = stem.as_os_str().to_owned();
                path.push(format!("-{number}"));
                match fs::create_dir(&path) {
                    // Of another thread, or of a program that was stopped.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                    created => return created.map(|()| PathBuf::from(path)),
                }
            }
        };
        created().map(|path| Self(Some(path))).map_err(|error| io_error("create", stem, error))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// Renames it to `path`, where nothing may be.
    fn keep_as(mut self, path: &Path) -> Result<()> {
        let renamed = || {
            // A rename would replace an empty directory.
            if path.exists() {
                return Err(io::Error::from(io::ErrorKind::AlreadyExists));
            }
            fs::rename(self.path(), path)?;
            path.parent().map_or(Ok(()), sync_directory)
        };
        renamed().map_err(|error| io_error("create", path, error))?;
        self.0 = None;
        Ok(())
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.as_ref().map(fs::remove_dir_all) {
            tracing::warn!(%error, "an unfinished copy of a space could not be removed");
        }
    }
}

/// How the name of a directory next to `path` begins in which a space is made before it gets the
/// name.
fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.replica-{}", std::process::id()))
}

/// Makes the space of a moment at `path`, where nothing may be, and returns the position after its
/// last change. After an error nothing is at `path`.
pub(crate) fn create_copy(
    (store, manifest): (&dyn ReplicaStore, &Manifest),
    builder: &SpaceBuilder,
    path: &Path,
    moment: RestorePoint,
) -> Result<ChangePosition> {
    if path.exists() {
        return Err(Error::validation(format!("there is something at {} already", path.display())));
    }
    let snapshot = snapshot_before(manifest, moment)?;
    let directory = ScratchDirectory::create(&unfinished(path))?;
    download(store, snapshot, &directory.path().join(SPACE_FILE))?;
    let space = builder.clone().follower(true).open(directory.path())?;
    let found = (space.meta()?.id, space.connect().last_position()?);
    if found != (manifest.space, snapshot.position) {
        return Err(damaged(&snapshot.prefix(), "it is a copy of something else"));
    }
    let last = apply_segments((store, manifest), &space, moment)?;
    space.close()?;
    directory.keep_as(path)?;
    Ok(last)
}

fn download(store: &dyn ReplicaStore, snapshot: &SnapshotEntry, path: &Path) -> Result<()> {
    let mut parts = PartsReader::new(store, snapshot.prefix(), &snapshot.parts);
    let copied = File::create(path).and_then(|mut file| {
        io::copy(&mut parts, &mut file)?;
        file.sync_all()
    });
    copied.map_err(|error| {
        // A missing or damaged part passes through the reader as an I/O error: its name and kind
        // are inside.
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).cloned();
        inner.unwrap_or_else(|| io_error("write", path, error))
    })
}

/// Applies the changes that `space` lacks up to `moment`, and returns the position after the last
/// one. What was applied before an error stays.
pub(crate) fn apply_segments(
    (store, manifest): (&dyn ReplicaStore, &Manifest),
    space: &Space,
    moment: RestorePoint,
) -> Result<ChangePosition> {
    let mut last = space.connect().last_position()?;
    let mut is_reached = false;
    for entry in &manifest.segments {
        if is_reached || entry.last.sequence() < last.sequence() {
            continue;
        }
        // A segment may begin before `last`: a copy that was stopped has a part of its rows.
        if entry.first > last.sequence() + 1 {
            return check_gap(last, entry.first, moment).map(|()| last);
        }
        if entry.last.sequence() == last.sequence() {
            // The same sequence is not the same change: a copy of a fenced leader has its own.
            check_same(last, entry.last)?;
            continue;
        }
        (last, is_reached) = apply_segment(store, entry, space, (last, moment))?;
    }
    check_end(manifest, last, moment, is_reached)?;
    Ok(last)
}

/// Fails if the segments end before `moment`, or before what the copy has.
fn check_end(
    manifest: &Manifest,
    last: ChangePosition,
    moment: RestorePoint,
    is_reached: bool,
) -> Result<()> {
    let end = manifest.end().map_or(0, ChangePosition::sequence);
    match moment {
        // The copy has what was never shipped.
        RestorePoint::Newest if last.sequence() > end => Err(other_history(last)),
        RestorePoint::Sequence(sequence) if last.sequence() < sequence && is_reached => {
            Err(Error::history_gone(format!(
                "change {sequence} was merged with later ones before it was shipped"
            )))
        }
        RestorePoint::Sequence(sequence) if sequence > end => {
            let message = format!("change {sequence} was not shipped: the last one is {end}");
            Err(Error::new(ErrorKind::NotFound, message))
        }
        _ if is_reached || last.sequence() >= end => Ok(()),
        // No rows lead to the snapshot that all is in: a purge redacted them before they were
        // shipped, or compaction dropped or merged them.
        _ => check_gap(last, end.saturating_add(1), moment),
    }
}

/// Fails unless `moment` is right before the gap between `last` and `next`.
fn check_gap(last: ChangePosition, next: u64, moment: RestorePoint) -> Result<()> {
    match moment {
        RestorePoint::Newest => Err(gap(last, next)),
        RestorePoint::Sequence(sequence) if sequence == last.sequence() => Ok(()),
        // Which of the changes is the first one after a time is not known.
        RestorePoint::Sequence(_) | RestorePoint::Time(_) => Err(Error::history_gone(format!(
            "changes after {} were compacted before they were shipped: the next one that the \
             space can be restored to is in the snapshot before {next}",
            last.sequence()
        ))),
    }
}

/// Applies the rows of one segment. Returns the position after the last one that was applied, and
/// whether the next one is later than the moment.
fn apply_segment(
    store: &dyn ReplicaStore,
    entry: &SegmentEntry,
    space: &Space,
    (mut last, moment): (ChangePosition, RestorePoint),
) -> Result<(ChangePosition, bool)> {
    let name = entry.name();
    let bytes = store.get(&name)?.ok_or_else(|| missing(&name))?.bytes;
    let segment = Segment::open(&name, &bytes)?;
    segment.check_range(entry.first, entry.last.sequence())?;
    let (mut batch, mut batch_bytes) = (Vec::new(), 0);
    let (mut is_reached, mut failed) = (false, None);
    for row in segment.rows() {
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                failed = Some(error);
                break;
            }
        };
        // Rows that the copy has: it was stopped within the segment, or the snapshot is newer than
        // its beginning.
        if row.position().sequence() <= last.sequence() {
            if row.position().sequence() == last.sequence() {
                check_same(last, row.position())?;
            }
            continue;
        }
        is_reached = moment.is_before(&row);
        if is_reached {
            break;
        }
        // The bytes before the row: a crash in between leaves files that no row names yet, never a
        // row whose files are missing.
        for file in row.files() {
            store_file(store, entry, space, file)?;
        }
        batch_bytes += row.len();
        batch.push(row);
        if batch_bytes >= TRANSACTION_BYTES {
            last = space.follow(&batch)?;
            (batch, batch_bytes) = (Vec::new(), 0);
        }
    }
    if !batch.is_empty() {
        last = space.follow(&batch)?;
    }
    // The rows before the damage are applied: the next attempt goes on after them.
    match failed {
        Some(error) => Err(error),
        None => Ok((last, is_reached)),
    }
}

fn store_file(
    store: &dyn ReplicaStore,
    entry: &SegmentEntry,
    space: &Space,
    file: &AssetRecord,
) -> Result<()> {
    let hash = file.sha256.map(|hash| hash.to_string()).unwrap_or_default();
    let found = entry.files.iter().find(|entry| entry.sha256 == hash);
    let found: &FileEntry = found.ok_or_else(|| {
        damaged(&entry.name(), format_args!("the manifest lacks its file {hash}"))
    })?;
    let parts = PartsReader::new(store, found.prefix(), &found.parts);
    space.store_file(file, parts).map_err(|error| {
        // An error of the parts is inside of that of the reader.
        let source = std::error::Error::source(&error);
        let io = source.and_then(|source| source.downcast_ref::<io::Error>());
        let inner = io.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<Error>());
        inner.cloned().unwrap_or(error)
    })
}

/// Fails unless both positions, of one sequence, are of one history.
fn check_same(last: ChangePosition, shipped: ChangePosition) -> Result<()> {
    if last == shipped { Ok(()) } else { Err(other_history(last)) }
}

fn other_history(last: ChangePosition) -> Error {
    Error::history_gone(format!(
        "change {} of this copy is none of the replica: start over from a snapshot",
        last.sequence()
    ))
}

fn gap(last: ChangePosition, next: u64) -> Error {
    Error::history_gone(format!(
        "the replica has no changes between {} and {next}, after a purge, a compaction or by its \
         retention: start over from a snapshot",
        last.sequence()
    ))
}
