//! Where blocks may be moved to, and in which order they then stand.

use leafbase_model::ErrorKind::{
    InvalidPosition, LimitExceeded, NotFound, RuleViolation, Validation,
};
use leafbase_test_outline::{SequentialIds, stamp};
use leafbase_tree_ops::{Context, MovedBlocks, move_blocks};

use crate::space::{Space, check, refuse};
use crate::tree::Tree;

const ROW: &str = "page #t\n  text \"a\" #a\n  text \"b\" #b\n  text \"c\" #c\n  text \"d\" #d\n";

const TRIP: &str = r#"
page "Trip" #t
  text "a" #a
  page "b" #b
    text "c" #c
    page "d" #d
      text "e" #e
  line #l
  collection "Books" #k
    collectionItem "One" #i
      text "inside" #j
page "Other" #o
"#;

fn row(letters: &str) -> String {
    let lines = letters.chars().map(|letter| format!("\n  text \"{letter}\" #{letter}"));
    format!("page #t{}", lines.collect::<String>())
}

fn edits(before: &str, labels: &str, position: &str) -> MovedBlocks {
    let space = Space::new(before);
    let (stamp, ids) = (stamp(1), SequentialIds::new(1));
    let context = Context { limits: &space.naive.limits, stamp: &stamp, ids: &ids };
    let place = crate::compare::place(space.position(position));
    move_blocks(&Tree::new(&space.naive, None), &context, space.ids(labels), place).unwrap()
}

#[test]
fn siblings_go_to_each_place_in_the_order_of_the_request() {
    for (labels, position, after) in [
        ("a", "end of t", "bcda"),
        ("d a", "end of t", "bcda"),
        ("d b", "end of t", "acdb"),
        ("b d", "end of t", "acbd"),
        ("c b a", "start of t", "cbad"),
        ("b a", "start of t", "bacd"),
        ("d", "before a", "dabc"),
        ("a d", "before c", "badc"),
        ("b a", "before c", "bacd"),
        ("a", "after c", "bcad"),
        ("c b", "after a", "acbd"),
        ("d c b a", "end of t", "dcba"),
        ("a b c d", "end of t", "abcd"),
    ] {
        check(ROW, |s| s.move_to(labels, position), &row(after));
    }
}

#[test]
fn a_block_that_stands_there_already_has_no_edit() {
    for (labels, position) in [
        ("a b c d", "start of t"),
        ("a b c d", "end of t"),
        ("b c", "after a"),
        ("b c", "before d"),
        ("d", "end of t"),
        ("", "end of a"),
    ] {
        assert_eq!(edits(ROW, labels, position).edits, [], "{labels} {position}");
    }
    assert_eq!(edits(ROW, "b c d", "start of t").edits.len(), 3);
    assert_eq!(edits(ROW, "a d", "start of t").edits.len(), 1);
}

#[test]
fn a_text_that_receives_blocks_becomes_a_page() {
    check(
        ROW,
        |space| {
            let reply = space.move_to("d b", "end of a");
            assert_eq!((space.rev("a"), space.rev("b")), (2, 1));
            reply
        },
        "page #t\n  page \"a\" #a\n    text \"d\" #d\n    text \"b\" #b\n  text \"c\" #c",
    );
}

#[test]
fn blocks_cross_documents_with_all_below_them() {
    check(
        "page #t\n  page \"b\" #b\n    text \"c\" #c\npage \"Other\" #o\n  line #l",
        |s| s.move_to("b", "before l"),
        "page #t\npage \"Other\" #o\n  page \"b\" #b\n    text \"c\" #c\n  line #l",
    );
}

#[test]
fn a_block_named_with_one_above_it_leaves_it() {
    check(
        "page #t\n  page \"b\" #b\n    text \"c\" #c\n    line\npage #o",
        |s| s.move_to("b c", "end of o"),
        "page #t\npage #o\n  page \"b\" #b\n    line\n  text \"c\" #c",
    );
}

#[test]
fn never_under_itself_or_a_block_below_it() {
    refuse(TRIP, |s| s.move_to("b", "end of b"), RuleViolation, "blockIds[0]");
    refuse(TRIP, |s| s.move_to("a b", "end of d"), RuleViolation, "blockIds[1]");
    refuse(TRIP, |s| s.move_to("l b", "after e"), RuleViolation, "blockIds[1]");
}

#[test]
fn never_next_to_itself() {
    refuse(TRIP, |s| s.move_to("a b", "after b"), InvalidPosition, "position.siblingId");
    refuse(TRIP, |s| s.move_to("a", "before a"), InvalidPosition, "position.siblingId");
}

#[test]
fn roots_and_items_are_not_moved() {
    let error = refuse(TRIP, |s| s.move_to("a o", "end of b"), RuleViolation, "blockIds[1]");
    assert!(error.message().contains("document"), "{error}");
    refuse(TRIP, |s| s.move_to("t", "end of t"), RuleViolation, "blockIds[0]");
    refuse(TRIP, |s| s.move_to("i", "end of t"), RuleViolation, "blockIds[0]");
    refuse(TRIP, |s| s.move_to("a", "after i"), RuleViolation, "position.siblingId");
    refuse(TRIP, |s| s.move_to("a", "end of k"), RuleViolation, "position.pageId");
    check(
        "page #t\n  collection #k\n    collectionItem\npage #o",
        |s| s.move_to("k", "end of o"),
        "page\npage\n  collection\n    collectionItem",
    );
}

const SHELVES: &str = r#"
page "Home" #t
  text "a" #a
  collection "Books" #k
    collectionItem "One" #i
      text "inside" #j
      collection "Notes" #n
        collectionItem "First" #f
          line #l
    collectionItem "Two" #h
  page "Room" #r
page "Other" #o
"#;

#[test]
fn items_stay_at_their_place_and_nothing_goes_among_them() {
    for (labels, position, path) in [
        ("i", "end of r", "blockIds[0]"),
        ("a i", "end of o", "blockIds[1]"),
        ("i", "end of h", "blockIds[0]"),
        ("i", "after h", "position.siblingId"),
        ("h", "before i", "position.siblingId"),
        ("i", "end of k", "position.pageId"),
        ("f", "end of k", "position.pageId"),
        ("r", "after i", "position.siblingId"),
        ("k", "after f", "position.siblingId"),
        ("k", "end of n", "position.pageId"),
        // Below itself, by way of its own items.
        ("k", "end of i", "blockIds[0]"),
        ("k", "after n", "blockIds[0]"),
        ("k", "end of f", "blockIds[0]"),
    ] {
        let error = refuse(SHELVES, |s| s.move_to(labels, position), RuleViolation, path);
        let says = if path.starts_with("position") { "item operations" } else { "" };
        assert!(error.message().contains(says), "{labels} {position}: {error}");
    }
    let error = refuse(SHELVES, |s| s.move_to("i", "end of r"), RuleViolation, "blockIds[0]");
    assert!(error.message().contains("only its deletion"), "{error}");
}

#[test]
fn collections_go_anywhere_with_their_items_and_so_does_what_holds_them() {
    let lines = |from: usize, to: usize| {
        SHELVES.trim_start().lines().collect::<Vec<_>>()[from..to].join("\n")
    };
    let (books, notes) = (lines(2, 9), lines(5, 8));
    let deeper = |text: &str, by: usize| {
        text.lines().map(|line| " ".repeat(by) + line).collect::<Vec<_>>().join("\n")
    };
    let after = format!(
        "page \"Home\" #t\n  text \"a\" #a\n  page \"Room\" #r\npage \"Other\" #o\n{books}"
    );
    check(SHELVES, |s| s.move_to("k", "end of o"), &after);
    let after = format!(
        "page \"Home\" #t\n  page \"Room\" #r\n    text \"a\" #a\n{}\npage \"Other\" #o",
        deeper(&books, 2)
    );
    check(SHELVES, |s| s.move_to("a k", "end of r"), &after);
    // Into the page of an item, and out of one.
    let after = format!(
        "page \"Home\" #t\n  text \"a\" #a\n{}\n{}\n    collectionItem \"Two\" #h\n{notes}\n  page \"Room\" #r\npage \"Other\" #o",
        lines(2, 5),
        "",
    );
    check(SHELVES, |s| s.move_to("n", "end of h"), &after.replace("\n\n", "\n"));
    // Together with the block inside it, which leaves it.
    let after = format!(
        "page \"Home\" #t\n  text \"a\" #a\n  page \"Room\" #r\npage \"Other\" #o\n{books}\n  text \"inside\" #j"
    );
    check(
        SHELVES,
        |s| s.move_to("k j", "end of o"),
        &after.replacen("      text \"inside\" #j\n", "", 1),
    );
}

#[test]
fn items_are_levels() {
    let limited = |s: &mut Space, nesting: usize, position: &str| {
        s.naive.limits.page_nesting = nesting;
        s.move_to("k", position)
    };
    // The line in the item of the collection in the item.
    refuse(SHELVES, |s| limited(s, 5, "end of r"), LimitExceeded, "blockIds[0]");
    Space::new(SHELVES).limited(|limits| limits.page_nesting = 6).move_to("k", "end of r").unwrap();
}

#[test]
fn the_first_bad_block_is_named() {
    refuse(TRIP, |s| s.move_to("a ?", "end of t"), NotFound, "blockIds[1]");
    refuse(TRIP, |s| s.move_to("a l a", "end of t"), Validation, "blockIds[2]");
    refuse(TRIP, |s| s.move_to("a", "end of ?"), NotFound, "position.pageId");
    refuse(TRIP, |s| s.move_to("a", "after o"), InvalidPosition, "position.siblingId");
    refuse(TRIP, |s| s.move_to("a", "end of l"), RuleViolation, "position.pageId");
    let trash = "page #t\n  line #l\npage in=trash #x\n  line #y";
    refuse(trash, |s| s.move_to("y", "end of t"), RuleViolation, "blockIds[0]");
    refuse(trash, |s| s.move_to("l", "end of x"), RuleViolation, "position.pageId");
    let few = |s: &mut Space| {
        s.naive.limits.blocks_per_request = 1;
        s.move_to("a l", "end of t")
    };
    refuse(TRIP, few, LimitExceeded, "blockIds");
}

#[test]
fn what_is_moved_nests_as_deep_as_the_limit_says() {
    let before = "page #t\n  page #b\n    page #d\n      line #e\n  page #h\n    page #i\n      line\n  line #l";
    let limited = |s: &mut Space, labels: &str, position: &str| {
        s.naive.limits.page_nesting = 4;
        s.move_to(labels, position)
    };
    check(
        before,
        |s| limited(s, "l h", "end of b"),
        "page #t\n  page #b\n    page #d\n      line #e\n    line #l\n    page #h\n      page #i\n        line",
    );
    refuse(before, |s| limited(s, "l h", "end of d"), LimitExceeded, "blockIds[1]");
    check(
        before,
        |s| limited(s, "i", "after e"),
        "page\n  page\n    page\n      line\n      page\n        line\n  page\n  line",
    );
}
