//! New documents and files with IDs that are known before they are written.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use leafbase_model::{
    AssetRecord, BlockDraft, BlockId, Day, DocumentId, Edit, IdSource, Limits, Location, Result,
    Stamp, Timestamp, invariant,
};
use leafbase_tree_ops::{self as ops, Context};

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::space::Space;
use crate::operations::files::Upload;

/// Makes the edits of new documents and files, all with one stamp, for
/// [`bulk::write`](crate::bulk::write). IDs are allocated ahead, so that links can lead to
/// documents that are not written yet.
///
/// ```
/// use leafbase::{BlockData, BlockDraft, DocumentId, Location, Space, bulk};
/// # fn main() -> leafbase::Result<()> {
/// let notes = Space::in_memory()?.connect();
/// let factory = bulk::DocumentFactory::new(&notes);
/// let [trip, diary] = [(); 2].map(|()| DocumentId::from_bytes(factory.new_id()));
/// let link = BlockDraft::new(BlockData::text(format!("[diary](block://{diary})")));
/// let mut edits = Vec::new();
/// for (id, title, content) in [(trip, "Trip", vec![link]), (diary, "Diary", vec![])] {
///     let page = BlockDraft::new(BlockData::page(title)).with_content(content);
///     edits.extend(factory.document(id, page, Location::Unsorted, None)?.edits);
/// }
/// bulk::write(&notes, |_| Ok((edits.clone(), ())))?;
/// assert_eq!(notes.back_links(diary)?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DocumentFactory {
    space: Space,
    stamp: Stamp,
    limits: Limits,
}

/// The edits that create a document.
#[derive(Debug)]
#[non_exhaustive]
pub struct NewDocument {
    /// The edits, to be applied together.
    pub edits: Vec<Edit>,
    /// The IDs of its blocks in document order, the root first.
    pub blocks: Vec<BlockId>,
}

impl DocumentFactory {
    /// A factory for documents that the author of `notes` writes now.
    pub fn new(notes: &Connection<Full>) -> Self {
        let stamp = Stamp { at: notes.space.now(), by: notes.author().clone() };
        // A document is bounded by the limits of blocks, not by the blocks of a call.
        let mut limits = notes.limits().clone();
        limits.blocks_per_request = usize::MAX;
        limits.blocks_per_fetch = usize::MAX;
        Self { space: notes.space.clone(), stamp, limits }
    }

    /// The author and the time.
    pub const fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// The limits of documents: the limits of the space, but for the blocks of a call.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The bytes of a new ID, for [`DocumentId::from_bytes`] and the like.
    pub fn new_id(&self) -> [u8; 16] {
        self.space.ids().new_id(self.stamp.at)
    }

    pub(super) fn context(&self) -> Context<'_> {
        Context { limits: &self.limits, stamp: &self.stamp, ids: self.space.ids() }
    }

    /// The edits that create a document with this root. Its text is the title.
    ///
    /// # Errors
    /// [`crate::ErrorKind::RuleViolation`] for a root that is neither page nor text; those of
    /// [`Connection::insert_blocks`] for drafts beyond the limits.
    pub fn document(
        &self,
        id: DocumentId,
        page: BlockDraft,
        location: Location,
        day: Option<Day>,
    ) -> Result<NewDocument> {
        let ids = PlannedRoot {
            root: id,
            is_used: AtomicBool::new(false),
            others: self.space.ids(),
            now: self.space.now(),
        };
        let context = Context { limits: &self.limits, stamp: &self.stamp, ids: &ids };
        let edits = ops::create_document(&context, page, location, day)?.edits;
        let mut blocks = Vec::new();
        for edit in &edits {
            if let Edit::CreateDocument { subtrees, .. } = edit {
                blocks.extend(subtrees.0.iter().map(|node| node.block.id));
            }
        }
        invariant!(blocks.first() == Some(&id.root()), "the root of a document has the planned ID");
        Ok(NewDocument { edits, blocks })
    }

    /// Stores the bytes of a file. It becomes a file once its
    /// [`Edit::CreateAsset`] is written with a block that shows it; then call
    /// [`StagedFile::keep`]. Must not be called within [`bulk::write`](crate::bulk::write): the
    /// bytes are written in transactions of their own.
    ///
    /// # Errors
    /// As [`Connection::upload_file`]; nothing of the file remains then.
    pub fn stage_file(&self, name: &str, bytes: impl Read) -> Result<StagedFile> {
        let (upload, record) = Upload::of(&self.space, &self.stamp, name, bytes)?;
        Ok(StagedFile { upload, record })
    }
}

/// Stored bytes that are not a file yet. Dropping it deletes them, unless it was kept.
pub struct StagedFile {
    upload: Upload,
    record: AssetRecord,
}

impl std::fmt::Debug for StagedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StagedFile").field("record", &self.record).finish_non_exhaustive()
    }
}

impl StagedFile {
    /// The record of the file that it becomes, for [`Edit::CreateAsset`].
    pub const fn record(&self) -> &AssetRecord {
        &self.record
    }

    /// Keeps the bytes, after the edit that makes them a file was written.
    pub fn keep(self) {
        self.upload.keep();
    }
}

/// An ID source that returns the planned ID of the root first, and freshly allocated IDs after it.
///
/// They have the present time, not that of the stamp: IDs of one millisecond are in no order, and a
/// batch whose rows lie apart from those of the batches before is written in one place.
struct PlannedRoot<'a> {
    root: DocumentId,
    is_used: AtomicBool,
    others: &'a dyn IdSource,
    now: Timestamp,
}

impl IdSource for PlannedRoot<'_> {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        if self.is_used.swap(true, Ordering::Relaxed) {
            self.others.new_id(self.now)
        } else {
            self.root.root().to_bytes()
        }
    }
}
