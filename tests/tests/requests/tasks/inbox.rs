//! The inbox is its tasks: nothing gets into it, and nothing in it becomes, what no listing shows.

use leafbase::{ErrorKind, ListDocuments, ListTasks, Position, TaskScope, UploadFile};

use super::desk::Desk;

const INBOX: &str = r#"{"scope":"inbox"}"#;

/// The tasks `a` and `b` of the inbox, `b` a page with `words` below; the trip with `text`, `other` and the task `t`.
fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.run(&[
        ("insert", r#"{"markdown":"text\n\nother\n\n- [ ] t","position":{"pageId":"@trip"}}"#, "text other t"),
        ("add", r#"{"tasks":[{"markdown":"a"},{"markdown":"b"}]}"#, "a@inbox b@inbox"),
        ("insert", r#"{"markdown":"words","position":{"pageId":"@b"}}"#, "words"),
    ]);
    let task = desk.notes.tasks(TaskScope::Inbox).unwrap()[0].id;
    let inbox = desk.notes.document_of(task).unwrap();
    desk.ask("block", &format!(r#"{{"id":"{inbox}"}}"#)).unwrap();
    desk
}

/// What would leave in the inbox what is no task, and what is said of it.
const REFUSED: &[(&str, &str, &str)] = &[
    ("insert", r#"{"markdown":"x","position":{"pageId":"@Inbox"}}"#, "markdown"),
    ("insert", r#"{"markdown":"- [ ] x\n\ny","position":{"position":"after","siblingId":"@a"}}"#, "markdown"),
    ("insert", r#"{"blocks":[{"type":"text"}],"position":{"pageId":"@Inbox"}}"#, "blocks[0].listStyle"),
    (
        "insert",
        r#"{"blocks":[{"type":"text","listStyle":"task"},{"type":"line"}],"position":{"position":"before","siblingId":"@a"}}"#,
        "blocks[1].listStyle",
    ),
    // By its place in the request, behind one that becomes two.
    (
        "insert",
        r#"{"blocks":[{"type":"text","listStyle":"task","content":[{"type":"text","markdown":"x\n\ny"}]},{"type":"line"}],"position":{"pageId":"@Inbox"}}"#,
        "blocks[1].listStyle",
    ),
    (
        "insert",
        r#"{"blocks":[{"type":"text","listStyle":"task","markdown":"x\n\ny"},{"type":"line"}],"position":{"pageId":"@Inbox"}}"#,
        "blocks[0].markdown",
    ),
    // What is wrong first is told first.
    (
        "insert",
        r#"{"blocks":[{"type":"line"},{"type":"text","markdown":"x","indentationLevel":5,"cardLayout":"small"}],"position":{"pageId":"@Inbox"}}"#,
        "blocks[0].listStyle",
    ),
    (
        "insert",
        r#"{"blocks":[{"type":"text","cardLayout":"small"},{"type":"line"}],"position":{"pageId":"@Inbox"}}"#,
        "blocks[0].cardLayout",
    ),
    ("move", r#"{"blockIds":"@text","position":{"position":"after","siblingId":"@a"}}"#, "blockIds[0]"),
    ("move", r#"{"blockIds":["@t","@text"],"position":{"pageId":"@Inbox"}}"#, "blockIds[1]"),
    ("move", r#"{"blockIds":"@words","position":{"pageId":"@Inbox"}}"#, "blockIds[0]"),
    ("update", r#"{"blocks":[{"id":"@a","listStyle":"none"}]}"#, "blocks[0].listStyle"),
    ("update", r#"{"blocks":[{"id":"@text","markdown":"x"},{"id":"@b","listStyle":"bullet"}]}"#, "blocks[1].listStyle"),
    ("update", r#"{"blocks":[{"id":"@a","markdown":"one\n\ntwo"}]}"#, "blocks[0].markdown"),
    ("update", r#"{"blocks":[{"id":"@Inbox","listStyle":"task"}]}"#, "blocks[0].id"),
    ("update", r#"{"blocks":[{"id":"@Inbox","markdown":"Mine","rev":9}]}"#, "blocks[0].id"),
];

#[test]
fn nothing_is_lost_in_it() {
    let mut desk = desk();
    for (operation, body, path) in REFUSED {
        desk.run(&[(*operation, *body, &format!("RULE_VIOLATION {path}")), ("list", INBOX, "a b")]);
    }
}

#[test]
fn what_is_refused_says_what_to_do() {
    let mut desk = desk();
    for (operation, body, _) in REFUSED.iter().filter(|(operation, ..)| *operation == "update") {
        let says = desk.ask(operation, body).unwrap_err().message().to_owned();
        assert!(says.contains("move it out of the inbox first") || says.contains("change the tasks in it"), "{says}");
    }
}

#[test]
fn a_file_is_no_task() {
    let desk = desk();
    let inbox = desk.notes.tasks(TaskScope::Inbox).unwrap()[0].id;
    let root = desk.notes.document_of(inbox).unwrap();
    for (position, path) in
        [(Position::end_of(root), "position.pageId"), (Position::after(inbox), "position.siblingId")]
    {
        let mut bytes = std::io::Cursor::new(b"x");
        let error = desk.notes.upload_file(UploadFile::new(position), &mut bytes).unwrap_err();
        assert_eq!((error.kind(), error.path(), bytes.position()), (ErrorKind::RuleViolation, path, 0));
    }
    // Below a task it is one of its blocks.
    desk.notes.upload_file(UploadFile::new(Position::end_of(inbox)), &b"x"[..]).unwrap();
}

#[test]
fn tasks_come_and_go_by_every_operation() {
    desk().run(&[
        ("insert", r#"{"markdown":"- [ ] c\n- [x] d","position":{"pageId":"@Inbox"}}"#, "c d"),
        ("move", r#"{"blockIds":["@t"],"position":{"position":"before","siblingId":"@a"}}"#, "t"),
        ("list", INBOX, "t a b c"),
        ("update", r#"{"blocks":[{"id":"@a","markdown":"e","taskInfo":{"state":"done"}}]}"#, "e"),
        ("list", INBOX, "t b c"),
        ("move", r#"{"blockIds":["@b"],"position":{"pageId":"@trip"}}"#, "b"),
        ("update", r#"{"blocks":[{"id":"@b","listStyle":"none"}]}"#, "b"),
        ("delete", r#"{"blockIds":["@t"]}"#, "t"),
        ("list", INBOX, "c"),
    ]);
}

#[test]
fn below_its_tasks_anything_goes() {
    desk().run(&[
        ("move", r#"{"blockIds":"@text","position":{"pageId":"@a"}}"#, "text"),
        ("insert", r##"{"markdown":"# x\n\ny","position":{"pageId":"@b"}}"##, "x y"),
        ("update", r#"{"blocks":[{"id":"@words","markdown":"one\n\ntwo"}]}"#, "one two"),
        ("update", r#"{"blocks":[{"id":"@one","listStyle":"task"}]}"#, "one"),
        ("list", INBOX, "a b one"),
        ("update", r#"{"blocks":[{"id":"@one","listStyle":"none"}]}"#, "one"),
        ("read", r#""@b""#, "one\n\ntwo\n\n# x\n\ny"),
        ("read", r#""@a""#, "text"),
    ]);
}

#[test]
fn a_listing_of_nothing_is_refused_in_rust_too() {
    let desk = desk();
    let tasks = desk.notes.tasks(ListTasks::new(TaskScope::Inbox).limit(0)).unwrap_err();
    let documents = desk.notes.list_documents(ListDocuments::new().limit(0));
    for error in [tasks, documents.unwrap_err()] {
        assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "limit"));
    }
}
