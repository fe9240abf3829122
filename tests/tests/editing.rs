//! An editor's keys: each row is a document with a cursor, a key, and the document after it. Each
//! key is one change, and its undo gives the document back.

use leafbase::{
    BlockId, BlockOrder, BlockPatch, BlockType, Connection, Decorations, Document, DuplicateBlocks,
    Error, ErrorKind, Fetch, IndentBlocks, ListStyle, MergeBlock, ShiftBlocks, SortBlocks, Space,
    SplitBlock, TextStyle, UpdateBlocks,
};

#[path = "editing/trace.rs"]
mod trace;

/// Stands for the cursor in the documents of rows.
const CURSOR: char = '¦';

/// Before a key, the key, and after it: `Enter` splits, `Backspace` merges, `Tab` indents and
/// `Outdent` outdents the block with the cursor, or the blocks from one cursor to another; `Up` and
/// `Down` shift them, `Duplicate` copies them, and the names of styles turn them into these. `Sort`
/// sorts the page.
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
    // Shift.
    ("a\n\n¦b", "Up", "b\n\na"),
    ("¦a\n\nb", "Down", "b\n\na"),
    ("- a\n- b\n- ¦c", "Up", "- a\n- c\n- b"),
    ("- ¦a\n- b\n- c", "Down", "- b\n- a\n- c"),
    ("- a\n  - x\n- ¦b", "Up", "- b\n- a\n  - x"),
    ("- a\n- ¦b\n  - x", "Up", "- b\n  - x\n- a"),
    ("- ¦a\n  - x\n- b\n  - y\n- c", "Down", "- b\n  - y\n- a\n  - x\n- c"),
    ("- a\n  - x\n  - ¦y", "Up", "- a\n  - y\n  - x"),
    ("- a\n  - ¦x\n    - z\n  - y\n- b", "Down", "- a\n  - y\n  - x\n    - z\n- b"),
    ("- a\n- ¦b\n- ¦c\n- d", "Up", "- b\n- c\n- a\n- d"),
    ("- a\n- ¦b\n- ¦c\n- d", "Down", "- a\n- d\n- b\n- c"),
    ("- a\n- ¦b\n- ¦c\n  - x\n- d", "Up", "- b\n- c\n  - x\n- a\n- d"),
    ("# a\n\n---\n\n¦b", "Up", "# a\n\nb\n\n*****"),
    ("¦a\n\n```\nx\n```", "Down", "```\nx\n```\n\na"),
    // Duplicate.
    ("¦a", "Duplicate", "a\n\na"),
    ("- [x] **¦a**\n- b", "Duplicate", "- [x] **a**\n- [x] **a**\n- b"),
    ("- ¦a\n  - x\n- b", "Duplicate", "- a\n  - x\n- a\n  - x\n- b"),
    ("- a\n  - ¦x\n- b", "Duplicate", "- a\n  - x\n  - x\n- b"),
    ("- ¦a\n- ¦b\n- c", "Duplicate", "- a\n- b\n- a\n- b\n- c"),
    ("# ¦a\n\nb", "Duplicate", "# a\n\n# a\n\nb"),
    ("> ¦a", "Duplicate", "> a\n>\n> a"),
    ("¦[a](https://x.org)", "Duplicate", "[a](https://x.org)\n\n[a](https://x.org)"),
    // Sort.
    ("¦b\n\na", "Sort", "a\n\nb"),
    ("- ¦item 10\n- Item 9\n- item 1", "Sort", "- item 1\n- Item 9\n- item 10"),
    ("- ¦b\n  - z\n  - y\n- a\n  - x", "Sort", "- a\n  - x\n- b\n  - z\n  - y"),
    ("- ¦a\n- **B**\n- c", "Sort", "- a\n- **B**\n- c"),
    ("- ¦a\n- b\n- c", "SortDown", "- c\n- b\n- a"),
    ("- ¦é\n- f\n- e", "Sort", "- e\n- é\n- f"),
    ("- [x] ¦a\n- [ ] b\n- [x] c\n- [ ] d", "SortTasks", "- [ ] b\n- [ ] d\n- [x] a\n- [x] c"),
    ("- ¦x 2\n- x 02\n- x 1", "Sort", "- x 1\n- x 2\n- x 02"),
    ("- ¦d\n- a\n- b\n- c", "Sort", "- a\n- b\n- c\n- d"),
    ("- ¦2024-10\n- 2024-9", "Sort", "- 2024-9\n- 2024-10"),
    ("> ¦b\n\n# a", "Sort", "# a\n\n> b"),
    ("- ¦b\n\n***\n\n- a", "SortDown", "- b\n- a\n\n***"),
    // Turn into.
    ("¦a\n\n¦b", "Bullets", "- a\n- b"),
    ("- ¦a\n- ¦b", "Numbers", "1. a\n1. b"),
    ("- ¦a\n- b", "Tasks", "- [ ] a\n- b"),
    ("- [x] ¦a", "Bullets", "- a"),
    ("- ¦a\n  - ¦b", "Plain", "a\n\nb"),
    ("¦a", "Heading", "# a"),
    ("# ¦a\n\n## ¦b", "Body", "a\n\nb"),
    ("¦**a**", "Quote", "> **a**"),
    ("> ¦a", "Unquote", "a"),
    ("+ ¦a", "Bullets", "- a"),
    ("¦a", "Page", "<page>\n<pageTitle>a</pageTitle>\n<content>\n</content>\n</page>"),
    ("- [ ] ¦a", "Numbers", "1. a"),
    ("1. ¦a\n   1. ¦b", "Bullets", "- a\n  - b"),
    ("¦a\n\nb\n\n¦c", "Tasks", "- [ ] a\n- [ ] b\n- [ ] c"),
    ("# ¦a", "Bullets", "- # a"),
    ("¦[a](https://x.org) *b*", "Heading", "# [a](https://x.org) *b*"),
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
            "Up" => self.notes.shift_blocks(ShiftBlocks::range(first, last)).map(drop),
            "Down" => self.notes.shift_blocks(ShiftBlocks::range(first, last).down()).map(drop),
            "Duplicate" => {
                self.notes.duplicate_blocks(DuplicateBlocks::range(first, last)).map(drop)
            }
            "Sort" => self.sort(SortBlocks::of(self.document.id())),
            "SortDown" => self.sort(SortBlocks::of(self.document.id()).descending()),
            "SortTasks" => self.sort(SortBlocks::of(self.document.id()).by(BlockOrder::TaskState)),
            style => self.turn_into(style, first, last),
        }
    }

    fn sort(&self, request: SortBlocks) -> Result<(), Error> {
        self.notes.sort_blocks(request).map(drop)
    }

    /// One update of all blocks from the first to the last.
    fn turn_into(&self, style: &str, first: BlockId, last: BlockId) -> Result<(), Error> {
        let texts = self.texts();
        let within = texts.iter().map(|(id, _)| *id).skip_while(|id| *id != first);
        let count = within.clone().position(|id| id == last).unwrap() + 1;
        let patches = within.take(count).map(|id| {
            let patch = BlockPatch::of(id);
            match style {
                "Bullets" => patch.with_list_style(ListStyle::Bullet),
                "Numbers" => patch.with_list_style(ListStyle::Numbered),
                "Tasks" => patch.with_list_style(ListStyle::Task),
                "Plain" => patch.with_list_style(ListStyle::None),
                "Heading" => patch.with_text_style(TextStyle::H1),
                "Body" => patch.with_text_style(TextStyle::Body),
                "Quote" => patch.with_decorations(Decorations { quote: true, callout: false }),
                "Unquote" => patch.with_decorations(Decorations::default()),
                "Page" => {
                    let mut patch = patch;
                    patch.fields.block_type = Some(BlockType::Page);
                    patch
                }
                other => panic!("no key {other}"),
            }
        });
        self.notes.update_blocks(UpdateBlocks::new(patches)).map(drop)
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
    assert!(ROWS.len() >= 100, "{}", ROWS.len());
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
        ("a\n\nb", 0, "Up", 0, ErrorKind::RuleViolation, "direction"),
        ("a\n\nb", 1, "Down", 0, ErrorKind::RuleViolation, "direction"),
        ("- a\n  - b", 1, "Up", 0, ErrorKind::RuleViolation, "direction"),
        ("- a\n  - b\n- c", 1, "Down", 0, ErrorKind::RuleViolation, "direction"),
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
    for key in ["Enter", "Backspace", "Tab", "Up", "Duplicate"] {
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
