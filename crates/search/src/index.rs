//! The index: a tantivy index of terms and columns, with a file of trigrams per segment. It is
//! derived from the documents, and rebuilt whenever it is damaged or in doubt.
//!
//! tantivy finds which documents have a term. Scores are computed here (`score.rs`), with the same
//! formula for documents of the index and for dirty documents next to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::{mem, process};

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{DocumentId, Result, invariant};
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::{IndexBuilder, IndexReader, IndexSettings, IndexWriter, ReloadPolicy};

use crate::analysis_fingerprint::analysis_fingerprint;
use crate::document::SearchDocument;
use delete_query::DeleteQuery;
use directory::IndexDirectory;
use error::{IndexFailure, storage_error};
use field_text::FieldTextTokenizer;
use merge_policy::SegmentSize;
pub use overlay::SearchOverlay;
use schema::IndexFields;
pub use search::{Hit, HitList, RankingOptions, ScoreFactor};
use segment_document::SegmentDocument;
pub use snapshot::IndexSnapshot;
pub use storage::IndexStorage;
pub use subset::DocumentSubset;
use trigram_plugin::TrigramPlugin;
pub use watermark::IndexWatermark;

mod candidates;
mod clause_search;
mod delete_query;
mod directory;
mod error;
mod field_text;
mod like_words;
mod merge_policy;
mod overlay;
mod postings;
mod schema;
mod score_list;
mod search;
mod segment_builder;
mod segment_document;
mod snapshot;
mod storage;
mod subset;
mod trigram_plugin;
mod watermark;

/// The format of the index. It is part of each commit's payload, followed by the fingerprint of the
/// analysis, the watermark, and the owner.
const FORMAT: &str = "leafbase-search-11";

/// What the payloads of this format and this analysis begin with.
fn payload_prefix() -> String {
    format!("{FORMAT} {:016x} ", analysis_fingerprint())
}

/// Memory after which a segment is written.
const SEGMENT_BUDGET_BYTES: usize = 64 << 20;

/// The least budget that tantivy accepts. No document reaches its indexing threads: segments are
/// built by [`segment_builder`].
const WRITER_BUDGET_BYTES: usize = 15_000_000;

/// An index of documents. Reads and writes may come from several threads; writes take turns.
pub struct Index {
    segment_budget: usize,
    inner: tantivy::Index,
    fields: IndexFields,
    reader: IndexReader,
    /// Opened by the first write and closed by [`Index::release_writer`]: it owns threads.
    writer: Mutex<Option<IndexWriter<SegmentDocument>>>,
    /// The snapshot of the last commit, once one was asked for.
    snapshot: RwLock<Option<Arc<IndexSnapshot>>>,
    owner: String,
    /// The process that has the writer's threads.
    process: u32,
}

impl Drop for Index {
    fn drop(&mut self) {
        // A forked process has a copy of the writer without its threads, for which dropping it
        // would wait.
        if self.process != process::id() {
            let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
            mem::forget(writer.take());
        }
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// An update whose segments are written but not committed.
struct PreparedUpdate {
    new_segments: Vec<SegmentMeta>,
    /// Documents whose older versions are deleted.
    replaced: Vec<DocumentId>,
    watermark: IndexWatermark,
}

fn builder() -> (IndexBuilder, IndexFields) {
    let (schema, fields) = schema::schema();
    // Nothing is stored, so there is nothing to compress on a thread.
    let settings =
        IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
    let builder = tantivy::Index::builder().schema(schema).settings(settings);
    (builder.register_plugin(Arc::new(TrigramPlugin)), fields)
}

impl Index {
    /// Creates an empty index in memory. `owner` identifies the space that it belongs to.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn in_memory(owner: &str) -> Result<Self> {
        let (builder, fields) = builder();
        Self::over(builder.create_in_ram().map_err(storage_error)?, fields, owner)
    }

    /// Creates an empty index in `directory`, which is created if it does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`], also if the directory has an index.
    pub fn create(directory: &Path, owner: &str) -> Result<Self> {
        std::fs::create_dir_all(directory).map_err(storage_error)?;
        Self::create_in(IndexDirectory::open(directory).map_err(storage_error)?, owner)
    }

    fn create_in(directory: IndexDirectory, owner: &str) -> Result<Self> {
        let (builder, fields) = builder();
        if directory.has_index() {
            return Err(storage_error("its directory already has an index"));
        }
        let index = builder.open_or_create(directory).map_err(storage_error)?;
        Self::over(index, fields, owner)
    }

    /// Opens the index in `directory`. Returns `None` if it is missing, damaged, of another owner
    /// or of another format: then it has to be rebuilt. Reads all files once to verify their
    /// checksums, and writes nothing.
    pub fn open(directory: &Path, owner: &str) -> Option<Self> {
        Self::open_verified(|| IndexDirectory::open(directory).map_err(storage_error), owner)
    }

    fn open_verified(
        directory: impl FnOnce() -> Result<IndexDirectory>,
        owner: &str,
    ) -> Option<Self> {
        // tantivy panics on some truncated files.
        let opened = catch_unwind(AssertUnwindSafe(|| Self::try_open(directory()?, owner)));
        opened.ok()?.ok()
    }

    fn try_open(directory: IndexDirectory, owner: &str) -> Result<Self, IndexFailure> {
        let (schema, fields) = schema::schema();
        let mut index = tantivy::Index::open(directory)?;
        if index.schema() != schema {
            return Err(IndexFailure::corrupt("it has another schema"));
        }
        index.register_plugin(Arc::new(TrigramPlugin));
        if !directory::checksums_match(&index)? {
            return Err(IndexFailure::corrupt("a checksum does not match"));
        }
        let opened = Self::over(index, fields, owner)?;
        if opened.watermark()?.is_none() {
            return Err(IndexFailure::corrupt("it was never committed to"));
        }
        opened.snapshot()?;
        Ok(opened)
    }

    /// Like [`Self::create`], in `storage`.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn create_on(storage: Arc<dyn IndexStorage>, owner: &str) -> Result<Self> {
        Self::create_in(IndexDirectory::over(storage), owner)
    }

    /// Like [`Self::open`], in `storage`.
    pub fn open_on(storage: Arc<dyn IndexStorage>, owner: &str) -> Option<Self> {
        Self::open_verified(|| Ok(IndexDirectory::over(storage)), owner)
    }

    fn over(index: tantivy::Index, fields: IndexFields, owner: &str) -> Result<Self> {
        index.tokenizers().register(field_text::TOKENIZER, FieldTextTokenizer::default());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        Ok(Self {
            reader: reader.try_into().map_err(storage_error)?,
            inner: index,
            fields,
            writer: Mutex::new(None),
            process: process::id(),
            snapshot: RwLock::new(None),
            owner: owner.to_owned(),
            segment_budget: SEGMENT_BUDGET_BYTES,
        })
    }

    /// The same index with another budget per segment: for tests, which need many segments.
    #[doc(hidden)]
    #[must_use]
    pub fn with_segment_budget(mut self, bytes: usize) -> Self {
        self.segment_budget = bytes;
        self
    }

    /// The changes of the space that the index contains; `None` before the first update.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if it cannot be read, or belongs to another owner.
    pub fn watermark(&self) -> Result<Option<IndexWatermark>> {
        let Some(payload) = self.inner.load_metas().map_err(storage_error)?.payload else {
            return Ok(None);
        };
        let rest = payload
            .strip_prefix(payload_prefix().as_str())
            .and_then(|rest| rest.strip_suffix(self.owner.as_str()));
        let watermark = rest.and_then(|text| IndexWatermark::parse(text.trim()));
        watermark.map(Some).ok_or_else(|| storage_error("it belongs to another space or format"))
    }

    /// The sequence up to which the index contains all changes of the space; `None` before the
    /// first update.
    ///
    /// # Errors
    /// As [`Self::watermark`].
    pub fn sequence(&self) -> Result<Option<u64>> {
        Ok(self.watermark()?.map(|watermark| watermark.sequence))
    }

    fn payload(&self, watermark: IndexWatermark) -> String {
        format!("{}{watermark} {}", payload_prefix(), self.owner)
    }

    /// Adds documents, each at most once and in place of its older version, and deletes others, in
    /// one commit: the index then contains all changes up to the watermark. The commit is durable
    /// when this returns.
    ///
    /// # Errors
    /// Those of `changed`, and [`ErrorKind::Storage`], also if a document is given twice. The index
    /// is unchanged then.
    pub fn update(
        &self,
        changed: &mut dyn Iterator<Item = Result<SearchDocument>>,
        deleted: &[DocumentId],
        watermark: impl Into<IndexWatermark>,
    ) -> Result<()> {
        let watermark = watermark.into();
        self.update_with(changed, &mut || Ok((deleted.to_vec(), watermark)))
    }

    /// Like [`Self::update`], where the deleted documents and the watermark are known only after
    /// the last document: `end` returns them.
    ///
    /// # Errors
    /// Those of [`Self::update`] and of `end`.
    pub fn update_with(
        &self,
        changed: &mut dyn Iterator<Item = Result<SearchDocument>>,
        end: &mut dyn FnMut() -> Result<(Vec<DocumentId>, IndexWatermark)>,
    ) -> Result<()> {
        self.write(|writer| {
            let is_empty = self.segments()? == 0;
            let prepared = self.prepare(changed, end).inspect_err(|_| {
                // The failed segments take up space. If removing them fails, too, the next writer
                // removes them.
                let _ = writer.garbage_collect_files().wait();
            })?;
            let PreparedUpdate { new_segments, replaced, watermark } = prepared;
            if !is_empty && !replaced.is_empty() {
                let new = new_segments.iter().map(SegmentMeta::id).collect();
                // The new segments have the same documents, in the versions that stay.
                let query = DeleteQuery::new(self.fields.id, replaced, new);
                writer.delete_query(Box::new(query)).map_err(storage_error)?;
            }
            for segment in new_segments {
                writer.add_segment(segment).map_err(storage_error)?;
            }
            let mut commit = writer.prepare_commit().map_err(storage_error)?;
            // tantivy drops the payload of the last commit unless it is set again.
            commit.set_payload(&self.payload(watermark));
            commit.commit().map(drop).map_err(storage_error)
        })
    }

    /// Writes the segments of an update.
    fn prepare(
        &self,
        changed: &mut dyn Iterator<Item = Result<SearchDocument>>,
        end: &mut dyn FnMut() -> Result<(Vec<DocumentId>, IndexWatermark)>,
    ) -> Result<PreparedUpdate> {
        let mut replaced = Vec::new();
        let mut changed =
            changed.inspect(|document| replaced.extend(document.iter().map(SearchDocument::id)));
        let new_segments = segment_builder::build_segments(
            &self.inner,
            self.fields,
            self.segment_budget,
            &mut changed,
        )?;
        let written = new_segments.iter().map(|segment| segment.max_doc() as usize).sum::<usize>();
        invariant!(written == replaced.len(), "each changed document is in a new segment");
        // Deletion spares the new segments, so both versions would stay.
        replaced.sort_unstable();
        if replaced.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(storage_error("an update has the same document twice"));
        }
        let (deleted, watermark) = end()?;
        replaced.extend(deleted);
        Ok(PreparedUpdate { new_segments, replaced, watermark })
    }

    /// The number of segments.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn segments(&self) -> Result<usize> {
        Ok(self.inner.searchable_segment_metas().map_err(storage_error)?.len())
    }

    /// Merges segments if there are many, and those of which many documents are deleted. Writes in
    /// proportion to what has changed, not to the size of the index.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn merge(&self) -> Result<()> {
        if self.merge_candidates()?.is_empty() {
            return Ok(());
        }
        self.write(|writer| {
            // Another thread may have merged before this one got the writer.
            let candidates = self.merge_candidates()?;
            if candidates.is_empty() {
                return Ok(());
            }
            writer.merge(&candidates).wait().map(drop).map_err(storage_error)
        })
    }

    /// Rewrites every segment that has deleted documents, so that none has their terms.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn merge_deleted(&self) -> Result<()> {
        self.write(|writer| {
            let metas = self.inner.searchable_segment_metas().map_err(storage_error)?;
            let with_deleted = metas.iter().filter(|meta| meta.num_deleted_docs() > 0);
            let chosen: Vec<_> = with_deleted.map(SegmentMeta::id).collect();
            if chosen.is_empty() {
                return Ok(());
            }
            writer.merge(&chosen).wait().map(drop).map_err(storage_error)
        })
    }

    /// Removes the files that no segment uses and no snapshot reads.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn remove_unused_files(&self) -> Result<()> {
        self.write(|writer| writer.garbage_collect_files().wait().map(drop).map_err(storage_error))
    }

    fn merge_candidates(&self) -> Result<Vec<SegmentId>> {
        let metas = self.inner.searchable_segment_metas().map_err(storage_error)?;
        let size = |meta: &SegmentMeta| SegmentSize {
            documents: meta.max_doc(),
            deleted: meta.num_deleted_docs(),
        };
        let mut chosen = Vec::new();
        for number in merge_policy::choose(&metas.iter().map(size).collect::<Vec<_>>()) {
            let Some(meta) = metas.get(number) else {
                invariant!("the merge policy chooses existing segments")
            };
            chosen.push(meta.id());
        }
        Ok(chosen)
    }

    /// Runs `work` with the writer, one caller at a time: a file must not be removed while another
    /// thread is about to open it.
    fn write(
        &self,
        work: impl FnOnce(&mut IndexWriter<SegmentDocument>) -> Result<()>,
    ) -> Result<()> {
        let mut slot = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = slot.take().map_or_else(|| self.open_writer(), Ok)?;
        work(&mut writer)?;
        // A writer that failed is dropped: its pending deletions must not join the next commit.
        *slot = Some(writer);
        self.reload()
    }

    fn open_writer(&self) -> Result<IndexWriter<SegmentDocument>> {
        let options = IndexWriterOptions::builder().num_worker_threads(1).num_merge_threads(1);
        let options = options.memory_budget_per_thread(WRITER_BUDGET_BYTES).build();
        let writer = self.inner.writer_with_options(options).map_err(storage_error)?;
        // Merges run in `merge`, when the caller has time for them.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        // Removes what a crash or a failed update left.
        writer.garbage_collect_files().wait().map_err(storage_error)?;
        Ok(writer)
    }

    /// Ends the threads, and frees the memory, that only writes need. The next write opens them
    /// again.
    pub fn release_writer(&self) {
        // The guard is a temporary: the lock is free again while the threads end.
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(writer);
    }

    /// Reads the last commit again, which another process may have made. Its watermark has to be
    /// read before: the index then contains at least that.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`], also if files of the commit were removed meanwhile.
    pub fn refresh(&self) -> Result<()> {
        self.reload()
    }

    fn reload(&self) -> Result<()> {
        self.reader.reload().map_err(storage_error)?;
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// The index as of the last commit. The first call after a commit reads the columns of all
    /// documents; the next ones are cheap.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn snapshot(&self) -> Result<Arc<IndexSnapshot>> {
        if let Some(snapshot) = &*self.snapshot.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Arc::clone(snapshot));
        }
        let mut slot = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have read it between the two locks.
        if let Some(snapshot) = &*slot {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = IndexSnapshot::new(self.reader.searcher(), self.fields);
        let snapshot = Arc::new(snapshot.map_err(|IndexFailure(error)| error)?);
        *slot = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }
}
