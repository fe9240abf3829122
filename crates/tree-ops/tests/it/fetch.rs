//! How far a fetch reads, and what it shows of what it leaves out.

use leafbase_model::ErrorKind::NotFound;
use leafbase_model::{Content, Edge, Fetch};
use leafbase_test_outline::{BlockRequest, Outline, SequentialIds, stamp};
use leafbase_tree_ops::{Context, ResolvedPosition, assemble, insert};

use crate::compare::Reply;
use crate::space::{Space, refuse};
use crate::tree::Tree;

const TRIP: &str = r#"
page "Trip" #t
  text "a" #a
  page "b" #b
    text "c  d" #c
    page "e" #d
      text "f"
  page "empty" #e
  collection "Books" #k
    collectionItem "One" #i
      text "inside"
"#;

#[test]
fn all_of_it() {
    let after = TRIP.replace("    collectionItem \"One\" #i\n      text \"inside\"\n", "");
    let lines: Vec<_> =
        after.trim_start().lines().map(|line| line.split(" #").next().unwrap()).collect();
    assert_eq!(Space::new(TRIP).fetch("t", None), lines.join("\n") + "\n");
}

#[test]
fn a_page_that_is_cut_has_a_preview_and_an_empty_one_has_none() {
    let mut space = Space::new(TRIP);
    assert_eq!(space.fetch("t", Some(0)), "page \"Trip\" preview=\"a b empty Books\"\n");
    assert_eq!(
        space.fetch("t", Some(1)),
        "page \"Trip\"\n  text \"a\"\n  page \"b\" preview=\"c d e\"\n  page \"empty\"\n  collection \"Books\"\n"
    );
    assert_eq!(space.fetch("i", Some(0)), "collectionItem \"One\" preview=\"inside\"\n");
    assert_eq!(space.fetch("i", None), "collectionItem \"One\"\n  text \"inside\"\n");
}

#[test]
fn a_preview_has_at_most_120_characters() {
    let long = format!("page #t\n  text \"{}\"\n", "é".repeat(300));
    assert_eq!(
        Space::new(&long).fetch("t", Some(0)),
        format!("page \"\" preview=\"{}\"\n", "é".repeat(120))
    );
}

#[test]
fn only_types_that_have_children_have_content() {
    let mut space = Space::new(TRIP);
    for (label, content) in
        [("a", Content::None), ("k", Content::None), ("e", Content::Blocks(Vec::new()))]
    {
        for max_depth in [None, Some(0), Some(1)] {
            let request = BlockRequest::Fetch(Fetch { max_depth, ..Fetch::new(space.id(label)) });
            let Ok(Reply::Block(block)) = space.run(&request) else { panic!("it is fetched") };
            assert_eq!(block.content, content, "{label}");
        }
    }
}

#[test]
fn metadata_comes_when_it_is_asked_for() {
    let mut space = Space::new(TRIP);
    space.update(&["c \"x\""]).unwrap();
    let request = BlockRequest::Fetch(Fetch::new(space.id("c")).with_metadata());
    let Ok(Reply::Block(block)) = space.run(&request) else { panic!("it is fetched") };
    let metadata = block.metadata.unwrap();
    assert_eq!((metadata.created, metadata.modified, block.rev), (stamp(0), stamp(1), 2));
}

#[test]
fn what_is_not_there_is_not_found() {
    let fetch = |s: &mut Space| s.run(&BlockRequest::Fetch(Fetch::new(s.id("?"))));
    refuse(TRIP, fetch, NotFound, "id");
}

#[test]
fn inserted_blocks_are_shown_as_they_were_given() {
    let space = Space::new("page #t");
    let (stamp, ids) = (stamp(1), SequentialIds::new(1));
    let context = Context { limits: &space.naive.limits, stamp: &stamp, ids: &ids };
    let text = "line\npage \"a\"\n  page \"b\"\n    text \"c\"\n  text \"d\"\ntext \"e\"\n";
    let place = ResolvedPosition::Within(Edge::End, space.id("t"));
    let inserted =
        insert(&Tree::new(&space.naive, None), &context, Outline::drafts(text), place).unwrap();
    let blocks = assemble(inserted.subtrees().unwrap()).unwrap();
    let shown: Vec<_> =
        blocks.iter().map(|block| Outline::of_block(block, &space.labels)).collect();
    assert_eq!(Outline::print(&shown), text);
    assert_eq!(blocks.iter().map(|block| block.id).collect::<Vec<_>>(), inserted.top);
}
