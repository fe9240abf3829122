//! Pages edited as markdown: rows of texts before and after with what happens to the blocks, random
//! pairs of documents, and histories of files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use leafbase::{
    AddComments, AddItems, AppliedMarkdown, ApplyMarkdown, Block, BlockData, BlockId, BlockPatch,
    Color, CommentDraft, Connection, CreateCollection, DeleteBlocks, DocumentId, EditMarkdown,
    ErrorKind, Fetch, GetMarkdown, ItemDraft, Limits, ListComments, ListDocuments, Location,
    Position, SchemaDraft, Space, UpdateBlocks,
};
use leafbase_test_outline::Numbers;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use tests::model::pair::Pair;
use tests::model::sequences::sequences;

#[path = "apply/histories.rs"]
mod histories;
#[path = "apply/texts.rs"]
mod texts;

fn document(text: &str) -> (Connection, DocumentId) {
    let notes = Space::in_memory().unwrap().connect();
    let document = notes.create_document("d").unwrap().id();
    notes.insert_markdown(text, document).unwrap();
    (notes, document)
}

/// The blocks below the root without their layout, each before what is in it.
fn blocks(notes: &Connection, document: DocumentId) -> Vec<Block> {
    fn walk(block: Block, list: &mut Vec<Block>) {
        let children = block.children().to_vec();
        let data = BlockData { layout: None, ..block.data };
        list.push(Block { content: leafbase::Content::None, data, ..block });
        children.into_iter().for_each(|child| walk(child, list));
    }
    let mut list = Vec::new();
    walk(notes.fetch(Fetch::new(document)).unwrap(), &mut list);
    list.remove(0);
    list
}

fn counts(done: &AppliedMarkdown) -> [usize; 4] {
    [&done.inserted, &done.updated, &done.moved, &done.removed].map(Vec::len)
}

/// A text, the one after it, how many blocks are inserted, updated, moved and removed.
type Row = (&'static str, &'static str, [usize; 4]);

const ROWS: &[Row] = &[
    ("a", "a", [0, 0, 0, 0]),
    ("", "a\n\nb", [2, 0, 0, 0]),
    ("a\n\nb", "", [0, 0, 0, 2]),
    ("a\n\nb\n\nc", "a\n\nc", [0, 0, 0, 1]),
    ("a\n\nc", "a\n\nb\n\nc", [1, 0, 0, 0]),
    ("a\n\nb\n\nc", "b\n\nc\n\na", [0, 0, 1, 0]),
    ("a\n\nb\n\nc\n\nd", "d\n\na\n\nb\n\nc", [0, 0, 1, 0]),
    // Changed where it stands, with words in common and without.
    ("one two three", "one two four", [0, 1, 0, 0]),
    ("a\n\none\n\nb", "a\n\ntwo\n\nb", [0, 1, 0, 0]),
    ("a\n\none two three four\n\nb", "one two three five\n\na\n\nb", [0, 1, 1, 0]),
    ("- [ ] a\n- [ ] b", "- [x] a\n- [ ] b", [0, 1, 0, 0]),
    ("# a", "## a", [0, 1, 0, 0]),
    ("- a\n- b", "- a\n  - b", [0, 1, 0, 0]),
    ("```rust\nlet a = 1;\n```", "```rust\nlet a = 2;\n```", [0, 1, 0, 0]),
    ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 3 |", [0, 1, 0, 0]),
    // A block becomes two, and two one: one keeps its ID.
    ("one two three four", "one two\n\nthree four", [1, 1, 0, 0]),
    ("one two\n\nthree four", "one two three four", [0, 1, 0, 1]),
    // Blocks of another type are other blocks.
    ("a\n\n***\n\nb", "a\n\n```\nx\n```\n\nb", [1, 0, 0, 1]),
    // Pages.
    ("a\n\nb", "<page><pageTitle>a</pageTitle><content>\n\nb\n\n</content></page>", [0, 1, 1, 0]),
    ("<page><pageTitle>a</pageTitle><content>\n\nb\n\n</content></page>", "a\n\nb", [0, 1, 1, 0]),
    (
        "<page><pageTitle>one two</pageTitle><content>\n\nb\n\n</content></page>\n\nc",
        "c\n\n<page><pageTitle>one three</pageTitle><content>\n\nb\n\n</content></page>",
        [0, 1, 1, 0],
    ),
    // Repeated blocks stay in their order.
    ("x\n\nx\n\nx", "x\n\nx", [0, 0, 0, 1]),
    ("x\n\na\n\nx\n\nb", "x\n\na\n\nb\n\nx", [0, 0, 1, 0]),
    // Line ends and blank lines are those of any text.
    ("a\n\nb", "a\r\n\r\n\r\nb\n", [0, 0, 0, 0]),
];

#[test]
fn blocks_that_a_text_leaves_stay() {
    for (before, after, expected) in ROWS {
        let (notes, document) = document(before);
        let first = blocks(&notes, document);
        let dry = notes.apply_markdown(ApplyMarkdown::new(document, *after).dry()).unwrap();
        assert_eq!(blocks(&notes, document), first, "a dry run of {before:?}");
        let sequence = notes.last_sequence().unwrap();
        let done = notes.apply_markdown(ApplyMarkdown::new(document, *after)).unwrap();
        assert_eq!((counts(&done), counts(&dry)), (*expected, *expected), "{before:?} {after:?}");
        let changes = notes.last_sequence().unwrap() - sequence;
        // Blank lines are layout: they change no block.
        let is_laid_out_anew = after.contains("\r\n\r\n\r\n");
        assert_eq!(changes, u64::from(*expected != [0; 4] || is_laid_out_anew), "one change");
        compare(&notes, document, after, &first, &done);
    }
}

/// The page reads as the text does, and blocks that are not named are as they were.
fn compare(
    notes: &Connection,
    document: DocumentId,
    text: &str,
    before: &[Block],
    done: &AppliedMarkdown,
) {
    let (other, fresh) = self::document(text);
    // Without layout.
    let content =
        |notes: &Connection, id: DocumentId| notes.fetch_markdown(Fetch::new(id)).unwrap();
    assert_eq!(content(notes, document), content(&other, fresh));
    // With it, the text is read as it was written; tags have one form.
    if !text.contains("</") {
        let unified = text.replace("\r\n", "\n");
        assert_eq!(notes.content_markdown(document).unwrap(), unified.trim_end_matches('\n'));
    }
    let after = blocks(notes, document);
    let named: BTreeSet<BlockId> =
        [&done.inserted, &done.updated, &done.removed].into_iter().flatten().copied().collect();
    let known: BTreeMap<_, _> = before.iter().map(|block| (block.id, block)).collect();
    for block in &after {
        if done.inserted.contains(&block.id) {
            assert!(!known.contains_key(&block.id));
        } else if !named.contains(&block.id) {
            assert_eq!(known.get(&block.id), Some(&block), "a block that stays");
        } else {
            let rev = known.get(&block.id).map(|block| block.rev + 1);
            assert_eq!(Some(block.rev), rev);
        }
    }
    for block in before.iter().filter(|block| !done.removed.contains(&block.id)) {
        assert!(after.iter().any(|other| other.id == block.id), "one is gone");
    }
}

#[test]
fn what_markdown_does_not_say_stays() {
    let (notes, document) = document("- [ ] one two three\n\nlast");
    let first = blocks(&notes, document);
    let (task, last) = (first[0].id, first[1].id);
    let color: Color = "#3366cc".parse().unwrap();
    let patch = BlockPatch::of(task).with_color(Some(color));
    notes.update_blocks(UpdateBlocks::new([patch])).unwrap();
    let dated = r#"{"blocks": [{"id": "ID", "taskInfo": {"scheduleDate": "2026-05-01"}}]}"#;
    let dated = dated.replace("ID", &task.to_string());
    notes.update_blocks(serde_json::from_str(&dated).unwrap()).unwrap();
    notes.add_comments(AddComments::new([CommentDraft::new(last, "mine")])).unwrap();
    let other = notes.create_document("other").unwrap().id();
    notes.insert_markdown(&format!("[there](block://{last})"), other).unwrap();
    let edited = "new\n\nlast word\n\n- [x] one two four";
    let done = notes.apply_markdown(ApplyMarkdown::new(document, edited)).unwrap();
    assert_eq!(counts(&done), [1, 2, 1, 0]);
    let shown = blocks(&notes, document);
    assert_eq!((shown[1].id, shown[2].id), (last, task));
    let kept = serde_json::to_value(&shown[2]).unwrap();
    assert_eq!(kept["taskInfo"]["scheduleDate"], "2026-05-01");
    assert_eq!(kept["taskInfo"]["state"], "done");
    assert!(shown[2].data.color.is_some());
    let comments = notes.list_comments(ListComments::on([last])).unwrap();
    assert_eq!(comments[0].comment.content, "mine");
    // One undo.
    notes.undo(notes.last_sequence().unwrap()).unwrap();
    assert_eq!(notes.content_markdown(document).unwrap(), "- [ ] one two three\n\nlast");
}

fn with_collection() -> (Connection, DocumentId, BlockId) {
    let (notes, document) = document("before\n\nafter");
    let before = blocks(&notes, document)[0].id;
    let request = CreateCollection::new(SchemaDraft::new("Books", []), Position::after(before));
    let collection = notes.create_collection(request).unwrap().id;
    let items = [ItemDraft::new("Emma"), ItemDraft::new("Ulysses")];
    notes.add_items(AddItems::new(collection, items)).unwrap();
    (notes, document, collection)
}

#[test]
fn collections_stay_as_they_are() {
    let (notes, document, collection) = with_collection();
    let text = notes.content_markdown(document).unwrap();
    let apply = |text: &str| notes.apply_markdown(ApplyMarkdown::new(document, text));
    // Moved, with what is beside it changed.
    let (table, rest) = (text.find("**Books**").unwrap(), text.find("\n\nafter").unwrap());
    let moved = format!("{}\n\nbefore all\n\nafter", &text[table..rest]);
    let done = apply(&moved).unwrap();
    assert_eq!((counts(&done), &done.moved), ([0, 1, 1, 0], &vec![collection]));
    assert_eq!(notes.content_markdown(document).unwrap(), moved);
    // Changed in part.
    for changed in [
        moved.replace("Emma", "Persuasion"),
        moved.replace("**Books**", "**Novels**"),
        moved.replace("**Books**\n\n", ""),
        format!("{moved}\n\n").replace("**Books**", "**Books**\n\nbetween"),
        moved.replace("**Books**", "**Novels**").replace("Emma", "Persuasion"),
    ] {
        let error = apply(&changed).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::RuleViolation, "markdown"));
        assert!(error.message().contains("\"Books\""), "{error}");
        assert_eq!(notes.content_markdown(document).unwrap(), moved);
    }
    // Gone, and back.
    let done = apply("before all\n\nafter").unwrap();
    assert_eq!(done.removed.len(), 3, "with its items");
    notes.undo(notes.last_sequence().unwrap()).unwrap();
    assert_eq!(notes.content_markdown(document).unwrap(), moved);
    let error = notes.apply_markdown(ApplyMarkdown::new(collection, "x")).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::RuleViolation, "pageId"));
}

#[test]
fn errors_name_their_place() {
    let (notes, document) = document("a\n\nb");
    let line = blocks(&notes, document)[0].id;
    let image = notes.insert_markdown("![](https://x.org/a.png)", document).unwrap()[0].id;
    let stale = ApplyMarkdown::new(document, "x").if_markdown("a\n\nc");
    let long = format!("# {}", "x".repeat(300_000));
    let nested = "<page><pageTitle>t</pageTitle><content>\n\n".repeat(70)
        + &"</content></page>\n\n".repeat(70);
    for (request, expected) in [
        (ApplyMarkdown::new(BlockId::NIL, "x"), (ErrorKind::NotFound, "pageId")),
        (ApplyMarkdown::new(image, "x"), (ErrorKind::RuleViolation, "pageId")),
        (ApplyMarkdown::new(document, "-\n- x"), (ErrorKind::InvalidMarkdown, "markdown")),
        (ApplyMarkdown::new(document, long), (ErrorKind::LimitExceeded, "markdown")),
        (ApplyMarkdown::new(document, nested), (ErrorKind::LimitExceeded, "markdown")),
        (stale, (ErrorKind::Conflict, "expected")),
    ] {
        let error = notes.apply_markdown(request.clone()).unwrap_err();
        assert_eq!((error.kind(), error.path()), expected, "{error}");
    }
    // A text that receives blocks becomes a page, and nothing happens if it receives none.
    assert_eq!(counts(&notes.apply_markdown(ApplyMarkdown::new(line, "")).unwrap()), [0; 4]);
    let done = notes.apply_markdown(ApplyMarkdown::new(line, "within")).unwrap();
    assert_eq!((counts(&done), done.updated), ([1, 1, 0, 0], vec![line]));
    notes.delete_documents(leafbase::DeleteDocuments::new([document])).unwrap();
    let error = notes.apply_markdown(ApplyMarkdown::new(document, "x")).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::RuleViolation, "pageId"));
}

/// Inserts a block that is given as JSON.
fn insert_json(notes: &Connection, page: DocumentId, block: &str) -> BlockId {
    let request = format!(r#"{{"blocks": [{block}], "position": {{"pageId": "{page}"}}}}"#);
    notes.insert_blocks(notes.space().read_json(&request).unwrap()).unwrap()[0].id
}

/// A guest edits the words of pictures, videos and files whose addresses it does not see.
#[test]
fn hidden_addresses_survive_edits_of_their_words() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let [shown, hidden] = ["shown", "hidden"].map(|it| notes.create_document(it).unwrap().id());
    let (guest, url) = (space.scoped([shown]), format!("block://{hidden}"));
    for (block_type, words) in
        [("image", "altText"), ("video", "altText"), ("file", "fileName"), ("richUrl", "title")]
    {
        let block = format!(r#"{{"type": "{block_type}", "url": "{url}", "{words}": "Plan"}}"#);
        let block = insert_json(&notes, shown, &block);
        let text = guest.content_markdown(shown).unwrap();
        assert!(text.contains("invalid:out_of_scope#1"), "{text}");
        let edited = text.replace("Plan", "New plan");
        let done = guest.apply_markdown(ApplyMarkdown::new(shown, &*edited)).unwrap();
        assert_eq!((counts(&done), &done.updated), ([0, 1, 0, 0], &vec![block]), "{text}");
        let stored = notes.content_markdown(shown).unwrap();
        assert!(stored.contains(&url) && stored.contains("New plan"), "{stored}");
        notes.delete_blocks(DeleteBlocks::new([block])).unwrap();
    }
}

/// A rich link whose address reads as that of a text becomes the text that it is edited to.
#[test]
fn links_without_markdown_of_their_own_are_edited() {
    for url in ["mailto:a@b.c", "notes/x.md", "tel:123", "/abs", "date://2026-01-01"] {
        let (notes, page) = document("a");
        let link = format!(r#"{{"type": "richUrl", "url": "{url}", "title": "Plan"}}"#);
        let link = insert_json(&notes, page, &link);
        let edited = notes.content_markdown(page).unwrap().replace("Plan", "New plan");
        let done = notes.apply_markdown(ApplyMarkdown::new(page, &*edited)).unwrap();
        assert_eq!((counts(&done), &done.updated), ([0, 1, 0, 0], &vec![link]), "{edited}");
        assert_eq!(notes.content_markdown(page).unwrap(), edited);
    }
}

/// The text that `fetch_markdown` returns has the page around its content. It is refused, not
/// nested in the page, unless the page has a page of its own title.
#[test]
fn a_page_is_not_nested_in_itself() {
    let (notes, document) = document("a\n\nb");
    let whole = notes.fetch_markdown(Fetch::new(document)).unwrap().replace('b', "c");
    let error = notes.apply_markdown(ApplyMarkdown::new(document, &*whole)).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "markdown"), "{error}");
    assert!(error.message().contains("content_markdown"), "{error}");
    let inner = format!("a\n\n{whole}");
    notes.apply_markdown(ApplyMarkdown::new(document, &*inner)).unwrap();
    notes.apply_markdown(ApplyMarkdown::new(document, &*whole)).unwrap();
    assert_eq!(notes.content_markdown(document).unwrap(), whole.trim_end());
    let request = GetMarkdown::of(document);
    assert_eq!(notes.content_markdown(request).unwrap(), whole.trim_end());
    let error = notes.content_markdown(GetMarkdown::of(BlockId::NIL)).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::NotFound, "pageId"));
}

#[test]
fn the_inbox_keeps_its_order() {
    let notes = Space::in_memory().unwrap().connect();
    let drafts = ["a", "b", "c"].map(leafbase::TaskDraft::new);
    let tasks = notes.add_tasks(leafbase::AddTasks::new(drafts)).unwrap();
    let [a, b, c] = [0, 1, 2].map(|at: usize| tasks[at].id);
    let shown = notes.fetch(Fetch::new(a).with_metadata()).unwrap();
    let inbox = shown.metadata.unwrap().document.unwrap();
    let edited = "- [ ] b\n- [x] a\n- [ ] new\n- [ ] c";
    let done = notes.apply_markdown(ApplyMarkdown::new(inbox, edited)).unwrap();
    assert_eq!(counts(&done), [1, 1, 1, 0]);
    let text = "- [ ] b\n- [ ] new\n- [ ] c\n- [x] a";
    assert_eq!(notes.content_markdown(inbox).unwrap(), text);
    let present = blocks(&notes, inbox);
    assert_eq!([present[0].id, present[2].id, present[3].id], [b, c, a]);
    let error = notes.apply_markdown(ApplyMarkdown::new(inbox, "no task")).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::RuleViolation, "markdown"));
}

/// A text, an edit, and the text after it, or the error's message.
type EditRow = (&'static str, fn(EditMarkdown) -> EditMarkdown, Result<&'static str, &'static str>);

const EDITS: &[EditRow] = &[
    ("one two\n\nthree", |it| it.replace("two", "four"), Ok("one four\n\nthree")),
    ("one\n\ntwo", |it| it.replace("one\n\ntwo", "three"), Ok("three")),
    ("a\n\nb", |it| it.replace("\n\nb", ""), Ok("a")),
    ("a\n\nb", |it| it.insert_before("b", "x\n\ny"), Ok("a\n\nx\n\ny\n\nb")),
    ("a\n\nb", |it| it.insert_after("a", "x"), Ok("a\n\nx\n\nb")),
    ("- a\n  - b\n- c", |it| it.insert_after("b", "- x"), Ok("- a\n  - b\n  - x\n- c")),
    ("- [ ] a", |it| it.insert_after("- [ ] a", "- [x] b"), Ok("- [ ] a\n- [x] b")),
    (
        "# A\n\n## B\n\nb\n\n### C\n\nc\n\n## D",
        |it| it.insert_under("B", "x"),
        Ok("# A\n\n## B\n\nb\n\n### C\n\nc\n\nx\n\n## D"),
    ),
    ("# A\n\na", |it| it.insert_under("# A", "x"), Ok("# A\n\na\n\nx")),
    ("# **A**\n\na", |it| it.insert_under("A", "x"), Ok("# **A**\n\na\n\nx")),
    (
        "<page><pageTitle>P</pageTitle><content>\n\n# A\n\n</content></page>\n\n# B",
        |it| it.insert_under("A", "x"),
        Ok("<page>\n<pageTitle>P</pageTitle>\n<content>\n\n# A\n\nx\n\n</content>\n</page>\n\n# B"),
    ),
    // One after the other.
    ("a", |it| it.replace("a", "b").replace("b", "c").insert_after("c", "d"), Ok("c\n\nd")),
    // Refused.
    ("a\n\na", |it| it.replace("a", "b"), Err("the text is on lines 1 and 3: give more of it")),
    ("aa", |it| it.replace("a", "b"), Err("the text is on line 1 more than once: give more of it")),
    (
        "to Rome\n\nto Oslo",
        |it| it.replace("from Oslo", "x"),
        Err("the page does not have this text; line 3 is most like it: \"to Oslo\""),
    ),
    ("a", |it| it.insert_after("b", "x"), Err("the page does not have this text")),
    (
        "a",
        |it| it.insert_under("a", "x"),
        Err("the page does not have this text; line 1 is most like it: \"a\""),
    ),
    ("a", |it| it.replace(" ", "x"), Err("expected a text that is not blank")),
];

#[test]
fn a_page_is_edited_at_exact_texts() {
    for (before, edit, expected) in EDITS {
        let (notes, document) = document(before);
        let sequence = notes.last_sequence().unwrap();
        let request = edit(EditMarkdown::of(document));
        let dry = notes.edit_markdown(request.clone().dry());
        assert_eq!(notes.last_sequence().unwrap(), sequence);
        let done = notes.edit_markdown(request);
        assert_eq!(dry.map(|it| counts(&it)), done.clone().map(|it| counts(&it)), "{before:?}");
        let text = notes.content_markdown(document).unwrap();
        match expected {
            Ok(expected) => {
                done.unwrap();
                assert_eq!(
                    (text.as_str(), notes.last_sequence().unwrap()),
                    (*expected, sequence + 1)
                );
            }
            Err(message) => {
                let error = done.unwrap_err();
                assert_eq!((error.message(), error.path()), (*message, "edits[0].text"));
                assert_eq!((text.as_str(), notes.last_sequence().unwrap()), (*before, sequence));
            }
        }
    }
}

#[test]
fn edits_of_a_page_are_bounded_together() {
    let (notes, document) = document("one");
    for _ in 0..4 {
        notes.insert_markdown(&"word ".repeat(50_000), document).unwrap();
    }
    let sequence = notes.last_sequence().unwrap();
    let page = notes.content_markdown(document).unwrap().len();
    let edits =
        |count| (0..count).fold(EditMarkdown::of(document), |edits, _| edits.replace("one", "one"));
    let most = Limits::EDITED_MARKDOWN_BYTES / page;
    for count in [most + 1, 2 * most] {
        let error = notes.edit_markdown(edits(count)).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::LimitExceeded, "edits"));
    }
    notes.edit_markdown(edits(2)).unwrap();
    assert_eq!(notes.last_sequence().unwrap(), sequence, "nothing changed");
}

fn pairs() -> u32 {
    tests::cases(400, 20_000)
}

/// Lines that the difference of two texts removes and inserts.
fn line_edits(before: &str, after: &str) -> usize {
    let [before, after] = [before, after].map(|text| text.lines().collect::<Vec<_>>());
    let count = |operation: DiffOp| match operation {
        DiffOp::Equal { .. } => 0,
        DiffOp::Delete { old_len, .. } => old_len,
        DiffOp::Insert { new_len, .. } => new_len,
        DiffOp::Replace { old_len, new_len, .. } => old_len + new_len,
    };
    capture_diff_slices(Algorithm::Myers, &before, &after).into_iter().map(count).sum()
}

#[test]
fn random_texts_are_applied() {
    let (edits, lines) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let kept = sequences(pairs(), 400, |numbers| {
        let mut numbers = Numbers::new(numbers);
        let before = texts::text(&mut numbers);
        let after = texts::edited(&before, &mut numbers);
        let [before, after] = match numbers.once_in(2) {
            true => [before, after].map(|text| texts::surrounded(&text)),
            false => [before, after],
        };
        let (notes, document) = document(&before.join("\n\n"));
        let first = blocks(&notes, document);
        // Colors are what markdown does not say.
        for block in first.iter().filter(|_| numbers.once_in(8)) {
            let patch = BlockPatch::of(block.id).with_color(Some("#3366cc".parse().unwrap()));
            notes.update_blocks(UpdateBlocks::new([patch])).unwrap();
        }
        let first = blocks(&notes, document);
        let text = notes.content_markdown(document).unwrap();
        let (after, sequence) = (after.join("\n\n"), notes.last_sequence().unwrap());
        let done = notes.apply_markdown(ApplyMarkdown::new(document, &*after)).unwrap();
        compare(&notes, document, &after, &first, &done);
        let read = notes.content_markdown(document).unwrap();
        edits.fetch_add(counts(&done).iter().sum(), Ordering::Relaxed);
        lines.fetch_add(line_edits(&text, &read), Ordering::Relaxed);
        assert!(notes.apply_markdown(ApplyMarkdown::new(document, read)).is_ok());
        let last = notes.last_sequence().unwrap();
        assert!(last <= sequence + 1, "a text that the page has changes nothing");
        if last > sequence {
            notes.undo(last).unwrap();
            assert_eq!(notes.content_markdown(document).unwrap(), text);
        }
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    let (edits, lines) = (edits.into_inner(), lines.into_inner());
    println!("{edits} edits of blocks, {lines} of lines");
    assert!(edits * 10 <= lines * 12, "{edits} edits of blocks, {lines} of lines");
}

/// What would go unnoticed otherwise: a block that is another one with the same text.
#[test]
fn a_block_that_lost_its_id_is_noticed() {
    let (notes, document) = document("a\n\nb");
    let first = blocks(&notes, document);
    let done = notes.apply_markdown(ApplyMarkdown::new(document, "a\n\nb")).unwrap();
    notes.delete_blocks(leafbase::DeleteBlocks::from(first[1].id)).unwrap();
    notes.insert_markdown("b", document).unwrap();
    let compared = || compare(&notes, document, "a\n\nb", &first, &done);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(compared)).is_err());
}

/// A line of a page is changed as by [`EditMarkdown`], which parses the whole page.
fn change_a_line(notes: &Connection, page: DocumentId, numbers: &mut Numbers<'_>) {
    let text = notes.content_markdown(page).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| text.matches(line).count() == 1).collect();
    if lines.is_empty() {
        return;
    }
    let line = lines[numbers.below(lines.len())];
    let changed = ["- changed", "changed", "```", "\n<callout>", "1. ", "> "];
    let changed = match numbers.below(8) {
        0 => changed[numbers.below(changed.len())].to_owned(),
        1 => format!("{}{line}", changed[numbers.below(changed.len())]),
        _ => format!("{line} more"),
    };
    let edit = EditMarkdown::of(page).replace(line, &*changed).dry();
    let apply = ApplyMarkdown::new(page, text.replacen(line, &changed, 1));
    let [edited, applied] = [notes.edit_markdown(edit), notes.apply_markdown(apply.clone().dry())];
    let seen = |done: leafbase::Result<AppliedMarkdown>| {
        done.map(|done| (counts(&done), done.updated)).map_err(|error| error.message().to_owned())
    };
    assert_eq!(seen(applied.clone()), seen(edited), "{line:?} to {changed:?} in {text}");
    assert_eq!(notes.apply_markdown(apply).is_ok(), applied.is_ok());
}

/// Documents of all kinds of blocks and their own markdown: nothing changes, and an added line is
/// one block.
#[test]
fn documents_are_as_they_read() {
    let kept = sequences(pairs() / 10, 1_000, |numbers| {
        let (mut numbers, mut pair) = (Numbers::new(numbers), Pair::new(None));
        pair.with_collections = numbers.once_in(2);
        for _ in 0..30 {
            let request = pair.next(&mut numbers);
            pair.step(request);
        }
        let notes = pair.notes();
        for document in notes.list_documents(ListDocuments::new()).unwrap().items {
            if document.record.location == Location::Trash {
                continue;
            }
            let (id, sequence) = (document.id(), notes.last_sequence().unwrap());
            let text = notes.content_markdown(id).unwrap();
            let own = ApplyMarkdown::new(id, &*text).if_markdown(&*text);
            assert_eq!(counts(&notes.apply_markdown(own).unwrap()), [0; 4], "{text}");
            assert_eq!(notes.last_sequence().unwrap(), sequence);
            let longer = ApplyMarkdown::new(id, format!("# a line more\n\n{text}"));
            assert_eq!(counts(&notes.apply_markdown(longer).unwrap()), [1, 0, 0, 0], "{text}");
            let parts: Vec<_> = text.split("\n\n").map(str::to_owned).collect();
            let surrounded = texts::surrounded(&parts).join("\n\n");
            if notes.apply_markdown(ApplyMarkdown::new(id, surrounded)).is_ok() {
                (0..8).for_each(|_| change_a_line(&notes, id, &mut numbers));
            }
        }
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
}
