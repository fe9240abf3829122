//! Requests as JSON.

use leafbase_model::{
    BlockData, BlockDraft, BlockId, BlockPatch, DayRef, DeleteBlocks, Edge, Fetch, FetchFrom,
    InsertBlocks, Items, Limits, MoveBlocks, Position, PositionTarget, UpdateBlocks, json,
};
use serde::de::DeserializeOwned;

use crate::support::id;
use crate::wire::without_known_fields;

fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let text = text.replace("ID1", &id(1).to_string()).replace("ID2", &id(2).to_string());
    json::from_str(&text, &Limits::default()).map_err(|error| error.to_string())
}

#[test]
fn fetch() {
    for (text, request) in [
        (r#"{"id":"ID1"}"#, Fetch::new(id(1))),
        (r#"{"id":"ID1","maxDepth":-1,"fetchMetadata":false}"#, Fetch::new(id(1))),
        (
            r#"{"id":"ID1","maxDepth":0,"fetchMetadata":true}"#,
            Fetch::new(id(1)).depth(0).with_metadata(),
        ),
        (r#"{"id":"ID1","maxDepth":7}"#, Fetch::new(id(1)).depth(7)),
        (r#"{"date":"today"}"#, Fetch { from: FetchFrom::Day(DayRef::Today), ..Fetch::new(id(1)) }),
        (r#"{"id":"not an ID"}"#, Fetch::new(BlockId::NIL)),
    ] {
        assert_eq!(read::<Fetch>(text).unwrap(), request, "{text}");
    }
    for (text, message) in [
        ("{}", "name exactly one of id and date"),
        (r#"{"id":"ID1","date":"today"}"#, "name exactly one of id and date"),
        (r#"{"id":7}"#, "id: expected an ID, got 7"),
        (
            r#"{"id":"ID1","maxDepth":-2}"#,
            "maxDepth: expected -1 for all, or the number of levels, got -2",
        ),
        (r#"{"id":"ID1","maxDepth":1.5}"#, "maxDepth: expected a whole number, got 1.5"),
        (r#"{"id":"ID1","maxDepth":"1"}"#, r#"maxDepth: expected a whole number, got "1""#),
        (
            r#"{"id":"ID1","fetchMetadata":"yes"}"#,
            r#"fetchMetadata: expected true or false, got "yes""#,
        ),
        (r#"{"id":"ID1","depth":1}"#, "depth: unknown field `depth`"),
    ] {
        assert_eq!(without_known_fields(&read::<Fetch>(text).unwrap_err()), message, "{text}");
    }
}

#[test]
fn insert() {
    let milk = BlockDraft::new(BlockData::text("milk"));
    for (text, request) in [
        (
            r#"{"blocks":[{"type":"text","inlineMarkdown":"milk"}],"position":{"pageId":"ID1"}}"#,
            InsertBlocks::blocks(vec![milk], Position::end_of(id(1))),
        ),
        (
            r#"{"blocks":[]}"#,
            InsertBlocks::blocks(vec![], Position::Within(Edge::End, PositionTarget::Unnamed)),
        ),
        (
            r#"{"markdown":"- milk","position":{"position":"after","siblingId":"ID2"}}"#,
            InsertBlocks::markdown("- milk", Position::after(id(2))),
        ),
    ] {
        assert_eq!(read::<InsertBlocks>(text).unwrap(), request, "{text}");
    }
    for (text, message) in [
        ("{}", "name exactly one of blocks and markdown"),
        (r#"{"blocks":[],"markdown":""}"#, "name exactly one of blocks and markdown"),
        (r#"{"blocks":{}}"#, "blocks: expected an array, got an object"),
        (r#"{"markdown":null}"#, "name exactly one of blocks and markdown"),
        (r#"{"markdown":"","position":"end"}"#, r#"position: expected an object, got "end""#),
        (r#"{"markdown":"","pageId":"ID1"}"#, "pageId: unknown field `pageId`"),
        ("[]", "expected an object, got an array"),
    ] {
        assert_eq!(
            without_known_fields(&read::<InsertBlocks>(text).unwrap_err()),
            message,
            "{text}"
        );
    }
}

#[test]
fn update_delete_and_move() {
    assert_eq!(
        read::<UpdateBlocks>(r#"{"blocks":[{"id":"ID1","markdown":"x"},{"id":"ID2"}]}"#)
            .unwrap()
            .blocks,
        [BlockPatch::markdown(id(1), "x"), BlockPatch { id: id(2), ..BlockPatch::default() }]
    );
    for (text, ids) in [
        (r#"{"blockIds":"ID1"}"#, vec![id(1)]),
        (r#"{"blockIds":["ID2","ID1"]}"#, vec![id(2), id(1)]),
        (r#"{"blockIds":[]}"#, vec![]),
        (r#"{"blockIds":["?"]}"#, vec![BlockId::NIL]),
    ] {
        assert_eq!(read::<DeleteBlocks>(text).unwrap().block_ids, ids, "{text}");
    }
    let moved = r#"{"blockIds":"ID1","position":{"position":"start","date":"tomorrow"}}"#;
    let position = Position::Within(Edge::Start, PositionTarget::Day(DayRef::Tomorrow));
    assert_eq!(read::<MoveBlocks>(moved).unwrap(), MoveBlocks::new(vec![id(1)], position));
    for (result, message) in [
        (read::<UpdateBlocks>("{}").map(drop), "blocks: the field `blocks` is missing"),
        (
            read::<UpdateBlocks>(r#"{"blocks":[{}]}"#).map(drop),
            "blocks[0].id: the field `id` is missing",
        ),
        (
            read::<UpdateBlocks>(r#"{"blocks":[{"id":"ID1","rev":-1}]}"#).map(drop),
            "blocks[0].rev: expected a whole number, 0 or more, got -1",
        ),
        (
            read::<UpdateBlocks>(r#"{"blocks":[{"id":"ID1","content":{}}]}"#).map(drop),
            "blocks[0].content: expected an array, got an object",
        ),
        (read::<DeleteBlocks>("{}").map(drop), "blockIds: the field `blockIds` is missing"),
        (
            read::<DeleteBlocks>(r#"{"blockIds":["ID1",3]}"#).map(drop),
            "blockIds[1]: expected an ID, got 3",
        ),
        (
            read::<DeleteBlocks>(r#"{"blockIds":{}}"#).map(drop),
            "blockIds: expected an ID, got an object",
        ),
        (
            read::<DeleteBlocks>(r#"{"blockIds":[],"position":{}}"#).map(drop),
            "position: unknown field `position`, expected blockIds",
        ),
        (
            read::<MoveBlocks>(r#"{"blockIds":[],"position":{"pageId":1}}"#).map(drop),
            "position.pageId: expected an ID, got 1",
        ),
    ] {
        assert_eq!(result.unwrap_err(), message);
    }
}

#[test]
fn a_list_reply_is_an_object() {
    let items = Items(vec![id(1), id(2)]);
    let expected = r#"{"items":["00000000000000000000000001","00000000000000000000000002"]}"#;
    assert_eq!(serde_json::to_string(&items).unwrap(), expected);
    assert_eq!(serde_json::to_string(&Items::<u8>::default()).unwrap(), r#"{"items":[]}"#);
    assert_eq!(items.into_iter().count(), 2);
}
