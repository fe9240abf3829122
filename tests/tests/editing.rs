//! An editor's keys: each row is a document with a cursor, a key, and the document after it. Each
//! key is one change, and its undo gives the document back.

use leafbase::{
    BlockId, Connection, Document, Error, ErrorKind, Fetch, IndentBlocks, MergeBlock, Space,
    SplitBlock,
};

/// Stands for the cursor in the documents of rows.
const CURSOR: char = '¦';

/// Before a key, the key, and after it: `Enter` splits, `Backspace` merges, `Tab` indents and
/// `Outdent` outdents the block with the cursor, or the blocks from one cursor to another.
const ROWS: &[(&str, &str, &str)] = &[
    // Split.
    ("ab¦cd", "Enter", "ab\n\ncd"),
    ("- a¦b", "Enter", "- a\n- b"),
    ("- a¦b\n  - c", "Enter", "- a\n- b\n  - c"),
    ("- a\n  - b¦c\n- d", "Enter", "- a\n  - b\n  - c\n- d"),
    ("1. a¦b", "Enter", "1. a\n1. b"),
    ("+ a¦b", "Enter", "+ a\n+ b"),
    ("- [ ] a¦b", "Enter", "- [ ] a\n- [ ] b"),
    ("- [x] a¦b", "Enter", "- [x] a\n- [ ] b"),
    ("# a¦b", "Enter", "# a\n\n# b"),
    ("é¦ü", "Enter", "é\n\nü"),
    ("**a¦b**", "Enter", "**a**\n\n**b**"),
    ("**ab¦** c", "Enter", "**ab**\n\n&#32;c"),
    ("a **¦bc**", "Enter", "a&#32;\n\n**bc**"),
    ("x **a *b¦c* d** y", "Enter", "x **a *b***\n\n***c* d** y"),
    ("~~a¦b~~", "Enter", "~~a~~\n\n~~b~~"),
    ("`a¦b`", "Enter", "`a`\n\n`b`"),
    ("x [a¦b](https://x.org)c", "Enter", "x [a](https://x.org)\n\n[b](https://x.org)c"),
    ("**[a¦b](https://x.org) c**", "Enter", "**[a](https://x.org)**\n\n**[b](https://x.org) c**"),
    (
        "<highlight color=\"yellow\">a¦b</highlight>",
        "Enter",
        "<highlight color=\"yellow\">a</highlight>\n\n<highlight color=\"yellow\">b</highlight>",
    ),
    ("a¦\\*b", "Enter", "a\n\n\\*b"),
    ("a\\*¦b", "Enter", "a\\*\n\nb"),
    ("**a¦\\*b**", "Enter", "**a**\n\n**\\*b**"),
    ("**\\*a¦b**", "Enter", "**\\*a**\n\n**b**"),
    ("a &amp;¦ b", "Enter", "a &amp;\n\n&#32;b"),
    ("> a¦b", "Enter", "> a\n>\n> b"),
    // Merge.
    ("ab\n\n¦cd", "Backspace", "abcd"),
    ("- a\n- ¦b", "Backspace", "- ab"),
    ("# a\n\n¦b", "Backspace", "# ab"),
    ("a\n\n# ¦b", "Backspace", "ab"),
    ("- [x] a\n- [ ] ¦b", "Backspace", "- [x] ab"),
    ("- a\n  - ¦b\n  - c", "Backspace", "- ab\n  - c"),
    ("**a**\n\n**¦b**", "Backspace", "**ab**"),
    ("***a***\n\n**¦b**", "Backspace", "***a*****b**"),
    ("**a *b***\n\n***¦c* d**", "Backspace", "**a *bc* d**"),
    ("~~a~~\n\n~~¦b~~ c", "Backspace", "~~ab~~ c"),
    ("`a`\n\n`¦b`", "Backspace", "`ab`"),
    ("x [a](https://x.org)\n\n[¦b](https://x.org)c", "Backspace", "x [ab](https://x.org)c"),
    (
        "see [a](https://x.org)\n\n[¦b](https://y.org)c",
        "Backspace",
        "see [a](https://x.org)[b](https://y.org)c",
    ),
    ("a\n\n*¦b*", "Backspace", "a*b*"),
    ("a\\*\n\n¦b\\*", "Backspace", "a\\*b\\*"),
    // Indent and outdent.
    ("- a\n- ¦b", "Tab", "- a\n  - b"),
    ("- a\n- ¦b\n  - c\n- d", "Tab", "- a\n  - b\n    - c\n- d"),
    ("- a\n- ¦b\n- ¦c\n- d", "Tab", "- a\n  - b\n  - c\n- d"),
    ("- a\n- ¦b\n- ¦c\n  - d\n- e", "Tab", "- a\n  - b\n  - c\n    - d\n- e"),
    ("1. a\n2. ¦b", "Tab", "1. a\n   1. b"),
    ("- [ ] a\n- [ ] ¦b", "Tab", "- [ ] a\n  - [ ] b"),
    ("- a\n  - ¦b", "Outdent", "- a\n- b"),
    ("- a\n  - ¦b\n    - c\n  - d", "Outdent", "- a\n- b\n  - c\n  - d"),
    ("- ¦a\n- b", "Outdent", "- a\n- b"),
    ("- ¦a\n  - b\n- ¦c", "Outdent", "- a\n  - b\n- c"),
    ("- a\n  - ¦b\n    - c\n- ¦d", "Outdent", "- a\n- b\n  - c\n- d"),
];

/// A document in a space of its own.
struct Page {
    notes: Connection,
    document: Document,
}

impl Page {
    fn of(markdown: &str) -> Self {
        let notes = Space::in_memory().unwrap().connect();
        let document = notes.create_document("Page").unwrap();
        notes.insert_markdown(markdown, document.id()).unwrap();
        Self { notes, document }
    }

    fn markdown(&self) -> String {
        self.notes.content_markdown(self.document.id()).unwrap()
    }

    /// The blocks with their plain texts.
    fn texts(&self) -> Vec<(BlockId, String)> {
        let page = self.notes.fetch(Fetch::new(self.document.id()).with_text()).unwrap();
        let text = |plain: &Option<Box<str>>| plain.as_deref().unwrap_or_default().to_owned();
        page.children().iter().map(|block| (block.id, text(&block.plain))).collect()
    }

    fn press(&self, key: &str, [first, last]: [BlockId; 2], offset: usize) -> Result<(), Error> {
        let range = IndentBlocks::range(first, last);
        match key {
            "Enter" => self.notes.split_block(SplitBlock::new(first, offset)).map(drop),
            "Backspace" => self.notes.merge_block(MergeBlock::from(first)).map(drop),
            "Tab" => self.notes.indent_blocks(range).map(drop),
            "Outdent" => self.notes.indent_blocks(range.by(-1)).map(drop),
            other => panic!("no key {other}"),
        }
    }
}

/// The numbers of the first and the last block with a cursor, and its offset in the first.
fn cursors(markdown: &str) -> ([usize; 2], usize) {
    let texts = Page::of(markdown).texts();
    let mut found =
        texts.iter().enumerate().filter_map(|(index, (_, text))| Some((index, text.find(CURSOR)?)));
    let (first, offset) = found.next().unwrap_or_else(|| panic!("no cursor in {markdown:?}"));
    ([first, found.next_back().map_or(first, |(last, _)| last)], offset)
}

/// What is wrong with a row.
fn fault(before: &str, key: &str, after: &str) -> Option<String> {
    let ([first, last], offset) = cursors(before);
    let page = Page::of(&before.replace(CURSOR, ""));
    let (unchanged, blocks) = (page.markdown(), page.texts());
    let sequence = page.notes.last_sequence().unwrap();
    page.press(key, [blocks[first].0, blocks[last].0], offset).unwrap();
    let found = page.markdown();
    if found != after {
        return Some(format!("{before:?} {key}: {found:?} and not {after:?}"));
    }
    let changes: Vec<_> = page.notes.changes_since(sequence).collect::<Result<_, _>>().unwrap();
    let [change] = changes.as_slice() else {
        return (found != unchanged || !changes.is_empty()).then(|| format!("{before:?}: changes"));
    };
    page.notes.space().apply(page.notes.author(), &change.inverse().unwrap()).unwrap();
    assert!(page.notes.space().check().unwrap().is_clean(), "{before:?} {key}");
    (page.markdown() != unchanged).then(|| format!("{before:?} {key}: undone {}", page.markdown()))
}

#[test]
fn keys_do_what_an_editor_expects() {
    let faults: Vec<_> = ROWS.iter().filter_map(|(a, key, b)| fault(a, key, b)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The control: a row that says something else is reported.
#[test]
fn a_wrong_row_is_reported() {
    assert!(fault("a¦b", "Enter", "ab").is_some());
    assert!(fault("- a\n- ¦b", "Tab", "- a\n- b").is_some());
}

/// The ID and the comments stay with the text, and the new block is empty.
#[test]
fn a_split_at_an_edge_makes_an_empty_block() {
    for (markdown, offset, kept) in [("# ab", 0, 1), ("# ab", 2, 0), ("- [x] ab", 2, 0)] {
        let page = Page::of(markdown);
        let block = page.texts()[0].0;
        let halves = page.notes.split_block(SplitBlock::new(block, offset)).unwrap();
        assert_eq!(halves[kept].id, block, "{markdown} {offset}");
        let (text, empty) = (&halves[kept].data, &halves[1 - kept].data);
        assert_eq!((text.inline.as_str(), empty.inline.as_str()), ("ab", ""));
        assert_eq!(text.list_style, empty.list_style);
        assert_eq!(empty.text_format(), Some(&leafbase::TextFormat::default()));
        assert_eq!(empty.task.map(|task| task.state), text.task.map(|_| leafbase::TaskState::Todo));
        let order: Vec<_> = page.texts().into_iter().map(|(id, _)| id).collect();
        assert_eq!(order, [halves[0].id, halves[1].id]);
    }
}

/// Nothing is written, and the error names what is wrong.
#[test]
fn what_no_key_does_is_refused() {
    let rows: &[(&str, usize, &str, usize, ErrorKind, &str)] = &[
        ("ab", 0, "Enter", 3, ErrorKind::Validation, "offset"),
        ("é", 0, "Enter", 1, ErrorKind::Validation, "offset"),
        ("---", 0, "Enter", 0, ErrorKind::Validation, "blockId"),
        ("```\na\n```", 0, "Enter", 1, ErrorKind::Validation, "blockId"),
        ("a", 0, "Backspace", 0, ErrorKind::Validation, "blockId"),
        ("---\n\na", 1, "Backspace", 0, ErrorKind::Validation, "blockId"),
        ("a\n\n---", 1, "Backspace", 0, ErrorKind::Validation, "blockId"),
        ("- a\n- b", 0, "Tab", 0, ErrorKind::RuleViolation, "firstId"),
        ("- a\n  - b", 1, "Tab", 0, ErrorKind::RuleViolation, "firstId"),
    ];
    for (markdown, block, key, offset, kind, path) in rows {
        let page = Page::of(markdown);
        let (unchanged, block) = (page.markdown(), page.texts()[*block].0);
        let error = page.press(key, [block, block], *offset).unwrap_err();
        assert_eq!((error.kind(), error.path()), (*kind, *path), "{markdown:?} {key}: {error}");
        assert_eq!(page.markdown(), unchanged);
    }
    let page = Page::of("- a\n- b\n  - c\n    - d\n      - e\n        - f\n          - g");
    let blocks = page.texts();
    let error = page.press("Tab", [blocks[1].0, blocks[1].0], 0).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::RuleViolation, "levels"));
    let error = page.press("Tab", [blocks[2].0, blocks[1].0], 0).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "lastId"));
    let root = page.document.id().root();
    for key in ["Enter", "Backspace", "Tab"] {
        page.press(key, [root, root], 0).unwrap_err();
        let error = page.press(key, [BlockId::NIL, BlockId::NIL], 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{key}");
    }
}

/// In a batch the keys take part in its one change.
#[test]
fn keys_take_part_in_batches() {
    let page = Page::of("- one two");
    let block = page.texts()[0].0;
    let sequence = page.notes.last_sequence().unwrap();
    let batch = serde_json::json!({"operations": [
        {"operation": "split_block", "blockId": block, "offset": 4},
        {"operation": "indent_blocks", "firstId": "$0[1].id"},
    ]});
    let batch = page.notes.space().read_json(&batch.to_string()).unwrap();
    page.notes.run_batch(batch).unwrap();
    assert_eq!(page.markdown(), "- one&#32;\n  - two");
    assert_eq!(page.notes.last_sequence().unwrap(), sequence + 1);
}
