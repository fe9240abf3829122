//! Comments: the requests, and the replies.

use leafbase_model::{
    AddComments, AddedComment, Author, BlockId, Comment, CommentDraft, CommentId, CommentPatch,
    DeleteComments, DocumentId, ListComments, ListedComment, Stamp, UpdateComments,
};

use crate::support::{anna, id, instant};
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
    also_read(&[
        (
            r#"{"comments":[{"blockId":"?","content":""}]}"#,
            AddComments::new([CommentDraft::new(BlockId::NIL, "")]),
        ),
        // As a reply has it.
        (
            r#"{"comments":[{"blockId":"ID1","id":"ID2","author":"Ben","content":"x","createdAt":"2026-03-01T09:30:00.000Z","resolvedAt":"2026-03-01T09:30:00.000Z","resolvedBy":"Ben"}]}"#,
            AddComments::new([CommentDraft::new(id(1), "x")]),
        ),
    ]);
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
            r#"{"comments":[{"blockId":"ID1","content":"x","resolved":false}]}"#,
            "comments[0].resolved",
            "unknown field `resolved`",
        ),
        (r#"{"comments":[],"blockId":"ID1"}"#, "blockId", "unknown field `blockId`"),
    ]);
}

#[test]
fn the_reply_has_the_id() {
    let added = AddedComment { comment_id: of(1) };
    assert_eq!(serde_json::to_string(&added).unwrap(), with_ids(r#"{"commentId":"ID1"}"#));
}

#[test]
fn lists() {
    let document = of::<DocumentId>(1);
    written(&[
        (r#"{"documentId":"ID1"}"#, ListComments::of(document)),
        (r#"{"documentId":"ID1","resolved":false}"#, ListComments::of(document).open()),
        (r#"{"blockIds":["ID1","ID2"],"resolved":true}"#, {
            ListComments::on([id(1), id(2)]).resolved()
        }),
    ]);
    also_read(&[
        (r#"{"blockIds":"ID1","documentId":null}"#, ListComments::of(id(1))),
        (r#"{"blockIds":["ID1"],"resolved":null}"#, ListComments::of(id(1))),
    ]);
    let one = "name exactly one of blockIds and documentId";
    refused::<ListComments>(&[
        ("{}", "", one),
        (r#"{"documentId":"ID1","blockIds":["ID1"]}"#, "", one),
        (
            r#"{"documentId":"ID1","resolved":"yes"}"#,
            "resolved",
            "expected true or false, got \"yes\"",
        ),
        (r#"{"documentId":"ID1","open":true}"#, "open", "unknown field `open`"),
    ]);
}

#[test]
fn updates() {
    written(&[
        (r#"{"comments":[]}"#, UpdateComments::default()),
        (
            r#"{"comments":[{"id":"ID1","content":"When?"},{"id":"ID2","resolved":false}]}"#,
            UpdateComments::new([
                CommentPatch::of(of(1)).with_content("When?"),
                CommentPatch::of(of(2)).with_resolved(false),
            ]),
        ),
    ]);
    refused::<UpdateComments>(&[
        (r#"{"comments":[{"content":"x"}]}"#, "comments[0].id", "the field `id` is missing"),
        (r#"{"comments":[{"id":"ID1","text":"x"}]}"#, "comments[0].text", "unknown field `text`"),
        (
            r#"{"comments":[{"id":"ID1","resolved":1}]}"#,
            "comments[0].resolved",
            "expected true or false, got 1",
        ),
    ]);
}

#[test]
fn deletions() {
    written(&[(r#"{"commentIds":["ID1"]}"#, DeleteComments::from(of::<CommentId>(1)))]);
    also_read(&[(r#"{"commentIds":"ID1"}"#, DeleteComments::new([of(1)]))]);
    refused::<DeleteComments>(&[("{}", "commentIds", "the field `commentIds` is missing")]);
}

/// A comment of a reply is an update that changes nothing.
#[test]
fn a_listed_comment_is_a_patch() {
    let stamp = |at, by: &Author| Stamp { at: instant(at), by: by.clone() };
    let created = stamp("2026-03-01T09:30:00.000Z", &anna());
    let open = Comment::new(of(2), created, "Why?");
    let resolved = Comment {
        edited: Some(stamp("2026-03-02T09:30:00.000Z", &Author::ANONYMOUS)),
        resolved: Some(stamp("2026-03-03T09:30:00.000Z", &anna())),
        ..open.clone()
    };
    let [open, resolved] =
        [open, resolved].map(|comment| ListedComment { block_id: id(1), comment });
    for (listed, json) in [
        (
            open,
            r#"{"blockId":"ID1","id":"ID2","author":"Anna","content":"Why?","createdAt":"2026-03-01T09:30:00.000Z"}"#,
        ),
        (
            resolved,
            r#"{"blockId":"ID1","id":"ID2","author":"Anna","content":"Why?","createdAt":"2026-03-01T09:30:00.000Z","lastModifiedAt":"2026-03-02T09:30:00.000Z","resolvedAt":"2026-03-03T09:30:00.000Z","resolvedBy":"Anna"}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&listed).unwrap(), with_ids(json));
        also_read(&[(json, CommentPatch::of(of(2)).with_content("Why?"))]);
    }
}
