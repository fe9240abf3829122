//! The inbox is its tasks: nothing gets into it, and nothing in it becomes, what no listing shows.

use leafbase::{ErrorKind, ListDocuments, ListTasks, Position, TaskScope, UploadFile};

use super::desk::Desk;

const INBOX: &str = r#"{"scope":"inbox"}"#;

/// The tasks `a` and `b` of the inbox, `b` a page with `words` below; the trip with `text`, `other`
/// and the task `t`.
fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.run(&[
        (
            "insert",
            r#"{"markdown":"text\n\nother\n\n- [ ] t","position":{"pageId":"@trip"}}"#,
            "text other t",
        ),
        ("add", r#"{"tasks":[{"markdown":"a"},{"markdown":"b"}]}"#, "a@inbox b@inbox"),
        ("insert", r#"{"markdown":"words","position":{"pageId":"@b"}}"#, "words"),
    ]);
    let task = desk.notes.tasks(TaskScope::Inbox).unwrap()[0].id;
    let inbox = desk.notes.document_of(task).unwrap();
    desk.ask("block", &format!(r#"{{"id":"{inbox}"}}"#)).unwrap();
    desk
}

/// What would leave in the inbox what is not a task, and what is said of it.
const REFUSED: &[(&str, &str, &str)] = &[
    ("insert", r#"{"markdown":"x","position":{"pageId":"@Inbox"}}"#, "markdown"),
    (
        "insert",
        r#"{"markdown":"- [ ] x\n\ny","position":{"position":"after","siblingId":"@a"}}"#,
        "markdown",
    ),
    (
        "insert",
        r#"{"blocks":[{"type":"text"}],"position":{"pageId":"@Inbox"}}"#,
        "blocks[0].listStyle",
    ),
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
    (
        "move",
        r#"{"blockIds":"@text","position":{"position":"after","siblingId":"@a"}}"#,
        "blockIds[0]",
    ),
    ("move", r#"{"blockIds":["@t","@text"],"position":{"pageId":"@Inbox"}}"#, "blockIds[1]"),
    ("move", r#"{"blockIds":"@words","position":{"pageId":"@Inbox"}}"#, "blockIds[0]"),
    ("update", r#"{"blocks":[{"id":"@a","listStyle":"none"}]}"#, "blocks[0].listStyle"),
    (
        "update",
        r#"{"blocks":[{"id":"@text","markdown":"x"},{"id":"@b","listStyle":"bullet"}]}"#,
        "blocks[1].listStyle",
    ),
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
        assert!(
            says.contains("out of the inbox first") || says.contains("change its tasks"),
            "{says}"
        );
    }
}

#[test]
fn a_file_is_no_task() {
    let desk = desk();
    let inbox = desk.notes.tasks(TaskScope::Inbox).unwrap()[0].id;
    let root = desk.notes.document_of(inbox).unwrap();
    for (position, path) in
        [(Position::end_of(root), "pageId"), (Position::after(inbox), "siblingId")]
    {
        let mut bytes = std::io::Cursor::new(b"x");
        let error = desk.notes.upload_file(UploadFile::new(position), &mut bytes).unwrap_err();
        assert_eq!(
            (error.kind(), error.path(), bytes.position()),
            (ErrorKind::RuleViolation, path, 0)
        );
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

const ALL: &str = r#"{"scope":"document","documentId":"@Inbox"}"#;

/// The inbox with `a` to `c`, `b` with the task `n` below it, and the closed `x` and `y`; the open
/// `t` and the closed `u` of the trip.
fn sorted() -> Desk {
    let mut desk = Desk::new();
    desk.run(&[
        ("insert", r#"{"markdown":"- [ ] t\n- [x] u","position":{"pageId":"@trip"}}"#, "t u"),
        (
            "add",
            r#"{"tasks":[{"markdown":"a"},{"markdown":"b"},{"markdown":"c"}]}"#,
            "a@inbox b@inbox c@inbox",
        ),
        ("insert", r#"{"markdown":"- [ ] n","position":{"pageId":"@b"}}"#, "n"),
        (
            "insert",
            r#"{"markdown":"- [x] x\n- [-] y","position":{"position":"after","siblingId":"@c"}}"#,
            "x y",
        ),
    ]);
    let task = desk.notes.tasks(TaskScope::Inbox).unwrap()[0].id;
    let inbox = desk.notes.document_of(task).unwrap();
    desk.ask("block", &format!(r#"{{"id":"{inbox}"}}"#)).unwrap();
    desk.run(&[("list", ALL, "a b n c x y")]);
    desk
}

/// What is written, the tasks of the reply, and all of the inbox then.
const TURNED: &[(&str, &str, &str, &str)] = &[
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@a","taskInfo":{"state":"done"}}]}"#,
        "a",
        "b n c x y a",
    ),
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@a","taskInfo":{"state":"canceled"}}]}"#,
        "a",
        "b n c x y a",
    ),
    ("update", r#"{"blocks":[{"id":"@a","taskInfo":{"state":"done"}}]}"#, "a", "b n c x y a"),
    // With all below it; what is below stays there.
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@b","taskInfo":{"state":"done"}}]}"#,
        "b",
        "a c x y b n",
    ),
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@n","taskInfo":{"state":"done"}}]}"#,
        "n",
        "a b n c x y",
    ),
    ("update", r#"{"blocks":[{"id":"@n","taskInfo":{"state":"done"}}]}"#, "n", "a b n c x y"),
    // Several in the order of the request, as in the reply.
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@c","taskInfo":{"state":"done"}},{"id":"@y","taskInfo":{"state":"todo"}},{"id":"@a","taskInfo":{"state":"done"}},{"id":"@x","taskInfo":{"state":"todo"}}]}"#,
        "c y a x",
        "y x b n c a",
    ),
    (
        "update",
        r#"{"blocks":[{"id":"@c","taskInfo":{"state":"done"}},{"id":"@y","taskInfo":{"state":"todo"}},{"id":"@a","taskInfo":{"state":"done"}},{"id":"@x","taskInfo":{"state":"todo"}}]}"#,
        "c y a x",
        "y x b n c a",
    ),
    // Nothing is opened or closed.
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@x","taskInfo":{"state":"canceled"}}]}"#,
        "x",
        "a b n c x y",
    ),
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@x","location":{"type":"inbox"}}]}"#,
        "x",
        "a b n c x y",
    ),
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@c","taskInfo":{"state":"todo","scheduleDate":"today"}}]}"#,
        "c",
        "a b n c x y",
    ),
    // From elsewhere, and to elsewhere.
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@t","location":{"type":"inbox"}}]}"#,
        "t",
        "t a b n c x y",
    ),
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@u","location":{"type":"inbox"}}]}"#,
        "u",
        "a b n c x y u",
    ),
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@t","taskInfo":{"state":"done"},"location":{"type":"inbox"}},{"id":"@u","taskInfo":{"state":"todo"},"location":{"type":"inbox"}}]}"#,
        "t u",
        "u a b n c x y t",
    ),
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@y","taskInfo":{"state":"todo"}},{"id":"@t","location":{"type":"inbox"}},{"id":"@x","taskInfo":{"state":"todo"}}]}"#,
        "y t x",
        "y t x a b n c",
    ),
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@a","taskInfo":{"state":"done"},"location":{"type":"document","documentId":"@trip"}}]}"#,
        "a",
        "b n c x y",
    ),
    // What stays goes behind if one above took it along, and is closed.
    (
        "change",
        r#"{"tasksToUpdate":[{"id":"@n","taskInfo":{"state":"done"},"location":{"type":"inbox"}},{"id":"@b","location":{"type":"dailyNote"}}]}"#,
        "n b",
        "a c x y n",
    ),
    (
        "add",
        r#"{"tasks":[{"markdown":"d","taskInfo":{"state":"done"}},{"markdown":"e"},{"markdown":"f","taskInfo":{"state":"canceled"}},{"markdown":"g"}]}"#,
        "d e f g",
        "e g a b n c x y d f",
    ),
    // A place among blocks is what is asked for.
    (
        "insert",
        r#"{"markdown":"- [x] d","position":{"position":"before","siblingId":"@b"}}"#,
        "d",
        "a d b n c x y",
    ),
    (
        "move",
        r#"{"blockIds":"@x","position":{"position":"before","siblingId":"@a"}}"#,
        "x",
        "x a b n c y",
    ),
];

#[test]
fn open_tasks_stand_before_closed_ones() {
    for (operation, body, reply, inbox) in TURNED {
        let mut desk = sorted();
        let before = desk.notes.last_sequence().unwrap();
        let words = desk.line(operation, body);
        let names: Vec<_> =
            words.split(' ').map(|word| word.split(['(', '@']).next().unwrap()).collect();
        let names: Vec<_> = names.into_iter().filter(|name| name.len() == 1).collect();
        assert_eq!(names.join(" "), *reply, "{words}");
        desk.run(&[("list", ALL, inbox)]);
        // One write, and its inverse leads back.
        let changes: Vec<_> = desk.notes.changes_since(before).map(Result::unwrap).collect();
        assert_eq!(
            changes.len(),
            usize::from(*inbox != "a b n c x y" || !body.contains("location")),
            "{body}"
        );
        for change in changes {
            desk.notes.space().apply(desk.notes.author(), &change.inverse().unwrap()).unwrap();
        }
        desk.run(&[("list", ALL, "a b n c x y")]);
    }
}

#[test]
fn the_first_task_of_all_may_be_closed() {
    for (added, listed) in [
        (r#"{"tasks":[{"markdown":"a","taskInfo":{"state":"done"}},{"markdown":"b"}]}"#, "b a"),
        (r#"{"tasks":[{"markdown":"b"},{"markdown":"a","taskInfo":{"state":"done"}}]}"#, "b a"),
    ] {
        let mut desk = Desk::new();
        desk.ask("add", added).unwrap();
        let task = desk.notes.tasks(TaskScope::Inbox).unwrap()[0].id;
        let inbox = desk.notes.document_of(task).unwrap();
        desk.run(&[("list", &format!(r#"{{"scope":"document","documentId":"{inbox}"}}"#), listed)]);
    }
}
