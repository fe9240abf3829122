//! The index: what can be found, derived from the documents, and thrown away when in doubt.
//!
//! tantivy keeps the lists of which words are where; what they are worth is reckoned here
//! (`rank.rs`), by the same formula for documents in the index and for those that were changed
//! since, so that it does not matter which is which.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use leafbase_model::{DocumentId, Error, ErrorKind, Result};
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::{IndexBuilder, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, TantivyError};

use crate::document::SearchDocument;
use files::Files;
use layout::Fields;
use nothing::Nothing;
use removal::Removal;
pub use selection::Selection;
#[cfg(feature = "testkit")]
pub use shelf::Shelf;
use tidying::Size;
pub use view::{Hit, Scope, View};

mod building;
mod files;
mod grams;
mod layout;
mod lexicon;
mod lists;
mod making;
mod nothing;
mod occurrences;
mod places;
mod removal;
mod room;
mod scores;
mod selection;
#[cfg(feature = "testkit")]
mod shelf;
mod tidying;
mod view;
mod words;

/// What is written with each commit: the layout that the index has, up to which write of the space
/// it goes, and whose it is.
const FORMAT: &str = "leafbase-search-5";

/// Bytes that documents are gathered in before they are written.
const GATHERED: usize = 64 << 20;

/// What tantivy would gather documents in, were they given to it one by one. It takes no less.
const UNUSED: usize = 15_000_000;

pub(crate) fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Storage, format!("the search index: {error}"))
}

/// An index of documents.
pub struct Index {
    gathers: usize,
    inner: tantivy::Index,
    fields: Fields,
    reader: IndexReader,
    /// Opened when something is written, and dropped again: it keeps threads.
    writer: Mutex<Option<IndexWriter<Nothing>>>,
    view: RwLock<Option<Arc<View>>>,
    owner: String,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// What is put into an index, and what is taken out.
struct Prepared {
    made: Vec<SegmentMeta>,
    old: Vec<DocumentId>,
    sequence: u64,
}

/// What an index is made with.
fn builder() -> (IndexBuilder, Fields) {
    let (schema, fields) = layout::schema();
    // There are no stored texts to compress.
    let settings =
        IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
    let builder = tantivy::Index::builder().schema(schema).settings(settings);
    (builder.register_plugin(Arc::new(grams::Keeper)), fields)
}

impl Index {
    /// An empty index in memory. `owner` says whose it is.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn in_memory(owner: &str) -> Result<Self> {
        let (builder, fields) = builder();
        Self::of(builder.create_in_ram().map_err(failed)?, fields, owner)
    }

    /// An empty index in `directory`, which is made, or has none.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn create(directory: &Path, owner: &str) -> Result<Self> {
        std::fs::create_dir_all(directory).map_err(failed)?;
        Self::create_in(Files::open(directory).map_err(failed)?, owner)
    }

    fn create_in(files: Files, owner: &str) -> Result<Self> {
        let (builder, fields) = builder();
        if files.has_index() {
            return Err(failed("there is one already"));
        }
        Self::of(builder.open_or_create(files).map_err(failed)?, fields, owner)
    }

    /// The index in `directory`; none if it is not whole, not of this owner or not of this layout:
    /// then it has to be made anew. Reads all of it once, to verify it: a damaged one must not be
    /// searched. Writes nothing.
    pub fn open(directory: &Path, owner: &str) -> Option<Self> {
        // Files that were cut off have made the reading of their checksums panic.
        let opened = catch_unwind(AssertUnwindSafe(|| {
            Self::open_whole(Files::open(directory).map_err(failed)?, owner)
        }));
        opened.ok()?.ok()
    }

    fn open_whole(files: Files, owner: &str) -> Result<Self, Failure> {
        let (schema, fields) = layout::schema();
        let mut index = tantivy::Index::open(files)?;
        if index.schema() != schema {
            return Err(Failure(failed("it has another layout")));
        }
        index.register_plugin(Arc::new(grams::Keeper));
        if !files::are_whole(&index)? {
            return Err(Failure(failed("it is damaged")));
        }
        let opened = Self::of(index, fields, owner)?;
        opened.sequence()?.ok_or_else(|| failed("it was never filled"))?;
        opened.view()?;
        Ok(opened)
    }

    /// As [`Self::create`], on a shelf.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    #[cfg(feature = "testkit")]
    pub fn create_on(shelf: Arc<dyn Shelf>, owner: &str) -> Result<Self> {
        Self::create_in(Files::shelved(shelf), owner)
    }

    /// As [`Self::open`], on a shelf.
    #[cfg(feature = "testkit")]
    pub fn open_on(shelf: Arc<dyn Shelf>, owner: &str) -> Option<Self> {
        let opened =
            catch_unwind(AssertUnwindSafe(|| Self::open_whole(Files::shelved(shelf), owner)));
        opened.ok()?.ok()
    }

    fn of(index: tantivy::Index, fields: Fields, owner: &str) -> Result<Self> {
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(failed)?;
        let (writer, view) = (Mutex::new(None), RwLock::new(None));
        Ok(Self {
            inner: index,
            fields,
            reader,
            writer,
            view,
            owner: owner.to_owned(),
            gathers: GATHERED,
        })
    }

    /// The same index, whose updates write a segment whenever documents come to so many bytes: for
    /// tests.
    #[doc(hidden)]
    #[must_use]
    pub fn gathering(self, bytes: usize) -> Self {
        Self { gathers: bytes, ..self }
    }

    /// The number of the last write of the space that it knows of; none if nothing was ever put
    /// into it.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if it cannot be read, or is another space's.
    pub fn sequence(&self) -> Result<Option<u64>> {
        let Some(payload) = self.inner.load_metas().map_err(failed)?.payload else {
            return Ok(None);
        };
        let sequence =
            payload.strip_suffix(self.owner.as_str()).and_then(|rest| rest.strip_prefix(FORMAT));
        let sequence = sequence.and_then(|number| number.trim().parse().ok());
        sequence.map(Some).ok_or_else(|| failed("it is not this space's"))
    }

    fn payload(&self, sequence: u64) -> String {
        format!("{FORMAT} {sequence} {}", self.owner)
    }

    /// Puts documents in, each once and in place of what there was of it, and takes those out that
    /// are gone: up to the write `sequence` of the space. All of it is seen at once, and is on disk
    /// when this returns.
    ///
    /// # Errors
    /// Those of `changed`, and [`ErrorKind::Storage`], also if a document is given twice: then
    /// nothing of it is seen.
    pub fn update(
        &self,
        changed: &mut dyn Iterator<Item = Result<SearchDocument>>,
        gone: &[DocumentId],
        sequence: u64,
    ) -> Result<()> {
        self.update_with(changed, &mut || Ok((gone.to_vec(), sequence)))
    }

    /// The same where it is known only when the last document has come what is gone, and up to
    /// which write the index knows all: `end` is asked then.
    ///
    /// # Errors
    /// As [`Self::update`], and those of `end`.
    pub fn update_with(
        &self,
        changed: &mut dyn Iterator<Item = Result<SearchDocument>>,
        end: &mut dyn FnMut() -> Result<(Vec<DocumentId>, u64)>,
    ) -> Result<()> {
        self.writing(|writer| {
            let is_empty = self.inner.searchable_segment_metas().map_err(failed)?.is_empty();
            let Prepared { made, old, sequence } =
                self.prepare(changed, end).inspect_err(|_| {
                    // What was written for it would take up room that others want. If it cannot be
                    // removed now, the next writer does it.
                    let _ = writer.garbage_collect_files().wait();
                })?;
            if !is_empty && !old.is_empty() {
                let spared = made.iter().map(SegmentMeta::id).collect();
                writer
                    .delete_query(Box::new(Removal::of(self.fields.id, old, spared)))
                    .map_err(failed)?;
            }
            for segment in made {
                writer.add_segment(segment).map_err(failed)?;
            }
            let mut commit = writer.prepare_commit().map_err(failed)?;
            // A commit without it would be nobody's.
            commit.set_payload(&self.payload(sequence));
            commit.commit().map(drop).map_err(failed)
        })
    }

    /// Writes segments of `changed`, which nobody sees yet.
    fn prepare(
        &self,
        changed: &mut dyn Iterator<Item = Result<SearchDocument>>,
        end: &mut dyn FnMut() -> Result<(Vec<DocumentId>, u64)>,
    ) -> Result<Prepared> {
        let mut old = Vec::new();
        let mut noted =
            changed.inspect(|document| old.extend(document.iter().map(SearchDocument::id)));
        let made = making::segments(&self.inner, self.fields, self.gathers, &mut noted)?;
        // Each would be the one that is not taken out.
        old.sort_unstable();
        if old.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(failed("a document is given twice"));
        }
        let (gone, sequence) = end()?;
        old.extend(gone);
        Ok(Prepared { made, old, sequence })
    }

    /// How many segments it has.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn segments(&self) -> Result<usize> {
        Ok(self.inner.searchable_segment_metas().map_err(failed)?.len())
    }

    /// Puts segments together where there are many, and those in which much is deleted. What is
    /// written so is in proportion to what was changed, not to all there is.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`].
    pub fn tidy(&self) -> Result<()> {
        if self.untidy()?.is_empty() {
            return Ok(());
        }
        self.writing(|writer| {
            // Another may have tidied up meanwhile.
            match self.untidy()? {
                untidy if untidy.is_empty() => Ok(()),
                untidy => writer.merge(&untidy).wait().map(drop).map_err(failed),
            }
        })
    }

    /// The segments that should be one.
    fn untidy(&self) -> Result<Vec<SegmentId>> {
        let metas = self.inner.searchable_segment_metas().map_err(failed)?;
        let sizes =
            metas.iter().map(|meta| Size { all: meta.max_doc(), deleted: meta.num_deleted_docs() });
        let chosen = tidying::chosen(&sizes.collect::<Vec<_>>());
        Ok(chosen.into_iter().filter_map(|number| metas.get(number)).map(SegmentMeta::id).collect())
    }

    /// One after the other: a segment must not be removed while another thread is about to read it.
    fn writing(&self, work: impl FnOnce(&mut IndexWriter<Nothing>) -> Result<()>) -> Result<()> {
        let mut slot = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = slot.take().map_or_else(|| self.new_writer(), Ok)?;
        work(&mut writer)?;
        // Given back only if all went well: what another left undone must not be written with what
        // comes next.
        *slot = Some(writer);
        self.reload()
    }

    fn new_writer(&self) -> Result<IndexWriter<Nothing>> {
        let options = IndexWriterOptions::builder().num_worker_threads(1).num_merge_threads(1);
        let options = options.memory_budget_per_thread(UNUSED).build();
        let writer = self.inner.writer_with_options(options).map_err(failed)?;
        // Segments are merged when `tidy` says so, not on threads of their own time.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        // What a crash left would be in the way of what is written next.
        writer.garbage_collect_files().wait().map_err(failed)?;
        Ok(writer)
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

    /// The index as it is now. Cheap but for the first time after a change, when it reads the
    /// numbers of all documents.
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

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}
