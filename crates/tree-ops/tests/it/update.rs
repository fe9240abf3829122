//! What an update may change.

use leafbase_model::ErrorKind::{Conflict, LimitExceeded, NotFound, RuleViolation, Validation};
use leafbase_model::{BlockData, BlockPatch, Edit, Error};
use leafbase_test_outline::{SequentialIds, fields, stamp};
use leafbase_tree_ops::{Context, UpdatedBlocks};

use crate::compare::{Reply, update_split};
use crate::space::{Space, check, refuse};
use crate::tree::Tree;

const TRIP: &str = r#"
page "Trip" #t
  text "Packing" style=h1 color=#ff0000 #p
  page "Route" card=small #r
    text "north" #n
  page "Empty" #e
  image url="u" alt="v" #m
  code code="x" #k
  collection "Books" #c
    collectionItem "One" prop:pages=3 #i
"#;

#[test]
fn only_the_fields_given_change() {
    let after = TRIP
        .replace("\"Packing\" style=h1", "\"Bags\" style=h1 indent=2")
        .replace("\"One\"", "\"Two\"");
    check(TRIP, |s| s.update(&["p \"Bags\" indent=2", "i \"Two\""]), &after);
    check(TRIP, |s| s.update(&["p color=none"]), &TRIP.replace(" color=#ff0000", ""));
}

#[test]
fn rev_and_stamp_move_on_only_with_a_change() {
    let mut space = Space::new(TRIP);
    let reply = space.update(&["p \"Bags\"", "n \"north\"", "e"]).unwrap();
    let Reply::Records(records) = reply else { panic!("{reply:?}") };
    assert_eq!(records.iter().map(|record| record.rev).collect::<Vec<_>>(), [2, 1, 1]);
    assert_eq!(
        records.iter().map(|record| record.modified.at).collect::<Vec<_>>(),
        [stamp(1).at, stamp(0).at, stamp(0).at]
    );
    assert_eq!(records[0].created, stamp(0));
}

#[test]
fn a_rev_is_a_precondition() {
    let mut space = Space::new(TRIP);
    space.update(&["p \"1\" rev=1"]).unwrap();
    space.update(&["p \"2\" rev=2"]).unwrap();
    let error = space.update(&["n \"x\"", "p \"3\" rev=2"]).unwrap_err();
    assert_eq!((error.kind(), error.path()), (Conflict, "blocks[1].rev"));
    assert_eq!(error.message(), "expected rev 2, but the block has rev 3");
}

#[test]
fn a_text_becomes_a_page_and_back_while_it_has_no_children() {
    check(
        TRIP,
        |s| s.update(&["p type=page"]),
        &TRIP.replace("text \"Packing\"", "page \"Packing\""),
    );
    check(TRIP, |s| s.update(&["e type=text"]), &TRIP.replace("page \"Empty\"", "text \"Empty\""));
    refuse(TRIP, |s| s.update(&["r type=text"]), RuleViolation, "blocks[0].type");
    refuse("page \"T\" #t", |s| s.update(&["t type=text"]), RuleViolation, "blocks[0].type");
}

#[test]
fn media_change_among_themselves() {
    check(TRIP, |s| s.update(&["m type=video"]), &TRIP.replace("image url", "video url"));
    check(
        TRIP,
        |s| s.update(&["m type=file"]),
        &TRIP.replace("image url=\"u\" alt", "file url=\"u\" name"),
    );
}

#[test]
fn other_changes_of_type_name_both() {
    let error = refuse(TRIP, |s| s.update(&["p type=image"]), RuleViolation, "blocks[0].type");
    assert!(error.message().contains("text") && error.message().contains("image"), "{error}");
    refuse(TRIP, |s| s.update(&["k type=text"]), RuleViolation, "blocks[0].type");
    refuse(TRIP, |s| s.update(&["i type=page"]), RuleViolation, "blocks[0].type");
    refuse(TRIP, |s| s.update(&["p type=collection"]), RuleViolation, "blocks[0].type");
}

#[test]
fn a_collection_keeps_a_name() {
    check(TRIP, |s| s.update(&["c \"Papers\""]), &TRIP.replace("Books", "Papers"));
    for name in ["", "  "] {
        refuse(
            TRIP,
            |s| s.update(&["p \"x\"", &format!("c {name:?}")]),
            Validation,
            "blocks[1].markdown",
        );
    }
    refuse(
        TRIP,
        |s| s.update(&[&format!("c \"{}\"", "x".repeat(1_001))]),
        LimitExceeded,
        "blocks[0].markdown",
    );
    let unnamed = "page\n  collection #c";
    check(unnamed, |s| s.update(&["c color=#ff0000"]), "page\n  collection color=#ff0000");
}

#[test]
fn a_page_with_a_layout_for_columns_cannot_become_text_with_it() {
    let before = "page #t\n  page \"a\" card=small #a";
    refuse(before, |s| s.update(&["a type=text"]), RuleViolation, "blocks[0].cardLayout");
    check(before, |s| s.update(&["a type=text card=regular"]), "page\n  text \"a\"");
    refuse(TRIP, |s| s.update(&["p card=square"]), RuleViolation, "blocks[0].cardLayout");
}

#[test]
fn the_first_bad_patch_is_named() {
    refuse(TRIP, |s| s.update(&["p \"x\"", "? \"y\""]), NotFound, "blocks[1].id");
    refuse(TRIP, |s| s.update(&["p \"x\"", "n \"y\"", "p \"z\""]), Validation, "blocks[2].id");
    refuse(TRIP, |s| s.update(&["p indent=6"]), Validation, "blocks[0].indentationLevel");
    refuse(TRIP, |s| s.update(&["p url=x"]), Validation, "blocks[0].url");
    refuse(TRIP, |s| s.update(&["k \"made\""]), Validation, "blocks[0].markdown");
    refuse("page in=trash #t", |s| s.update(&["t \"x\""]), RuleViolation, "blocks[0].id");
    let few = |s: &mut Space| {
        s.naive.limits.blocks_per_request = 1;
        s.update(&["p \"x\"", "n \"y\""])
    };
    refuse(TRIP, few, LimitExceeded, "blocks");
}

#[test]
fn a_change_of_state_stamps_the_task() {
    let mut space = Space::new("page #t\n  text \"a\" list=task #a");
    let mut see = |changes: &str, expected: &str| {
        space.update(&[changes]).unwrap();
        let found = space.naive.outline(&space.labels);
        assert_eq!(found, format!("page \"\" #t\n  text \"a\" {expected} #a\n"));
    };
    see("a task=done", "list=task task=done completed=2026-01-01T00:00:01.000Z");
    see(
        "a task=done schedule=2026-03-01",
        "list=task task=done schedule=2026-03-01 completed=2026-01-01T00:00:01.000Z",
    );
    see("a task=canceled", "list=task task=canceled canceled=2026-01-01T00:00:03.000Z");
    see("a task=todo", "list=task");
    see("a list=bullet", "list=bullet");
}

/// Splits the text of a block at its empty lines.
fn paragraphs(data: &BlockData) -> Vec<BlockData> {
    let texts = data.inline.split("\n\n");
    texts.map(|text| BlockData { inline: text.to_owned(), ..data.clone() }).collect()
}

fn split(space: &Space, patches: Vec<BlockPatch>) -> Result<UpdatedBlocks, Error> {
    let (stamp, ids) = (stamp(1), SequentialIds::new(1));
    let context = Context { limits: &space.naive.limits, stamp: &stamp, ids: &ids };
    update_split(&Tree::new(&space.naive, None), &context, patches, &|data| paragraphs(&data))
}

#[test]
fn further_paragraphs_become_blocks_right_after() {
    let mut space = Space::new("page \"T\" #t\n  text \"a\" style=h1 #a\n  text \"b\" #b");
    let patches = vec![
        BlockPatch::new(space.id("a"), fields("\"1\\n\\n2\\n\\n3\"")),
        BlockPatch::new(space.id("b"), fields("\"4\\n\\n5\"")),
    ];
    let updated = split(&space, patches).unwrap();
    assert_eq!(updated.blocks.len(), 5);
    let before = space.naive.clone();
    space.naive.apply_all(&updated.edits).unwrap();
    assert_eq!(
        space.naive.outline(&space.labels),
        "page \"T\" #t\n  text \"1\" style=h1 #a\n  text \"2\" style=h1\n  text \"3\" style=h1\n  text \"4\" #b\n  text \"5\"\n"
    );
    let inverse: Result<Vec<_>, _> = updated.edits.iter().rev().map(Edit::inverse).collect();
    let inverse = inverse.unwrap();
    space.naive.apply_all(&inverse).unwrap();
    assert_eq!(space.naive, before);
}

#[test]
fn a_done_task_that_is_split_was_done_when_it_was() {
    let before = "page #t\n  text \"a\" task=done completed=2020-01-01T00:00:00.000Z #a";
    let mut space = Space::new(before);
    let updated =
        split(&space, vec![BlockPatch::new(space.id("a"), fields("\"1\\n\\n2\""))]).unwrap();
    space.naive.apply_all(&updated.edits).unwrap();
    let stamps: Vec<_> =
        updated.blocks.iter().map(|block| block.data.task.unwrap().completed_at.unwrap()).collect();
    assert_eq!(stamps, ["2020-01-01T00:00:00.000Z".parse().unwrap(); 2]);
}

#[test]
fn what_a_block_says_is_made_ready_when_anything_of_it_changes() {
    let space = Space::new("page #t\n  text \"a\" #a");
    let calls = |changes: &str| {
        let (stamp, ids, seen) = (stamp(1), SequentialIds::new(1), std::cell::Cell::new(0));
        let context = Context { limits: &space.naive.limits, stamp: &stamp, ids: &ids };
        let ready = |data| {
            seen.set(seen.get() + 1);
            vec![data]
        };
        let patches = vec![BlockPatch::new(space.id("a"), fields(changes))];
        update_split(&Tree::new(&space.naive, None), &context, patches, &ready).unwrap();
        seen.get()
    };
    assert_eq!(
        [calls("indent=1"), calls("\"a\""), calls("\"b\""), calls("type=page")],
        [1, 0, 1, 1]
    );
}

#[test]
fn a_title_that_has_no_room_beside_it_stays_one_paragraph() {
    let space = Space::new("page \"T\" #t\n  collection \"B\"\n    collectionItem \"One\" #i");
    for label in ["t", "i"] {
        let error = split(&space, vec![BlockPatch::new(space.id(label), fields("\"1\\n\\n2\""))])
            .unwrap_err();
        assert_eq!((error.kind(), error.path()), (RuleViolation, "blocks[0].markdown"));
    }
}
