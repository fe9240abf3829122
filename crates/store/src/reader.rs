//! Reads of one state of a space: a snapshot's, or an open write's.

use std::fmt;

use leafbase_model::{
    BlockId, BlockRecord, Change, Day, DocumentId, DocumentRecord, Error, ErrorKind, FolderId, FolderRecord, Forest,
    Location, Result, Timestamp,
};

use crate::edges::{BackLink, EdgeEnd, EdgeExtractor, EdgeTarget};
use crate::kv::Read;
use crate::space_store::SpaceMeta;

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// The document it belongs to.
    pub document: DocumentId,
    /// The block it is a child of; none for a document's root.
    pub parent: Option<BlockId>,
}

/// Which documents a listing gives, and by what they are sorted. Bounds are inclusive; none is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Listing {
    /// All, by ID.
    All,
    /// Those kept in one place, by ID.
    At(Location),
    /// By the last change.
    Modified {
        /// The earliest.
        from: Option<Timestamp>,
        /// The latest.
        to: Option<Timestamp>,
    },
    /// By the making.
    Created {
        /// The earliest.
        from: Option<Timestamp>,
        /// The latest.
        to: Option<Timestamp>,
    },
    /// Daily notes by their day.
    Days {
        /// The first.
        from: Option<Day>,
        /// The last.
        to: Option<Day>,
    },
}

/// Where a listing goes on. Opaque; it stays good when documents come and go meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor(pub(crate) Vec<u8>);

impl Cursor {
    /// Its bytes, to be handed out.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A cursor that was handed out. A listing refuses one that is not its own.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_owned())
    }
}

/// A part of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentPage {
    /// The documents, in the order of the listing.
    pub documents: Vec<DocumentRecord>,
    /// Where it goes on; none if this was all.
    pub next: Option<Cursor>,
}

/// Reads of one consistent state. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub(crate) read: &'a dyn Read,
    pub(crate) extractor: EdgeExtractor,
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

fn not_yet<T>() -> Result<T> {
    Err(Error::new(ErrorKind::Storage, "not built yet"))
}

impl Reader<'_> {
    /// Where `block` stands, if it exists.
    ///
    /// # Errors
    /// What the store reports; [`ErrorKind::Corrupted`].
    pub fn locate(&self, _block: BlockId) -> Result<Option<Standing>> {
        not_yet()
    }

    /// The block itself, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn block(&self, _block: BlockId) -> Result<Option<BlockRecord>> {
        not_yet()
    }

    /// The document's record, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn document(&self, _document: DocumentId) -> Result<Option<DocumentRecord>> {
        not_yet()
    }

    /// The last child of `parent`, a block of `document`.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn last_child(&self, _document: DocumentId, _parent: BlockId) -> Result<Option<BlockId>> {
        not_yet()
    }

    /// The sibling right before `block`; none if it is the first, a root, or does not exist.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn previous_sibling(&self, _block: BlockId) -> Result<Option<BlockId>> {
        not_yet()
    }

    /// The first children of `parent`, at most `limit`.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn first_children(&self, _document: DocumentId, _parent: BlockId, _limit: usize) -> Result<Vec<BlockRecord>> {
        not_yet()
    }

    /// The IDs of all children of `parent`, in order. No block is decoded.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn children(&self, _document: DocumentId, _parent: BlockId) -> Result<Vec<BlockId>> {
        not_yet()
    }

    /// `block` and all below it down to `max_depth` levels (none: all), in reading order; empty if it does not exist.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn subtree(&self, _block: BlockId, _max_depth: Option<usize>) -> Result<Forest> {
        not_yet()
    }

    /// At most `limit` documents of `listing` after `cursor`, last ones first if `descending`.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`ErrorKind::Validation`] if the cursor is not of this listing.
    pub fn documents(
        &self,
        _listing: Listing,
        _descending: bool,
        _cursor: Option<&Cursor>,
        _limit: usize,
    ) -> Result<DocumentPage> {
        not_yet()
    }

    /// The folder, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn folder(&self, _folder: FolderId) -> Result<Option<FolderRecord>> {
        not_yet()
    }

    /// The folders in `parent`, or at the top, by ID.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn folders_in(&self, _parent: Option<FolderId>) -> Result<Vec<FolderRecord>> {
        not_yet()
    }

    /// All folders, by ID.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn folders(&self) -> Result<Vec<FolderRecord>> {
        not_yet()
    }

    /// At most `limit` blocks that point to `target`, by kind and ID, after `after`.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn edges_to(&self, _target: EdgeEnd, _after: Option<BackLink>, _limit: usize) -> Result<Vec<BackLink>> {
        not_yet()
    }

    /// What `block` points to, sorted, each once; empty if it does not exist.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn edges_from(&self, _block: BlockId) -> Result<Vec<EdgeTarget>> {
        not_yet()
    }

    /// At most `limit` rows of the change log after the one numbered `sequence`.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn changes_after(&self, _sequence: u64, _limit: usize) -> Result<Vec<Change>> {
        not_yet()
    }

    /// The number of the last row of the change log; 0 if there is none.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn last_sequence(&self) -> Result<u64> {
        not_yet()
    }

    /// What the space says of itself.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`ErrorKind::NotASpace`]; [`ErrorKind::NewerFormat`].
    pub fn meta(&self) -> Result<SpaceMeta> {
        not_yet()
    }
}
