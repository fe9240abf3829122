//! Tasks made and ended by the operations on blocks and documents are the same tasks.

use std::ops::ControlFlow;

use leafbase::BlockDraft;
use leafbase_vault::{ImportOptions, MemorySource, import_from};

use super::desk::{Desk, Step};

const ACTIVE: &str = r#"{"scope":"active"}"#;
const INBOX: &str = r#"{"scope":"inbox"}"#;
const LOGBOOK: &str = r#"{"scope":"logbook"}"#;
const TRIP: &str = r#"{"scope":"document","documentId":"@trip"}"#;

/// A document `trip` with the task `a`, planned for today.
const MADE: Step<'_> = (
    "insert",
    r#"{"blocks":[{"type":"text","listStyle":"task","markdown":"a","taskInfo":{"scheduleDate":"2026-03-01"}}],"position":{"pageId":"@trip"}}"#,
    "a",
);

#[test]
fn blocks_that_are_inserted() {
    Desk::new().run(&[
        MADE,
        ("look", ACTIVE, "a(on 2026-03-01)@trip"),
        (
            "insert",
            r##"{"markdown":"# Plan\n\n- [ ] b\n- [x] c\n- [-] d\n- e\n1. f","position":{"pageId":"@trip"}}"##,
            "Plan b c d e f",
        ),
        ("list", TRIP, "a b c d"),
        ("list", LOGBOOK, "d c"),
        ("look", r#"{"scope":"logbook","limit":1}"#, "d(canceled at 2026-03-01T12:00:00.000Z)@trip"),
        ("insert", r#"{"markdown":"- [ ] g","position":{"date":"today"}}"#, "g"),
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@g","taskInfo":{"scheduleDate":"today"}}]}"#,
            "g(on 2026-03-01)@2026-03-01",
        ),
        ("list", ACTIVE, "a g"),
    ]);
}

#[test]
fn days_of_new_blocks_may_be_relative() {
    let mut desk = Desk::new();
    let task = |name: &str, info: &str| {
        format!(r#"{{"type":"text","listStyle":"task","markdown":"{name}","taskInfo":{info}}}"#)
    };
    let (a, b, c) = (
        task("a", r#"{"scheduleDate":"tomorrow","deadlineDate":"2026-04-01"}"#),
        task("b", r#"{"deadlineDate":"yesterday","scheduleDate":null}"#),
        task("c", r#"{"state":"done","scheduleDate":"today"}"#),
    );
    let nested = format!(r#"{{"type":"page","title":"page","content":[{b},{c}]}}"#);
    desk.run(&[
        ("insert", &format!(r#"{{"blocks":[{a},{nested}],"position":{{"pageId":"@trip"}}}}"#), "a page"),
        (
            "look",
            TRIP,
            "a(on 2026-03-02 by 2026-04-01)@trip b(by 2026-02-28)@trip c(done on 2026-03-01 at 2026-03-01T12:00:00.000Z)@trip",
        ),
        ("create", &format!(r#"{{"documents":[{{"title":"new","content":[{a}]}},{{"title":"two","content":[{b}]}}]}}"#), "new two"),
    ]);
    let new = desk
        .notes
        .documents()
        .unwrap()
        .iter()
        .find(|document| document.title == "new")
        .unwrap()
        .id();
    desk.run(&[
        ("look", &format!(r#"{{"scope":"document","documentId":"{new}"}}"#), "a(on 2026-03-02 by 2026-04-01)@new"),
        (
            "insert",
            &format!(
                r#"{{"blocks":[{a},{}],"position":{{"pageId":"@trip"}}}}"#,
                task("d", r#"{"scheduleDate":"someday"}"#)
            ),
            "VALIDATION blocks[1].taskInfo.scheduleDate",
        ),
        (
            "insert",
            r#"{"blocks":[{"type":"text","taskInfo":{"scheduleDate":"today"}}],"position":{"pageId":"@trip"}}"#,
            "VALIDATION blocks[0].taskInfo",
        ),
    ]);
}

#[test]
fn relative_days_are_written_as_they_were_read() {
    for info in [
        r#"{"state":"todo"}"#,
        r#"{"scheduleDate":"tomorrow"}"#,
        r#"{"state":"done","scheduleDate":"2026-03-01","deadlineDate":"today","completedAt":"2026-01-01T00:00:00Z"}"#,
    ] {
        let json = format!(r#"{{"type":"text","listStyle":"task","taskInfo":{info}}}"#);
        let draft: BlockDraft = serde_json::from_str(&json).unwrap();
        let written = serde_json::to_string(&draft).unwrap();
        assert_eq!(serde_json::from_str::<BlockDraft>(&written).unwrap(), draft, "{written}");
    }
}

#[test]
fn every_type_may_be_a_task() {
    let mut desk = Desk::new();
    desk.run(&[
        (
            "insert",
            r#"{"blocks":[
                {"type":"image","listStyle":"task","url":"https://example.org/a.png","altText":"look"},
                {"type":"page","listStyle":"task","title":"a page","content":[{"type":"text","listStyle":"task","markdown":"in it"}]},
                {"type":"code","listStyle":"task","rawCode":"1"}
            ],"position":{"pageId":"@trip"}}"#,
            "![look](https://example.org/a.png) a page ```\n1\n```",
        ),
        ("list", TRIP, "![look](https://example.org/a.png) a page in it ```\n1\n```"),
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@![look](https://example.org/a.png)","markdown":"![see](https://example.org/a.png)","taskInfo":{"scheduleDate":"today"},"location":{"type":"inbox"}}]}"#,
            "![see](https://example.org/a.png)(on 2026-03-01)@inbox",
        ),
        ("list", INBOX, "![see](https://example.org/a.png)"),
    ]);
}

#[test]
fn a_list_style_makes_and_ends_a_task() {
    Desk::new().run(&[
        MADE,
        ("update", r#"{"blocks":[{"id":"@a","listStyle":"bullet"}]}"#, "a"),
        ("list", ACTIVE, ""),
        ("list", TRIP, ""),
        ("change", r#"{"tasksToUpdate":[{"id":"@a"}]}"#, "RULE_VIOLATION tasksToUpdate[0].id"),
        ("drop", r#"{"idsToDelete":"@a"}"#, "RULE_VIOLATION idsToDelete[0]"),
        // It is a new task then, without the days of the former one.
        ("update", r#"{"blocks":[{"id":"@a","listStyle":"task"}]}"#, "a"),
        ("list", ACTIVE, ""),
        ("look", TRIP, "a@trip"),
        ("update", r#"{"blocks":[{"id":"@a","taskInfo":{"deadlineDate":"yesterday"}}]}"#, "a"),
        ("look", ACTIVE, "a(by 2026-02-28)@trip"),
        ("update", r#"{"blocks":[{"id":"@a","taskInfo":{"state":"done"}}]}"#, "a"),
        ("list", ACTIVE, ""),
        ("list", LOGBOOK, "a"),
        ("update", r#"{"blocks":[{"id":"@a","listStyle":"none"}]}"#, "a"),
        ("list", LOGBOOK, ""),
    ]);
}

#[test]
fn a_further_paragraph_is_a_task_of_its_own() {
    let mut desk = Desk::new();
    desk.run(&[("insert", r#"{"markdown":"- [x] a","position":{"pageId":"@trip"}}"#, "a")]);
    desk.clock.advance(1);
    desk.run(&[
        ("update", r#"{"blocks":[{"id":"@a","markdown":"- [x] a\n\n- [x] b"}]}"#, "a b"),
        (
            "look",
            LOGBOOK,
            "b(done at 2026-03-01T12:00:00.001Z)@trip a(done at 2026-03-01T12:00:00.000Z)@trip",
        ),
    ]);
}

#[test]
fn moved_across_documents() {
    Desk::new().run(&[
        MADE,
        ("move", r#"{"blockIds":"@a","position":{"date":"tomorrow"}}"#, "a"),
        ("look", ACTIVE, "a(on 2026-03-01)@2026-03-02"),
        ("list", TRIP, ""),
        ("add", r#"{"tasks":[{"markdown":"b"}]}"#, "b@inbox"),
        ("move", r#"{"blockIds":"@a","position":{"position":"after","siblingId":"@b"}}"#, "a"),
        ("list", INBOX, "b a"),
        ("look", ACTIVE, "a(on 2026-03-01)@inbox"),
        ("move", r#"{"blockIds":["@b","@a"],"position":{"pageId":"@plan"}}"#, "b a"),
        ("list", ACTIVE, ""),
        ("list", INBOX, ""),
        ("list", r#"{"scope":"document","documentId":"@plan"}"#, "b a"),
    ]);
}

#[test]
fn with_the_page_that_it_is_in() {
    Desk::new().run(&[
        ("insert", r#"{"markdown":"<page><pageTitle>page</pageTitle><content>words</content></page>","position":{"pageId":"@trip"}}"#, "page"),
        ("insert", r#"{"blocks":[{"type":"text","listStyle":"task","markdown":"a","taskInfo":{"deadlineDate":"2026-03-01"}}],"position":{"pageId":"@page"}}"#, "a"),
        ("look", ACTIVE, "a(by 2026-03-01)@trip"),
        ("move", r#"{"blockIds":"@page","position":{"pageId":"@home"}}"#, "page"),
        ("look", ACTIVE, "a(by 2026-03-01)@home"),
        ("delete", r#"{"blockIds":"@page"}"#, "page"),
        ("list", ACTIVE, ""),
        ("change", r#"{"tasksToUpdate":[{"id":"@a"}]}"#, "NOT_FOUND tasksToUpdate[0].id"),
    ]);
}

#[test]
fn a_task_that_becomes_a_page_stays_one() {
    let mut desk = Desk::new();
    desk.run(&[
        MADE,
        ("insert", r#"{"markdown":"below","position":{"pageId":"@a"}}"#, "below"),
        ("look", ACTIVE, "a(on 2026-03-01)@trip"),
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@a","taskInfo":{"state":"done"},"location":{"type":"inbox"}}]}"#,
            "a(done on 2026-03-01 at 2026-03-01T12:00:00.000Z)@inbox",
        ),
        ("list", LOGBOOK, "a"),
        ("read", r#""@a""#, "below"),
    ]);
    assert_eq!(desk.ask("block", r#"{"id":"@a"}"#).unwrap()["type"], "page");
}

#[test]
fn trash_restore_and_purge() {
    let mut desk = Desk::new();
    desk.run(&[
        MADE,
        ("insert", r#"{"markdown":"- [x] b","position":{"pageId":"@trip"}}"#, "b"),
        ("trash", r#"{"documentIds":"@trip"}"#, "trip"),
        ("list", ACTIVE, ""),
        ("list", LOGBOOK, ""),
        // But in the document itself, as its blocks are.
        ("look", TRIP, "a(on 2026-03-01)@trip b(done at 2026-03-01T12:00:00.000Z)@trip"),
        ("restore", r#"{"documentIds":"@trip","destination":{"destination":"unsorted"}}"#, "trip"),
        ("list", ACTIVE, "a"),
        ("list", LOGBOOK, "b"),
        ("trash", r#"{"documentIds":"@trip"}"#, "trip"),
        ("purge", r#"{"documentIds":"@trip"}"#, "trip"),
        ("list", ACTIVE, ""),
        ("list", TRIP, "NOT_FOUND documentId"),
    ]);
}

#[test]
fn a_daily_note_in_the_trash() {
    Desk::new().run(&[
        (
            "add",
            r#"{"tasks":[{"markdown":"a","taskInfo":{"scheduleDate":"today"},"location":{"type":"dailyNote"}}]}"#,
            "a(on 2026-03-01)@2026-03-01",
        ),
        ("block", r#"{"date":"2026-03-02"}"#, "NOT_FOUND date"),
        ("note", r#"{"date":"today"}"#, "- [ ] a"),
        ("trash", r#"{"documentIds":"@Sunday, 1 March 2026"}"#, "Sunday, 1 March 2026"),
        ("list", ACTIVE, ""),
        // Its day is free: the task is not in the note of that day.
        (
            "look",
            r#"{"scope":"document","documentId":"@Sunday, 1 March 2026"}"#,
            "a(on 2026-03-01)@Sunday, 1 March 2026",
        ),
        (
            "add",
            r#"{"tasks":[{"markdown":"b","taskInfo":{"scheduleDate":"today"},"location":{"type":"dailyNote"}}]}"#,
            "b(on 2026-03-01)@2026-03-01",
        ),
        ("list", ACTIVE, "b"),
    ]);
}

#[test]
fn imported() {
    let mut desk = Desk::new();
    let files = [("Trip.md", "- [ ] a\n- [x] b\n"), ("2026-03-01.md", "- [ ] c\n")];
    let mut on = |_| ControlFlow::Continue(());
    import_from(&desk.notes, &mut MemorySource::from_iter(files), &ImportOptions::new(), &mut on)
        .unwrap();
    desk.run(&[("list", LOGBOOK, "b"), ("list", INBOX, "")]);
    let documents = desk.notes.documents().unwrap();
    let note = documents.iter().find(|document| document.record.day.is_some()).unwrap().id();
    desk.run(&[
        ("look", &format!(r#"{{"scope":"document","documentId":"{note}"}}"#), "c@2026-03-01"),
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@c","taskInfo":{"scheduleDate":"today"}}]}"#,
            "c(on 2026-03-01)@2026-03-01",
        ),
        ("list", ACTIVE, "c"),
    ]);
}

#[test]
fn a_state_undone_is_a_state_again() {
    let mut desk = Desk::new();
    desk.run(&[MADE]);
    let before = desk.notes.last_sequence().unwrap();
    desk.run(&[
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@a","taskInfo":{"state":"done"},"location":{"type":"inbox"}}]}"#,
            "a(done on 2026-03-01 at 2026-03-01T12:00:00.000Z)@inbox",
        ),
        ("list", ACTIVE, ""),
    ]);
    let change = desk.notes.changes_since(before).next().unwrap().unwrap();
    desk.notes.space().apply(desk.notes.author(), &change.inverse().unwrap()).unwrap();
    desk.run(&[
        ("look", ACTIVE, "a(on 2026-03-01)@trip"),
        ("list", LOGBOOK, ""),
        ("list", INBOX, ""),
    ]);
}
