//! Folders: what may go where, as data, and random requests against the laws that hold for every
//! state.

use leafbase_model::ErrorKind::{LimitExceeded, NotFound, RuleViolation, Validation};
use leafbase_model::{
    Edit, ErrorKind, FolderDestination, FolderDraft, FolderId, FolderRef, Result,
};
use leafbase_test_outline::{SequentialIds, stamp};
use leafbase_tree_ops::{
    Context, FolderPlan, create_folders, delete_folders, folders_within, move_folders,
};
use proptest::prelude::*;

use crate::shelf::{Shelf, bytes, folder};

const SHELF: &str = "
Home
  *bills
  Garden
    *seeds
    Beds
      *peas
Work
  *plan
  Done
Empty
*loose
";

#[track_caller]
fn check(before: &str, run: impl FnOnce(&Shelf) -> Result<Vec<Edit>>, after: &str) {
    let mut shelf = Shelf::new(before);
    let edits = run(&shelf).unwrap();
    shelf.write_all(&edits).unwrap();
    assert_eq!(shelf.text(), Shelf::new(after).text());
}

#[track_caller]
fn refuse(run: impl FnOnce(&Shelf) -> Result<Vec<Edit>>, kind: ErrorKind, path: &str) -> String {
    let mut shelf = Shelf::new(SHELF);
    shelf.limits.folder_nesting = 3;
    shelf.limits.blocks_per_request = 4;
    let error = run(&shelf).unwrap_err();
    assert_eq!((error.kind(), error.path()), (kind, path), "{error}");
    error.message().to_owned()
}

fn draft(name: &str) -> FolderDraft {
    FolderDraft::new(name)
}

fn inside(mut draft: FolderDraft, parent: Option<FolderRef>) -> FolderDraft {
    draft.parent = parent;
    draft
}

fn chain(names: &[&str]) -> FolderDraft {
    let (first, rest) = names.split_first().unwrap();
    if rest.is_empty() { draft(first) } else { draft(first).with_folders([chain(rest)]) }
}

#[test]
fn the_text_of_a_shelf_says_what_is_where() {
    assert_eq!(Shelf::new(&Shelf::new(SHELF).text()), Shelf::new(SHELF));
    assert!(
        Shelf::new(SHELF)
            .text()
            .starts_with("*loose\nEmpty\nHome\n  *bills\n  Garden\n    *seeds\n    Beds\n")
    );
}

#[test]
fn folders_are_made_parents_first() {
    let shelf = Shelf::new(SHELF);
    let within = FolderId::from_bytes(bytes("Done"));
    let drafts =
        vec![draft("A").with_folders([chain(&["B", "C"]), draft("D")]), draft("E").within(within)];
    let edits = shelf.create(drafts).unwrap();
    let names = edits.iter().map(|edit| match edit {
        Edit::CreateFolder(folder) => folder.name.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(names.collect::<Vec<_>>(), ["A", "B", "C", "D", "E"]);
    let mut after = shelf.clone();
    after.write_all(&edits).unwrap();
    let made = "A\n  B\n    C\n  D\n";
    assert!(
        after.text().starts_with(&format!("*loose\n{made}"))
            && after.text().ends_with("  Done\n    E\n")
    );
}

#[test]
fn folders_that_are_not_made() {
    let inside = |draft: FolderDraft, parent: &str| inside(draft, Some(folder(parent)));
    let within = |name: &str, parent: &str| inside(draft(name), parent);
    for (drafts, kind, path) in [
        (vec![draft("a"), draft("")], Validation, "folders[1].name"),
        (vec![draft(" \t\u{a0}")], Validation, "folders[0].name"),
        (vec![draft(&"é".repeat(1_001))], LimitExceeded, "folders[0].name"),
        (vec![chain(&["a", "b", ""])], Validation, "folders[0].folders[0].folders[0].name"),
        (vec![within("a", "?")], NotFound, "folders[0].parentFolderId"),
        (vec![within("", "?")], NotFound, "folders[0].parentFolderId"),
        (vec![within("a", "unsorted")], RuleViolation, "folders[0].parentFolderId"),
        (vec![within("a", "trash")], RuleViolation, "folders[0].parentFolderId"),
        (vec![within("a", "templates")], RuleViolation, "folders[0].parentFolderId"),
        (vec![within("a", "daily_notes")], RuleViolation, "folders[0].parentFolderId"),
        (
            vec![draft("a").with_folders([within("b", "Home")])],
            Validation,
            "folders[0].folders[0].parentFolderId",
        ),
        (vec![chain(&["a", "b", "c", "d", "e"])], LimitExceeded, "folders"),
        (vec![inside(chain(&["a", "b"]), "Beds")], LimitExceeded, "folders[0].folders[0]"),
        (
            vec![draft("a"), draft("b"), draft("c"), draft("d"), draft("e")],
            LimitExceeded,
            "folders",
        ),
    ] {
        refuse(|shelf| shelf.create(drafts), kind, path);
    }
}

#[test]
fn drafts_of_any_depth_are_refused_on_a_small_stack() {
    let deep = || (1..200_000).fold(draft("a"), |inner, _| draft("a").with_folders([inner]));
    let run = move || {
        let mut shelf = Shelf::new("");
        assert_eq!(shelf.create(vec![deep()]).unwrap_err().path(), "folders");
        shelf.limits.blocks_per_request = 1_000_000;
        shelf.limits.folder_nesting = 1_000_000;
        let error = shelf.create(vec![deep()]).unwrap_err();
        // The path names the folder that is too deep, as far as paths go.
        assert_eq!((error.kind(), error.path().matches("folders[0]").count()), (LimitExceeded, 90));
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn folders_go_with_all_in_them() {
    check(
        SHELF,
        |shelf| shelf.go("Garden Done", "Empty"),
        "
*loose
Empty
  Done
  Garden
    *seeds
    Beds
      *peas
Home
  *bills
Work
  *plan
",
    );
    check("a\n  b\n    c\n      d", |shelf| shelf.go("c b d", "root"), "a\nb\nc\nd");
    check("a\n  b\n    c", |shelf| shelf.go("b c", "a"), "a\n  b\n  c");
    check("a\n  b\nc", |shelf| shelf.go("b a", "c"), "c\n  a\n  b");
}

#[test]
fn a_folder_that_is_there_already_has_no_edit() {
    let shelf = Shelf::new(SHELF);
    assert_eq!(shelf.go("Garden", "Home").unwrap(), []);
    assert_eq!(shelf.go("Home Work", "root").unwrap(), []);
    assert_eq!(shelf.go("", "Home").unwrap(), []);
    assert_eq!(shelf.go("Garden Done", "Home").unwrap().len(), 1);
}

#[test]
fn folders_that_do_not_go() {
    for (names, to, kind, path) in [
        ("Home", "Home", RuleViolation, "folderIds[0]"),
        ("Home", "Garden", RuleViolation, "folderIds[0]"),
        ("Home", "Beds", RuleViolation, "folderIds[0]"),
        ("Work Home", "Beds", RuleViolation, "folderIds[1]"),
        ("Garden Home", "Beds", RuleViolation, "folderIds[0]"),
        ("Home ?", "Work", NotFound, "folderIds[1]"),
        ("? ?", "Work", NotFound, "folderIds[0]"),
        ("Home Home", "Work", Validation, "folderIds[1]"),
        ("unsorted", "root", RuleViolation, "folderIds[0]"),
        ("Home daily_notes", "Work", RuleViolation, "folderIds[1]"),
        ("templates", "Work", RuleViolation, "folderIds[0]"),
        ("trash", "Work", RuleViolation, "folderIds[0]"),
        ("Home", "unsorted", RuleViolation, "destination.parentFolderId"),
        ("Home", "trash", RuleViolation, "destination.parentFolderId"),
        ("?", "?", NotFound, "destination.parentFolderId"),
        ("", "?", NotFound, "destination.parentFolderId"),
        ("Home", "Done", LimitExceeded, "folderIds[0]"),
        ("Empty Home", "Done", LimitExceeded, "folderIds[1]"),
        ("a b c d e", "root", LimitExceeded, "folderIds"),
    ] {
        refuse(|shelf| shelf.go(names, to), kind, path);
    }
}

#[test]
fn what_leaves_a_folder_with_it_does_not_count_for_its_depth() {
    let mut shelf = Shelf::new(SHELF);
    shelf.limits.folder_nesting = 3;
    assert_eq!(shelf.go("Home", "Done").unwrap_err().kind(), LimitExceeded);
    let edits = shelf.go("Home Beds", "Done").unwrap();
    shelf.write_all(&edits).unwrap();
    // Where a limit was lowered later, what goes no deeper still goes.
    shelf.limits.folder_nesting = 0;
    assert_eq!(shelf.go("Garden", "Work").unwrap().len(), 1);
}

#[test]
fn what_is_in_a_deleted_folder_goes_up() {
    check(
        SHELF,
        |shelf| shelf.delete("Garden", false),
        "*loose\nEmpty\nHome\n  *bills\n  *seeds\n  Beds\n    *peas\nWork\n  *plan\n  Done",
    );
    check(
        SHELF,
        |shelf| shelf.delete("Home Empty", false),
        "*loose\n*bills\nGarden\n  *seeds\n  Beds\n    *peas\nWork\n  *plan\n  Done",
    );
    for names in ["Home Garden", "Garden Home"] {
        let after = "*loose\n*bills\n*seeds\nBeds\n  *peas\nEmpty\nWork\n  *plan\n  Done";
        check(SHELF, |shelf| shelf.delete(names, false), after);
    }
    check(
        "a\n  *x\n  b\n    *y\n    c\n      *z",
        |shelf| shelf.delete("b c", false),
        "a\n  *x\n  *y\n  *z",
    );
    check(
        "a\n  b\n    c\n      d\n        *x",
        |shelf| shelf.delete("a c", false),
        "b\n  d\n    *x",
    );
}

#[test]
fn only_empty_ones_are_deleted_if_asked() {
    check("a\n  b\nc", |shelf| shelf.delete("b c", true), "a");
    // What goes by the same request does not count.
    check("a\n  b\nc", |shelf| shelf.delete("a b", true), "c");
    check("a\n  b\nc", |shelf| shelf.delete("b a", true), "c");
    let message = refuse(|shelf| shelf.delete("Empty Work", true), RuleViolation, "folderIds[1]");
    assert!(message.ends_with("documents in it 1, folders in it 1"), "{message}");
    refuse(|shelf| shelf.delete("Work Done", true), RuleViolation, "folderIds[0]");
    refuse(|shelf| shelf.delete("Beds", true), RuleViolation, "folderIds[0]");
}

#[test]
fn folders_that_are_not_deleted() {
    for (names, kind, path) in [
        ("Home ?", NotFound, "folderIds[1]"),
        ("Home Home", Validation, "folderIds[1]"),
        ("unsorted", RuleViolation, "folderIds[0]"),
        ("daily_notes", RuleViolation, "folderIds[0]"),
        ("Home templates", RuleViolation, "folderIds[1]"),
        ("trash", RuleViolation, "folderIds[0]"),
        ("a b c d e", LimitExceeded, "folderIds"),
    ] {
        for must_be_empty in [false, true] {
            let names =
                if must_be_empty { names.replace("Home", "Empty") } else { names.to_owned() };
            refuse(|shelf| shelf.delete(&names, must_be_empty), kind, path);
        }
    }
}

#[test]
fn all_within_is_found_once() {
    let shelf = Shelf::new(SHELF);
    let ids = |names: &str| {
        names.split_whitespace().map(|name| FolderId::from_bytes(bytes(name))).collect::<Vec<_>>()
    };
    assert_eq!(folders_within(&shelf, &ids("Home")).unwrap(), ids("Home Garden Beds"));
    assert_eq!(
        folders_within(&shelf, &ids("Beds Home Empty")).unwrap(),
        ids("Beds Home Garden Empty")
    );
}

/// What random requests come to: how many were done, or the law that was broken.
fn run(numbers: &[u8], lies: bool) -> Result<usize, String> {
    let mut shelf = Shelf::new("a\n  b\n    *x\nc\n  *y");
    shelf.limits.folder_nesting = 4;
    shelf.lies = lies;
    let mut done = 0;
    let mut numbers = numbers.iter().map(|number| usize::from(*number));
    let mut next = |most: usize| numbers.next().unwrap_or_default() % most;
    for step in 0..24 {
        let ids: Vec<FolderRef> = shelf.folders.keys().map(|id| (*id).into()).collect();
        let one = |next: &mut dyn FnMut(usize) -> usize| ids.get(next(ids.len().max(1))).copied();
        let (kind, to) = (next(4), if next(3) == 0 { None } else { one(&mut next) });
        let some: Vec<FolderRef> = (0..=next(3)).filter_map(|_| one(&mut next)).collect();
        let edits = match kind {
            0 | 1 => {
                let drafts = inside(chain(&["p", "q"][..=next(2)]), to);
                let plan = FolderPlan::of(vec![drafts], &shelf.limits).unwrap();
                let ids = SequentialIds::new(2 + step);
                let context = Context { limits: &shelf.limits, stamp: &stamp(1), ids: &ids };
                let made = create_folders(&shelf, &context, &plan);
                made.map(|made| made.into_iter().map(Edit::CreateFolder).collect())
            }
            2 => {
                let to = to.map_or(FolderDestination::Root, FolderDestination::Folder);
                shelf
                    .with(|context| move_folders(&shelf, context, &some, to))
                    .map(|moved| moved.edits)
            }
            _ => shelf.with(|context| delete_folders(&shelf, context, &some, next(2) == 0)),
        };
        if let Ok(edits) = edits {
            shelf.write_all(&edits)?;
            done += 1;
        }
    }
    if shelf.documents.len() == 2 { Ok(done) } else { Err("a document is lost".to_owned()) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_laws_hold_after_random_requests(numbers in prop::collection::vec(any::<u8>(), 300)) {
        prop_assert!(run(&numbers, false).map_err(TestCaseError::fail)? > 0);
    }
}

#[test]
fn random_requests_would_show_a_rule_that_is_not_kept() {
    let broken = (0..200_u32).filter(|seed| {
        let numbers: Vec<u8> = (0..300_u32)
            .map(|at| ((at + 1).wrapping_mul(seed * 2 + 2_654_435_761) >> 13).to_le_bytes()[0])
            .collect();
        run(&numbers, true).is_err()
    });
    assert!(broken.count() > 0);
}
