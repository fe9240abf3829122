//! How documents are made.

use leafbase_model::ErrorKind::{LimitExceeded, RuleViolation};
use leafbase_model::{BlockData, Destination, Location};
use leafbase_tree_ops::check_root;

use crate::space::{Space, check, refuse};

#[test]
fn a_document_is_made_with_its_content() {
    check(
        "page \"Old\"",
        |s| s.create("page \"Trip\" font=mono\n  text \"a\"\n    line", Destination::Templates),
        "page \"Old\"\npage \"Trip\" font=mono in=templates\n  page \"a\"\n    line",
    );
}

#[test]
fn its_root_is_a_page() {
    check("", |s| s.create("text \"Trip\"", Destination::Unsorted), "page \"Trip\"");
    refuse("", |s| s.create("line", Destination::Unsorted), RuleViolation, "type");
    refuse("", |s| s.create("collectionItem \"x\"\n  line", Destination::Unsorted), RuleViolation, "type");
}

#[test]
fn it_is_not_made_in_the_trash() {
    let error = check_root(&BlockData::page("Trip"), Location::Trash).unwrap_err();
    assert_eq!((error.kind(), error.path()), (RuleViolation, "destination"));
}

#[test]
fn paths_begin_below_the_root() {
    refuse(
        "",
        |s| s.create("page\n  line\n  text card=small", Destination::Unsorted),
        RuleViolation,
        "content[1].cardLayout",
    );
    let titled = |s: &mut Space| {
        s.naive.limits.title = 3;
        s.create("page \"Trip\"", Destination::Unsorted)
    };
    refuse("", titled, LimitExceeded, "markdown");
    let deep = |s: &mut Space| {
        s.naive.limits.page_nesting = 1;
        s.create("page\n  page\n    line", Destination::Unsorted)
    };
    refuse("", deep, LimitExceeded, "content[0].content[0]");
}
