//! A space over any ordered key-value store: making, opening, snapshots and the one way to write.

use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::Arc;

use leafbase_model::{Change, Error, ErrorKind, Location, Result, SpaceId, Stamp};

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

/// What is told of work under way: how many rows are done. It may break the work off.
pub type ProgressFn<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// What a space says of itself.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpaceMeta {
    /// The space's ID, given when it was made.
    pub id: SpaceId,
    /// Its name.
    pub name: String,
    /// The name of the time zone that its days are counted in.
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

/// A state that stays as it is while others write. Keep it for one call and no longer.
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
    /// Reads of this state.
    pub fn reader(&self) -> SpaceReader<'_> {
        let known = self.known.as_ref().map_or(ReaderCache::Nothing, |(lookups, epoch)| {
            ReaderCache::Committed(lookups, *epoch)
        });
        SpaceReader { read: &*self.snapshot, extractor: self.extractor, known }
    }
}

/// What a write gave.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteOutcome<T> {
    /// What the closure returned.
    pub value: T,
    /// The row of the change log; none if nothing was applied.
    pub change: Option<Change>,
}

/// How large a space is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SpaceStats {
    /// Documents, the trash included; the hidden one of the inbox is not counted.
    pub documents: u64,
    /// Blocks, roots and those of the inbox included.
    pub blocks: u64,
    /// Folders.
    pub folders: u64,
    /// Collections, those in the trash included.
    pub collections: u64,
    /// Their items.
    pub items: u64,
    /// Bytes of storage it occupies.
    pub bytes: u64,
    /// The number of the last write.
    pub sequence: u64,
}

const ALL_KEYS: KeyRange<'static> =
    KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };

fn put_meta(rows: &mut dyn Transaction, meta: &SpaceMeta) -> Result<()> {
    let key = keyspaces::meta(meta::SPACE);
    rows.put(&key, &records::seal(&key, |out| meta::put_space(out, meta)))
}

/// Sets what there must be of changes and folders.
pub(crate) fn put_totals(rows: &mut dyn Transaction, totals: SpaceTotals) -> Result<()> {
    let key = keyspaces::meta(meta::TOTALS);
    rows.put(&key, &records::seal(&key, |out| meta::put_totals(out, totals)))
}

impl SpaceStore {
    /// Makes a space in `store`, which is empty.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if the store holds something; what the store reports.
    pub fn create(store: Arc<dyn Store>, extractor: Extractor, meta: &SpaceMeta) -> Result<Self> {
        Self::initialize(&*store, meta)?;
        Ok(Self { store, extractor, lookups: Arc::default() })
    }

    /// Writes into `store`, which is empty, what makes it a space.
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
                return Err(Error::validation("the store holds something already"));
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
    /// [`ErrorKind::NotASpace`] if it holds none; [`ErrorKind::NewerFormat`] if a later version
    /// wrote it.
    pub fn open(store: Arc<dyn Store>, extractor: Extractor) -> Result<Self> {
        let space = Self { store, extractor, lookups: Arc::default() };
        space.snapshot()?.reader().meta()?;
        Ok(space)
    }

    /// The state as of the last write that returned.
    ///
    /// # Errors
    /// What the store reports.
    pub fn snapshot(&self) -> Result<SpaceSnapshot> {
        let before = self.lookups.epoch();
        let snapshot = self.store.snapshot()?;
        // No write committed meanwhile: what is known is of this state.
        let epoch = before.filter(|_| before == self.lookups.epoch());
        let known = epoch.map(|epoch| (Arc::clone(&self.lookups), epoch));
        Ok(SpaceSnapshot { snapshot, extractor: self.extractor, known })
    }

    /// Runs `decide` in a write transaction: it reads, and applies edits, in as many turns as it
    /// needs. All of them become visible together, with one row in the change log, or none does.
    /// `decide` may run again after a conflict.
    ///
    /// # Errors
    /// What `decide` returned, or what the store reports: nothing of the write is visible then.
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
            // Those that were not taken are there for the next run.
            earlier = transaction.take_earlier();
            let value = decided?;
            let Finished { change, changed } = transaction.finish()?;
            committing = Some(self.lookups.begin_commit(&changed));
            written = Some(WriteOutcome { value, change });
            Ok(())
        })?;
        drop(committing);
        written.ok_or_else(|| Error::new(ErrorKind::Storage, "the store did not run the write"))
    }

    /// Sets what the space says of itself, but its ID. This is no row of the change log.
    ///
    /// # Errors
    /// What the store reports.
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

    /// Reads everything once and verifies every law. `progress` is told how many rows are read, and
    /// may break off.
    ///
    /// # Errors
    /// What the store reports when it is asked for a snapshot; [`ErrorKind::Canceled`]. What is
    /// damaged is in the report.
    pub fn check(&self, progress: ProgressFn<'_>) -> Result<CheckReport> {
        let is_whole = self.store.verify()?;
        check::check(&*self.store.snapshot()?, self.extractor, is_whole, progress)
    }

    /// Copies the space, as it is now, into the new directory `path`, while others go on reading
    /// and writing. `progress` is told how many rows are copied, and may break off. Whatever goes
    /// wrong, nothing is left at `path` then.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if something is at `path`; [`ErrorKind::Corrupted`] if a row is
    /// damaged; [`ErrorKind::Canceled`]; what the store or the operating system reports.
    pub fn backup_to(&self, path: impl AsRef<Path>, progress: ProgressFn<'_>) -> Result<()> {
        backup::backup(&*self.store.snapshot()?, path.as_ref(), progress)
    }

    /// About how many rows [`Self::check`] and [`Self::backup_to`] will read, where the engine
    /// knows that. One look-up at most.
    ///
    /// # Errors
    /// What the store reports.
    pub fn approximate_rows(&self) -> Result<Option<u64>> {
        Ok(self.store.snapshot()?.approximate_len())
    }

    /// How large it is. Counts by walking the keys.
    ///
    /// # Errors
    /// What the store reports.
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

    /// Lays rows so that they take less, and gives unused space back to the file system.
    ///
    /// # Errors
    /// What the store reports.
    pub fn compact(&self) -> Result<()> {
        match packing::pack(&*self.store, &self.lookups) {
            Err(error) if error.kind() == ErrorKind::NoSpace => {
                tracing::warn!(%error, "rows stay as they are: only unused space is given back");
            }
            packed => packed?,
        }
        self.store.compact()
    }

    /// Makes every write that has returned survive the loss of power, in the store's file.
    ///
    /// # Errors
    /// What the store reports.
    pub fn flush(&self) -> Result<()> {
        self.store.flush()
    }

    /// Makes every write that has returned survive the loss of power as a small durable write does,
    /// which may be for less. Nothing is written if all of them do.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn make_durable(&self) -> Result<()> {
        self.store.write(WriteOptions::durability(Durability::Durable), &mut |_| Ok(()))
    }
}
