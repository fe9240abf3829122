//! A space over any ordered key-value store: create, open, snapshots, and write transactions.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use leafbase_model::{
    Change, Error, ErrorKind, IdSource, Location, Result, Stamp, Timestamp, invariant,
};

use crate::backup;
use crate::change_row::ChangeRow;
use crate::check::{self, CheckReport};
use crate::compaction;
use crate::edges::Extractor;
use crate::handle_cache::HandleCache;
use crate::keyspaces::{self, BLOCK_LOCATIONS, DOCUMENTS, FOLDERS};
use crate::kv::{CommitSignal, Durability, KeyRange, Snapshot, Store, WriteOptions};
use crate::location_cache::StateVersion;
use crate::log_retention::LogRetention;
use crate::lookup::{log_beginning, put_meta, put_totals, space_totals};
use crate::progress::ProgressFn;
use crate::reader::{ReaderCache, SpaceReader};
use crate::records;
use crate::records::meta::{self, SpaceMeta, SpaceTotals};
use crate::transaction::SpaceTransaction;
use crate::write_plan::{PlanFn, WritePlan};

/// A space. Cheap to clone.
#[derive(Clone)]
pub struct SpaceStore {
    pub(crate) store: Arc<dyn Store>,
    extractor: Extractor,
    /// Makes the tokens of changes.
    ids: Arc<dyn IdSource>,
    cache: Arc<HandleCache>,
}

impl std::fmt::Debug for SpaceStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpaceStore").field("store", &self.store).finish_non_exhaustive()
    }
}

/// A consistent state that concurrent writes do not change. Keep it for one call and no longer.
pub struct SpaceSnapshot {
    snapshot: Box<dyn Snapshot>,
    extractor: Extractor,
    cache: Option<(Arc<HandleCache>, StateVersion)>,
    /// Of a store on another machine.
    hints: Option<Arc<HandleCache>>,
}

impl std::fmt::Debug for SpaceSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpaceSnapshot").finish_non_exhaustive()
    }
}

impl SpaceSnapshot {
    /// The number of this state, if the store numbers its states: snapshots of one space with equal
    /// numbers are equal.
    pub fn version(&self) -> Option<u64> {
        self.snapshot.version()
    }

    /// Reads of this state.
    pub fn reader(&self) -> SpaceReader<'_> {
        let cache = self
            .cache
            .as_ref()
            .map_or(ReaderCache::None, |(cache, version)| ReaderCache::Committed(cache, *version));
        let hints = self.hints.as_ref().map(|cache| &cache.hints);
        SpaceReader { read: &*self.snapshot, extractor: self.extractor, cache, hints }
    }
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteOutcome<T> {
    /// The value that the closure returned.
    pub value: T,
    /// The change; `None` if no edit was applied.
    pub change: Option<Change>,
}

/// The size of a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SpaceStats {
    /// Documents, with the trash and without the hidden inbox.
    pub documents: u64,
    /// Blocks, with roots and the inbox.
    pub blocks: u64,
    /// Folders.
    pub folders: u64,
    /// Collections, with those in the trash.
    pub collections: u64,
    /// Items.
    pub items: u64,
    /// Vectors of blocks and documents.
    pub embeddings: u64,
    /// Bytes of storage.
    pub bytes: u64,
    /// The sequence of the last change.
    pub sequence: u64,
    /// The sequence after which the change log begins; 0 unless compaction dropped changes.
    pub log_begins_at: u64,
    /// Documents written since the search index was last updated, which searches analyze in memory;
    /// `None` if there is no index yet. The store itself has no index.
    pub unindexed: Option<u64>,
}

impl SpaceStore {
    /// Creates a space in `store`, which must be empty. `ids` makes the tokens of its changes.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if the store is not empty; errors of the store.
    pub fn create(
        store: Arc<dyn Store>,
        extractor: Extractor,
        ids: Arc<dyn IdSource>,
        meta: &SpaceMeta,
    ) -> Result<Self> {
        Self::initialize(&*store, meta)?;
        Ok(Self { store, extractor, ids, cache: Arc::default() })
    }

    /// Writes the rows of an empty space into `store`, which must be empty.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn initialize(store: &dyn Store, meta: &SpaceMeta) -> Result<()> {
        store.write(WriteOptions::default(), &mut |rows| {
            backup::check_empty(&*rows)?;
            let key = keyspaces::meta(meta::FORMAT);
            rows.put(&key, &records::seal(&key, meta::encode_format))?;
            put_totals(rows, SpaceTotals::default())?;
            put_meta(rows, meta)
        })
    }

    /// Opens the space in `store`. Nothing is written. `ids` makes the tokens of later changes.
    ///
    /// # Errors
    /// [`ErrorKind::NotASpace`] if it holds none; [`ErrorKind::NewerFormat`] if a later version
    /// wrote it.
    pub fn open(
        store: Arc<dyn Store>,
        extractor: Extractor,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self> {
        let space = Self { store, extractor, ids, cache: Arc::default() };
        space.snapshot()?.reader().meta()?;
        Ok(space)
    }

    /// The state as of the last write that returned, of this handle or another one. One lookup if
    /// the store does not number its states.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn snapshot(&self) -> Result<SpaceSnapshot> {
        if self.store.is_remote() {
            // Other hosts write to it, and its snapshots keep what they have read themselves.
            let snapshot = self.store.snapshot_at_first_read()?;
            let (cache, hints) = (None, Some(Arc::clone(&self.cache)));
            return Ok(SpaceSnapshot { snapshot, extractor: self.extractor, cache, hints });
        }
        let snapshot = self.store.snapshot()?;
        // Every edit of what is cached makes a change, and so another sequence. Where the totals
        // are damaged, nothing is cached: the rest stays readable.
        let sequence = || space_totals(&*snapshot).ok().map(|totals| totals.sequence);
        let version = snapshot.version().or_else(sequence);
        let cache = version.map(|version| (Arc::clone(&self.cache), version));
        Ok(SpaceSnapshot { snapshot, extractor: self.extractor, cache, hints: None })
    }

    /// Runs `decide` in a write transaction, in which it reads and applies edits. All edits become
    /// visible together, with one change, or none does. `decide` may run again after a conflict.
    ///
    /// # Errors
    /// Errors of `decide` and of the store: no edit is visible then.
    pub fn write<T>(
        &self,
        options: WriteOptions,
        stamp: &Stamp,
        decide: impl FnMut(&mut SpaceTransaction<'_>) -> Result<T>,
    ) -> Result<WriteOutcome<T>> {
        self.write_planned(options, stamp, &mut PlanFn(decide))
    }

    /// As [`Self::write`], for a plan that is a value.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_planned<P: WritePlan>(
        &self,
        options: WriteOptions,
        stamp: &Stamp,
        plan: &mut P,
    ) -> Result<WriteOutcome<P::Output>> {
        let (mut outcome, mut earlier) = (None::<WriteOutcome<P::Output>>, Vec::new());
        self.store.write(options, &mut |rows| {
            // The store runs the closure again if a commit that it had read failed.
            if let Some(change) = outcome.take().and_then(|outcome| outcome.change) {
                earlier = change.edits;
            }
            let mut transaction = SpaceTransaction::new(rows, self.extractor, stamp)
                .with_hints(self.store.is_remote().then_some(&self.cache.hints))
                .after(std::mem::take(&mut earlier));
            let planned = plan.run(&mut transaction);
            // Edits that the plan did not take are kept for the next run.
            earlier = transaction.take_earlier();
            let value = planned?;
            let change = transaction.finish(&*self.ids)?;
            outcome = Some(WriteOutcome { value, change });
            Ok(())
        })?;
        let Some(outcome) = outcome else { invariant!("a store runs the closure of a write") };
        Ok(outcome)
    }

    /// Applies rows of the change log of another handle of this history, in one transaction: all or
    /// none. Afterwards the log has the same rows, and each document the same records and revision
    /// as the space that the rows are from had after the last one. Files are created from uploads
    /// of the same ID that are complete.
    ///
    /// # Errors
    /// [`ErrorKind::HistoryGone`] if the first row is of another history, if a purge redacted a row
    /// or the rows before the last change here were merged, or if this space was written otherwise:
    /// it has to be replaced by a copy of the other one. [`ErrorKind::Conflict`] if a row does not
    /// follow the one before it; [`ErrorKind::NotFound`] if the bytes of a file were not uploaded;
    /// errors of the store.
    pub fn follow(&self, options: WriteOptions, rows: &[ChangeRow]) -> Result<()> {
        self.store.write(options, &mut |entries| {
            for row in rows {
                // Row by row: each is staged on what the one before wrote, and the store commits
                // them together.
                SpaceTransaction::following(entries, self.extractor, row)?.follow(row)?;
            }
            Ok(())
        })
    }

    /// The signal that is given after each commit: the one that all handles of the store in this
    /// process share, or one of this handle, by which others are noticed at an interval.
    pub fn commit_signal(&self) -> Arc<CommitSignal> {
        let polling = || Arc::new(CommitSignal::polling(CommitSignal::DEFAULT_POLL_INTERVAL));
        self.store.commit_signal().unwrap_or_else(polling)
    }

    /// Reads everything once and verifies all invariants. `progress` receives the number of rows
    /// read.
    ///
    /// # Errors
    /// Errors of the store for a snapshot; [`ErrorKind::Canceled`]. Damage is in the report.
    pub fn check(&self, progress: ProgressFn<'_>) -> Result<CheckReport> {
        let is_whole = self.store.verify()?;
        check::check(&*self.store.snapshot()?, self.extractor, is_whole, progress)
    }

    /// Copies the current state into the new directory `path` while other threads read and write.
    /// `progress` receives the number of rows copied. After an error nothing is left at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if `path` exists; [`ErrorKind::Corrupted`] if a row is damaged;
    /// [`ErrorKind::Canceled`]; errors of the store and of the operating system.
    pub fn backup_to(&self, path: impl AsRef<Path>, progress: ProgressFn<'_>) -> Result<()> {
        backup::backup(&*self.store.snapshot()?, path.as_ref(), progress)
    }

    /// Copies the current state into `target`, which must be empty, while other threads read and
    /// write. `progress` receives the number of rows copied. After an error `target` is empty.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if `target` is not empty; [`ErrorKind::Corrupted`] if a row is
    /// damaged; [`ErrorKind::Canceled`]; errors of both stores.
    pub fn copy_into(&self, target: &dyn Store, progress: ProgressFn<'_>) -> Result<()> {
        backup::copy_into(&*self.store.snapshot()?, target, progress)
    }

    /// The approximate number of rows that [`Self::check`] and [`Self::backup_to`] read, if the
    /// engine knows it. At most one lookup.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn approximate_rows(&self) -> Result<Option<u64>> {
        Ok(self.store.snapshot()?.approximate_len())
    }

    /// The size of the space. Scans all keys.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn stats(&self) -> Result<SpaceStats> {
        let snapshot = self.store.snapshot()?;
        let count = |prefix: &[u8]| {
            let mut count = 0_u64;
            snapshot.scan(
                KeyRange::half_open(prefix, &keyspaces::prefix_end_of(prefix)),
                &mut |_, _| {
                    count += 1;
                    Ok(ControlFlow::Continue(()))
                },
            )?;
            Ok::<_, Error>(count)
        };
        let reader = SpaceReader {
            read: &*snapshot,
            extractor: self.extractor,
            cache: ReaderCache::None,
            hints: None,
        };
        let (collections, models) = (reader.collections()?, reader.embedding_models()?);
        Ok(SpaceStats {
            documents: count(&[DOCUMENTS.tag])?
                .saturating_sub(count(&keyspaces::location(Location::Inbox))?),
            blocks: count(&[BLOCK_LOCATIONS.tag])?,
            folders: count(&[FOLDERS.tag])?,
            collections: collections.len() as u64,
            items: collections.iter().map(|collection| collection.items).sum(),
            embeddings: models.iter().map(|(_, model)| model.embeddings).sum(),
            bytes: self.store.bytes()?,
            sequence: space_totals(&*snapshot)?.sequence,
            log_begins_at: log_beginning(&*snapshot)?.sequence(),
            unindexed: None,
        })
    }

    /// Drops and merges changes as `retention` says and compresses the rest, rewrites the store
    /// densely and returns unused space to the file system.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn compact(&self, retention: &LogRetention) -> Result<()> {
        match compaction::compact_log(&*self.store, retention) {
            Err(error) if error.kind() == ErrorKind::NoSpace => {
                tracing::warn!(%error, "the change log stays as it is: compaction only releases unused space");
            }
            compacted => compacted?,
        }
        self.store.compact()
    }

    /// Makes every write that has returned durable, in the store's file.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn flush(&self) -> Result<()> {
        self.store.flush()
    }

    /// Makes relaxed writes durable if one has waited for too long: [`Store::sync_overdue`].
    ///
    /// # Errors
    /// As [`Self::flush`].
    pub fn sync_overdue(&self, now: &dyn Fn() -> Timestamp) -> Result<()> {
        self.store.sync_overdue(&|| now().as_millis())
    }

    /// Makes every write that has returned durable as a small durable write does, which is mostly
    /// cheaper than [`Self::flush`]. Writes nothing if all are durable.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn make_durable(&self) -> Result<()> {
        self.store.write(WriteOptions::durability(Durability::Durable), &mut |_| Ok(()))
    }
}
