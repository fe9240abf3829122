//! Reads of one state of a space: that of a snapshot, or of a write transaction.

use std::fmt;
use std::ops::ControlFlow;

use leafbase_model::{
    BlockId, BlockLocation, BlockRecord, DocumentId, DocumentRecord, Error, ErrorKind, Result,
};

use crate::edges::{EdgeTarget, Extractor};
use crate::handle_cache::HandleCache;
use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::location_cache::StateVersion;
use crate::location_hints::LocationHints;
use crate::lookup::{get, stored_document, stored_location};
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::layout::Value;
use crate::records::location::LocationRecord;
use crate::records::meta::{self, SpaceMeta};
use crate::run::{RunView, VisitRun};
use transaction_cache::TransactionCache;

mod assets;
mod children;
pub(crate) mod comments;
mod document_tasks;
pub(crate) mod documents;
pub(crate) mod embeddings;
mod folders;
mod host_records;
mod id_ranges;
mod index_scan;
mod item_rows;
pub(crate) mod items;
mod links;
pub(crate) mod log;
mod query;
pub(crate) mod read_ahead;
mod scopes;
pub(crate) mod tags;
pub(crate) mod tasks;
mod texts;
pub(crate) mod transaction_cache;
pub(crate) mod trees;

pub use document_tasks::DocumentTasks;
pub use embeddings::{BundleDigest, EmbeddedRevs};
pub use item_rows::{ItemRow, RowOptions, RowRelations, RowValue, RowValues, ValueAt, ValueView};
pub use items::{CollectionEntry, IndexedColumn, ItemIndex};
pub use log::DocumentHistory;
pub use query::{DocumentPage, DocumentQuery, IndexOrder, PageCursor, Span, Within};
pub use tags::{CountedTag, TaggedBlock};
pub use tasks::{TaskPage, TaskRow};
pub use texts::{BlockText, RawText, StoredText, SubtreeText, SubtreeTexts, TextRun};

/// Reads of one consistent state. Cheap to copy.
#[derive(Clone, Copy)]
pub struct SpaceReader<'a> {
    pub(crate) read: &'a dyn Read,
    pub(crate) extractor: Extractor,
    pub(crate) cache: ReaderCache<'a>,
    /// Of a store on another machine.
    pub(crate) hints: Option<&'a LocationHints>,
}

/// The cache of the state that is read.
#[derive(Clone, Copy)]
pub(crate) enum ReaderCache<'a> {
    None,
    /// A committed state, with its version.
    Committed(&'a HandleCache, StateVersion),
    Transaction(&'a TransactionCache),
}

impl fmt::Debug for SpaceReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpaceReader").finish_non_exhaustive()
    }
}

impl SpaceReader<'_> {
    /// The location of `block` with the hint to its run, if it exists.
    pub(crate) fn location(&self, block: BlockId) -> Result<Option<LocationRecord>> {
        match self.cache {
            ReaderCache::None => {
                let location = stored_location(self.read, block)?;
                self.remember(block, location.as_ref());
                Ok(location)
            }
            ReaderCache::Transaction(cache) => {
                self.load_target(cache, block)?;
                let location = cache.location(self.read, block)?;
                self.remember(block, location.as_ref());
                Ok(location)
            }
            ReaderCache::Committed(cache, version) => {
                if let Some(location) = cache.locations.location(version, block) {
                    return Ok(Some(location));
                }
                let location = stored_location(self.read, block)?;
                if let Some(location) = &location {
                    cache.locations.add_location(version, block, location);
                }
                Ok(location)
            }
        }
    }

    /// Prepares lookups of all of `blocks`: in a transaction, loads the locations of those that are
    /// stored close together; from a remote store, loads the locations and runs of all.
    pub fn prefetch(&self, blocks: &[BlockId]) {
        if self.read.is_remote() {
            self.load_blocks(blocks);
        } else if let ReaderCache::Transaction(cache) = self.cache {
            cache.prefetch_locations(self.read, blocks);
        }
    }

    fn transaction_cache(&self) -> Option<&TransactionCache> {
        match self.cache {
            ReaderCache::Transaction(cache) => Some(cache),
            _ => None,
        }
    }

    /// Passes the run of `block` to `visit`, with its key and the index of the block: the run that
    /// the hint of `location` names, or one to its right if the hint is stale.
    pub(crate) fn find_in_runs(
        &self,
        location: &LocationRecord,
        block: BlockId,
        visit: VisitRun<'_>,
    ) -> Result<()> {
        if let Some(cache) = self.transaction_cache()
            && cache.find_run(location, block, visit)?
        {
            return Ok(());
        }
        let hint = location.run_key();
        let mut found = false;
        let mut seek = |key: &[u8], value: &[u8]| {
            let run = RunView::read(key, value)?;
            let Some(index) = run.position(block) else { return Ok(ControlFlow::Continue(())) };
            found = true;
            // The next request is mostly about a block nearby.
            self.remember_run(key, run);
            visit(key, run, index)?;
            // After the visit: it may have read other runs.
            if let Some(cache) = self.transaction_cache() {
                cache.add_run(key, value);
            }
            Ok(ControlFlow::Break(()))
        };
        // Fast path: a lookup of the hinted run, which is mostly the right one.
        let mut is_done = false;
        self.read.get(&hint, &mut |value| {
            is_done = seek(&hint, value)?.is_break();
            Ok(())
        })?;
        // A stale hint: the block moved to the right, so the scan starts at the hint.
        if !is_done {
            let siblings = keyspaces::parent_runs(location.document, location.parent);
            let end = keyspaces::prefix_end(siblings);
            self.read.scan(KeyRange::half_open(&hint, &end), &mut seek)?;
        }
        if found { Ok(()) } else { Err(records::corrupt(&keyspaces::block_location(block))) }
    }

    /// The location of `block`, if it exists.
    ///
    /// # Errors
    /// Errors of the store; [`ErrorKind::Corrupted`] if a record that is needed is damaged.
    pub fn locate(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        match self.cache {
            ReaderCache::Transaction(cache) => {
                self.load_target(cache, block)?;
                return cache.block_location(self.read, block);
            }
            ReaderCache::Committed(cache, version) => {
                if let Some(location) = cache.locations.block_location(version, block) {
                    return Ok(Some(location));
                }
            }
            ReaderCache::None => {}
        }
        Ok(self.location(block)?.map(|location| location.location()))
    }

    /// [`Self::locate`] without any cache: it takes as long for a missing block as for an existing
    /// one.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn look_up(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        Ok(stored_location(self.read, block)?.map(|location| location.location()))
    }

    /// [`Self::document`] without any cache.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn look_up_document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        Ok(stored_document(self.read, document)?.map(|document| document.record))
    }

    /// The block itself, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn block(&self, block: BlockId) -> Result<Option<BlockRecord>> {
        self.load_hinted(block);
        let Some(location) = self.location(block)? else { return Ok(None) };
        self.load_block(&location);
        let mut record = None;
        self.find_in_runs(&location, block, &mut |key, run, index| {
            let decoded = block::decode(block, run.block(index), &mut AuthorCache::default());
            record = Some(decoded.map_err(|error| records::decode_error(key, error))?);
            Ok(())
        })?;
        Ok(record)
    }

    /// The document's record, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        Ok(self.stored_document(document)?.map(|document| document.record))
    }

    /// The targets that `block` refers to, sorted, each once; empty if it does not exist.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn edges_from(&self, block: BlockId) -> Result<Vec<EdgeTarget>> {
        let block = self.block(block)?;
        Ok(block.map_or_else(Vec::new, |block| self.extractor.targets(&block.data)))
    }

    /// Name, ID and time zone of the space.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`ErrorKind::NotASpace`] if the store holds no space;
    /// [`ErrorKind::NewerFormat`] if a later version wrote it.
    pub fn meta(&self) -> Result<SpaceMeta> {
        let no_space = || Error::new(ErrorKind::NotASpace, "the store holds no space");
        let format = keyspaces::meta(meta::FORMAT);
        let minimum = get(self.read, &format, |value| {
            records::decode_prefix(&format, value, meta::decode_minimum_reader)
        })?;
        // Before any other record is decoded: a later version may encode it differently.
        if minimum.ok_or_else(no_space)? > meta::FORMAT_VERSION {
            return Err(Error::new(
                ErrorKind::NewerFormat,
                "the space was written by a later version of Leafbase",
            ));
        }
        let space = keyspaces::meta(meta::SPACE);
        get(self.read, &space, |value| records::decode(&space, value, SpaceMeta::decode))?
            .ok_or_else(|| records::corrupt(&space))
    }
}
