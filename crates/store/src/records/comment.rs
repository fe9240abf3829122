//! Comment records: a comment without its ID, which ends its key; and the block of a comment.

use leafbase_model::{BlockId, Comment, CommentId, Stamp};

use super::layout::{Value, record};
use crate::msgpack::{Decoded, Decoder};

record! {
    encode / decode [id: CommentId] ()
    Comment = { Comment { id, author, content, created_at, edited, resolved } };
    created_at(required), author, content, edited, resolved,
}

record! {
    Stamp = { Stamp { at, by } };
    at(required), by,
}

/// Decodes the block of a comment.
pub(crate) fn decode_block(decoder: &mut Decoder<'_>) -> Decoded<BlockId> {
    BlockId::decode(decoder)
}
