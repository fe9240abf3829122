//! What may be deleted, and what goes with it.

use leafbase_model::ErrorKind::{LimitExceeded, NotFound, RuleViolation, Validation};
use leafbase_test_outline::{SequentialIds, stamp};
use leafbase_tree_ops::{Context, DeletedBlocks, delete};

use crate::compare::Reply;
use crate::space::{Space, check, refuse};
use crate::tree::Tree;

const TRIP: &str = r#"
page "Trip" #t
  text "a" #a
  page "b" #b
    text "c" #c
    page "d" #d
      text "e" #e
  text "f" #f
  text "g" #g
  collection "Books" #k
    collectionItem "One" #i
      text "inside" #j
"#;

#[test]
fn a_block_goes_with_all_below_it_and_its_parent_stays_a_page() {
    check(
        "page #t\n  page \"b\" #b\n    text \"c\" #c\n      text \"d\"",
        |s| s.delete("c"),
        "page #t\n  page \"b\" #b",
    );
}

#[test]
fn a_block_and_one_below_it_may_both_be_named() {
    let mut space = Space::new(TRIP);
    let ids = space.ids("e a b");
    assert_eq!(space.delete("e a b").unwrap(), Reply::Ids(ids));
    assert!(space.naive.find(space.id("d")).is_none());
}

#[test]
fn an_item_and_a_collection_may_be_deleted() {
    check(
        TRIP,
        |s| s.delete("i"),
        &TRIP.replace("    collectionItem \"One\" #i\n      text \"inside\" #j\n", ""),
    );
    check("page\n  collection #k\n    collectionItem\n  line", |s| s.delete("k"), "page\n  line");
}

#[test]
fn what_may_not_be_deleted() {
    refuse(TRIP, |s| s.delete("t"), RuleViolation, "blockIds[0]");
    refuse(TRIP, |s| s.delete("a ?"), NotFound, "blockIds[1]");
    refuse(TRIP, |s| s.delete("a b c a"), Validation, "blockIds[3]");
    refuse(
        "page\n  line #l\npage in=trash\n  line #x",
        |s| s.delete("l x"),
        RuleViolation,
        "blockIds[1]",
    );
    let few = |s: &mut Space| {
        s.naive.limits.blocks_per_request = 1;
        s.delete("a b")
    };
    refuse(TRIP, few, LimitExceeded, "blockIds");
}

fn deleted(space: &Space, labels: &str) -> DeletedBlocks {
    let (stamp, ids) = (stamp(1), SequentialIds::new(1));
    let context = Context { limits: &space.naive.limits, stamp: &stamp, ids: &ids };
    delete(&Tree::new(&space.naive, None), &context, space.ids(labels)).unwrap()
}

#[test]
fn siblings_side_by_side_go_in_one_edit_whatever_the_order() {
    let space = Space::new(TRIP);
    let gone = |labels| -> Vec<usize> {
        deleted(&space, labels).subtrees().map(|subtrees| subtrees.0.len()).collect()
    };
    assert_eq!(gone("f a b"), [6]);
    assert_eq!(gone("g a"), [1, 1]);
    assert_eq!(gone("c g f"), [1, 2]);
    assert_eq!(gone("e d b"), [4]);
}
