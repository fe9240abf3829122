//! Tasks are made, at the top of their places.

use leafbase::{AddTasks, DayRef, Fetch, Limits, TaskDestination, TaskDraft, TaskScope};
use serde_json::json;

use super::desk::Desk;

const INBOX: &str = r#"{"scope":"inbox"}"#;
const TRIP: &str = r#"{"scope":"document","documentId":"@trip"}"#;

#[test]
fn what_a_host_gets() {
    let mut desk = Desk::new();
    let body = r#"{"tasks":[
        {"markdown":"**call** Ada","taskInfo":{"scheduleDate":"tomorrow","deadlineDate":"2026-03-09"}},
        {"markdown":"pay","taskInfo":{"state":"done"},"location":{"type":"dailyNote"}},
        {"markdown":"sell","taskInfo":{"state":"canceled","canceledAt":"2026-02-01T08:00:00Z"},"location":{"type":"document","documentId":"@trip"}}
    ]}"#;
    let mut reply = desk.ask("add", body).unwrap();
    let ids: Vec<_> =
        reply["items"].as_array_mut().unwrap().iter_mut().map(|item| item["id"].take()).collect();
    assert!(ids.iter().all(|id| id.as_str().is_some_and(|id| id.len() == 26)));
    let trip = desk
        .notes
        .documents()
        .unwrap()
        .iter()
        .find(|document| document.title == "trip")
        .unwrap()
        .id();
    assert_eq!(
        reply,
        json!({"items": [
            {"id": null, "markdown": "- [ ] **call** Ada", "location": {"type": "inbox"},
             "taskInfo": {"state": "todo", "scheduleDate": "2026-03-02", "deadlineDate": "2026-03-09"}, "rev": 1},
            {"id": null, "markdown": "- [x] pay", "location": {"type": "dailyNote", "date": "2026-03-01"},
             "taskInfo": {"state": "done", "completedAt": "2026-03-01T12:00:00.000Z"}, "rev": 1},
            {"id": null, "markdown": "- [-] sell", "location": {"type": "document", "documentId": trip},
             "taskInfo": {"state": "canceled", "canceledAt": "2026-02-01T08:00:00.000Z"}, "rev": 1},
        ]})
    );
    let listed = desk.ask("list", INBOX).unwrap();
    assert_eq!(
        (&listed["items"][0]["id"], &listed["items"][0]["markdown"]),
        (&ids[0], &json!("- [ ] **call** Ada"))
    );
}

#[test]
fn tasks_stand_on_top_in_the_order_of_the_request() {
    let mut desk = Desk::new();
    desk.run(&[
        (
            "insert",
            r#"{"markdown":"words\n\n- [ ] old","position":{"pageId":"@trip"}}"#,
            "words old",
        ),
        ("add", r#"{"tasks":[{"markdown":"a"},{"markdown":"b"}]}"#, "a@inbox b@inbox"),
        (
            "add",
            r#"{"tasks":[
                {"markdown":"c","location":{"type":"inbox"}},
                {"markdown":"d","location":{"type":"document","documentId":"@trip"}},
                {"markdown":"e","location":{"type":"dailyNote","date":"2026-03-01"}},
                {"markdown":"f"},
                {"markdown":"g","location":{"type":"dailyNote","date":"today"}},
                {"markdown":"h","location":{"type":"document","documentId":"@trip"}},
                {"markdown":"i","location":{"type":"dailyNote"}},
                {"markdown":"j","location":{"type":"dailyNote","date":"yesterday"}}
            ]}"#,
            "c@inbox d@trip e@2026-03-01 f@inbox g@2026-03-01 h@trip i@2026-03-01 j@2026-02-28",
        ),
        ("list", INBOX, "c f a b"),
        ("list", TRIP, "d h old"),
        ("read", r#""@trip""#, "- [ ] d\n- [ ] h\n\nwords\n\n- [ ] old"),
        ("note", r#"{"date":"today"}"#, "- [ ] e\n- [ ] g\n- [ ] i"),
    ]);
}

#[test]
fn places_are_made_once_and_only_for_something() {
    let mut desk = Desk::new();
    let documents = |desk: &Desk| desk.notes.documents().unwrap().len();
    let before = (documents(&desk), desk.notes.last_sequence().unwrap());
    desk.run(&[
        ("add", r#"{"tasks":[]}"#, ""),
        ("change", r#"{"tasksToUpdate":[]}"#, ""),
        ("drop", r#"{"idsToDelete":[]}"#, ""),
    ]);
    assert_eq!((documents(&desk), desk.notes.last_sequence().unwrap()), before);
    for _ in 0..2 {
        desk.ask(
            "add",
            r#"{"tasks":[{"markdown":"a"},{"markdown":"b","location":{"type":"dailyNote"}}]}"#,
        )
        .unwrap();
    }
    // The note, and no inbox: that one is in no listing.
    assert_eq!(documents(&desk), before.0 + 1);
    desk.run(&[("list", INBOX, "a a")]);
}

#[test]
fn who_comes_first_makes_the_place() {
    let desk = Desk::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let notes = desk.notes.clone();
            let tasks = [
                TaskDraft::new("a"),
                TaskDraft::new("b").at(TaskDestination::DailyNote(DayRef::Tomorrow)),
            ];
            scope.spawn(move || notes.add_tasks(AddTasks::new(tasks)).unwrap());
        }
    });
    let note = desk.notes.fetch(Fetch::day(DayRef::Tomorrow)).unwrap();
    assert_eq!((desk.notes.tasks(TaskScope::Inbox).unwrap().len(), note.children().len()), (8, 8));
    assert!(desk.notes.space().check().unwrap().is_clean());
}

#[test]
fn one_write_for_all() {
    let mut desk = Desk::new();
    let before = desk.notes.last_sequence().unwrap();
    let body = r#"{"tasks":[{"markdown":"a"},{"markdown":"b","location":{"type":"dailyNote"}},{"markdown":"c","location":{"type":"document","documentId":"@trip"}}]}"#;
    desk.ask("add", body).unwrap();
    assert_eq!(desk.notes.last_sequence().unwrap(), before + 1);
    let change = desk.notes.changes_since(before).next().unwrap().unwrap();
    desk.notes.space().apply(desk.notes.author(), &change.inverse().unwrap()).unwrap();
    desk.run(&[
        ("list", INBOX, ""),
        ("list", TRIP, ""),
        ("block", r#"{"date":"today"}"#, "NOT_FOUND date"),
    ]);
}

/// A task that is wrong, and the path of what is.
const REFUSED: &[(&str, &str)] = &[
    (r#"{}"#, "VALIDATION markdown"),
    (r#"{"markdown":1}"#, "VALIDATION markdown"),
    (r#"{"markdown":"x","state":"done"}"#, "VALIDATION state"),
    (r#"{"markdown":"x","taskInfo":{"state":"open"}}"#, "VALIDATION taskInfo.state"),
    (r#"{"markdown":"x","taskInfo":{"scheduleDate":"soon"}}"#, "VALIDATION taskInfo.scheduleDate"),
    (
        r#"{"markdown":"x","taskInfo":{"deadlineDate":"2026-02-30"}}"#,
        "VALIDATION taskInfo.deadlineDate",
    ),
    (
        r#"{"markdown":"x","taskInfo":{"completedAt":"2026-03-01T00:00:00Z"}}"#,
        "VALIDATION taskInfo.completedAt",
    ),
    (
        r#"{"markdown":"x","taskInfo":{"state":"done","completedAt":null}}"#,
        "VALIDATION taskInfo.completedAt",
    ),
    (
        r#"{"markdown":"x","taskInfo":{"state":"done","canceledAt":"2026-03-01T00:00:00Z"}}"#,
        "VALIDATION taskInfo.canceledAt",
    ),
    (r#"{"markdown":"a\n\nb"}"#, "VALIDATION markdown"),
    (r#"{"markdown":"<highlight color='puce'>x</highlight>"}"#, "INVALID_MARKDOWN markdown"),
    (r#"{"markdown":"x","location":{}}"#, "VALIDATION location.type"),
    (r#"{"markdown":"x","location":"inbox"}"#, "VALIDATION location"),
    (r#"{"markdown":"x","location":{"type":"trash"}}"#, "VALIDATION location.type"),
    (r#"{"markdown":"x","location":{"type":"inbox","date":"today"}}"#, "VALIDATION location.date"),
    (
        r#"{"markdown":"x","location":{"type":"dailyNote","documentId":"@trip"}}"#,
        "VALIDATION location.documentId",
    ),
    (
        r#"{"markdown":"x","location":{"type":"dailyNote","date":"2026-13-01"}}"#,
        "VALIDATION location.date",
    ),
    (r#"{"markdown":"x","location":{"type":"document"}}"#, "VALIDATION location.documentId"),
    (
        r#"{"markdown":"x","location":{"type":"document","documentId":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}}"#,
        "NOT_FOUND location.documentId",
    ),
    // A page is not a document, though it may be a parent.
    (
        r#"{"markdown":"x","location":{"type":"document","documentId":"@page"}}"#,
        "NOT_FOUND location.documentId",
    ),
    (
        r#"{"markdown":"x","location":{"type":"document","documentId":"@home"}}"#,
        "RULE_VIOLATION location.documentId",
    ),
    // What does not exist is told before what else is wrong.
    (
        r#"{"markdown":"a\n\nb","location":{"type":"document","documentId":"@page"}}"#,
        "NOT_FOUND location.documentId",
    ),
];

#[test]
fn what_is_refused_leaves_nothing_of_its_request() {
    let mut desk = Desk::new();
    desk.run(&[
        ("insert", r#"{"markdown":"<page><pageTitle>page</pageTitle></page>","position":{"pageId":"@trip"}}"#, "page"),
        ("trash", r#"{"documentIds":"@home"}"#, "home"),
    ]);
    let good = r#"{"markdown":"good"},{"markdown":"good","location":{"type":"dailyNote"}}"#;
    for (task, outcome) in REFUSED {
        let (code, path) = outcome.split_once(' ').unwrap();
        let expected = format!("{code} tasks[2].{path}");
        desk.run(&[
            ("add", &format!(r#"{{"tasks":[{good},{task}]}}"#), &expected),
            ("list", INBOX, ""),
            ("block", r#"{"date":"today"}"#, "NOT_FOUND date"),
        ]);
    }
    // The first one at fault is named.
    let (first, second) = (
        r#"{"markdown":"a\n\nb"}"#,
        r#"{"markdown":"x","location":{"type":"document","documentId":"@page"}}"#,
    );
    desk.run(&[
        ("add", &format!(r#"{{"tasks":[{first},{second}]}}"#), "VALIDATION tasks[0].markdown"),
        (
            "add",
            &format!(r#"{{"tasks":[{second},{first}]}}"#),
            "NOT_FOUND tasks[0].location.documentId",
        ),
        ("add", r#"{"items":[]}"#, "VALIDATION tasks"),
    ]);
}

#[test]
fn the_text_is_that_of_any_block() {
    let mut desk = Desk::new();
    for (given, kept) in [
        ("", "- [ ] "),
        ("  pack *socks*  ", "- [ ] &#32; pack *socks* &#32;"),
        ("line\nbreak", "- [ ] line\n  break"),
        ("- [ ] line", "- [ ] line"),
        (
            "[trip](block://01ARZ3NDEKTSV4RRFFQ69G5FAV)",
            "- [ ] [trip](block://01ARZ3NDEKTSV4RRFFQ69G5FAV)",
        ),
        ("a\n\n", "- [ ] a&#10;&#10;"),
    ] {
        let place = r#"{"type":"document","documentId":"@trip"}"#;
        let body = json!({"tasks": [{"markdown": given, "location": serde_json::from_str::<serde_json::Value>(place).unwrap()}]});
        let added = desk.ask("add", &body.to_string()).unwrap();
        let inserted = json!({"blocks": [{"type": "text", "listStyle": "task", "markdown": given}], "position": {"pageId": "@home"}});
        let inserted = desk.ask("insert", &inserted.to_string()).unwrap();
        assert_eq!(added["items"][0]["markdown"].as_str(), Some(kept), "{given:?}");
        assert_eq!(
            inserted["items"][0]["markdown"].as_str().unwrap_or_default(),
            kept,
            "{given:?}"
        );
    }
}

#[test]
fn limits_hold() {
    let mut limits = Limits::default();
    (limits.blocks_per_request, limits.block_text) = (2, 5);
    let mut desk = Desk::with_limits(limits);
    desk.run(&[
        (
            "add",
            r#"{"tasks":[{"markdown":"a"},{"markdown":"b"},{"markdown":"c"}]}"#,
            "LIMIT_EXCEEDED tasks",
        ),
        (
            "add",
            r#"{"tasks":[{"markdown":"a"},{"markdown":"abcdef"}]}"#,
            "LIMIT_EXCEEDED tasks[1].markdown",
        ),
        ("add", r#"{"tasks":[{"markdown":"a"},{"markdown":"b"}]}"#, "a@inbox b@inbox"),
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@a"},{"id":"@b"},{"id":"@a"}]}"#,
            "LIMIT_EXCEEDED tasksToUpdate",
        ),
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@a"},{"id":"@b","markdown":"abcdef"}]}"#,
            "LIMIT_EXCEEDED tasksToUpdate[1].markdown",
        ),
        ("drop", r#"{"idsToDelete":["@a","@b","@a"]}"#, "LIMIT_EXCEEDED idsToDelete"),
    ]);
}
