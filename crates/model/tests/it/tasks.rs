//! Tasks: their requests, and how they are shown.

use leafbase_model::{
    AddTasks, BlockId, DayRef, DeleteTasks, DocumentId, ItemsPage, ListTasks, Task,
    TaskDestination, TaskDraft, TaskInfo, TaskLocation, TaskPatch, TaskScope, TaskState,
    TaskUpdate, UpdateTasks,
};

use crate::support::{day, id, instant};
use crate::wire::{also_read, of, refused, written};

const DATE_ONLY: &str = "date is only for the type dailyNote";
const DOCUMENT_ONLY: &str = "documentId is only for the type document";

#[test]
fn listings() {
    let document = TaskScope::Document(of(1));
    written(&[
        (r#"{"scope":"active"}"#, ListTasks::new(TaskScope::Active)),
        (r#"{"scope":"upcoming"}"#, ListTasks::new(TaskScope::Upcoming)),
        (r#"{"scope":"inbox"}"#, ListTasks::from(TaskScope::Inbox)),
        (
            r#"{"scope":"logbook","limit":50,"cursor":"c"}"#,
            ListTasks::new(TaskScope::Logbook).limit(50).after("c"),
        ),
        (r#"{"scope":"document","documentId":"ID1"}"#, ListTasks::new(document)),
    ]);
    also_read(&[(
        r#"{"scope":"document","documentId":"?"}"#,
        ListTasks::new(TaskScope::Document(DocumentId::NIL)),
    )]);
    refused::<ListTasks>(&[
        (
            r#"{"scope":"today"}"#,
            "scope",
            r#"unknown scope name "today", expected one of open, active, upcoming, inbox, logbook, document"#,
        ),
        (r#"{"scope":"document"}"#, "documentId", "the field `documentId` is missing"),
        (
            r#"{"scope":"inbox","documentId":"ID1"}"#,
            "documentId",
            "documentId is only for the scope document",
        ),
        (
            r#"{"scope":"active","limit":0}"#,
            "limit",
            "expected a number of items, 1 or more, got 0",
        ),
        (r#"{"scope":"active","date":"today"}"#, "date", "unknown field `date`"),
    ]);
}

#[test]
fn places() {
    written(&[
        (r#"{"type":"inbox"}"#, TaskDestination::Inbox),
        (
            r#"{"type":"dailyNote","date":"2026-03-01"}"#,
            TaskDestination::DailyNote(day("2026-03-01").into()),
        ),
        (r#"{"type":"dailyNote","date":"tomorrow"}"#, TaskDestination::DailyNote(DayRef::Tomorrow)),
        (r#"{"type":"document","documentId":"ID1"}"#, TaskDestination::from(of::<DocumentId>(1))),
    ]);
    also_read(&[(r#"{"type":"dailyNote"}"#, TaskDestination::DailyNote(DayRef::Today))]);
    refused::<TaskDestination>(&[
        ("{}", "type", "the field `type` is missing"),
        (
            r#"{"type":"daily_note"}"#,
            "type",
            r#"unknown destination name "daily_note", expected one of inbox, dailyNote, document"#,
        ),
        (r#"{"type":"document"}"#, "documentId", "the field `documentId` is missing"),
        (r#"{"type":"inbox","date":"today"}"#, "date", DATE_ONLY),
        (r#"{"type":"document","documentId":"ID1","date":"today"}"#, "date", DATE_ONLY),
        (r#"{"type":"inbox","documentId":"ID1"}"#, "documentId", DOCUMENT_ONLY),
        (r#"{"type":"dailyNote","documentId":"ID1"}"#, "documentId", DOCUMENT_ONLY),
        (r#"{"type":"inbox","folderId":"ID1"}"#, "folderId", "unknown field `folderId`"),
        (r#""inbox""#, "", r#"expected an object, got "inbox""#),
    ]);
}

#[test]
fn additions() {
    written(&[
        (r#"{"tasks":[]}"#, AddTasks::default()),
        (
            r#"{"tasks":[{"markdown":"socks","location":{"type":"inbox"}}]}"#,
            AddTasks::new([TaskDraft::new("socks")]),
        ),
        (
            r#"{"tasks":[{"markdown":"socks","taskInfo":{"scheduleDate":"tomorrow","deadlineDate":"2026-03-01"},"location":{"type":"document","documentId":"ID1"}}]}"#,
            AddTasks::new([TaskDraft::new("socks")
                .scheduled(DayRef::Tomorrow)
                .due(day("2026-03-01"))
                .at(of::<DocumentId>(1))]),
        ),
    ]);
    let [done, open] = [TaskState::Done, TaskState::Todo]
        .map(|state| TaskPatch { state: Some(state), ..TaskPatch::default() });
    also_read(&[
        (r#"{"tasks":[{"markdown":"socks"}]}"#, AddTasks::new([TaskDraft::new("socks")])),
        // As a reply has it.
        (
            r#"{"tasks":[{"id":"ID1","markdown":"- [ ] socks","taskInfo":{"state":"todo"},"location":{"type":"inbox"},"rev":3}]}"#,
            AddTasks::new([TaskDraft { info: open, ..TaskDraft::new("- [ ] socks") }]),
        ),
        (
            r#"{"tasks":[{"markdown":"socks","taskInfo":{}}]}"#,
            AddTasks::new([TaskDraft::new("socks")]),
        ),
        (
            r#"{"tasks":[{"markdown":"","taskInfo":{"state":"done"}}]}"#,
            AddTasks::new([TaskDraft { info: done, ..TaskDraft::default() }]),
        ),
    ]);
    refused::<AddTasks>(&[
        ("{}", "tasks", "the field `tasks` is missing"),
        (r#"{"tasks":[{}]}"#, "tasks[0].markdown", "the field `markdown` is missing"),
        (
            r#"{"tasks":[{"markdown":"x"},{"markdown":1}]}"#,
            "tasks[1].markdown",
            "expected a string, got 1",
        ),
        (
            r#"{"tasks":[{"markdown":"x","scheduleDate":"today"}]}"#,
            "tasks[0].scheduleDate",
            "unknown field `scheduleDate`",
        ),
        (
            r#"{"tasks":[{"markdown":"x","location":{"type":"inbox","date":"today"}}]}"#,
            "tasks[0].location.date",
            DATE_ONLY,
        ),
        (
            r#"{"tasks":[{"markdown":"x","taskInfo":{"state":"open"}}]}"#,
            "tasks[0].taskInfo.state",
            r#"unknown task state "open", expected one of todo, done, canceled"#,
        ),
        (
            r#"{"tasks":[{"markdown":"x","taskInfo":{"repeat":"daily"}}]}"#,
            "tasks[0].taskInfo.repeat",
            "unknown field `repeat`",
        ),
    ]);
}

#[test]
fn updates() {
    let update = || TaskUpdate::of(id(1));
    written(&[
        (r#"{"tasksToUpdate":[]}"#, UpdateTasks::default()),
        (r#"{"tasksToUpdate":[{"id":"ID1"}]}"#, UpdateTasks::from(update())),
        (
            r#"{"tasksToUpdate":[{"id":"ID1","markdown":"socks","taskInfo":{"state":"canceled","scheduleDate":"today","deadlineDate":null},"location":{"type":"dailyNote","date":"today"}}]}"#,
            UpdateTasks::new([update()
                .with_markdown("socks")
                .with_state(TaskState::Canceled)
                .with_schedule_date(DayRef::Today)
                .with_deadline_date(None)
                .moved_to(TaskDestination::DailyNote(DayRef::Today))]),
        ),
    ]);
    refused::<UpdateTasks>(&[
        ("{}", "tasksToUpdate", "the field `tasksToUpdate` is missing"),
        (r#"{"tasks":[]}"#, "tasksToUpdate", "the field `tasksToUpdate` is missing"),
        (
            r#"{"tasksToUpdate":[{"markdown":"x"}]}"#,
            "tasksToUpdate[0].id",
            "the field `id` is missing",
        ),
        (
            r#"{"tasksToUpdate":[{"id":"ID1","markdown":7}]}"#,
            "tasksToUpdate[0].markdown",
            "expected a string, got 7",
        ),
        (
            r#"{"tasksToUpdate":[{"id":"ID1","state":"done"}]}"#,
            "tasksToUpdate[0].state",
            "unknown field `state`",
        ),
        (
            r#"{"tasksToUpdate":[{"id":"ID1","taskInfo":{"deadlineDate":"soon"}}]}"#,
            "tasksToUpdate[0].taskInfo.deadlineDate",
            r#"expected a day YYYY-MM-DD, got "soon" (or today, tomorrow, yesterday)"#,
        ),
        (
            r#"{"tasksToUpdate":[{"id":"ID1","location":{}}]}"#,
            "tasksToUpdate[0].location.type",
            "the field `type` is missing",
        ),
    ]);
}

#[test]
fn deletion() {
    written(&[(r#"{"idsToDelete":["ID1","ID2"]}"#, DeleteTasks::new([id(1), id(2)]))]);
    also_read(&[
        (r#"{"idsToDelete":"ID1"}"#, DeleteTasks::from(id(1))),
        (r#"{"idsToDelete":["?"]}"#, DeleteTasks::from(BlockId::NIL)),
    ]);
    refused::<DeleteTasks>(&[
        ("{}", "idsToDelete", "the field `idsToDelete` is missing"),
        (r#"{"idsToDelete":[1]}"#, "idsToDelete[0]", "expected an ID, got 1"),
        (r#"{"idsToDelete":[],"tasks":[]}"#, "tasks", "unknown field `tasks`"),
    ]);
}

#[test]
fn a_page_of_tasks() {
    let done = TaskInfo {
        state: TaskState::Done,
        schedule_date: Some(day("2026-03-01")),
        deadline_date: Some(day("2026-03-02")),
        completed_at: Some(instant("2026-03-01T09:30:00.000Z")),
        canceled_at: None,
    };
    let task = |number, info, location| Task {
        block_form: None,
        id: id(number),
        inline: "wool *socks*".into(),
        info,
        location,
        rev: 2,
    };
    let canceled = TaskInfo {
        state: TaskState::Canceled,
        canceled_at: done.completed_at,
        ..TaskInfo::default()
    };
    insta::assert_json_snapshot!([
        ItemsPage {
            items: vec![
                task(1, TaskInfo::default(), TaskLocation::Inbox),
                task(2, done, TaskLocation::DailyNote(day("2026-03-01"))),
                task(3, canceled, TaskLocation::Document(of(9))),
            ],
            next_cursor: Some("c".into()),
        },
        ItemsPage { items: Vec::new(), next_cursor: None },
    ]);
}
