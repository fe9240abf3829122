//! Pages within pages: 64 levels and no more, by every door, and however deep what is given is.

mod hostile;
mod moves;
mod questions;
mod reading;
mod wide;

use leafbase::{
    BlockData, BlockDraft, BlockId, Destination, ErrorKind, Fetch, InsertBlocks, Limits,
    MoveBlocks, Position,
};
use serde_json::json;

use crate::host::{Host, wrong};

/// Runs on a stack as small as a host's thread may have, which what recursed over an input would
/// pass at once.
fn on_a_small_stack(work: impl FnOnce() + Send) {
    on_a_stack_of(256 << 10, work);
}

fn on_a_stack_of(bytes: usize, work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(bytes)
            .spawn_scoped(scope, work)
            .unwrap()
            .join()
            .unwrap();
    });
}

/// Limits that refuse nothing for its size, so that what nests is met as deep as it was given.
fn boundless() -> Limits {
    let mut limits = Limits::default();
    (limits.page_nesting, limits.folder_nesting) = (usize::MAX, usize::MAX);
    (limits.block_text, limits.block_raw, limits.comment) = (usize::MAX, usize::MAX, usize::MAX);
    (limits.markdown, limits.json, limits.attribute, limits.title) =
        (usize::MAX, usize::MAX, usize::MAX, usize::MAX);
    (limits.blocks_per_request, limits.blocks_per_fetch) = (usize::MAX, usize::MAX);
    limits
}

/// Pages within pages, so many in all.
fn nested(levels: usize) -> BlockDraft {
    (1..levels).fold(BlockDraft::new(BlockData::page("p")), |inner, _| {
        BlockDraft::new(BlockData::page("p")).with_content(vec![inner])
    })
}

fn insert(host: &Host, levels: usize, page: BlockId) -> Result<BlockId, String> {
    let request = InsertBlocks::blocks(vec![nested(levels)], Position::end_of(page));
    host.notes.insert_blocks(request).map(|items| items.0[0].id).map_err(|error| wrong(&error))
}

fn path(list: &str, levels: usize) -> String {
    format!("LIMIT_EXCEEDED {list}{}", ".content[0]".repeat(levels))
}

#[test]
fn inserted_blocks() {
    let host = Host::new();
    insert(&host, 64, host.id("root")).unwrap();
    assert_eq!(insert(&host, 65, host.id("root")), Err(path("blocks[0]", 64)));
    assert_eq!(insert(&host, 64, host.id("page")), Err(path("blocks[0]", 63)));
    insert(&host, 63, host.id("page")).unwrap();
}

#[test]
fn the_first_that_is_too_deep_is_named_as_it_was_given() {
    let host = Host::new();
    let split = BlockDraft::new(BlockData::text("a\n\nb\n\nc"));
    let drafts = vec![
        split.clone(),
        BlockDraft::new(BlockData::page("x")).with_content(vec![split, nested(64)]),
    ];
    let error =
        host.notes.insert_blocks(InsertBlocks::blocks(drafts, host.document())).unwrap_err();
    assert_eq!(wrong(&error), path("blocks[1].content[1]", 63));
}

#[test]
fn markdown() {
    let host = Host::new();
    let pages = |levels: usize| {
        "<page><pageTitle>p</pageTitle><content>".repeat(levels)
            + "x"
            + &"</content></page>".repeat(levels)
    };
    host.notes.insert_markdown(&pages(63), host.document()).unwrap();
    let error = host.notes.insert_markdown(&pages(64), host.document()).unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED markdown");
    let error =
        host.notes.insert_markdown(&pages(63), Position::end_of(host.id("page"))).unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED markdown");
    let error = host.notes.insert_markdown(&pages(1_000), host.document()).unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED markdown");
}

#[test]
fn json() {
    let host = Host::new();
    let body = |levels: usize| {
        let page = r#"{"type":"page","content":["#.repeat(levels - 1)
            + r#"{"type":"page"}"#
            + &"]}".repeat(levels - 1);
        format!(r#"{{"blocks":[{page}],"position":{{"pageId":"@root"}}}}"#)
    };
    host.ask("insert", &body(64)).unwrap();
    assert_eq!(host.line("insert", &body(65)), path("blocks[0]", 64));
    assert_eq!(host.line("insert", &body(100_000)), "LIMIT_EXCEEDED");
}

#[test]
fn moves() {
    let host = Host::new();
    let chain = insert(&host, 63, host.id("other")).unwrap();
    let go = |page: BlockId| {
        host.notes.move_blocks(MoveBlocks::new(vec![chain], Position::end_of(page)))
    };
    go(host.id("page")).unwrap();
    let deeper = insert(&host, 1, host.id("root")).unwrap();
    let deeper = insert(&host, 1, deeper).unwrap();
    assert_eq!(wrong(&go(deeper).unwrap_err()), "LIMIT_EXCEEDED blockIds[0]");
}

#[test]
fn documents() {
    let host = Host::new();
    host.notes.create_document_of(nested(65), Destination::Unsorted).unwrap();
    let error = host.notes.create_document_of(nested(66), Destination::Unsorted).unwrap_err();
    assert_eq!(wrong(&error), format!("LIMIT_EXCEEDED content[0]{}", ".content[0]".repeat(64)));
}

#[test]
fn drafts_of_any_depth_are_refused_on_a_small_stack() {
    const LEVELS: usize = 200_000;
    on_a_small_stack(|| {
        for host in [Host::new(), Host::with_limits(boundless())] {
            let known = Position::end_of(host.id("root"));
            for position in [known, Position::end_of(BlockId::NIL)] {
                let drafts = vec![BlockDraft::new(BlockData::text("a\n\nb")), nested(LEVELS)];
                host.notes.insert_blocks(InsertBlocks::blocks(drafts, position)).unwrap_err();
            }
            let deep_below_a_fault = BlockDraft::new(BlockData::text("x".repeat(1 << 20)))
                .with_content(vec![nested(LEVELS)]);
            let error = host
                .notes
                .insert_blocks(InsertBlocks::blocks(vec![deep_below_a_fault], known))
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
            for location in [Destination::Unsorted, Destination::Templates] {
                host.notes.create_document_of(nested(LEVELS), location).unwrap_err();
            }
            let odd = BlockDraft::new(BlockData::new(leafbase::BlockKind::Collection))
                .with_content(vec![nested(LEVELS)]);
            host.notes.create_document_of(odd, Destination::Unsorted).unwrap_err();
            // As deep as may be is read and written on it, too.
            let page = host.notes.create_document_of(nested(65), Destination::Unsorted).unwrap();
            assert_eq!(host.notes.fetch(Fetch::new(page.id())).unwrap().walk().count(), 65);
        }
    });
}

#[test]
fn a_limit_that_the_host_sets_is_the_one_that_holds() {
    let mut limits = Limits::default();
    limits.page_nesting = 2;
    let host = Host::with_limits(limits);
    insert(&host, 2, host.id("root")).unwrap();
    assert_eq!(insert(&host, 3, host.id("root")), Err(path("blocks[0]", 2)));
    let body = json!({"markdown": "x", "position": {"pageId": "@child"}});
    assert_eq!(host.line("insert", &body.to_string()), "LIMIT_EXCEEDED markdown");
}
