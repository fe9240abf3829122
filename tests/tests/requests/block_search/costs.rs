//! What a pattern may cost: hostile ones end with an error, the same each time, and nothing else.

use leafbase::{BlockData, BlockDraft, ErrorKind, InsertBlocks, Position, SearchBlocks};

use super::shelf::Shelf;

/// A document of so many texts.
fn shelf(text: &str, count: usize) -> Shelf {
    let shelf = Shelf::of("text \"first\"");
    let drafts = vec![BlockDraft::new(BlockData::text(text)); count];
    shelf
        .notes
        .insert_blocks(InsertBlocks::blocks(drafts, Position::end_of(shelf.id("trip"))))
        .unwrap();
    shelf
}

/// A text that has the letter which hostile patterns need: without it none of them is matched at
/// all.
fn hostile(length: usize) -> String {
    "a".repeat(length) + "x"
}

/// What a pattern comes to: how many blocks it finds, or the error.
fn outcome(shelf: &Shelf, patterns: &[&str]) -> Result<usize, leafbase::Error> {
    let mut request = SearchBlocks::new(shelf.id("trip"), "").context(0, 0);
    request.patterns = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    shelf.notes.search_blocks(request).map(|page| page.len())
}

#[test]
fn a_pattern_that_costs_too_much_for_one_text() {
    let shelf = shelf(&hostile(64 << 10), 1);
    let message =
        "the pattern costs too much: at most 20000000 steps to search one text, this takes more";
    for pattern in
        [r"(?:a?){500}(?=b)", r"(?=b(?:a|aa){300})x", r"\w{999}(?=b)", r"(?=c[ab]{0,900})x"]
    {
        let error = outcome(&shelf, &[pattern]).unwrap_err();
        assert_eq!(
            (error.kind(), error.path(), error.message()),
            (ErrorKind::LimitExceeded, "pattern", message)
        );
    }
    for _ in 0..2 {
        let error = outcome(&shelf, &["b", r"(?=c[ab]{0,900})x", "c"]).unwrap_err();
        assert_eq!(
            (error.kind(), error.path(), error.message()),
            (ErrorKind::LimitExceeded, "pattern[1]", message)
        );
    }
}

#[test]
fn a_pattern_that_costs_too_much_for_all_texts() {
    let shelf = shelf(&hostile(20 << 10), 40);
    let message =
        "the pattern costs too much: at most 100000000 steps to search all of it, this takes more";
    for _ in 0..2 {
        let error = outcome(&shelf, &[r"(?=ba{200})x"]).unwrap_err();
        assert_eq!((error.path(), error.message()), ("pattern", message));
    }
    assert_eq!(outcome(&shelf, &[r"(?=ba{3})x"]).unwrap(), 0, "a smaller one does not");
    assert_eq!(
        outcome(&shelf, &[r"(?=ba{200})y"]).unwrap(),
        0,
        "nor one that needs a letter that is nowhere"
    );
}

/// What goes back and forth elsewhere is as cheap as anything.
#[test]
fn patterns_that_are_hostile_to_others_find_what_they_should() {
    let shelf = shelf(&"a".repeat(30 << 10), 3);
    for (pattern, count) in [
        (r"(a*)*b", 0),
        (r"(a|aa)+$", 3),
        (r"(?:a+)+(?=b)", 0),
        (r"^(?:a?){30}a{30}", 3),
        (r"(?=.*b)(?:a*)*y", 0),
        (r"(x+x+)+y", 0),
    ] {
        assert_eq!(outcome(&shelf, &[pattern]).unwrap(), count, "{pattern}");
    }
}
