//! Find and replace: rows of documents before and after, and random documents against a replacement
//! in their plain texts.

use leafbase::{
    Batch, Block, BlockId, BlockPatch, Connection, CreateFolders, DeleteDocuments, Destination,
    DocumentId, ErrorKind, Fetch, FolderDraft, MoveDocuments, ReplaceText, Space,
};
use leafbase_test_outline::Numbers;
use tests::model::sequences::sequences;

/// A document, a replacement in it, the document after it, how many were made, and how many stay.
type Row = (&'static str, fn() -> ReplaceText, &'static str, [usize; 2]);

fn text(find: &str, replacement: &str) -> ReplaceText {
    ReplaceText::text(find, replacement)
}

fn pattern(find: &str, replacement: &str) -> ReplaceText {
    ReplaceText::pattern(find, replacement)
}

const ROWS: &[Row] = &[
    ("to Rome", || text("rome", "Lisbon"), "to Lisbon", [1, 0]),
    ("to Rome", || text("rome", "Lisbon").case_sensitive(), "to Rome", [0, 0]),
    ("a a\n\nb\n\na", || text("a", "c"), "c c\n\nb\n\nc", [3, 0]),
    ("aaa", || text("aa", "b"), "ba", [1, 0]),
    ("a.b", || text(".", "*"), "a\\*b", [1, 0]),
    ("a  b", || text("  ", " "), "a b", [1, 0]),
    ("a", || text("a", "A"), "A", [1, 0]),
    ("A", || text("a", "A"), "A", [0, 0]),
    // Marks and links.
    ("**Ro**me", || text("rome", "Lisbon"), "**Lisbon**", [1, 0]),
    ("R**om**e", || text("rome", "Rxe"), "R**x**e", [1, 0]),
    (
        "[Rome](https://x.org) now",
        || text("rome now", "Oslo now"),
        "[Oslo](https://x.org) now",
        [1, 0],
    ),
    (
        "see [Rome](https://x.org)",
        || text("see rome", "Lisboa"),
        "see [Rome](https://x.org)",
        [0, 1],
    ),
    (
        "[a](https://x.org/rome) rome",
        || text("rome", "Oslo"),
        "[a](https://x.org/rome) Oslo",
        [1, 0],
    ),
    ("`let a`", || text("a", "*b*"), "`let *b*`", [1, 0]),
    ("a &amp; b", || text("&", "and"), "a and b", [1, 0]),
    ("x", || text("x", "# *a*"), "\\# \\*a\\*", [1, 0]),
    // Kinds of blocks.
    ("- [ ] a\n- [x] a\n  - a", || text("a", "b"), "- [ ] b\n- [x] b\n  - b", [3, 0]),
    ("# a\n\n> a", || text("a", "b"), "# b\n\n> b", [2, 0]),
    ("```rust\nlet a = a;\n```", || text("a", "b*"), "```rust\nlet b* = b*;\n```", [2, 0]),
    (
        "| a | **a** |\n|---|---|\n| b | a \\| a |",
        || text("a", "c|d"),
        "| c\\|d | **c\\|d** |\n|---|---|\n| b | c\\|d \\| c\\|d |",
        [4, 0],
    ),
    ("![a](https://x.org/a.png)", || text("a", "b"), "![a](https://x.org/a.png)", [0, 0]),
    // Groups.
    ("Ada Lovelace", || pattern(r"(\w+) (\w+)", "$2, $1"), "Lovelace, Ada", [1, 0]),
    ("24.12.", || pattern(r"(?<d>\d+)\.(?<m>\d+)\.", "${m}/${d}"), "12/24", [1, 0]),
    ("a**b**c", || pattern("(b)c", "<$1>"), "a\\<b>", [1, 0]),
    ("ab\n\nb", || pattern("^", "- "), "\\- ab\n\n\\- b", [3, 0]),
    ("cost 5", || pattern(r"(?<=cost )\d", "$$$0"), "cost $5", [1, 0]),
    ("a1 b2", || pattern(r"[a-z](\d)?", "$1"), "1 2", [2, 0]),
    // Case.
    ("colour Colour COLOUR", || text("colour", "color").keep_case(), "color Color COLOR", [3, 0]),
];

fn shown(notes: &Connection, document: DocumentId) -> String {
    notes.content_markdown(document).unwrap()
}

#[test]
fn rows_say_what_is_replaced() {
    for (before, request, after, counts) in ROWS {
        let notes = Space::in_memory().unwrap().connect();
        let document = notes.create_document("0").unwrap().id();
        notes.insert_markdown(before, document).unwrap();
        let before = shown(&notes, document);
        let last = notes.last_sequence().unwrap();
        for request in
            [request().within(document), request().within_documents([document]), request()]
        {
            let dry = notes.replace_text(request.clone().dry()).unwrap();
            assert_eq!(notes.last_sequence().unwrap(), last, "{before}: a dry run writes");
            assert_eq!([dry.replaced, dry.kept], *counts, "{before}");
            let made = notes.replace_text(request).unwrap();
            assert_eq!(shown(&notes, document), *after, "{before}");
            assert_eq!((made.blocks, made.dry_run), (dry.blocks, false), "{before}");
            if counts[0] > 0 {
                assert_eq!(notes.last_sequence().unwrap(), last + 1, "{before}: one change");
                let change = notes.changes_since(last).next().unwrap().unwrap();
                notes.undo(leafbase::UndoChanges::from(change.sequence)).unwrap();
            }
            assert_eq!(shown(&notes, document), before);
            if counts[0] > 0 {
                break;
            }
        }
    }
}

#[test]
fn titles_are_replaced_and_what_becomes_too_long_is_refused() {
    let notes = Space::in_memory().unwrap().connect();
    let trip = notes.create_document("Trip to Rome").unwrap().id();
    let markdown = "<page><pageTitle>Rome by day</pageTitle><content>\n\nRome\n\n</content></page>";
    notes.insert_markdown(markdown, trip).unwrap();
    let made = notes.replace_text(text("Rome", "Oslo")).unwrap();
    assert_eq!((made.replaced, made.blocks.len()), (3, 3));
    assert_eq!(made.blocks[0].block_id, trip.root());
    assert_eq!(notes.document(trip).unwrap().title, "Trip to Oslo");
    let long = notes.replace_text(text("Oslo", &"x".repeat(300_000))).unwrap_err();
    assert_eq!((long.kind(), long.path()), (ErrorKind::LimitExceeded, "replacement"));
    let lines = notes.replace_text(text("Oslo", "Oslo\n\nBergen")).unwrap_err();
    assert_eq!((lines.kind(), lines.path()), (ErrorKind::Validation, "replacement"));
    for patch in [BlockPatch::markdown, BlockPatch::plain] {
        let patch = patch(trip.root(), "Trip\n\nOslo");
        assert_eq!(notes.update_blocks(patch.into()).unwrap_err().kind(), ErrorKind::Validation);
    }
    assert_eq!(notes.document(trip).unwrap().title, "Trip to Oslo");
}

#[test]
fn replacements_across_marks_take_steps() {
    let notes = Space::in_memory().unwrap().connect();
    let document = notes.create_document("0").unwrap().id();
    notes.insert_markdown(&"a**b** c ".repeat(3_000), document).unwrap();
    let before = shown(&notes, document);
    for dry in [true, false] {
        let request = text("ab", "");
        let request = if dry { request.dry() } else { request };
        let error = notes.replace_text(request).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::LimitExceeded, "find"));
    }
    assert_eq!(shown(&notes, document), before);
    // All others are made together.
    let made = notes.replace_text(text("b", "d")).unwrap();
    assert_eq!((made.replaced, made.kept), (3_000, 0));
}

#[test]
fn restrictions_select_documents() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let folders = CreateFolders::new([FolderDraft::new("Travel")]);
    let folder = notes.create_folders(folders).unwrap()[0].id;
    let [one, two, gone] =
        ["one", "two", "gone"].map(|title| notes.create_document(title).unwrap().id());
    let destination = Destination::Folder(folder);
    notes.move_documents(MoveDocuments::new([one], destination)).unwrap();
    for document in [one, two, gone] {
        notes.insert_markdown("Rome", document).unwrap();
    }
    notes.delete_documents(DeleteDocuments::from(gone)).unwrap();
    let made = |request: ReplaceText| {
        let made = notes.replace_text(request.dry()).unwrap();
        let mut documents: Vec<_> = made.blocks.iter().map(|block| block.document_id).collect();
        documents
            .sort_unstable_by_key(|document| [one, two, gone].iter().position(|id| id == document));
        documents
    };
    let rome = || text("Rome", "Oslo");
    assert_eq!(made(rome()), [one, two]);
    assert_eq!(made(rome().within_folder(folder)), [one]);
    assert_eq!(made(rome().within_documents([two])), [two]);
    let mut others = rome().within_documents([two]);
    others.mode = Some(leafbase::DocumentFilterMode::Exclude);
    assert_eq!(made(others), [one]);
    assert_eq!(made(rome().within(two).within(two)), [two]);
    for (request, kind, path) in [
        (rome().within(BlockId::NIL), ErrorKind::NotFound, "blockIds[0]"),
        (rome().within_documents([one, DocumentId::NIL]), ErrorKind::NotFound, "documentIds[1]"),
        (rome().within(gone), ErrorKind::RuleViolation, "blockIds[0]"),
        (rome().within(one).within_folder(folder), ErrorKind::Validation, "blockIds"),
        (
            rome().within_documents([one]).within_folder(folder),
            ErrorKind::Validation,
            "documentIds",
        ),
        (text("", "x"), ErrorKind::Validation, "find"),
        (pattern("(a", "x"), ErrorKind::InvalidPattern, "pattern"),
        (pattern("(a)", "$2"), ErrorKind::Validation, "replacement"),
    ] {
        let refused = notes.replace_text(request).unwrap_err();
        assert_eq!((refused.kind(), refused.path()), (kind, path), "{refused}");
    }
    // In a batch, what is replaced is named.
    let named = Batch::default().then("replace_text", &rome().within(one)).unwrap();
    let all = named.clone().then("replace_text", &rome()).unwrap();
    let refused = notes.run_batch(all).unwrap_err();
    assert_eq!(refused.path(), "operations[1].blockIds");
    assert_eq!(shown(&notes, one), "Rome");
    notes.run_batch(named).unwrap();
    assert_eq!(shown(&notes, one), "Oslo");

    // A scoped connection replaces in what it sees.
    let guest = space.scoped([two]);
    assert_eq!(guest.replace_text(text("o", "0")).unwrap().blocks.len(), 2);
    assert_eq!((shown(&notes, one), shown(&notes, two)), ("Oslo".into(), "R0me".into()));
    let filtered = guest.replace_text(rome().within_folder(folder)).unwrap_err();
    assert_eq!((filtered.kind(), filtered.path()), (ErrorKind::Validation, "folderIds"));
}

#[test]
fn what_a_guest_cannot_see_is_not_lost() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let [seen, hidden] = ["seen", "hidden"].map(|title| notes.create_document(title).unwrap().id());
    let markdown = format!("see [the **plan**](block://{hidden}) and the plan");
    notes.insert_markdown(&markdown, seen).unwrap();
    let guest = space.scoped([seen]);
    let made = guest.replace_text(text("plan", "idea")).unwrap();
    assert_eq!(made.replaced, 2);
    assert!(!made.blocks[0].markdown.contains(&hidden.to_string()));
    assert_eq!(shown(&notes, seen), markdown.replace("plan", "idea"));
}

const WORDS: [&str; 6] = ["alpha", "beta", "gamma", "alphabet", "be", "mama"];

fn pick(numbers: &mut Numbers<'_>, of: &[&'static str]) -> &'static str {
    of[numbers.below(of.len())]
}

/// A line of words, some with marks around a part of them.
fn line(numbers: &mut Numbers<'_>) -> String {
    let words = (0..1 + numbers.below(5)).map(|_| {
        let word = pick(numbers, &WORDS);
        let start = numbers.below(word.len());
        let end = start + 1 + numbers.below(word.len() - start);
        let [before, marked, after] = [&word[..start], &word[start..end], &word[end..]];
        match numbers.below(6) {
            0 => format!("{before}**{marked}**{after}"),
            1 => format!("{before}[{marked}](https://x.org){after}"),
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The plain texts of all blocks of a document.
fn plain_texts(notes: &Connection, document: DocumentId) -> Vec<String> {
    fn collect(block: &Block, texts: &mut Vec<String>) {
        texts.push(block.plain.as_deref().unwrap_or_default().to_owned());
        block.children().iter().for_each(|child| collect(child, texts));
    }
    let mut texts = Vec::new();
    collect(&notes.fetch(Fetch::new(document).with_text()).unwrap(), &mut texts);
    texts
}

/// Replaces in random documents, and compares their texts. Returns the matches that marks divide.
fn run(numbers: &[u32], in_markdown: bool) -> usize {
    let mut numbers = Numbers::new(numbers);
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let count = 3 + numbers.below(5);
    let documents: Vec<_> = (0..count)
        .map(|number| {
            let document = notes.create_document(&format!("Page {number}")).unwrap().id();
            for _ in 0..numbers.below(4) {
                notes.insert_markdown(&line(&mut numbers), document).unwrap();
            }
            document
        })
        .collect();
    let mut divided = 0;
    for _ in 0..4 {
        let word = pick(&mut numbers, &WORDS);
        let start = numbers.below(word.len());
        let find = &word[start..start + 1 + numbers.below(word.len() - start)];
        let replacement = pick(&mut numbers, &["", "x", "beta", "*", "zeta mama"]);
        let before: Vec<_> = documents.iter().map(|id| plain_texts(&notes, *id)).collect();
        let shown = documents.iter().map(|id| shown(&notes, *id)).collect::<String>();
        let made = notes.replace_text(text(find, replacement).case_sensitive()).unwrap();
        let mut found = 0;
        for (document, before) in documents.iter().zip(before) {
            let after = plain_texts(&notes, *document);
            let kept: usize = made
                .blocks
                .iter()
                .filter(|block| block.document_id == *document)
                .map(|block| block.kept)
                .sum();
            let expected: Vec<String> =
                before.iter().map(|text| text.replace(find, replacement)).collect();
            if kept == 0 {
                assert_eq!(after, expected, "{find} by {replacement}");
            }
            if find != replacement {
                found += before.iter().map(|text| text.matches(find).count()).sum::<usize>();
            }
        }
        let expected = if in_markdown { shown.matches(find).count() } else { found };
        assert_eq!(made.replaced + made.kept, expected, "{find} by {replacement} in {shown}");
        divided += found.saturating_sub(shown.matches(find).count());
    }
    assert!(space.check().unwrap().is_clean());
    divided
}

fn programs() -> u32 {
    tests::cases(150, 5_000)
}

#[test]
fn random_documents_say_what_they_should() {
    let divided = std::sync::atomic::AtomicUsize::new(0);
    let kept = sequences(programs(), 300, |numbers| {
        divided.fetch_add(run(numbers, false), std::sync::atomic::Ordering::Relaxed);
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    let divided = divided.into_inner();
    println!("{divided} matches that marks divide");
    assert!(divided > 10, "{divided}");
}

/// The control: matches in the markdown instead of the plain text are noticed.
#[test]
fn matches_that_marks_divide_are_missed_in_markdown() {
    let kept = sequences(200, 300, |numbers| {
        run(numbers, true);
    });
    assert!(kept.is_err(), "no mark divides a match");
}
