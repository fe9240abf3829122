//! Which scope holds what, in which order, and page by page.

use super::desk::Desk;

const TODAY: &str = "2026-03-01";

/// The state and the days of a task, and the scopes that hold it, wherever it is. The inbox holds
/// its own open ones.
const ROWS: &[(&str, &str)] = &[
    (r#"{}"#, ""),
    (r#"{"scheduleDate":"2026-02-28"}"#, "active"),
    (r#"{"scheduleDate":"2026-03-01"}"#, "active"),
    (r#"{"scheduleDate":"today"}"#, "active"),
    (r#"{"scheduleDate":"yesterday"}"#, "active"),
    (r#"{"scheduleDate":"2026-03-02"}"#, "upcoming"),
    (r#"{"scheduleDate":"tomorrow"}"#, "upcoming"),
    (r#"{"scheduleDate":"9999-12-31"}"#, "upcoming"),
    (r#"{"scheduleDate":"0000-01-01"}"#, "active"),
    (r#"{"deadlineDate":"2026-02-28"}"#, "active"),
    (r#"{"deadlineDate":"today"}"#, "active"),
    (r#"{"deadlineDate":"tomorrow"}"#, "upcoming"),
    (r#"{"scheduleDate":"tomorrow","deadlineDate":"yesterday"}"#, "upcoming"),
    (r#"{"scheduleDate":"yesterday","deadlineDate":"tomorrow"}"#, "active"),
    (r#"{"state":"todo","scheduleDate":"today"}"#, "active"),
    (r#"{"state":"done"}"#, "logbook"),
    (r#"{"state":"canceled"}"#, "logbook"),
    (r#"{"state":"done","scheduleDate":"today","deadlineDate":"tomorrow"}"#, "logbook"),
    (r#"{"state":"canceled","scheduleDate":"tomorrow"}"#, "logbook"),
    (r#"{"state":"done","completedAt":"2020-01-01T00:00:00Z"}"#, "logbook"),
];

#[test]
fn each_task_is_in_its_scopes() {
    for (place, of_inbox) in [
        (r#"{"type":"inbox"}"#, true),
        (r#"{"type":"dailyNote","date":"tomorrow"}"#, false),
        (r#"{"type":"document","documentId":"@trip"}"#, false),
    ] {
        for (info, expected) in ROWS {
            let mut desk = Desk::new();
            desk.ask(
                "add",
                &format!(
                    r#"{{"tasks":[{{"markdown":"a","taskInfo":{info},"location":{place}}}]}}"#
                ),
            )
            .unwrap();
            let is_open = !info.contains("done") && !info.contains("canceled");
            let mut expected: Vec<_> = expected.split_whitespace().collect();
            expected.extend((of_inbox && is_open).then_some("inbox"));
            assert_eq!(desk.scopes("a"), expected.join(" "), "{info} {place}");
        }
    }
}

#[test]
fn the_tasks_of_templates_are_not_the_users() {
    for (info, _) in ROWS {
        let mut desk = Desk::new();
        let place = r#"{"type":"document","documentId":"@plan"}"#;
        desk.ask(
            "add",
            &format!(r#"{{"tasks":[{{"markdown":"a","taskInfo":{info},"location":{place}}}]}}"#),
        )
        .unwrap();
        assert_eq!(desk.scopes("a"), "", "{info}");
        desk.run(&[("list", r#"{"scope":"document","documentId":"@plan"}"#, "a")]);
    }
}

#[test]
fn a_template_that_becomes_a_document_brings_its_tasks() {
    let mut desk = Desk::new();
    let active = r#"{"scope":"active"}"#;
    desk.run(&[
        (
            "add",
            r#"{"tasks":[{"markdown":"a","taskInfo":{"scheduleDate":"today"},"location":{"type":"document","documentId":"@plan"}}]}"#,
            "a(on 2026-03-01)@plan",
        ),
        ("list", active, ""),
        ("restore", r#"{"documentIds":"@plan","destination":{"destination":"unsorted"}}"#, "plan"),
        ("list", active, "a"),
        ("restore", r#"{"documentIds":"@plan","destination":{"destination":"templates"}}"#, "plan"),
        ("list", active, ""),
    ]);
    desk.ask("copy", r#"{"templateId":"@plan","title":"plan of March"}"#).unwrap();
    desk.run(&[("look", active, "a(on 2026-03-01)@plan of March")]);
}

#[test]
fn scopes_have_their_orders() {
    let mut desk = Desk::new();
    let task = |name: &str, info: &str, place: &str| {
        format!(r#"{{"markdown":"{name}","taskInfo":{info},"location":{place}}}"#)
    };
    let (inbox, trip) = (r#"{"type":"inbox"}"#, r#"{"type":"document","documentId":"@trip"}"#);
    for tasks in [
        [
            task("a", r#"{"scheduleDate":"2026-03-05"}"#, inbox),
            task("b", r#"{"deadlineDate":"2026-02-05"}"#, trip),
        ],
        [
            task("c", r#"{"scheduleDate":"2026-02-01"}"#, inbox),
            task("d", r#"{"scheduleDate":"2026-03-03"}"#, trip),
        ],
        [task("e", "{}", inbox), task("f", r#"{"deadlineDate":"2026-02-05"}"#, inbox)],
        [task("g", "{}", trip), task("h", r#"{"scheduleDate":"2027-01-01"}"#, trip)],
    ] {
        desk.ask("add", &format!(r#"{{"tasks":[{}]}}"#, tasks.join(","))).unwrap();
    }
    desk.run(&[
        ("list", r#"{"scope":"active"}"#, "c b f"),
        ("list", r#"{"scope":"upcoming"}"#, "d a h"),
        ("list", r#"{"scope":"inbox"}"#, "e f c a"),
        ("list", r#"{"scope":"document","documentId":"@trip"}"#, "g h d b"),
        ("list", r#"{"scope":"logbook"}"#, ""),
    ]);
    for (name, state) in [("c", "done"), ("g", "canceled"), ("a", "done")] {
        desk.clock.advance(1);
        let change =
            format!(r#"{{"tasksToUpdate":[{{"id":"@{name}","taskInfo":{{"state":"{state}"}}}}]}}"#);
        desk.ask("change", &change).unwrap();
    }
    desk.run(&[
        ("list", r#"{"scope":"logbook"}"#, "a g c"),
        ("list", r#"{"scope":"active"}"#, "b f"),
        ("list", r#"{"scope":"upcoming"}"#, "d h"),
        ("list", r#"{"scope":"inbox"}"#, "e f"),
        // All of the document's, in its order.
        ("list", r#"{"scope":"document","documentId":"@trip"}"#, "g h d b"),
    ]);
}

#[test]
fn requests_that_are_no_listing() {
    Desk::new().run(&[
        ("list", r#"{"scope":"inbox"}"#, ""),
        ("list", r#"{"scope":"active","limit":1}"#, ""),
        ("list", r#"{"scope":"document","documentId":"@trip"}"#, ""),
        ("list", r#"{"scope":"everything"}"#, "VALIDATION scope"),
        ("list", r#"{"scope":"document"}"#, "VALIDATION documentId"),
        ("list", r#"{"scope":"inbox","documentId":"@trip"}"#, "VALIDATION documentId"),
        (
            "list",
            r#"{"scope":"document","documentId":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}"#,
            "NOT_FOUND documentId",
        ),
        ("list", r#"{"scope":"document","documentId":"x"}"#, "NOT_FOUND documentId"),
        ("list", r#"{"scope":"inbox","limit":0}"#, "VALIDATION limit"),
        ("list", r#"{"scope":"active","cursor":"x"}"#, "VALIDATION cursor"),
        ("list", r#"{"scope":"active","cursor":""}"#, "VALIDATION cursor"),
        ("list", r#"{"scope":"upcoming","cursor":"u00"}"#, "VALIDATION cursor"),
        ("list", r#"{"scope":"logbook","cursor":"lxy"}"#, "VALIDATION cursor"),
        ("list", r#"{"scope":"document","documentId":"@trip","cursor":"d"}"#, "VALIDATION cursor"),
    ]);
}

/// Tasks `0` to `9`, newest on top, all in one scope. Templates have some of the same day between
/// them.
fn ten(scope: &str) -> Desk {
    let mut desk = Desk::new();
    let info = match scope {
        "active" => r#"{"scheduleDate":"today"}"#,
        "upcoming" => r#"{"scheduleDate":"tomorrow"}"#,
        "logbook" => r#"{"state":"done"}"#,
        _ => "{}",
    };
    let place = if scope == "inbox" {
        r#"{"type":"inbox"}"#
    } else {
        r#"{"type":"document","documentId":"@trip"}"#
    };
    let template = r#"{"type":"document","documentId":"@plan"}"#;
    for number in 0..10 {
        let task = |text: &str, place| {
            format!(r#"{{"markdown":"{text}","taskInfo":{info},"location":{place}}}"#)
        };
        let (mine, theirs) = (task(&number.to_string(), place), task("template", template));
        desk.ask("add", &format!(r#"{{"tasks":[{theirs},{mine},{theirs}]}}"#)).unwrap();
        desk.clock.advance(1);
    }
    desk
}

fn scope_json(scope: &str) -> String {
    if scope == "document" {
        r#""scope":"document","documentId":"@trip""#.to_owned()
    } else {
        format!(r#""scope":"{scope}""#)
    }
}

const SCOPES: [&str; 5] = ["active", "upcoming", "inbox", "logbook", "document"];

#[test]
fn pages_are_the_list_cut_up() {
    for scope in SCOPES {
        let mut desk = ten(scope);
        let json = scope_json(scope);
        let all = desk.line("page", &format!("{{{json}}}"));
        assert_eq!(all.split(' ').count(), 10, "{scope}: {all}");
        for limit in [1, 2, 3, 5, 9, 10, 11, usize::MAX] {
            let mut pages = vec![desk.line("page", &format!(r#"{{{json},"limit":{limit}}}"#))];
            while pages.last().is_some_and(|page| page.ends_with("..")) {
                assert!(pages.len() < 10, "{scope} {limit}");
                pages.push(
                    desk.line("page", &format!(r#"{{{json},"limit":{limit},"cursor":"@next"}}"#)),
                );
            }
            let full =
                pages.iter().take(pages.len() - 1).all(|page| page.split(' ').count() == limit + 1);
            assert!(full, "{scope} {limit}: {pages:?}");
            assert_eq!(pages.join(" ").replace(" ..", ""), all, "{scope} {limit}");
        }
    }
}

#[test]
fn a_cursor_is_of_its_listing() {
    for scope in SCOPES {
        let mut desk = ten(scope);
        desk.ask("page", &format!(r#"{{{},"limit":1}}"#, scope_json(scope))).unwrap();
        for other in SCOPES.into_iter().filter(|other| *other != scope) {
            let request = format!(r#"{{{},"cursor":"@next"}}"#, scope_json(other));
            assert_eq!(desk.line("list", &request), "VALIDATION cursor", "{scope} as {other}");
        }
    }
    let mut desk = ten("document");
    desk.ask("page", r#"{"scope":"document","documentId":"@trip","limit":1}"#).unwrap();
    desk.run(&[(
        "list",
        r#"{"scope":"document","documentId":"@home","cursor":"@next"}"#,
        "VALIDATION cursor",
    )]);
}

/// What happens between the page `9 8 7` of the inbox or of a document and the next one of two, and
/// that one.
const BETWEEN: &[(&[(&str, &str)], &str)] = &[
    (&[], "6 5 .."),
    // Those given go.
    (&[("drop", r#"{"idsToDelete":["@7"]}"#)], "6 5 .."),
    (&[("drop", r#"{"idsToDelete":["@7","@8"]}"#)], "6 5 .."),
    (&[("drop", r#"{"idsToDelete":["@7","@8","@9"]}"#)], "6 5 .."),
    (
        &[(
            "change",
            r#"{"tasksToUpdate":[{"id":"@7","location":{"type":"document","documentId":"@home"}}]}"#,
        )],
        "6 5 ..",
    ),
    // The next ones go.
    (&[("drop", r#"{"idsToDelete":["@6"]}"#)], "5 4 .."),
    (&[("drop", r#"{"idsToDelete":["@7","@6"]}"#)], "5 4 .."),
    // Others come.
    (
        &[(
            "insert",
            r#"{"markdown":"- [ ] new","position":{"position":"after","siblingId":"@7"}}"#,
        )],
        "new 6 ..",
    ),
    (
        &[(
            "insert",
            r#"{"markdown":"- [ ] new","position":{"position":"before","siblingId":"@9"}}"#,
        )],
        "6 5 ..",
    ),
    // The last one given goes elsewhere: the others were given, or were not.
    (
        &[("move", r#"{"blockIds":"@7","position":{"position":"before","siblingId":"@9"}}"#)],
        "6 5 ..",
    ),
    (
        &[("move", r#"{"blockIds":"@7","position":{"position":"after","siblingId":"@5"}}"#)],
        "6 5 ..",
    ),
    // One of the next goes before them.
    (
        &[("move", r#"{"blockIds":"@6","position":{"position":"before","siblingId":"@9"}}"#)],
        "5 4 ..",
    ),
    // All that were given go, and most of the next.
    (&[("drop", r#"{"idsToDelete":["@9","@8","@7","@6","@5","@4","@3","@2","@1"]}"#)], "0"),
];

#[test]
fn a_cursor_survives_changes() {
    for scope in ["inbox", "document"] {
        let json = scope_json(scope);
        for (steps, expected) in BETWEEN {
            let mut desk = ten(scope);
            assert_eq!(desk.line("page", &format!(r#"{{{json},"limit":3}}"#)), "9 8 7 ..");
            for (operation, body) in *steps {
                desk.ask(operation, body).unwrap();
            }
            let next = desk.line("page", &format!(r#"{{{json},"limit":2,"cursor":"@next"}}"#));
            assert_eq!(next, *expected, "{scope} {steps:?}");
        }
    }
}

#[test]
fn who_completes_the_tasks_of_a_page_goes_on_behind_them() {
    let mut desk = ten("inbox");
    let done = |name: &str| format!(r#"{{"id":"@{name}","taskInfo":{{"state":"done"}}}}"#);
    let mut pages = vec![desk.line("page", r#"{"scope":"inbox","limit":3}"#)];
    while pages.last().is_some_and(|page| page.ends_with("..")) {
        let tasks: Vec<_> =
            pages.last().unwrap().split(' ').filter(|word| *word != "..").map(done).collect();
        desk.ask("change", &format!(r#"{{"tasksToUpdate":[{}]}}"#, tasks.join(","))).unwrap();
        pages.push(desk.line("page", r#"{"scope":"inbox","limit":3,"cursor":"@next"}"#));
    }
    assert_eq!(pages, ["9 8 7 ..", "6 5 4 ..", "3 2 1 ..", "0"]);
    desk.run(&[("list", r#"{"scope":"inbox"}"#, "0")]);
}

#[test]
fn what_was_given_is_not_given_again_though_the_last_ones_are_done() {
    let mut desk = ten("inbox");
    assert_eq!(desk.line("page", r#"{"scope":"inbox","limit":9}"#), "9 8 7 6 5 4 3 2 1 ..");
    let done: Vec<_> =
        (1..9).map(|name| format!(r#"{{"id":"@{name}","taskInfo":{{"state":"done"}}}}"#)).collect();
    desk.ask("change", &format!(r#"{{"tasksToUpdate":[{}]}}"#, done.join(","))).unwrap();
    desk.run(&[
        ("page", r#"{"scope":"inbox","cursor":"@next"}"#, "0"),
        ("list", r#"{"scope":"inbox"}"#, "9 0"),
    ]);
}

#[test]
fn what_a_completed_task_takes_along_to_the_end_hides_nothing() {
    let mut desk = Desk::new();
    desk.run(&[
        (
            "add",
            r#"{"tasks":[{"markdown":"a"},{"markdown":"b"},{"markdown":"c"}]}"#,
            "a@inbox b@inbox c@inbox",
        ),
        ("insert", r#"{"markdown":"- [ ] below","position":{"pageId":"@a"}}"#, "below"),
        ("page", r#"{"scope":"inbox","limit":2}"#, "a below .."),
    ]);
    desk.ask("change", r#"{"tasksToUpdate":[{"id":"@a","taskInfo":{"state":"done"}}]}"#).unwrap();
    desk.run(&[
        ("page", r#"{"scope":"inbox","limit":2,"cursor":"@next"}"#, "b c .."),
        ("list", r#"{"scope":"inbox"}"#, "b c below"),
    ]);
}

#[test]
fn a_page_of_an_index_goes_on_behind_what_was_given() {
    for (scope, first, rest) in [
        ("active", "0 1 2 ..", "3 4 5 6 7 8 9"),
        ("upcoming", "0 1 2 ..", "3 4 5 6 7 8 9"),
        ("logbook", "9 8 7 ..", "6 5 4 3 2 1 0"),
    ] {
        let mut desk = ten(scope);
        let json = scope_json(scope);
        assert_eq!(desk.line("page", &format!(r#"{{{json},"limit":3}}"#)), first, "{scope}");
        let given: Vec<_> = first.split(' ').take(3).map(|name| format!("\"@{name}\"")).collect();
        desk.ask("drop", &format!(r#"{{"idsToDelete":[{}]}}"#, given.join(","))).unwrap();
        assert_eq!(desk.line("page", &format!(r#"{{{json},"cursor":"@next"}}"#)), rest, "{scope}");
    }
}

#[test]
fn many_tasks_of_templates_do_not_end_a_page() {
    let mut desk = Desk::new();
    let of_template = r#"{"markdown":"t","taskInfo":{"scheduleDate":"today"},"location":{"type":"document","documentId":"@plan"}}"#;
    desk.ask("add", &format!(r#"{{"tasks":[{}]}}"#, vec![of_template; 300].join(","))).unwrap();
    for name in ["a", "b"] {
        desk.ask(
            "add",
            &format!(
                r#"{{"tasks":[{{"markdown":"{name}","taskInfo":{{"scheduleDate":"{TODAY}"}}}}]}}"#
            ),
        )
        .unwrap();
        desk.ask("add", &format!(r#"{{"tasks":[{}]}}"#, vec![of_template; 300].join(","))).unwrap();
    }
    desk.run(&[
        ("page", r#"{"scope":"active","limit":1}"#, "a .."),
        ("page", r#"{"scope":"active","limit":1,"cursor":"@next"}"#, "b"),
        ("page", r#"{"scope":"active","limit":2}"#, "a b"),
        ("page", r#"{"scope":"active"}"#, "a b"),
        ("page", r#"{"scope":"upcoming","limit":1}"#, ""),
    ]);
}

/// The store keeps siblings in pieces, which are cut and joined as blocks come and go.
#[test]
fn tasks_that_are_left_of_many_keep_their_order() {
    for (one_in, stride) in [(40, 1), (40, 7), (3, 11), (399, 3)] {
        let mut desk = Desk::new();
        let tasks: Vec<_> =
            (0..400).map(|number| format!(r#"{{"markdown":"{number}"}}"#)).collect();
        desk.ask("add", &format!(r#"{{"tasks":[{}]}}"#, tasks.join(","))).unwrap();
        for number in
            (0..400).map(|number| number * stride % 400).filter(|number| number % one_in != 0)
        {
            let done = format!(r#"{{"id":"@{number}","taskInfo":{{"state":"done"}}}}"#);
            desk.ask("change", &format!(r#"{{"tasksToUpdate":[{done}]}}"#)).unwrap();
        }
        let left: Vec<_> = (0..400).step_by(one_in).map(|number| number.to_string()).collect();
        desk.run(&[("list", r#"{"scope":"inbox"}"#, &left.join(" "))]);
    }
}

#[test]
fn tasks_that_others_come_between_keep_their_order() {
    let trip = r#"{"scope":"document","documentId":"@trip"}"#;
    let (tasks, all): (Vec<_>, Vec<_>) =
        (0..8).map(|name| (format!("- [ ] {name}"), name.to_string())).unzip();
    let all = all.join(" ");
    for words in [1, 20, 200] {
        let mut desk = Desk::new();
        let text =
            serde_json::json!({"markdown": tasks.join("\n"), "position": {"pageId": "@trip"}});
        desk.run(&[("insert", &text.to_string(), &all), ("list", trip, &all)]);
        let mut between = Vec::new();
        for name in ["3", "5", "0", "7", "1"] {
            let position =
                serde_json::json!({"position": "after", "siblingId": format!("@{name}")});
            let text = serde_json::json!({"markdown": "some words\n\n".repeat(words), "position": position});
            let inserted = desk.ask("insert", &text.to_string()).unwrap();
            between.extend(
                inserted["items"].as_array().unwrap().iter().map(|block| block["id"].clone()),
            );
            desk.run(&[("list", trip, &all)]);
        }
        for some in between.chunks(67) {
            desk.ask("delete", &serde_json::json!({"blockIds": some}).to_string()).unwrap();
            desk.run(&[("list", trip, &all)]);
        }
    }
}
