//! The elementary edits. Each contains the values it replaces, so that its inverse can be computed.

use crate::{
    AssetId, AssetRecord, BlockData, BlockId, Comment, DocumentId, DocumentRecord, Error,
    FolderRecord, InsertTarget, KeptScope, Result, Schema, SpaceSettings, Stamp,
};

/// The record of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRecord {
    /// The block ID.
    pub id: BlockId,
    /// The revision: 1 on creation, incremented by each change of the data, except for changes
    /// caused by the other end of a relation. 0 in a redacted record.
    pub rev: u64,
    /// Time and author of the creation.
    pub created: Stamp,
    /// Time and author of the last change of the data.
    pub modified: Stamp,
    /// The content.
    pub data: BlockData,
}

impl BlockRecord {
    /// The record that a purge leaves of a block in the change log: its ID and no content.
    pub fn redacted(id: BlockId) -> Self {
        let (created, modified) = (Stamp::default(), Stamp::default());
        Self { id, rev: 0, created, modified, data: BlockData::text("") }
    }

    /// Whether a purge redacted the record. Blocks in documents are not.
    pub const fn is_redacted(&self) -> bool {
        self.rev == 0
    }
}

/// A block of [`Subtrees`] with its depth.
#[derive(Clone, Debug, PartialEq)]
pub struct SubtreeNode {
    /// 0 for top blocks; at most one more than the depth of the previous node.
    pub depth: u16,
    /// The block.
    pub block: BlockRecord,
}

/// Sibling blocks with all descendants, in preorder: a parent precedes its children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subtrees(pub Vec<SubtreeNode>);

impl Subtrees {
    /// A single block without children.
    pub fn one(block: BlockRecord) -> Self {
        Self(vec![SubtreeNode { depth: 0, block }])
    }

    /// The number of levels below the top blocks; 0 if none has children.
    pub fn height(&self) -> u16 {
        self.0.iter().map(|node| node.depth).max().unwrap_or(0)
    }

    /// Iterates over the blocks with their parents within the subtrees; `None` for top blocks.
    pub fn with_parents(&self) -> impl Iterator<Item = (Option<BlockId>, &BlockRecord)> {
        let mut path: Vec<BlockId> = Vec::new();
        self.0.iter().map(move |node| {
            debug_assert!(usize::from(node.depth) <= path.len(), "depth grows by one per level");
            // Ancestors deeper than the node are complete: it is not a descendant of theirs.
            path.truncate(usize::from(node.depth));
            let parent = path.last().copied();
            path.push(node.block.id);
            (parent, &node.block)
        })
    }
}

/// An elementary edit. Edits are applied in order; each describes the state that the previous ones
/// produced.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Inserts blocks whose IDs do not exist yet.
    Insert {
        /// Where to insert them.
        target: InsertTarget,
        /// The inserted blocks.
        subtrees: Subtrees,
    },
    /// Removes blocks with all descendants.
    Remove {
        /// The position of the first block; the inverse inserts there.
        target: InsertTarget,
        /// The removed blocks: consecutive siblings with all descendants.
        subtrees: Subtrees,
    },
    /// Replaces the data of a block. If `rev` and the stamps stay the same, the edit is caused by a
    /// change at the other end of a relation, and the modification time of the document stays, too.
    Update {
        /// The document that contains the block.
        document: DocumentId,
        /// The record before the edit.
        before: Box<BlockRecord>,
        /// The record after the edit, with the same ID.
        after: Box<BlockRecord>,
    },
    /// Moves a block with all descendants.
    Move {
        /// The moved block.
        block: BlockId,
        /// The former position.
        from: InsertTarget,
        /// The new position; `after` is never the block itself.
        to: InsertTarget,
    },
    /// Creates a document.
    CreateDocument {
        /// The record of the document.
        record: DocumentRecord,
        /// Its blocks: one top node, the root.
        subtrees: Subtrees,
    },
    /// Erases a document with all its blocks.
    EraseDocument {
        /// The record of the document.
        record: DocumentRecord,
        /// Its blocks: one top node, the root.
        subtrees: Subtrees,
    },
    /// Purges a document: erases it with all its blocks, their comments and the schemas of its
    /// collections, and redacts every block that was last in it in all earlier changes. The edit
    /// has no inverse.
    PurgeDocument {
        /// The document.
        document: DocumentId,
        /// The files that only its blocks embedded, which are erased with it.
        files: Vec<AssetId>,
    },
    /// Changes the location or the day of a document.
    UpdateDocument {
        /// The record before the edit.
        before: DocumentRecord,
        /// The record after the edit, with the same ID.
        after: DocumentRecord,
    },
    /// Creates a folder.
    CreateFolder(FolderRecord),
    /// Removes an empty folder.
    RemoveFolder(FolderRecord),
    /// Renames or moves a folder.
    UpdateFolder {
        /// The record before the edit.
        before: FolderRecord,
        /// The record after the edit, with the same ID.
        after: FolderRecord,
    },
    /// Adds a comment to a block.
    AddComment {
        /// The document that contains the block.
        document: DocumentId,
        /// The block.
        block: BlockId,
        /// The comment.
        comment: Comment,
    },
    /// Removes a comment. The comments of a block are removed before the block itself.
    RemoveComment {
        /// The document that contains the block.
        document: DocumentId,
        /// The block.
        block: BlockId,
        /// The comment.
        comment: Comment,
    },
    /// Changes the content of a comment, resolves it or opens it again.
    UpdateComment {
        /// The document that contains the block.
        document: DocumentId,
        /// The block.
        block: BlockId,
        /// The comment before the edit.
        before: Comment,
        /// The comment after the edit, with the same ID.
        after: Comment,
    },
    /// Registers an uploaded file whose bytes are stored already.
    CreateAsset(AssetRecord),
    /// Erases a file with its bytes, once no block refers to it. The edit does not contain the
    /// bytes: its inverse applies only after they were stored again.
    EraseAsset(AssetRecord),
    /// Sets the schema of a collection: the first one right after the insertion of its block,
    /// `None` right before its removal. Items have no values under keys that the edit adds, unless
    /// it sets the first schema.
    SetSchema {
        /// The document that contains the collection.
        document: DocumentId,
        /// The block of the collection.
        collection: BlockId,
        /// The schema before the edit, if any.
        before: Option<Box<Schema>>,
        /// The schema after the edit, if any.
        after: Option<Box<Schema>>,
        /// Whether the edit is caused by a change at the other end of a relation: the modification
        /// time of the document stays.
        quiet: bool,
    },
    /// Changes the settings of the space. The first such edit of the change log has the settings
    /// at the beginning of the log, which are those at creation unless compaction dropped changes;
    /// without one, the settings of today applied from the beginning.
    UpdateSpace {
        /// The settings before the edit.
        before: SpaceSettings,
        /// The settings after the edit.
        after: SpaceSettings,
    },
    /// Keeps, replaces or deletes a scope of the host: `before` and `after` have the same name.
    SetScope {
        /// The scope before the edit, if any.
        before: Option<Box<KeptScope>>,
        /// The scope after the edit, if any.
        after: Option<Box<KeptScope>>,
    },
}

/// The kind of thing that an [`Edit`] changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditSubject {
    /// Blocks, comments and schemas within documents.
    Content,
    /// A document as a whole.
    Document,
    /// Folders, which are in no document.
    Folder,
    /// Files, kept scopes and the settings of the space, which are in no document.
    Space,
}

impl Edit {
    /// Whether it creates, removes or updates a folder.
    pub const fn is_of_folder(&self) -> bool {
        matches!(self.subject(), EditSubject::Folder)
    }

    /// The edit that undoes this one, applied right after it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::HistoryGone`] for a purge, and for an edit that one redacted.
    pub fn inverse(&self) -> Result<Self> {
        if self.is_redacted() {
            return Err(Error::history_gone("a purge redacted the edit, so it has no inverse"));
        }
        Ok(match self.clone() {
            Self::Insert { target, subtrees } => Self::Remove { target, subtrees },
            Self::Remove { target, subtrees } => Self::Insert { target, subtrees },
            Self::Update { document, before, after } => {
                Self::Update { document, before: after, after: before }
            }
            Self::Move { block, from, to } => Self::Move { block, from: to, to: from },
            Self::CreateDocument { record, subtrees } => Self::EraseDocument { record, subtrees },
            Self::EraseDocument { record, subtrees } => Self::CreateDocument { record, subtrees },
            Self::PurgeDocument { document, .. } => {
                let message = format!("document {document} was purged, which cannot be undone");
                return Err(Error::history_gone(message));
            }
            Self::UpdateDocument { before, after } => {
                Self::UpdateDocument { before: after, after: before }
            }
            Self::CreateFolder(folder) => Self::RemoveFolder(folder),
            Self::RemoveFolder(folder) => Self::CreateFolder(folder),
            Self::UpdateFolder { before, after } => {
                Self::UpdateFolder { before: after, after: before }
            }
            Self::AddComment { document, block, comment } => {
                Self::RemoveComment { document, block, comment }
            }
            Self::RemoveComment { document, block, comment } => {
                Self::AddComment { document, block, comment }
            }
            Self::UpdateComment { document, block, before, after } => {
                Self::UpdateComment { document, block, before: after, after: before }
            }
            Self::CreateAsset(asset) => Self::EraseAsset(asset),
            Self::EraseAsset(asset) => Self::CreateAsset(asset),
            Self::SetSchema { document, collection, before, after, quiet } => {
                Self::SetSchema { document, collection, before: after, after: before, quiet }
            }
            Self::UpdateSpace { before, after } => {
                Self::UpdateSpace { before: after, after: before }
            }
            Self::SetScope { before, after } => Self::SetScope { before: after, after: before },
        })
    }

    /// The kind of thing that the edit changes.
    pub const fn subject(&self) -> EditSubject {
        match self {
            Self::Insert { .. }
            | Self::Remove { .. }
            | Self::Update { .. }
            | Self::Move { .. }
            | Self::AddComment { .. }
            | Self::RemoveComment { .. }
            | Self::UpdateComment { .. }
            | Self::SetSchema { .. } => EditSubject::Content,
            Self::CreateDocument { .. }
            | Self::EraseDocument { .. }
            | Self::PurgeDocument { .. }
            | Self::UpdateDocument { .. } => EditSubject::Document,
            Self::CreateFolder(_) | Self::RemoveFolder(_) | Self::UpdateFolder { .. } => {
                EditSubject::Folder
            }
            Self::CreateAsset(_)
            | Self::EraseAsset(_)
            | Self::UpdateSpace { .. }
            | Self::SetScope { .. } => EditSubject::Space,
        }
    }

    /// The documents that the edit changes, or whose content it changes: two for a move between
    /// documents.
    ///
    /// ```
    /// use leafbase_model::{BlockId, DocumentId, Edit, EditSubject, InsertTarget};
    ///
    /// let [here, there] = [1, 2].map(|byte| DocumentId::from_bytes([byte; 16]));
    /// let at = |document: DocumentId| InsertTarget {
    ///     document,
    ///     parent: document.root(),
    ///     after: None,
    /// };
    /// let block = BlockId::from_bytes([3; 16]);
    /// let edit = Edit::Move { block, from: at(here), to: at(there) };
    /// assert_eq!(edit.subject(), EditSubject::Content);
    /// assert_eq!(edit.documents().collect::<Vec<_>>(), [here, there]);
    /// ```
    pub fn documents(&self) -> impl Iterator<Item = DocumentId> {
        let (first, second) = match self {
            Self::Insert { target, .. } | Self::Remove { target, .. } => {
                (Some(target.document), None)
            }
            Self::Move { from, to, .. } => {
                (Some(from.document), Some(to.document).filter(|to| *to != from.document))
            }
            Self::Update { document, .. }
            | Self::AddComment { document, .. }
            | Self::RemoveComment { document, .. }
            | Self::UpdateComment { document, .. }
            | Self::SetSchema { document, .. }
            | Self::PurgeDocument { document, .. } => (Some(*document), None),
            Self::CreateDocument { record, .. } | Self::EraseDocument { record, .. } => {
                (Some(record.id), None)
            }
            Self::UpdateDocument { after, .. } => (Some(after.id), None),
            Self::CreateFolder(_)
            | Self::RemoveFolder(_)
            | Self::UpdateFolder { .. }
            | Self::CreateAsset(_)
            | Self::EraseAsset(_)
            | Self::UpdateSpace { .. }
            | Self::SetScope { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The documents whose content the edit changes; none if it changes something else. A move
    /// names two, which may be the same.
    pub fn content_documents_mut(&mut self) -> impl Iterator<Item = &mut DocumentId> {
        let (first, second) = match self {
            Self::Insert { target, .. } | Self::Remove { target, .. } => {
                (Some(&mut target.document), None)
            }
            Self::Move { from, to, .. } => (Some(&mut from.document), Some(&mut to.document)),
            Self::Update { document, .. }
            | Self::AddComment { document, .. }
            | Self::RemoveComment { document, .. }
            | Self::UpdateComment { document, .. }
            | Self::SetSchema { document, .. } => (Some(document), None),
            Self::CreateDocument { .. }
            | Self::EraseDocument { .. }
            | Self::PurgeDocument { .. }
            | Self::UpdateDocument { .. }
            | Self::CreateFolder(_)
            | Self::RemoveFolder(_)
            | Self::UpdateFolder { .. }
            | Self::CreateAsset(_)
            | Self::EraseAsset(_)
            | Self::UpdateSpace { .. }
            | Self::SetScope { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The blocks that the edit names: those it changes, and the parents of those that come or go.
    /// A document is named by its root.
    pub fn blocks(&self) -> Vec<BlockId> {
        let all = |subtrees: &Subtrees, above: BlockId| {
            subtrees.0.iter().map(|node| node.block.id).chain([above]).collect()
        };
        match self {
            Self::Insert { target, subtrees } | Self::Remove { target, subtrees } => {
                all(subtrees, target.parent)
            }
            Self::CreateDocument { record, subtrees }
            | Self::EraseDocument { record, subtrees } => all(subtrees, record.id.root()),
            Self::Update { before, .. } => vec![before.id],
            Self::Move { block, from, to } => vec![*block, from.parent, to.parent],
            Self::AddComment { block, .. }
            | Self::RemoveComment { block, .. }
            | Self::UpdateComment { block, .. } => vec![*block],
            Self::SetSchema { collection, .. } => vec![*collection],
            Self::UpdateDocument { before, .. } => vec![before.id.root()],
            Self::PurgeDocument { .. }
            | Self::CreateFolder(_)
            | Self::RemoveFolder(_)
            | Self::UpdateFolder { .. }
            | Self::CreateAsset(_)
            | Self::EraseAsset(_)
            | Self::UpdateSpace { .. }
            | Self::SetScope { .. } => Vec::new(),
        }
    }

    /// Whether a purge redacted something in the edit.
    pub fn is_redacted(&self) -> bool {
        match self {
            Self::Insert { subtrees, .. }
            | Self::Remove { subtrees, .. }
            | Self::CreateDocument { subtrees, .. }
            | Self::EraseDocument { subtrees, .. } => {
                subtrees.0.iter().any(|node| node.block.is_redacted())
            }
            Self::Update { before, .. } => before.is_redacted(),
            Self::AddComment { comment, .. } | Self::RemoveComment { comment, .. } => {
                comment.is_redacted()
            }
            Self::UpdateComment { before, .. } => before.is_redacted(),
            Self::CreateAsset(asset) | Self::EraseAsset(asset) => asset.is_redacted(),
            Self::SetSchema { before, after, .. } => {
                before.iter().chain(after).any(|schema| schema.is_redacted())
            }
            Self::Move { .. }
            | Self::PurgeDocument { .. }
            | Self::UpdateDocument { .. }
            | Self::CreateFolder(_)
            | Self::RemoveFolder(_)
            | Self::UpdateFolder { .. }
            | Self::UpdateSpace { .. }
            | Self::SetScope { .. } => false,
        }
    }
}
