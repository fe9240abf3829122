//! The inbox: tasks stand at its top, its root is not changed, and below its tasks anything goes.

use leafbase_model::ErrorKind::RuleViolation;
use leafbase_model::{BlockData, BlockPatch, ErrorKind, Result};
use leafbase_test_outline::{SequentialIds, fields, stamp};
use leafbase_tree_ops::{Context, prepare_target, prepare_target_for};

use crate::compare::{Reply, place, update_split};
use crate::space::{Space, check, refuse};
use crate::tree::Tree;

const INBOX: &str = r#"
page "Inbox" in=inbox #i
  text "a" list=task #a
  page "b" list=task #b
    text "c" #c
    line #l
page "Trip" #t
  text "d" #d
  text "e" list=task #e
"#;

type Operation = fn(&mut Space) -> Result<Reply>;

const REFUSED: &[(Operation, &str)] = &[
    (|s| s.insert("end of i", "text \"x\""), "blocks[0].listStyle"),
    (|s| s.insert("start of i", "text list=task\ntext list=bullet"), "blocks[1].listStyle"),
    (|s| s.insert("before a", "page list=task\n  text\nline"), "blocks[1].listStyle"),
    (|s| s.insert("after b", "page\n  text list=task"), "blocks[0].listStyle"),
    (|s| s.move_to("d", "end of i"), "blockIds[0]"),
    (|s| s.move_to("e d", "after a"), "blockIds[1]"),
    (|s| s.move_to("a c", "before b"), "blockIds[1]"),
    (|s| s.update(&["a list=none"]), "blocks[0].listStyle"),
    (|s| s.update(&["d list=task", "b list=bullet"]), "blocks[1].listStyle"),
    (|s| s.update(&["i \"x\""]), "blocks[0].id"),
    (|s| s.update(&["d \"x\"", "i list=task"]), "blocks[1].id"),
    (|s| s.update(&["i"]), "blocks[0].id"),
];

#[test]
fn only_tasks_stand_at_its_top() {
    for (operation, path) in REFUSED {
        let error = refuse(INBOX, operation, RuleViolation, path);
        let says = error.message();
        assert!(says.contains("out of the inbox") || says.contains("tasks"), "{says}");
    }
    // The control: all of it goes in a document.
    for (operation, path) in REFUSED {
        let mut elsewhere = Space::new(&INBOX.replace(" in=inbox", ""));
        assert!(operation(&mut elsewhere).is_ok(), "{path}");
    }
}

#[test]
fn tasks_come_and_go() {
    check(
        INBOX,
        |s| s.insert("start of i", "text \"x\" list=task"),
        &INBOX.replace("  text \"a\"", "  text \"x\" list=task\n  text \"a\""),
    );
    check(INBOX, |s| s.move_to("e", "after b"), &moved_behind_c(INBOX));
    check(INBOX, |s| s.move_to("b a", "end of i"), &{
        let a = "  text \"a\" list=task #a\n";
        INBOX.replace(a, "").replace("    line #l\n", &format!("    line #l\n{a}"))
    });
    check(INBOX, |s| s.delete("a"), &INBOX.replace("  text \"a\" list=task #a\n", ""));
    check(INBOX, |s| s.move_to("a", "start of t"), &{
        let a = "  text \"a\" list=task #a\n";
        INBOX.replace(a, "").replace("#t\n", &format!("#t\n{a}"))
    });
}

/// The outline with `e` at the end of the inbox.
fn moved_behind_c(outline: &str) -> String {
    let e = "  text \"e\" list=task #e\n";
    outline.replace(e, "").replace("    line #l\n", &format!("    line #l\n{e}"))
}

const SORTED: &str = r#"
page "Inbox" in=inbox
  text "a" list=task #a
  page "b" list=task #b
    text "c" list=task #c
    text "d" list=task #d
  text "e" list=task #e
  text "f" task=done completed=2026-01-01T00:00:00.000Z #f
  text "g" task=canceled canceled=2026-01-01T00:00:00.000Z #g
"#;

/// What is changed, and the order of all then.
const TURNED: &[(&[&str], &str)] = &[
    (&["a task=done"], "b c d e f g a"),
    (&["a task=canceled"], "b c d e f g a"),
    (&["e task=done"], "a b c d f g e"),
    // With all below it, which stays where it is itself.
    (&["b task=done"], "a e f g b c d"),
    (&["c task=done"], "a b c d e f g"),
    (&["c task=done", "b task=done"], "a e f g b c d"),
    // In the order of the request.
    (&["e task=done", "a task=canceled"], "b c d f g e a"),
    (&["a task=done", "b task=done", "e task=done"], "f g a b c d e"),
    (&["f task=todo"], "f a b c d e g"),
    (&["g task=todo", "f task=todo"], "g f a b c d e"),
    (&["f task=todo", "a task=done", "g task=todo", "e task=done"], "f g b c d a e"),
    // Closed is closed, open is open.
    (&["f task=canceled", "g task=done"], "a b c d e f g"),
    (&["a \"x\"", "e task=todo", "f \"y\""], "a b c d e f g"),
];

#[test]
fn open_tasks_stand_before_closed_ones() {
    let order = |outline: &str, changes: &[&str]| {
        let mut space = Space::new(outline);
        space.update(changes).unwrap();
        let labels = space.naive.outline(&space.labels);
        labels
            .lines()
            .filter_map(|line| Some(line.split_once('#')?.1.to_owned()))
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (changes, expected) in TURNED {
        assert_eq!(order(SORTED, changes), *expected, "{changes:?}");
        // The control: in a document all of them stay.
        assert_eq!(
            order(&SORTED.replace(" in=inbox", ""), changes),
            "a b c d e f g",
            "{changes:?}"
        );
    }
}

#[test]
fn below_its_tasks_anything_goes() {
    let mut space = Space::new(INBOX);
    for done in [
        space.insert("end of b", "line\npage\n  text"),
        space.insert("start of a", "text \"x\""),
        space.move_to("d", "before c"),
        space.update(&["c list=task", "d \"y\""]),
        space.update(&["c list=none"]),
    ] {
        assert!(done.is_ok(), "{done:?}");
    }
}

/// Splits `label`'s text in two, the second part a task or not.
fn split(label: &str, is_task: bool) -> std::result::Result<usize, (ErrorKind, String)> {
    let space = Space::new(INBOX);
    let (stamp, ids) = (stamp(1), SequentialIds::new(1));
    let context = Context { limits: &space.naive.limits, stamp: &stamp, ids: &ids };
    let ready =
        |data: BlockData| vec![data.clone(), if is_task { data } else { BlockData::text("two") }];
    let patch = BlockPatch::new(space.id(label), fields("\"one\""));
    let tree = Tree::new(&space.naive, None);
    let updated = update_split(&tree, &context, vec![patch], &ready);
    updated
        .map(|updated| updated.blocks.len())
        .map_err(|error| (error.kind(), error.path().to_owned()))
}

#[test]
fn a_text_at_its_top_splits_into_tasks_alone() {
    let refused = (RuleViolation, "blocks[0].markdown".to_owned());
    assert_eq!([split("a", false), split("b", false)], [Err(refused.clone()), Err(refused)]);
    assert_eq!([split("a", true), split("c", false), split("e", false)], [Ok(2), Ok(2), Ok(2)]);
}

#[test]
fn a_place_at_its_top_is_refused_to_what_is_no_task() {
    let space = Space::new(INBOX);
    let (stamp, ids) = (stamp(1), SequentialIds::new(1));
    let context = Context { limits: &space.naive.limits, stamp: &stamp, ids: &ids };
    let tree = Tree::new(&space.naive, None);
    for (position, path) in [
        ("end of i", Some("position.pageId")),
        ("before a", Some("position.siblingId")),
        ("end of b", None),
        ("after c", None),
        ("end of t", None),
    ] {
        let place = place(space.position(position));
        let opened = prepare_target_for(&tree, &context, place, &BlockData::text("x"));
        assert_eq!(
            opened.err().map(|error| error.path().to_owned()).as_deref(),
            path,
            "{position}"
        );
        assert!(prepare_target(&tree, &context, place, 1).is_ok(), "{position}");
    }
}
