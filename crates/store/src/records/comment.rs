//! Comment records: a comment without its ID, which ends its key.

use leafbase_model::{Comment, CommentId};

use super::layout::record;

record! {
    encode / decode [id: CommentId] ()
    Comment = { Comment { id, author, content, created_at } };
    created_at(required), author, content,
}
