//! Keys of comments.

use leafbase_model::{BlockId, CommentId, DocumentId};

use super::{COMMENT_BLOCKS, COMMENTS, id_at, joined, with_id};

/// The comments on all blocks of a document.
pub(crate) fn document_comments(document: DocumentId) -> [u8; 17] {
    with_id(COMMENTS, document.as_bytes())
}

/// The comments on a block.
pub(crate) fn block_comments(document: DocumentId, block: BlockId) -> [u8; 33] {
    joined(COMMENTS, &[document.as_bytes(), block.as_bytes()])
}

pub(crate) fn comment(document: DocumentId, block: BlockId, comment: CommentId) -> [u8; 49] {
    joined(COMMENTS, &[document.as_bytes(), block.as_bytes(), comment.as_bytes()])
}

/// Document, block and comment.
pub(crate) fn parse_comment(key: &[u8]) -> Option<(DocumentId, BlockId, CommentId)> {
    let (document, block, comment) = (id_at(key, 1)?, id_at(key, 17)?, id_at(key, 33)?);
    let read = (
        DocumentId::from_bytes(document),
        BlockId::from_bytes(block),
        CommentId::from_bytes(comment),
    );
    (key.len() == 49).then_some(read)
}

pub(crate) fn comment_block(comment: CommentId) -> [u8; 17] {
    with_id(COMMENT_BLOCKS, comment.as_bytes())
}

pub(crate) fn parse_comment_block(key: &[u8]) -> Option<CommentId> {
    id_at(key, 1).filter(|_| key.len() == 17).map(CommentId::from_bytes)
}
