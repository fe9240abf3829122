//! Reads of one state of a space: a snapshot's, or an open write's.

use std::fmt;
use std::ops::ControlFlow;

use leafbase_model::{
    BlockId, BlockLocation, BlockRecord, DocumentId, DocumentRecord, Error, ErrorKind, Result,
};

use crate::edges::{EdgeTarget, Extractor};
use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::location_cache::{CommitEpoch, LocationCache};
use crate::records::block::{self, AuthorCache};
use crate::records::document::StoredDocument;
use crate::records::location::{self, LocationRecord};
use crate::records::meta::SpaceTotals;
use crate::records::{self, document, meta};
use crate::run::RunView;
use crate::space_store::SpaceMeta;
use transaction_cache::TransactionCache;

mod assets;
mod children;
pub(crate) mod comments;
pub(crate) mod documents;
mod folders;
mod index_scan;
mod item_rows;
pub(crate) mod items;
pub(crate) mod links;
pub(crate) mod log;
mod query;
pub(crate) mod tasks;
mod texts;
pub(crate) mod transaction_cache;
pub(crate) mod trees;

pub use item_rows::{ItemRow, RowOptions, RowRelations, RowValue, RowValues, ValueAt, ValueView};
pub use items::{CollectionEntry, IndexedColumn, ItemIndex};
pub use query::{DocumentPage, DocumentQuery, IndexOrder, PageCursor, Span, Within};
pub use tasks::TaskPage;
pub use texts::{BlockText, StoredText, SubtreeText, SubtreeTexts, TextRun};

/// Reads of one consistent state. Cheap to copy.
#[derive(Clone, Copy)]
pub struct SpaceReader<'a> {
    pub(crate) read: &'a dyn Read,
    pub(crate) extractor: Extractor,
    pub(crate) known: ReaderCache<'a>,
}

/// What is known of the state that is read.
#[derive(Clone, Copy)]
pub(crate) enum ReaderCache<'a> {
    Nothing,
    /// It was the one committed last when it was taken.
    Committed(&'a LocationCache, CommitEpoch),
    /// It is an open write's.
    Write(&'a TransactionCache),
}

impl fmt::Debug for SpaceReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpaceReader").finish_non_exhaustive()
    }
}

/// What `read` makes of the value of `key`, if it is there.
pub(crate) fn get<T>(
    source: &dyn Read,
    key: &[u8],
    mut read: impl FnMut(&[u8]) -> Result<T>,
) -> Result<Option<T>> {
    let mut found = None;
    source.get(key, &mut |value| {
        found = Some(read(value)?);
        Ok(())
    })?;
    Ok(found)
}

/// The place of `block`, if it exists.
pub(crate) fn location_of(source: &dyn Read, block: BlockId) -> Result<Option<LocationRecord>> {
    let key = keyspaces::block_location(block);
    get(source, &key, |value| records::read(&key, value, location::read))
}

/// The record of `document` with the number of its blocks, if it exists.
pub(crate) fn counted_document(
    source: &dyn Read,
    id: DocumentId,
) -> Result<Option<StoredDocument>> {
    let key = keyspaces::document(id);
    get(source, &key, |value| {
        records::read(&key, value, |decoder| document::read_counted(id, decoder))
    })
}

/// What there must be of changes and folders.
pub(crate) fn totals(source: &dyn Read) -> Result<SpaceTotals> {
    let key = keyspaces::meta(meta::TOTALS);
    get(source, &key, |value| records::read(&key, value, meta::read_totals))?
        .ok_or_else(|| records::damaged(&key))
}

/// Gets the key of a run, the run, and the index of the block that was sought.
type VisitFound<'f> = &'f mut dyn FnMut(&[u8], RunView<'_>, usize) -> Result<()>;

impl SpaceReader<'_> {
    /// The place of `block`, if it exists.
    pub(crate) fn location(&self, block: BlockId) -> Result<Option<LocationRecord>> {
        match self.known {
            ReaderCache::Nothing => location_of(self.read, block),
            ReaderCache::Write(cache) => cache.location(self.read, block),
            ReaderCache::Committed(cache, epoch) => match cache.get(epoch, block) {
                Some(location) => Ok(Some(location)),
                None => self.load_location(cache, epoch, block),
            },
        }
    }

    /// The place of `block`, which is not known yet: from now on it is.
    fn load_location(
        &self,
        cache: &LocationCache,
        epoch: CommitEpoch,
        block: BlockId,
    ) -> Result<Option<LocationRecord>> {
        let location = location_of(self.read, block)?;
        if let Some(location) = &location {
            cache.add(epoch, block, location);
        }
        Ok(location)
    }

    /// Each of `blocks` will be asked about: a write reads now where those of them stand that lie
    /// side by side.
    pub fn expect(&self, blocks: &[BlockId]) {
        if let ReaderCache::Write(cache) = self.known {
            cache.expect(self.read, blocks);
        }
    }

    fn cache(&self) -> Option<&TransactionCache> {
        match self.known {
            ReaderCache::Write(cache) => Some(cache),
            _ => None,
        }
    }

    /// Hands the run that holds `block` to `visit`, with its key and the block's index in it: the
    /// one that the place names, or one to its right.
    pub(crate) fn find_in_runs(
        &self,
        location: &LocationRecord,
        block: BlockId,
        visit: VisitFound<'_>,
    ) -> Result<()> {
        if let Some(cache) = self.cache()
            && cache.find(location, block, visit)?
        {
            return Ok(());
        }
        let hint = location.run_key();
        let mut found = false;
        let mut seek = |key: &[u8], value: &[u8]| {
            let run = RunView::read(key, value)?;
            let Some(index) = run.position(block) else { return Ok(ControlFlow::Continue(())) };
            found = true;
            visit(key, run, index)?;
            if let Some(cache) = self.cache() {
                cache.keep_run(key, value);
            }
            Ok(ControlFlow::Break(()))
        };
        let mut is_done = false;
        self.read.get(&hint, &mut |value| {
            is_done = seek(&hint, value)?.is_break();
            Ok(())
        })?;
        if !is_done {
            let end = keyspaces::end_of(keyspaces::parent_runs(location.document, location.parent));
            self.read.scan(KeyRange::half_open(&hint, &end), &mut seek)?;
        }
        if found { Ok(()) } else { Err(records::damaged(&keyspaces::block_location(block))) }
    }

    /// Where `block` stands, if it exists.
    ///
    /// # Errors
    /// What the store reports; [`ErrorKind::Corrupted`] if a record that is needed is damaged.
    pub fn locate(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        let location = match self.known {
            ReaderCache::Committed(cache, epoch) => match cache.standing(epoch, block) {
                Some(standing) => return Ok(Some(standing)),
                None => self.load_location(cache, epoch, block)?,
            },
            ReaderCache::Write(cache) => return cache.standing(self.read, block),
            ReaderCache::Nothing => self.location(block)?,
        };
        Ok(location.map(|location| location.location()))
    }

    /// [`Self::locate`] by one look-up in the store, whatever is known already: as long for a block
    /// that is there as for one that is not.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn look_up(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        Ok(location_of(self.read, block)?.map(|location| location.location()))
    }

    /// [`Self::document`] by one look-up in the store, whatever is known already.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn look_up_document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        Ok(counted_document(self.read, document)?.map(|counted| counted.record))
    }

    /// The block itself, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn block(&self, block: BlockId) -> Result<Option<BlockRecord>> {
        match self.location(block)? {
            Some(location) => self.block_at(&location, block).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn block_at(
        &self,
        location: &LocationRecord,
        block: BlockId,
    ) -> Result<BlockRecord> {
        let mut record = None;
        self.find_in_runs(location, block, &mut |key, run, index| {
            let decoded = block::decode(block, run.block(index), &mut AuthorCache::default());
            record = Some(decoded.map_err(|fault| records::fault(key, fault))?);
            Ok(())
        })?;
        record.ok_or_else(|| records::damaged(&keyspaces::block_location(block)))
    }

    /// The document's record, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        let counted = match self.cache() {
            Some(cache) => cache.document(self.read, document)?,
            None => counted_document(self.read, document)?,
        };
        Ok(counted.map(|counted| counted.record))
    }

    /// What `block` points to, sorted, each once; empty if it does not exist.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn edges_from(&self, block: BlockId) -> Result<Vec<EdgeTarget>> {
        Ok(self
            .block(block)?
            .map(|block| links::targets(self.extractor, &block.data))
            .unwrap_or_default())
    }

    /// What the space says of itself.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`ErrorKind::NotASpace`] if the store holds no space;
    /// [`ErrorKind::NewerFormat`] if a later version wrote it.
    pub fn meta(&self) -> Result<SpaceMeta> {
        let no_space = || Error::new(ErrorKind::NotASpace, "the store holds no space");
        let format = keyspaces::meta(meta::FORMAT);
        let minimum = get(self.read, &format, |value| {
            records::read_prefix(&format, value, meta::read_minimum_reader)
        })?;
        if minimum.ok_or_else(no_space)? > meta::FORMAT_VERSION {
            return Err(Error::new(
                ErrorKind::NewerFormat,
                "the space was written by a later version of Leafbase",
            ));
        }
        let space = keyspaces::meta(meta::SPACE);
        get(self.read, &space, |value| records::read(&space, value, meta::read_space))?
            .ok_or_else(|| records::damaged(&space))
    }
}
