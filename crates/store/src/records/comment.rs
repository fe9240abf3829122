//! Comment records: what a comment is, without its ID, which its key ends with.

use leafbase_model::{Author, Comment, CommentId};

use crate::msgpack::{ArrayEncoder, Decoded, Decoder, time};

pub(crate) fn put(out: &mut Vec<u8>, comment: &Comment) {
    let Comment { id: _, author, content, created_at } = comment;
    ArrayEncoder::new(out).time(Some(*created_at)).str(author.as_str()).str(content).end();
}

pub(crate) fn read(id: CommentId, decoder: &mut Decoder<'_>) -> Decoded<Comment> {
    let mut fields = decoder.fields()?;
    let created_at = fields.required(time)?;
    let author = Author::new(fields.str()?);
    let content = fields.str()?.to_owned();
    fields.end()?;
    Ok(Comment { id, author, content, created_at })
}
