//! What keeps an edit from being undone.

use leafbase_model::{
    BlockData, BlockId, BlockRecord, DocumentId, Edit, Location, Result, SubtreeNode, Subtrees,
};
use leafbase_tree_ops::{Context, ReadTree};

use crate::core::edges;
use crate::core::tree::Tree;

/// Something that keeps an edit from being undone.
pub(crate) struct Obstacle {
    /// Its kind and ID, such as `blocks.ID`.
    pub(crate) path: String,
    pub(crate) message: String,
}

impl Obstacle {
    pub(crate) fn new(kind: &str, id: impl std::fmt::Display, message: &str) -> Self {
        Self { path: format!("{kind}.{id}"), message: message.to_owned() }
    }

    pub(crate) fn block(id: BlockId, message: &str) -> Self {
        Self::new("blocks", id, message)
    }
}

/// The edits that an inverse edit comes to now, or what is in the way.
pub(crate) type Rebased = std::result::Result<Vec<Edit>, Vec<Obstacle>>;

pub(crate) fn refused(obstacle: Obstacle) -> Rebased {
    Err(vec![obstacle])
}

/// The blocks with comments, which would go with them.
pub(crate) fn commented(
    tree: &Tree<'_>,
    document: DocumentId,
    subtrees: &Subtrees,
) -> Result<Vec<Obstacle>> {
    let mut blocks: Vec<_> = subtrees.0.iter().map(|node| node.block.id).collect();
    blocks.sort_unstable();
    let comments = tree.comments_among(document, &blocks)?;
    Ok(comments.iter().map(|(block, _)| Obstacle::block(*block, "has a comment")).collect())
}

/// The blocks as they return: with higher revisions than they had.
pub(crate) fn restored(context: &Context<'_>, subtrees: &Subtrees) -> Subtrees {
    let node = |node: &SubtreeNode| {
        let (rev, modified) = (node.block.rev.saturating_add(1), context.stamp.clone());
        SubtreeNode { block: BlockRecord { rev, modified, ..node.block.clone() }, ..node.clone() }
    };
    Subtrees(subtrees.0.iter().map(node).collect())
}

/// A file that the data shows and that was erased with its last block.
pub(crate) fn lost_file(tree: &Tree<'_>, data: &BlockData) -> Result<Option<Obstacle>> {
    let mut files = Vec::new();
    edges::files(data, &mut |file| files.push(file));
    for file in files {
        if tree.file(file)?.is_none() {
            return Ok(Some(Obstacle::new("files", file, "was erased with its last block")));
        }
    }
    Ok(None)
}

/// The document if it is in the trash, where nothing is written.
pub(crate) fn trashed(tree: &Tree<'_>, document: DocumentId) -> Result<Option<Obstacle>> {
    let is_trashed = |location| location == Location::Trash;
    let record = tree.document(document)?.filter(|record| is_trashed(record.location));
    Ok(record.map(|_| Obstacle::new("documents", document, "is in the trash")))
}
