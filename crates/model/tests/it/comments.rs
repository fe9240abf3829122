//! Comments: the request, and the reply.

use leafbase_model::{AddComments, AddedComment, BlockId, CommentDraft, DocumentId};

use crate::support::id;
use crate::wire::{also_read, of, refused, with_ids, written};

#[test]
fn additions() {
    written(&[
        (r#"{"comments":[]}"#, AddComments::default()),
        (
            r#"{"comments":[{"blockId":"ID1","content":"Why?"},{"blockId":"ID2","content":" "}]}"#,
            AddComments::new([
                CommentDraft::new(id(1), "Why?"),
                CommentDraft::new(of::<DocumentId>(2), " "),
            ]),
        ),
    ]);
    also_read(&[(
        r#"{"comments":[{"blockId":"?","content":""}]}"#,
        AddComments::new([CommentDraft::new(BlockId::NIL, "")]),
    )]);
    refused::<AddComments>(&[
        ("{}", "comments", "the field `comments` is missing"),
        (
            r#"{"comments":{"blockId":"ID1","content":"x"}}"#,
            "comments",
            "expected an array, got an object",
        ),
        (
            r#"{"comments":[{"content":"x"}]}"#,
            "comments[0].blockId",
            "the field `blockId` is missing",
        ),
        (
            r#"{"comments":[{"blockId":1,"content":"x"}]}"#,
            "comments[0].blockId",
            "expected an ID, got 1",
        ),
        (
            r#"{"comments":[{"blockId":"ID1"}]}"#,
            "comments[0].content",
            "the field `content` is missing",
        ),
        (
            r#"{"comments":[{"blockId":"ID1","content":null}]}"#,
            "comments[0].content",
            "expected a string, got null",
        ),
        (
            r#"{"comments":[{"blockId":"ID1","content":"x","author":"Ben"}]}"#,
            "comments[0].author",
            "unknown field `author`",
        ),
        (r#"{"comments":[],"blockId":"ID1"}"#, "blockId", "unknown field `blockId`"),
    ]);
}

#[test]
fn the_reply_has_the_id() {
    let added = AddedComment { comment_id: of(1) };
    assert_eq!(serde_json::to_string(&added).unwrap(), with_ids(r#"{"commentId":"ID1"}"#));
}
