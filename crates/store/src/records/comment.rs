//! Comment records: what a comment is, without its ID, which its key ends with.

use leafbase_model::{Author, Comment, CommentId};

use crate::msgpack::{Pack, Unpack, Unpacked, time};

pub(crate) fn put(out: &mut Vec<u8>, comment: &Comment) {
    let Comment { id: _, author, content, created_at } = comment;
    Pack::new(out).time(Some(*created_at)).str(author.as_str()).str(content).end();
}

pub(crate) fn read(id: CommentId, unpack: &mut Unpack<'_>) -> Unpacked<Comment> {
    let mut fields = unpack.fields()?;
    let created_at = fields.required(time)?;
    let author = Author::new(fields.str()?);
    let content = fields.str()?.to_owned();
    fields.end()?;
    Ok(Comment { id, author, content, created_at })
}
