//! What is set as the text of a block comes back byte for byte: as plain text and as inline
//! markdown, through JSON, through the markdown of its document, and after reopening.
//!
//! `LEAFBASE_CASES=full` runs as many texts as the specification of the test asks for.

use leafbase::{
    BlockData, BlockDraft, BlockPatch, Fetch, InsertBlocks, Limits, ListStyle, PlainText, Position,
    Space, TextStyle, UpdateBlocks,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Texts in one space: opening and closing it costs more than they do.
const TEXTS: usize = 40;

fn cases() -> u32 {
    tests::cases(25, 100_000 / u32::try_from(TEXTS).unwrap())
}

fn text() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "&#32;",
        "&#10;",
        "&amp;",
        "&",
        ";",
        "\\",
        "#",
        "# ",
        "- ",
        "-",
        "1. ",
        "> ",
        "***",
        "===",
        "|",
        "|-|",
        "<!-- -->",
        "http://x.org",
        "[a](http://x.org)",
        "![a](b.png)",
        "</page>",
        "<callout>",
        "`",
        "```",
        "$$",
        "[ ] ",
        "*",
        "**",
        "_",
        "~~",
        "\u{1}",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{a0}",
        "é",
        "日本",
        "word",
        "x",
    ];
    prop_oneof![
        5 => proptest::collection::vec(select(PIECES), 0..8).prop_map(|pieces| pieces.concat()),
        2 => any::<String>(),
        1 => "[ -~]{0,12}",
    ]
    .prop_map(|text| text.replace('\0', "\u{1}"))
}

/// The texts that clients were seen to lose.
const SEEN: [&str; 10] = [
    "hello ",
    " x",
    "line\n",
    "a\r\nb",
    " ",
    "# ",
    "http://x.org",
    "- [x] done",
    "\\*",
    "$$a\r$$\rb",
];

fn blocks_of(space: &Space, page: leafbase::BlockId) -> Vec<leafbase::Block> {
    space.connect().fetch(Fetch::new(page).with_text()).unwrap().children().to_vec()
}

fn check(texts: &[String]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    let space = Space::create(&path).unwrap();
    let notes = space.connect();
    let page = notes.create_document("Texts").unwrap().id();
    let end = Position::end_of(page);
    let drafts = texts.iter().map(|text| BlockDraft::plain(text.as_str()));
    notes.insert_blocks(InsertBlocks::blocks(drafts.collect(), end)).unwrap();
    let drafts = texts.iter().map(|text| BlockDraft::new(BlockData::text(text.as_str())));
    notes.insert_blocks(InsertBlocks::blocks(drafts.collect(), end)).unwrap();
    let empty = |_: &String| BlockDraft::new(BlockData::text("other"));
    let added =
        notes.insert_blocks(InsertBlocks::blocks(texts.iter().map(empty).collect(), end)).unwrap();
    let patches =
        added.iter().zip(texts).map(|(block, text)| BlockPatch::plain(block.id, text.as_str()));
    notes.update_blocks(UpdateBlocks::new(patches)).unwrap();
    let added =
        notes.insert_blocks(InsertBlocks::blocks(texts.iter().map(empty).collect(), end)).unwrap();
    let patches =
        added.iter().zip(texts).map(|(block, text)| BlockPatch::inline(block.id, text.as_str()));
    notes.update_blocks(UpdateBlocks::new(patches)).unwrap();

    let written = blocks_of(&space, page.root());
    assert_eq!(written.len(), 4 * texts.len());
    for (number, text) in texts.iter().enumerate() {
        for (way, plain) in [(0, true), (1, false), (2, true), (3, false)] {
            let block = &written[way * texts.len() + number];
            if plain {
                assert_eq!(block.plain.as_deref(), Some(text.as_str()), "plain, way {way}");
                assert_eq!(PlainText::of(&block.data.inline).as_str(), text);
            } else {
                assert_eq!(&block.data.inline, text, "inline, way {way}");
            }
        }
    }
    // As JSON, in block form, into other blocks.
    let copies: Vec<Value> =
        written.iter().map(|block| json!({"type": "text", "markdown": block.markdown()})).collect();
    let copy = notes.create_document("Copies").unwrap().id();
    let request = json!({"blocks": copies, "position": {"pageId": copy}});
    let request: InsertBlocks = space.read_json(&request.to_string()).unwrap();
    notes.insert_blocks(request).unwrap();
    same(&written, &blocks_of(&space, copy.root()));
    // Through the markdown of the document.
    let markdown = notes.content_markdown(page).unwrap();
    let parsed = notes.create_document("Parsed").unwrap().id();
    notes.insert_markdown(&markdown, parsed).unwrap();
    same(&written, &blocks_of(&space, parsed.root()));
    // After reopening.
    drop((notes, space));
    let space = Space::open(&path).unwrap();
    same(&written, &blocks_of(&space, page.root()));
}

#[track_caller]
fn same(written: &[leafbase::Block], read: &[leafbase::Block]) {
    let data = |blocks: &[leafbase::Block]| -> Vec<BlockData> {
        blocks.iter().map(|block| block.data.clone()).collect()
    };
    for (written, read) in data(written).iter().zip(&data(read)) {
        assert_eq!(written, read);
    }
    assert_eq!(written.len(), read.len());
}

#[test]
fn texts_that_were_lost_come_back() {
    check(&SEEN.map(str::to_owned));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_text_comes_back(texts in proptest::collection::vec(text(), TEXTS)) {
        check(&texts);
    }
}

#[test]
fn a_text_of_any_style_keeps_its_blanks() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let page = notes.create_document("Styles").unwrap().id();
    for style in TextStyle::ALL {
        for list in ListStyle::ALL {
            let block = notes.insert_markdown("x", page).unwrap()[0].id;
            let patch = BlockPatch::plain(block, " a\n\n# b ");
            let patch = patch.with_text_style(*style).with_list_style(*list);
            notes.update_blocks(patch.into()).unwrap();
            let shown = notes.fetch(Fetch::new(block).with_text()).unwrap();
            assert_eq!(shown.plain.as_deref(), Some(" a\n\n# b "), "{style} {list}");
            let rev = shown.rev;
            notes.update_markdown(block, shown.markdown()).unwrap();
            assert_eq!(notes.fetch(Fetch::new(block)).unwrap().rev, rev, "{style} {list}");
        }
    }
}

#[test]
fn a_text_without_an_end_is_refused() {
    let notes = Space::in_memory().unwrap().connect();
    let page = notes.create_document("Limits").unwrap().id();
    let refused = |draft| {
        let request = InsertBlocks::blocks(vec![draft], Position::end_of(page));
        let error = notes.insert_blocks(request).unwrap_err();
        format!("{} {}", error.code(), error.path())
    };
    assert_eq!(refused(BlockDraft::plain("a\0b")), "VALIDATION blocks[0].text");
    let long = "x".repeat(Limits::default().block_text + 1);
    assert_eq!(refused(BlockDraft::plain(long.as_str())), "LIMIT_EXCEEDED blocks[0].markdown");
    assert_eq!(refused(BlockDraft::markdown(long)), "LIMIT_EXCEEDED blocks[0].markdown");
}
