//! Write transactions: edits are applied in order, and every row that depends on them follows.
//!
//! Rows are staged, so that a row that many edits touch is written once, and rows are written
//! in the order of their keys. [`SpaceTransaction::reader`] flushes staged rows first, so that a
//! transaction reads its own writes.

use std::collections::BTreeMap;
use std::fmt;

use leafbase_model::{
    BlockData, BlockId, Change, DocumentId, Edit, IdSource, Result, Stamp, invariant,
};

use crate::change_parts::put_change;
use crate::edges::Extractor;
use crate::keyspaces;
use crate::kv::{Transaction, WriteBatch};
use crate::location_hints::LocationHints;
use crate::lookup::{put_totals, space_totals};
use crate::reader::read_ahead::prefetch_keys;
use crate::reader::transaction_cache::TransactionCache;
use crate::reader::{ReaderCache, SpaceReader};
use crate::records;
use crate::records::change::{ChangeEncoder, ChangeIdentity, EncodedBlocks};
use crate::records::meta::SpaceTotals;
use errors::conflict;
use staged::collections::StagedCollections;
use staged::cross_move::CrossDocumentMove;
use staged::documents::StagedDocuments;
use staged::embeddings::StagedEmbeddings;
use staged::locations::StagedLocations;
use staged::purges::StagedPurges;
use staged::runs::StagedRuns;
use staged::tag_rows::StagedTagRows;
use staged::task_rows::StagedTaskRows;

mod assets;
mod blocks;
mod comments;
mod documents;
mod embeddings;
mod errors;
mod folders;
mod follow;
mod host_records;
mod items;
mod moves;
mod purges;
pub(crate) mod replies;
mod schemas;
mod settings;
mod staged;
mod subtrees;
mod tags;
mod tasks;

/// A write transaction in progress, which reads its own writes.
pub struct SpaceTransaction<'a> {
    rows: &'a mut dyn Transaction,
    extractor: Extractor,
    stamp: &'a Stamp,
    /// The totals as they are stored, from the first edit on.
    totals: SpaceTotals,
    has_totals: bool,
    runs: StagedRuns,
    locations: StagedLocations,
    cross_move: Option<CrossDocumentMove>,
    cache: TransactionCache,
    /// Of a store on another machine.
    hints: Option<&'a LocationHints>,
    documents: StagedDocuments,
    /// Keys of edges: to put, or to delete.
    edges: BTreeMap<Vec<u8>, bool>,
    tags: StagedTagRows,
    tasks: StagedTaskRows,
    collections: StagedCollections,
    embeddings: StagedEmbeddings,
    purges: StagedPurges,
    /// What the flush in progress writes; empty between flushes.
    batch: WriteBatch,
    log: ChangeEncoder,
    edits: Vec<Edit>,
    earlier: Vec<Edit>,
    failed: bool,
}

impl fmt::Debug for SpaceTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpaceTransaction").field("edits", &self.edits.len()).finish_non_exhaustive()
    }
}

/// Why staged rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    /// What is read next follows the edits so far.
    BeforeRead,
    /// The transaction ends: nothing is read through its cache any more, which is left as it is.
    Last,
}

impl<'a> SpaceTransaction<'a> {
    /// A transaction whose change will follow the last one in the log.
    pub(crate) fn new(
        rows: &'a mut dyn Transaction,
        extractor: Extractor,
        stamp: &'a Stamp,
    ) -> Self {
        Self { has_totals: false, ..Self::copying(rows, extractor, stamp, 0) }
    }

    /// A transaction for a copy that gets the log of its source: the documents that it creates were
    /// touched last by the change `last_change`.
    pub(crate) fn copying(
        rows: &'a mut dyn Transaction,
        extractor: Extractor,
        stamp: &'a Stamp,
        last_change: u64,
    ) -> Self {
        Self {
            rows,
            extractor,
            stamp,
            totals: SpaceTotals::default(),
            has_totals: true,
            runs: StagedRuns::default(),
            locations: StagedLocations::default(),
            cross_move: None,
            cache: TransactionCache::default(),
            hints: None,
            documents: StagedDocuments::new(last_change),
            edges: BTreeMap::new(),
            tags: StagedTagRows::default(),
            tasks: StagedTaskRows::default(),
            collections: StagedCollections::default(),
            embeddings: StagedEmbeddings::default(),
            purges: StagedPurges::default(),
            batch: WriteBatch::default(),
            log: ChangeEncoder::default(),
            edits: Vec::new(),
            earlier: Vec::new(),
            failed: false,
        }
    }

    /// The same transaction with what its handle remembers of a store on another machine.
    pub(crate) fn with_hints(self, hints: Option<&'a LocationHints>) -> Self {
        Self { hints, ..self }
    }

    /// The same transaction, run again: `earlier` are the edits of the run that was rolled back.
    pub(crate) fn after(self, earlier: Vec<Edit>) -> Self {
        Self { earlier, ..self }
    }

    /// The edits that this transaction applied when it ran before and was rolled back: a caller
    /// that built them out of its input need not have kept that. Empty on the first run.
    pub fn take_earlier(&mut self) -> Vec<Edit> {
        std::mem::take(&mut self.earlier)
    }

    /// Reads the state that the edits applied so far left.
    ///
    /// # Errors
    /// Errors of the store; [`leafbase_model::ErrorKind::Conflict`] after an edit failed.
    pub fn reader(&mut self) -> Result<SpaceReader<'_>> {
        self.flush(Flush::BeforeRead)?;
        Ok(SpaceReader {
            read: &*self.rows,
            extractor: self.extractor,
            cache: ReaderCache::Transaction(&self.cache),
            hints: self.hints,
        })
    }

    /// The edits applied so far, in order.
    pub fn applied(&self) -> &[Edit] {
        &self.edits
    }

    /// Bytes that the edits applied so far take in the change log, uncompressed.
    pub fn applied_bytes(&self) -> usize {
        self.log.len()
    }

    /// Applies `edits` in order.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::NotFound`] if an edit names a missing record,
    /// [`leafbase_model::ErrorKind::Conflict`] if it does not match the stored one,
    /// [`leafbase_model::ErrorKind::Validation`] if it is malformed. After an error the transaction
    /// cannot commit.
    pub fn apply(&mut self, edits: Vec<Edit>) -> Result<()> {
        // Runs that the decision read are mostly those that its edits change.
        self.cache.take_runs(|key, run| self.runs.add_loaded(key, run))?;
        let applied = self.apply_all(edits);
        // An edit may fail after some of its rows were staged: nothing of them may be written.
        self.failed |= applied.is_err();
        applied
    }

    fn apply_all(&mut self, edits: Vec<Edit>) -> Result<()> {
        self.prefetch_comments_of(&edits);
        self.load_totals()?;
        for mut edit in edits {
            if !matches!(edit, Edit::Move { .. }) {
                self.finish_cross_move()?;
            }
            let given = match &edit {
                Edit::EraseDocument { record, .. } => Some(record.modified_at),
                _ => None,
            };
            let blocks = self.apply_one(&mut edit)?;
            self.log.push(&edit, &blocks);
            // The log has the stored time of an erased document; the caller gets its edit back.
            if let (Edit::EraseDocument { record, .. }, Some(given)) = (&mut edit, given) {
                record.modified_at = given;
            }
            self.edits.push(edit);
            // After each edit: a long batch at one position must not exhaust the order keys.
            self.runs.rebalance(&*self.rows, &mut self.locations)?;
        }
        self.finish_cross_move()?;
        self.runs.rebalance(&*self.rows, &mut self.locations)
    }

    /// Prepares the lookups of the IDs of new comments: from a remote store, they are loaded
    /// together. An error is left to the lookups.
    fn prefetch_comments_of(&self, edits: &[Edit]) {
        if self.rows.is_remote() {
            let ids = edits.iter().filter_map(|edit| match edit {
                Edit::AddComment { comment, .. } => Some(comment.id),
                _ => None,
            });
            let keys: Vec<_> = ids.map(|id| keyspaces::comment_block(id).to_vec()).collect();
            prefetch_keys(&*self.rows, keys.iter());
        }
    }

    /// Reads the totals, which number the change in progress. Not before its first edit: a remote
    /// store loads them with what the edit was decided by.
    fn load_totals(&mut self) -> Result<()> {
        if !self.has_totals {
            // Writers run one at a time, so no sequence is used twice.
            self.totals = space_totals(&*self.rows)?;
            self.documents.begin_change(self.totals.sequence + 1)?;
            self.has_totals = true;
        }
        Ok(())
    }

    /// Applies `edit`. Returns the records of the blocks in it, which the change log shares.
    fn apply_one(&mut self, edit: &mut Edit) -> Result<EncodedBlocks> {
        match edit {
            Edit::Insert { target, subtrees } => return self.insert(target, subtrees),
            Edit::Remove { target, subtrees } => return self.remove(target, subtrees),
            Edit::Update { document, before, after } => {
                return self.update(*document, before, after);
            }
            Edit::CreateDocument { record, subtrees } => {
                return self.create_document(record, subtrees);
            }
            Edit::EraseDocument { record, subtrees } => {
                return self.erase_document(record, subtrees);
            }
            Edit::PurgeDocument { document, files } => self.purge_document(*document, files),
            Edit::Move { block, from, to } => self.move_block(*block, from, to),
            Edit::UpdateDocument { before, after } => self.update_document(before, after),
            Edit::CreateFolder(folder) => self.create_folder(folder),
            Edit::RemoveFolder(folder) => self.remove_folder(folder),
            Edit::UpdateFolder { before, after } => self.update_folder(before, after),
            Edit::AddComment { document, block, comment } => {
                self.add_comment(*document, *block, comment)
            }
            Edit::RemoveComment { document, block, comment } => {
                self.remove_comment(*document, *block, comment)
            }
            Edit::UpdateComment { document, block, before, after } => {
                self.update_comment(*document, *block, before, after)
            }
            Edit::CreateAsset(record) => self.create_asset(record),
            Edit::EraseAsset(record) => self.erase_asset(record),
            Edit::SetSchema { document, collection, before, after, quiet } => self.set_schema(
                (*document, *collection),
                before.as_deref(),
                after.as_deref(),
                *quiet,
            ),
            Edit::UpdateSpace { before, after } => self.update_space(before, after),
            Edit::SetScope { before, after } => self.set_scope(before.as_deref(), after.as_deref()),
        }?;
        Ok(EncodedBlocks::default())
    }

    /// Writes staged rows, keyspace by keyspace in ascending order.
    fn flush(&mut self, kind: Flush) -> Result<()> {
        if self.failed {
            return Err(conflict("an edit of this transaction failed, so it cannot continue"));
        }
        invariant!(self.cross_move.is_none(), "a move to another document is finished first");
        // Runs first: merging them stages locations.
        let mut cache = (kind == Flush::BeforeRead).then_some(&mut self.cache);
        let (rows, batch) = (&mut *self.rows, &mut self.batch);
        self.runs.flush(rows, batch, &mut self.locations, cache.as_deref_mut())?;
        self.locations.flush(rows, batch, cache.as_deref_mut())?;
        self.documents.flush(rows, batch, cache)?;
        for (key, exists) in std::mem::take(&mut self.edges) {
            if exists {
                records::put(batch, &key, |_| ());
            } else {
                batch.delete(&key);
            }
        }
        batch.write_to(rows)?;
        self.flush_tags()?;
        self.flush_tasks(kind)?;
        self.collections.flush(self.rows)?;
        self.embeddings.flush(self.rows)
    }

    fn flush_tasks(&mut self, kind: Flush) -> Result<()> {
        self.tasks.flush_entries(self.rows)?;
        let cache = match kind {
            Flush::BeforeRead => ReaderCache::Transaction(&self.cache),
            Flush::Last => ReaderCache::None,
        };
        let reader =
            SpaceReader { read: &*self.rows, extractor: self.extractor, cache, hints: None };
        self.tasks.flush_listed(reader, &mut self.batch)?;
        self.batch.write_to(self.rows)
    }

    /// Writes all staged rows and the change record. `None` if no edit was applied.
    pub(crate) fn finish(mut self, ids: &dyn IdSource) -> Result<Option<Change>> {
        self.flush(Flush::Last)?;
        if self.log.is_empty() {
            return Ok(None);
        }
        self.redact_log()?;
        let (sequence, token) = (self.documents.sequence(), ids.new_token(self.stamp.at));
        self.put_totals()?;
        let (identity, documents) =
            (ChangeIdentity::new(sequence, token), self.documents.touched());
        put_change(self.rows, identity, self.log.body(self.stamp, &documents))?;
        let documents = documents.into_iter().map(|document| document.id).collect();
        let (stamp, edits) = (self.stamp.clone(), self.edits);
        Ok(Some(Change { sequence, first_sequence: sequence, token, stamp, documents, edits }))
    }

    /// Writes the totals after the change in progress.
    fn put_totals(&mut self) -> Result<()> {
        let sequence = self.documents.sequence();
        invariant!(
            sequence > self.totals.sequence,
            "change {sequence} follows change {}",
            self.totals.sequence
        );
        let mut totals = SpaceTotals { sequence, ..self.totals };
        if self.edits.iter().any(|edit| matches!(edit, Edit::EraseDocument { .. })) {
            totals.last_erasure = sequence;
        }
        if self.edits.iter().any(Edit::is_of_folder) {
            totals.last_folder_edit = sequence;
        }
        put_totals(self.rows, totals)
    }

    /// Writes all staged rows and no change record: for a copy that gets the log of its source.
    pub(crate) fn finish_without_change(mut self) -> Result<()> {
        self.flush(Flush::Last)
    }

    /// Stages the index rows of a block whose data changes from `before` to `after`: its edges and
    /// its tags. `document` was touched.
    fn index_block(
        &mut self,
        document: DocumentId,
        block: BlockId,
        before: Option<&BlockData>,
        after: Option<&BlockData>,
    ) {
        self.index_edges(block, before, after);
        self.index_tags(document, block, before, after);
    }

    fn index_edges(
        &mut self,
        source: BlockId,
        before: Option<&BlockData>,
        after: Option<&BlockData>,
    ) {
        // Deletes first: an edge that stays is put again.
        for (data, exists) in [(before, false), (after, true)] {
            for target in data.into_iter().flat_map(|data| self.extractor.targets(data)) {
                self.edges.insert(keyspaces::edge(target.to, target.kind, source), exists);
            }
        }
    }
}
