//! The elementary writes. Each carries what it replaces, so that its inverse can be computed.

use crate::{
    AssetRecord, BlockData, BlockId, Comment, DocumentId, DocumentRecord, FolderRecord,
    InsertTarget, Schema, Stamp,
};

/// A block as the store keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRecord {
    /// Its ID.
    pub id: BlockId,
    /// 1 when it is made, and one more with each change of its data, but for those that follow from
    /// the other end of a relation.
    pub rev: u64,
    /// The making.
    pub created: Stamp,
    /// The last change of its data.
    pub modified: Stamp,
    /// What it says.
    pub data: BlockData,
}

/// A block of a [`Subtrees`] with its depth in it.
#[derive(Clone, Debug, PartialEq)]
pub struct SubtreeNode {
    /// 0 for the top ones; at most one more than the node before.
    pub depth: u16,
    /// The block.
    pub block: BlockRecord,
}

/// Blocks that stand side by side, each with all below it, in reading order (a parent before its
/// children).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subtrees(pub Vec<SubtreeNode>);

impl Subtrees {
    /// A single block.
    pub fn one(block: BlockRecord) -> Self {
        Self(vec![SubtreeNode { depth: 0, block }])
    }

    /// How many levels of children stand below the deepest top block: 0 if none has any.
    pub fn height(&self) -> u16 {
        self.0.iter().map(|node| node.depth).max().unwrap_or(0)
    }

    /// Each block with its parent within the subtrees; `None` for top blocks.
    pub fn with_parents(&self) -> impl Iterator<Item = (Option<BlockId>, &BlockRecord)> {
        let mut path: Vec<BlockId> = Vec::new();
        self.0.iter().map(move |node| {
            path.truncate(usize::from(node.depth));
            let parent = path.last().copied();
            path.push(node.block.id);
            (parent, &node.block)
        })
    }
}

/// An elementary write. Applied in order; each describes the state that those before it left.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Blocks are put in; none of them exists before.
    Insert {
        /// Where.
        target: InsertTarget,
        /// What.
        subtrees: Subtrees,
    },
    /// Blocks are taken out, with all below them.
    Remove {
        /// Where the first of them stands.
        target: InsertTarget,
        /// What: side by side, and complete.
        subtrees: Subtrees,
    },
    /// A block says something else. One that keeps its `rev` and its stamps is a change that
    /// follows from one elsewhere, at the other end of a relation: then the time of its document's
    /// last change stays, too.
    Update {
        /// Its document.
        document: DocumentId,
        /// What it was.
        before: Box<BlockRecord>,
        /// What it is then: the same ID.
        after: Box<BlockRecord>,
    },
    /// A block, with all below it, stands elsewhere.
    Move {
        /// The block.
        block: BlockId,
        /// Where it stands.
        from: InsertTarget,
        /// Where it goes: `after` is never the block itself.
        to: InsertTarget,
    },
    /// A document is made, its root first in the subtrees.
    CreateDocument {
        /// The document.
        record: DocumentRecord,
        /// Its blocks: one top node, the root.
        subtrees: Subtrees,
    },
    /// A document is erased with all its blocks.
    EraseDocument {
        /// The document.
        record: DocumentRecord,
        /// Its blocks: one top node, the root.
        subtrees: Subtrees,
    },
    /// A document's location or day changes.
    UpdateDocument {
        /// What it was.
        before: DocumentRecord,
        /// What it is then: the same ID.
        after: DocumentRecord,
    },
    /// A folder is made.
    CreateFolder(FolderRecord),
    /// A folder goes; nothing is in it.
    RemoveFolder(FolderRecord),
    /// A folder has another name or parent.
    UpdateFolder {
        /// What it was.
        before: FolderRecord,
        /// What it is then: the same ID.
        after: FolderRecord,
    },
    /// A comment is put on a block.
    AddComment {
        /// The block's document.
        document: DocumentId,
        /// The block.
        block: BlockId,
        /// The comment.
        comment: Comment,
    },
    /// A comment is taken off a block. Those of a block that goes are taken off before.
    RemoveComment {
        /// The block's document.
        document: DocumentId,
        /// The block.
        block: BlockId,
        /// The comment.
        comment: Comment,
    },
    /// A file whose bytes were stored before is one of the space from now on.
    CreateAsset(AssetRecord),
    /// A file goes with its bytes; no block shows it. The bytes are no part of the edit: its
    /// inverse can be applied only where they were stored again.
    EraseAsset(AssetRecord),
    /// A collection gets a schema: its first right after its block was put in, with or without
    /// items; none right before its block is taken out. Items hold nothing under a key that comes
    /// with the edit, unless it is the first schema.
    SetSchema {
        /// The document of the collection.
        document: DocumentId,
        /// The block of the collection.
        collection: BlockId,
        /// What it was; none if it had none.
        before: Option<Box<Schema>>,
        /// What it is then.
        after: Option<Box<Schema>>,
        /// Whether it follows from a change elsewhere, at the other end of a relation: then the
        /// time of the document's last change stays.
        quiet: bool,
    },
}

impl Edit {
    /// The edit that brings back what this one replaced, applied right after it.
    pub fn inverse(&self) -> Self {
        match self.clone() {
            Self::Insert { target, subtrees } => Self::Remove { target, subtrees },
            Self::Remove { target, subtrees } => Self::Insert { target, subtrees },
            Self::Update { document, before, after } => {
                Self::Update { document, before: after, after: before }
            }
            Self::Move { block, from, to } => Self::Move { block, from: to, to: from },
            Self::CreateDocument { record, subtrees } => Self::EraseDocument { record, subtrees },
            Self::EraseDocument { record, subtrees } => Self::CreateDocument { record, subtrees },
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
            Self::CreateAsset(asset) => Self::EraseAsset(asset),
            Self::EraseAsset(asset) => Self::CreateAsset(asset),
            Self::SetSchema { document, collection, before, after, quiet } => {
                Self::SetSchema { document, collection, before: after, after: before, quiet }
            }
        }
    }
}
