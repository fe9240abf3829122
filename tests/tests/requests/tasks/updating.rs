//! Tasks are changed, moved and deleted.

use super::desk::{Desk, Step};

const INBOX: &str = r#"{"scope":"inbox"}"#;
const TRIP: &str = r#"{"scope":"document","documentId":"@trip"}"#;

/// The tasks `a` and `b` of the inbox, `n` of today's note, `t` and `u` of the trip, with words
/// between them.
fn five() -> Desk {
    let mut desk = Desk::new();
    desk.run(&[
        ("insert", r#"{"markdown":"- [ ] t\n\nwords\n\n- [ ] u","position":{"pageId":"@trip"}}"#, "t words u"),
        (
            "add",
            r#"{"tasks":[{"markdown":"a"},{"markdown":"b"},{"markdown":"n","location":{"type":"dailyNote"}}]}"#,
            "a@inbox b@inbox n@2026-03-01",
        ),
    ]);
    desk
}

/// What is given of a task, and the task that it then is; `a` is planned for tomorrow.
const CHANGES: &[(&str, &str)] = &[
    ("", "a(on 2026-03-02)@inbox"),
    (r#""markdown":"z""#, "z(on 2026-03-02)@inbox"),
    (r#""markdown":"a""#, "a(on 2026-03-02)@inbox"),
    (r#""taskInfo":{}"#, "a(on 2026-03-02)@inbox"),
    (r#""taskInfo":{"state":"done"}"#, "a(done on 2026-03-02 at 2026-03-01T12:00:00.000Z)@inbox"),
    (
        r#""taskInfo":{"state":"canceled"}"#,
        "a(canceled on 2026-03-02 at 2026-03-01T12:00:00.000Z)@inbox",
    ),
    (
        r#""taskInfo":{"state":"done","completedAt":"2026-02-01T00:00:00Z"}"#,
        "a(done on 2026-03-02 at 2026-02-01T00:00:00.000Z)@inbox",
    ),
    (r#""taskInfo":{"scheduleDate":null}"#, "a@inbox"),
    (r#""taskInfo":{"scheduleDate":"today"}"#, "a(on 2026-03-01)@inbox"),
    (r#""taskInfo":{"deadlineDate":"2026-04-01"}"#, "a(on 2026-03-02 by 2026-04-01)@inbox"),
    (r#""taskInfo":{"scheduleDate":null,"deadlineDate":"yesterday"}"#, "a(by 2026-02-28)@inbox"),
    (r#""location":{"type":"inbox"}"#, "a(on 2026-03-02)@inbox"),
    (r#""location":{"type":"dailyNote"}"#, "a(on 2026-03-02)@2026-03-01"),
    (r#""location":{"type":"dailyNote","date":"2030-01-01"}"#, "a(on 2026-03-02)@2030-01-01"),
    (r#""location":{"type":"document","documentId":"@trip"}"#, "a(on 2026-03-02)@trip"),
    (r#""location":{"type":"document","documentId":"@plan"}"#, "a(on 2026-03-02)@plan"),
    (
        r#""markdown":"z","taskInfo":{"state":"done","scheduleDate":null},"location":{"type":"document","documentId":"@trip"}"#,
        "z(done at 2026-03-01T12:00:00.000Z)@trip",
    ),
];

#[test]
fn what_is_given_changes() {
    for (change, expected) in CHANGES {
        let mut desk = five();
        let comma = if change.is_empty() { "" } else { "," };
        desk.run(&[
            (
                "change",
                r#"{"tasksToUpdate":[{"id":"@a","taskInfo":{"scheduleDate":"tomorrow"}}]}"#,
                "a(on 2026-03-02)@inbox",
            ),
            ("change", &format!(r#"{{"tasksToUpdate":[{{"id":"@a"{comma}{change}}}]}}"#), expected),
        ]);
    }
}

/// A client of tasks does not know that one became a page when something was put below it.
#[test]
fn the_marker_of_a_task_is_read_from_its_title_as_well() {
    let mut desk = five();
    desk.run(&[("insert", r#"{"markdown":"below","position":{"pageId":"@t"}}"#, "below")]);
    let done = "s(done at 2026-03-01T12:00:00.000Z)@trip";
    for (change, expected) in [
        (r#""markdown":"- [x] s""#, done),
        (r#""markdown":"- [x] s""#, done),
        (r#""markdown":"s""#, done),
        (r#""markdown":"- [ ] s","taskInfo":{"state":"done"}"#, "s@trip"),
        (r#""markdown":"- [x] s","taskInfo":{"state":"done"}"#, done),
        (r#""markdown":"- [-] r""#, "r(canceled at 2026-03-01T12:00:00.000Z)@trip"),
        // Other markers change nothing of the block.
        (r##""markdown":"# r""##, "r(canceled at 2026-03-01T12:00:00.000Z)@trip"),
        (r#""markdown":"- r""#, "r(canceled at 2026-03-01T12:00:00.000Z)@trip"),
    ] {
        desk.run(&[(
            "change",
            &format!(r#"{{"tasksToUpdate":[{{"id":"@t",{change}}}]}}"#),
            expected,
        )]);
    }
}

#[test]
fn states_stamp_and_list() {
    let mut desk = five();
    let to = |state: &str| {
        format!(r#"{{"tasksToUpdate":[{{"id":"@a","taskInfo":{{"state":"{state}"}}}}]}}"#)
    };
    let (done, canceled, todo) = (to("done"), to("canceled"), to("todo"));
    let logbook = r#"{"scope":"logbook"}"#;
    let steps: [&[Step<'_>]; 4] = [
        &[
            ("change", &done, "a(done at 2026-03-01T12:00:00.001Z)@inbox"),
            ("list", INBOX, "b"),
            ("list", logbook, "a"),
        ],
        // It was done then, and not again.
        &[("change", &done, "a(done at 2026-03-01T12:00:00.001Z)@inbox")],
        &[
            ("change", &canceled, "a(canceled at 2026-03-01T12:00:00.003Z)@inbox"),
            ("list", logbook, "a"),
        ],
        &[("change", &todo, "a@inbox"), ("list", INBOX, "a b"), ("list", logbook, "")],
    ];
    for steps in steps {
        desk.clock.advance(1);
        desk.run(steps);
    }
}

/// A state, and how a task that came to it at noon is shown.
const STATES: [(&str, &str); 3] = [
    ("todo", ""),
    ("done", "(done at 2026-03-01T12:00:00.000Z)"),
    ("canceled", "(canceled at 2026-03-01T12:00:00.000Z)"),
];

#[test]
fn every_state_leads_to_every_other_everywhere() {
    for (place, name) in [
        (r#"{"type":"inbox"}"#, "inbox"),
        (r#"{"type":"dailyNote"}"#, "2026-03-01"),
        (r#"{"type":"document","documentId":"@trip"}"#, "trip"),
    ] {
        for (from, _) in STATES {
            for (to, shown) in STATES {
                let mut desk = Desk::new();
                let task = format!(
                    r#"{{"markdown":"a","taskInfo":{{"state":"{from}"}},"location":{place}}}"#
                );
                desk.ask("add", &format!(r#"{{"tasks":[{task}]}}"#)).unwrap();
                let change =
                    format!(r#"{{"tasksToUpdate":[{{"id":"@a","taskInfo":{{"state":"{to}"}}}}]}}"#);
                desk.run(&[("change", &change, &format!("a{shown}@{name}"))]);
                let open = if name == "inbox" { "inbox" } else { "" };
                assert_eq!(
                    desk.scopes("a"),
                    if to == "todo" { open } else { "logbook" },
                    "{from} to {to} in {name}"
                );
            }
        }
    }
}

#[test]
fn a_change_is_that_of_the_block() {
    let mut desk = five();
    let rev = |desk: &mut Desk| desk.ask("block", r#"{"id":"@a"}"#).unwrap()["rev"].clone();
    assert_eq!(rev(&mut desk), 1);
    desk.run(&[(
        "change",
        r#"{"tasksToUpdate":[{"id":"@a","taskInfo":{"state":"done"}}]}"#,
        "a(done at 2026-03-01T12:00:00.000Z)@inbox",
    )]);
    assert_eq!(rev(&mut desk), 2);
    // A value that is given again is no change, nor is a move one of the block.
    let before = desk.notes.last_sequence().unwrap();
    desk.run(&[(
        "change",
        r#"{"tasksToUpdate":[{"id":"@a","markdown":"a","taskInfo":{"state":"done"},"location":{"type":"inbox"}}]}"#,
        "a(done at 2026-03-01T12:00:00.000Z)@inbox",
    )]);
    assert_eq!(desk.notes.last_sequence().unwrap(), before);
    desk.ask(
        "change",
        r#"{"tasksToUpdate":[{"id":"@a","location":{"type":"document","documentId":"@trip"}}]}"#,
    )
    .unwrap();
    assert_eq!(rev(&mut desk), 2);
}

#[test]
fn several_move_to_the_top_in_the_order_of_the_request() {
    let mut desk = five();
    let go = |names: &[&str], place: &str| {
        let updates: Vec<_> =
            names.iter().map(|name| format!(r#"{{"id":"@{name}","location":{place}}}"#)).collect();
        format!(r#"{{"tasksToUpdate":[{}]}}"#, updates.join(","))
    };
    let (trip, inbox) = (r#"{"type":"document","documentId":"@trip"}"#, r#"{"type":"inbox"}"#);
    let before = desk.notes.last_sequence().unwrap();
    desk.run(&[
        // Those that are there stay where they are.
        ("change", &go(&["n", "u", "b"], trip), "n@trip u@trip b@trip"),
        ("read", r#""@trip""#, "- [ ] n\n- [ ] b\n- [ ] t\n\nwords\n\n- [ ] u"),
        ("list", INBOX, "a"),
        ("change", &go(&["u", "a", "n"], inbox), "u@inbox a@inbox n@inbox"),
        ("list", INBOX, "u n a"),
        ("list", TRIP, "b t"),
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@u","location":{"type":"dailyNote"}},{"id":"@b","location":{"type":"inbox"}},{"id":"@n","location":{"type":"dailyNote","date":"today"}}]}"#,
            "u@2026-03-01 b@inbox n@2026-03-01",
        ),
        ("list", INBOX, "b a"),
        ("note", r#"{"date":"today"}"#, "- [ ] u\n- [ ] n"),
    ]);
    assert_eq!(desk.notes.last_sequence().unwrap(), before + 3);
}

/// `top` of the trip is a page with the task `middle` in it, also a page, with the task `below`.
fn nested() -> Desk {
    let mut desk = five();
    desk.run(&[
        (
            "add",
            r#"{"tasks":[{"markdown":"top","location":{"type":"document","documentId":"@trip"}}]}"#,
            "top@trip",
        ),
        ("insert", r#"{"markdown":"- [ ] middle","position":{"pageId":"@top"}}"#, "middle"),
        (
            "insert",
            r#"{"markdown":"- [ ] below\n\nwords below","position":{"pageId":"@middle"}}"#,
            "below words below",
        ),
        ("list", TRIP, "top middle below t u"),
    ]);
    desk
}

/// Tasks and where they are sent.
type Moves = &'static [(&'static str, &'static str)];

/// Where tasks that stand below each other are sent, and the inbox and the trip after it.
const NESTED: &[(Moves, &str, &str)] = &[
    (&[("top", "inbox")], "top middle below a b", "t u"),
    (&[("middle", "inbox")], "middle below a b", "top t u"),
    (&[("below", "inbox"), ("top", "inbox")], "below top middle a b", "t u"),
    (&[("top", "inbox"), ("below", "inbox")], "top middle below a b", "t u"),
    // One that is to stay does not go along.
    (&[("top", "inbox"), ("below", "trip")], "top middle a b", "below t u"),
    (&[("below", "trip"), ("top", "inbox")], "top middle a b", "below t u"),
    (&[("middle", "trip"), ("top", "inbox")], "top a b", "middle below t u"),
    // One that is sent elsewhere goes there itself.
    (&[("top", "inbox"), ("middle", "home")], "top a b", "t u"),
    (&[("middle", "home"), ("top", "inbox")], "top a b", "t u"),
    (&[("below", "trip")], "a b", "top middle below t u"),
];

#[test]
fn what_is_below_goes_along() {
    for (moves, inbox, trip) in NESTED {
        let mut desk = nested();
        let updates: Vec<_> = moves
            .iter()
            .map(|(name, place)| match *place {
                "inbox" => format!(r#"{{"id":"@{name}","location":{{"type":"inbox"}}}}"#),
                place => format!(
                    r#"{{"id":"@{name}","location":{{"type":"document","documentId":"@{place}"}}}}"#
                ),
            })
            .collect();
        let expected: Vec<_> =
            moves.iter().map(|(name, place)| format!("{name}@{place}")).collect();
        desk.run(&[
            (
                "change",
                &format!(r#"{{"tasksToUpdate":[{}]}}"#, updates.join(",")),
                &expected.join(" "),
            ),
            ("list", INBOX, inbox),
            ("list", TRIP, trip),
        ]);
    }
}

/// A change that is wrong, and the path of what is.
const REFUSED: &[(&str, &str)] = &[
    (r#"{}"#, "VALIDATION id"),
    (r#"{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}"#, "NOT_FOUND id"),
    (r#"{"id":"x"}"#, "NOT_FOUND id"),
    (r#"{"id":"@b"}"#, "VALIDATION id"),
    (r#"{"id":"@words"}"#, "RULE_VIOLATION id"),
    (r#"{"id":"@trip"}"#, "RULE_VIOLATION id"),
    (r#"{"id":"@h"}"#, "RULE_VIOLATION id"),
    (r#"{"id":"@t","rev":77}"#, "CONFLICT rev"),
    (r#"{"id":"@t","markdown":7}"#, "VALIDATION markdown"),
    (r#"{"id":"@t","markdown":"x\n\ny"}"#, "VALIDATION markdown"),
    (
        r#"{"id":"@t","markdown":"<highlight color='puce'>x</highlight>"}"#,
        "INVALID_MARKDOWN markdown",
    ),
    (r#"{"id":"@t","taskInfo":{"state":"closed"}}"#, "VALIDATION taskInfo.state"),
    (
        r#"{"id":"@t","taskInfo":{"completedAt":"2026-03-01T00:00:00Z"}}"#,
        "VALIDATION taskInfo.completedAt",
    ),
    (
        r#"{"id":"@t","location":{"type":"document","documentId":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}}"#,
        "NOT_FOUND location.documentId",
    ),
    (
        r#"{"id":"@t","location":{"type":"document","documentId":"@words"}}"#,
        "NOT_FOUND location.documentId",
    ),
    (
        r#"{"id":"@t","location":{"type":"document","documentId":"@home"}}"#,
        "RULE_VIOLATION location.documentId",
    ),
    (r#"{"id":"@root","location":{"type":"inbox"}}"#, "RULE_VIOLATION id"),
    (r#"{"id":"@h","location":{"type":"inbox"}}"#, "RULE_VIOLATION id"),
    (r#"{"id":"@h","location":{"type":"document","documentId":"@home"}}"#, "RULE_VIOLATION id"),
    (
        r#"{"id":"@h","location":{"type":"document","documentId":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}}"#,
        "RULE_VIOLATION id",
    ),
];

/// As [`five`], with a task `h` of a document in the trash, and a document `root` whose root is a
/// task.
fn refusing() -> Desk {
    let mut desk = five();
    desk.run(&[
        ("insert", r#"{"markdown":"- [ ] h","position":{"pageId":"@home"}}"#, "h"),
        ("trash", r#"{"documentIds":"@home"}"#, "home"),
        ("create", r#"{"documents":[{"title":"root"}]}"#, "root"),
        ("update", r#"{"blocks":[{"id":"@root","listStyle":"task"}]}"#, "root"),
    ]);
    desk
}

#[test]
fn what_is_refused_leaves_nothing_of_its_request() {
    let mut desk = refusing();
    let good = r#"{"id":"@a","markdown":"good"},{"id":"@b","location":{"type":"dailyNote","date":"2031-01-01"}}"#;
    for (update, outcome) in REFUSED {
        let (code, path) = outcome.split_once(' ').unwrap();
        desk.run(&[
            (
                "change",
                &format!(r#"{{"tasksToUpdate":[{good},{update}]}}"#),
                &format!("{code} tasksToUpdate[2].{path}"),
            ),
            ("list", INBOX, "a b"),
            ("block", r#"{"date":"2031-01-01"}"#, "NOT_FOUND date"),
        ]);
    }
    desk.run(&[
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@a","markdown":"x\n\ny"},{"id":"x"}]}"#,
            "VALIDATION tasksToUpdate[0].markdown",
        ),
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"x"},{"id":"@a","markdown":"x\n\ny"}]}"#,
            "NOT_FOUND tasksToUpdate[0].id",
        ),
        ("change", r#"{"tasks":[]}"#, "VALIDATION tasksToUpdate"),
    ]);
}

#[test]
fn deleted_from_everywhere() {
    let mut desk = nested();
    desk.run(&[
        (
            "change",
            r#"{"tasksToUpdate":[{"id":"@b","taskInfo":{"state":"done"}}]}"#,
            "b(done at 2026-03-01T12:00:00.000Z)@inbox",
        ),
        ("list", r#"{"scope":"logbook"}"#, "b"),
        ("drop", r#"{"idsToDelete":["@n","@a","@b","@u"]}"#, "n a b u"),
        ("list", INBOX, ""),
        ("list", r#"{"scope":"logbook"}"#, ""),
        ("list", TRIP, "top middle below t"),
        ("note", r#"{"date":"today"}"#, ""),
        // With all below; one of them may be named, too.
        ("drop", r#"{"idsToDelete":["@below","@top"]}"#, "below top"),
        ("list", TRIP, "t"),
        ("drop", r#"{"idsToDelete":"@t"}"#, "t"),
        ("read", r#""@trip""#, "words"),
        ("drop", r#"{"idsToDelete":"@t"}"#, "NOT_FOUND idsToDelete[0]"),
    ]);
}

#[test]
fn only_tasks_are_deleted_as_tasks() {
    let mut desk = refusing();
    for (id, outcome) in [
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "NOT_FOUND idsToDelete[1]"),
        ("@words", "RULE_VIOLATION idsToDelete[1]"),
        ("@trip", "RULE_VIOLATION idsToDelete[1]"),
        ("@root", "RULE_VIOLATION idsToDelete[1]"),
        ("@h", "RULE_VIOLATION idsToDelete[1]"),
        ("@a", "VALIDATION idsToDelete[1]"),
    ] {
        let after = format!(r#"{{"idsToDelete":["@a","{id}","@b"]}}"#);
        // What comes later is not told before it.
        let before = format!(r#"{{"idsToDelete":["@a","{id}","x","@words"]}}"#);
        desk.run(&[("drop", &after, outcome), ("drop", &before, outcome), ("list", INBOX, "a b")]);
    }
    desk.run(&[("drop", r#"{"blockIds":["@a"]}"#, "VALIDATION idsToDelete")]);
}
