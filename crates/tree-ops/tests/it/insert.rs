//! Where blocks may be put, and what they become.

use leafbase_model::ErrorKind::{
    InvalidPosition, LimitExceeded, NotFound, RuleViolation, Validation,
};

use crate::space::{Space, check, refuse};

const TRIP: &str = r#"
page "Trip" #t
  text "Packing" #p
  page "Route" #r
    text "north" #n
  line #l
  collection "Books" #c
    collectionItem "One" #i
"#;

#[test]
fn blocks_are_put_at_the_four_kinds_of_place_in_their_order() {
    let before = "page \"T\" #t\n  text \"x\"\n  text \"a\" #a\n";
    let two = "text \"1\"\nline";
    check(
        before,
        |s| s.insert("end of t", two),
        "page \"T\"\n  text \"x\"\n  text \"a\"\n  text \"1\"\n  line",
    );
    check(
        before,
        |s| s.insert("start of t", two),
        "page \"T\"\n  text \"1\"\n  line\n  text \"x\"\n  text \"a\"",
    );
    check(
        before,
        |s| s.insert("before a", two),
        "page \"T\"\n  text \"x\"\n  text \"1\"\n  line\n  text \"a\"",
    );
    check(
        before,
        |s| s.insert("after a", two),
        "page \"T\"\n  text \"x\"\n  text \"a\"\n  text \"1\"\n  line",
    );
}

#[test]
fn a_text_that_receives_children_becomes_a_page_and_keeps_all_else() {
    check(
        r#"page "Trip"
             text "Packing" style=card card=large align=center color=#ff0000 list=bullet indent=2 #p"#,
        |space| {
            let reply = space.insert("end of p", r#"text "socks""#);
            assert_eq!(space.rev("p"), 2);
            reply
        },
        r#"page "Trip"
             page "Packing" style=card align=center card=large indent=2 list=bullet color=#ff0000 #p
               text "socks""#,
    );
}

#[test]
fn pages_and_items_take_children_as_they_are() {
    let mut space = Space::new(TRIP);
    space.insert("end of r", "text \"x\"").unwrap();
    space.insert("start of i", "text \"y\"").unwrap();
    assert_eq!((space.rev("r"), space.rev("i")), (1, 1));
}

#[test]
fn other_types_refuse_children_and_are_named() {
    let error =
        refuse(TRIP, |s| s.insert("end of l", "text \"x\""), RuleViolation, "position.pageId");
    assert_eq!(error.message(), "a block of type line cannot have children");
    let error =
        refuse(TRIP, |s| s.insert("end of c", "text \"x\""), RuleViolation, "position.pageId");
    assert!(error.message().contains("collection"), "{error}");
    refuse(TRIP, |s| s.insert("after i", "text \"x\""), RuleViolation, "position.siblingId");
}

#[test]
fn a_place_must_exist_and_be_writable() {
    refuse(TRIP, |s| s.insert("end of ?", "line"), NotFound, "position.pageId");
    refuse(TRIP, |s| s.insert("after ?", "line"), NotFound, "position.siblingId");
    refuse(TRIP, |s| s.insert("after t", "line"), InvalidPosition, "position.siblingId");
    let trashed = "page \"T\" in=trash #t\n  text \"a\" #a";
    refuse(trashed, |s| s.insert("end of t", "line"), RuleViolation, "position.pageId");
    refuse(trashed, |s| s.insert("before a", "line"), RuleViolation, "position.siblingId");
}

#[test]
fn without_drafts_the_place_is_checked_and_nothing_happens() {
    check(TRIP, |s| s.insert("end of p", ""), TRIP);
    refuse(TRIP, |s| s.insert("end of l", ""), RuleViolation, "position.pageId");
}

#[test]
fn a_text_draft_with_content_is_made_as_a_page() {
    check(
        "page \"T\" #t",
        |s| s.insert("end of t", "text \"a\" card=small\n  text \"b\"\n    text \"c\""),
        "page \"T\"\n  page \"a\" card=small\n    page \"b\"\n      text \"c\"",
    );
}

#[test]
fn items_and_collections_are_made_by_their_own_operations() {
    refuse(TRIP, |s| s.insert("end of t", "collection \"x\""), RuleViolation, "blocks[0].type");
    let nested = "line\npage \"a\"\n  line\n  collectionItem \"x\"";
    refuse(TRIP, |s| s.insert("end of t", nested), RuleViolation, "blocks[1].content[1].type");
}

#[test]
fn the_first_bad_draft_is_named_by_its_path() {
    let content = "line\nline\n  text \"a\"";
    refuse(TRIP, |s| s.insert("end of t", content), RuleViolation, "blocks[1].content");
    let card = "page \"a\"\n  line\n  page \"b\"\n    text \"c\"\n    text \"d\" card=square\n  text \"e\" indent=6";
    refuse(
        TRIP,
        |s| s.insert("end of t", card),
        RuleViolation,
        "blocks[0].content[1].content[1].cardLayout",
    );
    let indented = "line\npage \"a\"\n  text \"b\" indent=6";
    refuse(
        TRIP,
        |s| s.insert("end of t", indented),
        Validation,
        "blocks[1].content[0].indentationLevel",
    );
    refuse(TRIP, |s| s.insert("end of t", "line \"made\""), Validation, "blocks[0].markdown");
}

#[test]
fn card_layouts_for_columns_are_for_pages() {
    for layout in ["small", "square"] {
        refuse(
            TRIP,
            |s| s.insert("end of t", &format!("text card={layout}")),
            RuleViolation,
            "blocks[0].cardLayout",
        );
        check(
            "page #t",
            |s| s.insert("end of t", &format!("page card={layout}")),
            &format!("page\n  page card={layout}"),
        );
    }
    for layout in ["regular", "large"] {
        Space::new(TRIP).insert("end of t", &format!("text card={layout}")).unwrap();
    }
}

#[test]
fn six_levels_of_indentation() {
    check(
        "page #t",
        |s| s.insert("end of t", "text \"a\" indent=5"),
        "page\n  text \"a\" indent=5",
    );
    refuse(
        "page #t",
        |s| s.insert("end of t", "text \"a\" indent=6"),
        Validation,
        "blocks[0].indentationLevel",
    );
}

#[test]
fn pages_nest_as_deep_as_the_limit_says() {
    let before = "page #t\n  page\n    page #d";
    let nested = |s: &mut Space, levels: &str| {
        s.naive.limits.page_nesting = 4;
        s.insert("end of d", levels)
    };
    check(
        before,
        |s| nested(s, "line\npage\n  line"),
        "page\n  page\n    page\n      line\n      page\n        line",
    );
    let path = "blocks[1].content[0].content[0]";
    let error = refuse(before, |s| nested(s, "line\npage\n  page\n    line"), LimitExceeded, path);
    assert_eq!(error.message(), "pages within pages: at most 4, got 5");
}

#[test]
fn a_request_has_so_many_blocks() {
    let limited = |s: &mut Space, drafts: &str| {
        s.naive.limits.blocks_per_request = 3;
        s.insert("end of t", drafts)
    };
    check("page #t", |s| limited(s, "line\npage\n  line"), "page\n  line\n  page\n    line");
    refuse("page #t", |s| limited(s, "line\npage\n  line\n  line"), LimitExceeded, "blocks");
}

#[test]
fn a_text_too_long_for_a_title_cannot_become_a_page() {
    let mut space = Space::new("page #t\n  text \"abcdef\" #p").limited(|limits| limits.title = 5);
    let error = space.insert("end of p", "line").unwrap_err();
    assert_eq!((error.kind(), error.path()), (LimitExceeded, "position.pageId"));
}

#[test]
fn drafts_nested_without_bounds_are_refused_without_running_out_of_stack() {
    use leafbase_model::{BlockDraft, BlockId, BlockType};
    use leafbase_test_outline::{NaiveSpace, SequentialIds, stamp};
    use leafbase_tree_ops::{Context, ResolvedPosition, insert};

    let (space, labels) = NaiveSpace::from_outline("page #t").unwrap();
    let mut draft = BlockDraft::from(BlockType::Page);
    for _ in 0..200_000 {
        draft = BlockDraft::from(BlockType::Page).with_content(vec![draft]);
    }
    let (stamp, ids) = (stamp(1), SequentialIds::new(1));
    let context = Context { limits: &space.limits, stamp: &stamp, ids: &ids };
    let tree = crate::tree::Tree::new(&space, None);
    let root: BlockId = labels.id("t");
    let error = insert(
        &tree,
        &context,
        vec![draft],
        ResolvedPosition::Within(leafbase_model::Edge::End, root),
    )
    .unwrap_err();
    assert_eq!(error.kind(), LimitExceeded);
}

#[test]
fn a_done_task_is_stamped_when_it_is_made() {
    check(
        "page #t",
        |s| {
            s.insert(
                "end of t",
                "text \"a\" task=done\ntext \"b\" task=canceled\ntext \"c\" list=task",
            )
        },
        "page
  text \"a\" task=done completed=2026-01-01T00:00:01.000Z
  text \"b\" task=canceled canceled=2026-01-01T00:00:01.000Z
  text \"c\" list=task",
    );
}
