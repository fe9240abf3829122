//! The index: what can be found, derived from the documents, and thrown away when in doubt.
//!
//! tantivy keeps the lists of which words are where; what they are worth is reckoned here (`rank.rs`), by the same formula for documents in the
//! index and for those that were changed since, so that it does not matter which is which.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use leafbase_model::{DocumentId, Error, ErrorKind, Result};
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, TantivyError, Term};

use crate::document::SearchDocument;
use layout::Fields;
pub use view::{Hit, Scope, View};

mod layout;
mod lists;
mod view;

/// What is written with each commit: the layout that the index has, whose it is, and up to which write of the space it goes.
const FORMAT: &str = "leafbase-search-1";

/// Bytes that documents are gathered in before they are written.
const GATHERED: usize = 32 << 20;

pub(crate) fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Storage, format!("the search index: {error}"))
}

/// An index of documents.
pub struct Index {
    inner: tantivy::Index,
    fields: Fields,
    reader: IndexReader,
    /// Opened when something is written, and dropped again: it keeps threads.
    writer: Mutex<Option<IndexWriter<TantivyDocument>>>,
    view: RwLock<Option<Arc<View>>>,
    owner: String,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Index {
    /// An empty index in memory. `owner` says whose it is.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn in_memory(owner: &str) -> Result<Self> {
        let (schema, fields) = layout::schema();
        let index = tantivy::Index::builder().schema(schema).create_in_ram().map_err(failed)?;
        Self::of(index, fields, owner)
    }

    /// An empty index in `directory`, which is made, or is empty.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn create(directory: &Path, owner: &str) -> Result<Self> {
        let (schema, fields) = layout::schema();
        std::fs::create_dir_all(directory).map_err(failed)?;
        let index = tantivy::Index::builder().schema(schema).create_in_dir(directory).map_err(failed)?;
        Self::of(index, fields, owner)
    }

    /// The index in `directory`; none if it is not whole, not of this owner or not of this layout: then it has to be made anew. Reads all of it
    /// once, to verify it: a damaged one must not be searched.
    pub fn open(directory: &Path, owner: &str) -> Option<Self> {
        let (schema, fields) = layout::schema();
        let index = tantivy::Index::open_in_dir(directory).ok()?;
        if index.schema() != schema || !index.validate_checksum().ok()?.is_empty() {
            return None;
        }
        let opened = Self::of(index, fields, owner).ok()?;
        opened.sequence().ok()??;
        Some(opened)
    }

    fn of(index: tantivy::Index, fields: Fields, owner: &str) -> Result<Self> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(failed)?;
        let (writer, view) = (Mutex::new(None), RwLock::new(None));
        Ok(Self { inner: index, fields, reader, writer, view, owner: owner.to_owned() })
    }

    /// The number of the last write of the space that it knows of; none if nothing was ever put into it.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if it cannot be read, or is another space's.
    pub fn sequence(&self) -> Result<Option<u64>> {
        let Some(payload) = self.inner.load_metas().map_err(failed)?.payload else { return Ok(None) };
        let mut parts = payload.split(' ');
        let is_own = parts.next() == Some(FORMAT) && parts.next() == Some(self.owner.as_str());
        let sequence = parts.next().and_then(|number| number.parse().ok()).filter(|_| is_own);
        sequence.map(Some).ok_or_else(|| failed("it is not this space's"))
    }

    /// Puts documents in, in place of what there was of them, and takes those out that are gone: up to the write `sequence` of the space. All of
    /// it is seen at once.
    ///
    /// # Errors
    /// Those of `changed`, and [`ErrorKind::Storage`]: then nothing of it is seen.
    pub fn update(
        &self,
        changed: &mut dyn Iterator<Item = Result<SearchDocument>>,
        gone: &[DocumentId],
        sequence: u64,
    ) -> Result<()> {
        let mut slot = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = match slot.take() {
            Some(writer) => writer,
            None => self.new_writer()?,
        };
        self.write(&mut writer, changed, gone, sequence)?;
        // Given back only if all went well.
        *slot = Some(writer);
        drop(slot);
        self.reload()
    }

    fn write(
        &self,
        writer: &mut IndexWriter<TantivyDocument>,
        changed: &mut dyn Iterator<Item = Result<SearchDocument>>,
        gone: &[DocumentId],
        sequence: u64,
    ) -> Result<()> {
        let term = |document: DocumentId| Term::from_field_bytes(self.fields.id, document.as_bytes());
        for document in gone {
            writer.delete_term(term(*document));
        }
        for document in changed {
            let document = document?;
            writer.delete_term(term(document.id()));
            writer.add_document(self.fields.document(&document)).map_err(failed)?;
        }
        let mut commit = writer.prepare_commit().map_err(failed)?;
        commit.set_payload(&format!("{FORMAT} {} {sequence}", self.owner));
        commit.commit().map_err(failed)?;
        Ok(())
    }

    fn new_writer(&self) -> Result<IndexWriter<TantivyDocument>> {
        let options = IndexWriterOptions::builder().num_worker_threads(1).num_merge_threads(1);
        let options = options.memory_budget_per_thread(GATHERED).build();
        let writer = self.inner.writer_with_options(options).map_err(failed)?;
        // Segments are merged when this says so, not on threads of their own time.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        // What a crash left would be in the way of what is written next.
        writer.garbage_collect_files().wait().map_err(failed)?;
        Ok(writer)
    }

    /// Puts segments together where there are many, or much in them is deleted.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn tidy(&self) -> Result<()> {
        let metas = self.inner.searchable_segment_metas().map_err(failed)?;
        let is_worn = metas.iter().any(|meta| meta.num_deleted_docs() * 4 > meta.max_doc());
        if metas.len() < MANY_SEGMENTS && !is_worn {
            return Ok(());
        }
        let mut slot = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = match slot.take() {
            Some(writer) => writer,
            None => self.new_writer()?,
        };
        let ids: Vec<_> = metas.iter().map(tantivy::SegmentMeta::id).collect();
        writer.merge(&ids).wait().map_err(failed)?;
        *slot = Some(writer);
        drop(slot);
        self.reload()
    }

    /// Lets go of what is only needed to write: threads and memory.
    pub fn rest(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(writer);
    }

    fn reload(&self) -> Result<()> {
        self.reader.reload().map_err(failed)?;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// The index as it is now. Cheap but for the first time after a change, when it reads the numbers of all documents.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn view(&self) -> Result<Arc<View>> {
        if let Some(view) = &*self.view.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Arc::clone(view));
        }
        let mut slot = self.view.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = &*slot {
            return Ok(Arc::clone(view));
        }
        let view = Arc::new(View::new(self.reader.searcher(), self.fields)?);
        *slot = Some(Arc::clone(&view));
        Ok(view)
    }
}

/// From so many segments on they are put together.
const MANY_SEGMENTS: usize = 8;

impl From<TantivyError> for Failure {
    fn from(error: TantivyError) -> Self {
        Self(failed(error))
    }
}

/// An error on its way out of what reads the index.
pub(crate) struct Failure(pub(crate) Error);

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self(failed(error))
    }
}
