//! A space over an ordered key-value store: creation, snapshots, and the single write path.

use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::Arc;

use leafbase_model::{Change, Error, ErrorKind, Location, Result, SpaceId, Stamp, invariant};

use crate::backup;
use crate::check::{self, CheckReport};
use crate::edges::Extractor;
use crate::keyspaces::{self, BLOCK_LOCATIONS, DOCUMENTS, FOLDERS};
use crate::kv::{Durability, KeyRange, Snapshot, Store, Transaction, WriteOptions};
use crate::location_cache::{CommitEpoch, LocationCache};
use crate::packing;
use crate::reader::{self, ReaderCache, SpaceReader};
use crate::records;
use crate::records::meta::{self, SpaceTotals};
use crate::transaction::{Finished, SpaceTransaction};

/// Progress callback with the number of entries processed so far. `Break` cancels the operation.
pub type ProgressFn<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// The metadata of a space.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpaceMeta {
    /// The ID of the space, assigned at its creation.
    pub id: SpaceId,
    /// The name of the space.
    pub name: String,
    /// The name of the time zone in which its days begin.
    #[serde(rename = "timezone")]
    pub zone: String,
}

/// A space. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SpaceStore {
    pub(crate) store: Arc<dyn Store>,
    extractor: Extractor,
    lookups: Arc<LocationCache>,
}

/// An immutable state of a space. It prevents the reuse of space in the store, so hold it for one
/// call only.
pub struct SpaceSnapshot {
    snapshot: Box<dyn Snapshot>,
    extractor: Extractor,
    known: Option<(Arc<LocationCache>, CommitEpoch)>,
}

impl std::fmt::Debug for SpaceSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpaceSnapshot").finish_non_exhaustive()
    }
}

impl SpaceSnapshot {
    /// A reader of this state.
    pub fn reader(&self) -> SpaceReader<'_> {
        let known = self.known.as_ref().map_or(ReaderCache::Nothing, |(lookups, epoch)| {
            ReaderCache::Committed(lookups, *epoch)
        });
        SpaceReader { read: &*self.snapshot, extractor: self.extractor, known }
    }
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteOutcome<T> {
    /// The value that the closure returned.
    pub value: T,
    /// The row of the change log; `None` if no edit was applied.
    pub change: Option<Change>,
}

/// The size of a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SpaceStats {
    /// Documents, including the trash, without the hidden one of the inbox.
    pub documents: u64,
    /// Blocks, including roots and the inbox.
    pub blocks: u64,
    /// Folders.
    pub folders: u64,
    /// Collections, including the trash.
    pub collections: u64,
    /// Items of all collections.
    pub items: u64,
    /// Bytes of storage.
    pub bytes: u64,
    /// The sequence number of the last write.
    pub sequence: u64,
}

const ALL_KEYS: KeyRange<'static> =
    KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };

fn put_meta(rows: &mut dyn Transaction, meta: &SpaceMeta) -> Result<()> {
    let key = keyspaces::meta(meta::SPACE);
    rows.put(&key, &records::seal(&key, |out| meta::put_space(out, meta)))
}

/// Writes the expected numbers of changes and folders.
pub(crate) fn put_totals(rows: &mut dyn Transaction, totals: SpaceTotals) -> Result<()> {
    let key = keyspaces::meta(meta::TOTALS);
    rows.put(&key, &records::seal(&key, |out| meta::put_totals(out, totals)))
}

impl SpaceStore {
    /// Creates a space in an empty store.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if the store is not empty; errors of the store.
    pub fn create(store: Arc<dyn Store>, extractor: Extractor, meta: &SpaceMeta) -> Result<Self> {
        Self::initialize(&*store, meta)?;
        Ok(Self { store, extractor, lookups: Arc::default() })
    }

    /// Writes the metadata of a space into an empty store.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn initialize(store: &dyn Store, meta: &SpaceMeta) -> Result<()> {
        store.write(WriteOptions::default(), &mut |rows| {
            let mut is_empty = true;
            rows.scan(ALL_KEYS, &mut |_, _| {
                is_empty = false;
                Ok(ControlFlow::Break(()))
            })?;
            if !is_empty {
                return Err(Error::validation("a space can be created only in an empty store"));
            }
            let key = keyspaces::meta(meta::FORMAT);
            rows.put(&key, &records::seal(&key, meta::put_format))?;
            put_totals(rows, SpaceTotals::default())?;
            put_meta(rows, meta)
        })
    }

    /// Opens the space in `store`. Nothing is written.
    ///
    /// # Errors
    /// [`ErrorKind::NotASpace`] if the store holds something else; [`ErrorKind::NewerFormat`] if a
    /// later version wrote it.
    pub fn open(store: Arc<dyn Store>, extractor: Extractor) -> Result<Self> {
        let space = Self { store, extractor, lookups: Arc::default() };
        space.snapshot()?.reader().meta()?;
        Ok(space)
    }

    /// A snapshot that includes every write that has returned.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn snapshot(&self) -> Result<SpaceSnapshot> {
        let before = self.lookups.epoch();
        let snapshot = self.store.snapshot()?;
        // The cache belongs to the snapshot only if no write committed in between.
        let epoch = before.filter(|_| before == self.lookups.epoch());
        let known = epoch.map(|epoch| (Arc::clone(&self.lookups), epoch));
        Ok(SpaceSnapshot { snapshot, extractor: self.extractor, known })
    }

    /// Runs `decide` in a write transaction, in which it reads and applies edits. They commit
    /// atomically, with one row in the change log. `decide` runs again if a write that it read
    /// fails.
    ///
    /// # Errors
    /// Errors of `decide` and of the store. Nothing of the write is visible then.
    pub fn write<T>(
        &self,
        options: WriteOptions,
        stamp: &Stamp,
        mut decide: impl FnMut(&mut SpaceTransaction<'_>) -> Result<T>,
    ) -> Result<WriteOutcome<T>> {
        let (mut written, mut committing, mut earlier) =
            (None::<WriteOutcome<T>>, None, Vec::new());
        self.store.write(options, &mut |rows| {
            if let Some(change) = written.take().and_then(|written| written.change) {
                earlier = change.edits;
            }
            let mut transaction = SpaceTransaction::new(rows, self.extractor, stamp)
                .after(std::mem::take(&mut earlier));
            let decided = decide(&mut transaction);
            // Edits of the failed run that the decision did not reuse serve the next run.
            earlier = transaction.take_earlier();
            let value = decided?;
            let Finished { change, changed } = transaction.finish()?;
            committing = Some(self.lookups.begin_commit(&changed));
            written = Some(WriteOutcome { value, change });
            Ok(())
        })?;
        drop(committing);
        let Some(written) = written else {
            invariant!("a store that commits a write has run its closure")
        };
        Ok(written)
    }

    /// Sets name and time zone of the space. This adds no row to the change log.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn set_meta(&self, options: WriteOptions, name: &str, zone: &str) -> Result<()> {
        self.store.write(options, &mut |rows| {
            let id = SpaceReader {
                read: &*rows,
                extractor: self.extractor,
                known: ReaderCache::Nothing,
            }
            .meta()?
            .id;
            put_meta(rows, &SpaceMeta { id, name: name.to_owned(), zone: zone.to_owned() })
        })
    }

    /// Reads everything once and verifies all invariants of the stored data.
    ///
    /// # Errors
    /// Errors of the store before the check starts; [`ErrorKind::Canceled`]. Corruption is in the
    /// report.
    pub fn check(&self, progress: ProgressFn<'_>) -> Result<CheckReport> {
        let is_intact = self.store.verify()?;
        check::check(&*self.store.snapshot()?, self.extractor, is_intact, progress)
    }

    /// Copies the current state into the new directory `path`. Readers and writers are not blocked.
    /// After an error `path` does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if `path` exists; [`ErrorKind::Corrupted`] if an entry is corrupt;
    /// [`ErrorKind::Canceled`]; I/O errors.
    pub fn backup_to(&self, path: impl AsRef<Path>, progress: ProgressFn<'_>) -> Result<()> {
        backup::backup(&*self.store.snapshot()?, path.as_ref(), progress)
    }

    /// The approximate number of entries that [`Self::check`] and [`Self::backup_to`] read, if the
    /// store knows it. Costs one lookup at most.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn approximate_rows(&self) -> Result<Option<u64>> {
        Ok(self.store.snapshot()?.approximate_len())
    }

    /// The size of the space. Scans the keys.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn stats(&self) -> Result<SpaceStats> {
        let snapshot = self.store.snapshot()?;
        let count = |prefix: &[u8]| {
            let mut count = 0_u64;
            snapshot.scan(
                KeyRange::half_open(prefix, &keyspaces::end_of_slice(prefix)),
                &mut |_, _| {
                    count += 1;
                    Ok(ControlFlow::Continue(()))
                },
            )?;
            Ok::<_, Error>(count)
        };
        let collections = SpaceReader {
            read: &*snapshot,
            extractor: self.extractor,
            known: ReaderCache::Nothing,
        }
        .collections()?;
        Ok(SpaceStats {
            documents: count(&[DOCUMENTS.tag])?
                .saturating_sub(count(&keyspaces::location(Location::Inbox))?),
            blocks: count(&[BLOCK_LOCATIONS.tag])?,
            folders: count(&[FOLDERS.tag])?,
            collections: collections.len() as u64,
            items: collections.iter().map(|collection| collection.items).sum(),
            bytes: self.store.bytes()?,
            sequence: reader::totals(&*snapshot)?.sequence,
        })
    }

    /// Repacks records so that they need less space, and returns unused space to the file system.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn compact(&self) -> Result<()> {
        match packing::pack(&*self.store, &self.lookups) {
            Err(error) if error.kind() == ErrorKind::NoSpace => {
                tracing::warn!(%error, "records are not repacked for lack of space; only unused space is returned");
            }
            packed => packed?,
        }
        self.store.compact()
    }

    /// Makes every write that has returned durable in the main file of the store.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn flush(&self) -> Result<()> {
        self.store.flush()
    }

    /// Makes every write that has returned durable as a small durable write does, which may append
    /// to the write-ahead log only. Does nothing if all of them are durable.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn make_durable(&self) -> Result<()> {
        self.store.write(WriteOptions::durability(Durability::Durable), &mut |_| Ok(()))
    }
}
