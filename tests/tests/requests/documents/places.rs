//! Where documents may go: the trash, out of it, between places, and for good.

use leafbase::{BlockId, Fetch, PurgeDocuments};
use leafbase_model::Limits;

use crate::documents::Library;

/// Every operation on a document of every place, allowed and refused. The inverse of what is
/// allowed leads back.
#[test]
fn every_state_has_its_transitions() {
    let places = ["unsorted", "templates", "Home"];
    let rule = "RULE_VIOLATION documentIds[0]";
    let library = Library::new();
    for (name, at) in [
        ("loose", "unsorted"),
        ("template", "templates"),
        ("bills", "Home"),
        ("seeds", "Garden"),
        ("rubbish", "trash"),
        ("today", "daily_notes"),
        ("old", "trash"),
        ("taken", "trash"),
        ("inbox", "inbox"),
        ("nothing", "nowhere"),
    ] {
        let refused = if name == "nothing" { "NOT_FOUND documentIds[0]" } else { rule };
        let ids = format!(r#""documentIds":"@{name}""#);
        let body = format!("{{{ids}}}");
        let is_note = ["today", "old", "taken"].contains(&name);
        match at {
            "trash" | "inbox" | "nowhere" => library.table(&[("delete", &body, refused)]),
            _ => library.undone("delete", &body, name),
        }
        for to in places {
            let destination = if to == "Home" {
                r#""folderId":"@Home""#.to_owned()
            } else {
                format!(r#""destination":"{to}""#)
            };
            let body = format!(r#"{{{ids},"destination":{{{destination}}}}}"#);
            let there = format!("{name}:{to}");
            match at {
                _ if is_note => library.table(&[("move", &body, refused)]),
                "inbox" | "nowhere" => library.table(&[("move", &body, refused)]),
                _ if at == to => library.table(&[("move", &body, &there)]),
                _ => library.undone("move", &body, &there),
            }
        }
        for to in ["trash", "daily_notes"] {
            for field in ["destination", "folderId"] {
                let body = format!(r#"{{{ids},"destination":{{"{field}":"{to}"}}}}"#);
                library.table(&[("move", &body, &format!("RULE_VIOLATION destination.{field}"))]);
            }
        }
        match name {
            "old" => library.undone("restore", &body, "old:daily_notes"),
            "taken" => library.table(&[("restore", &body, "CONFLICT documentIds[0]")]),
            _ => library.table(&[("restore", &body, refused)]),
        }
        match at {
            "trash" => library.purged(&body, name),
            _ => library.table(&[("purge", &body, refused)]),
        }
    }
}

#[test]
fn what_is_there_already_is_not_written() {
    let library = Library::new();
    let before = library.notes.last_sequence().unwrap();
    library.table(&[
        ("move", r#"{"documentIds":["@bills"],"destination":{"folderId":"@Home"}}"#, "bills:Home"),
        ("move", r#"{"documentIds":[],"destination":{"folderId":"@Home"}}"#, ""),
        ("delete", r#"{"documentIds":[]}"#, ""),
        ("restore", r#"{"documentIds":[]}"#, ""),
        ("purge", r#"{"documentIds":[]}"#, ""),
        ("purge", r#"{"olderThanDays":4000000000}"#, ""),
        ("create", r#"{"documents":[]}"#, ""),
    ]);
    assert_eq!(library.notes.last_sequence().unwrap(), before);
    let mixed = r#"{"documentIds":["@bills","@loose"],"destination":{"folderId":"@Home"}}"#;
    library.undone("move", mixed, "bills:Home loose:Home");
}

#[test]
fn a_batch_is_refused_as_a_whole_and_names_the_first_at_fault() {
    let mut limits = Limits::default();
    limits.blocks_per_request = 4;
    let library = Library::with_limits(limits);
    library.table(&[
        ("delete", r#"{"documentIds":["@loose","@rubbish"]}"#, "RULE_VIOLATION documentIds[1]"),
        ("delete", r#"{"documentIds":["@loose","@loose"]}"#, "VALIDATION documentIds[1]"),
        ("delete", r#"{"documentIds":["@loose","?","?"]}"#, "NOT_FOUND documentIds[1]"),
        ("delete", r#"{"documentIds":["?","?"]}"#, "NOT_FOUND documentIds[0]"),
        ("delete", r#"{"documentIds":["@loose","@inbox"]}"#, "RULE_VIOLATION documentIds[1]"),
        ("delete", r#"{"documentIds":["1","2","3","4","5"]}"#, "LIMIT_EXCEEDED documentIds"),
        ("delete", r#"{"documentIds":[7]}"#, "VALIDATION documentIds[0]"),
        ("delete", "{}", "VALIDATION documentIds"),
        (
            "move",
            r#"{"documentIds":["@loose","@today"],"destination":{"folderId":"@Home"}}"#,
            "RULE_VIOLATION documentIds[1]",
        ),
        (
            "move",
            r#"{"documentIds":["@loose","@loose"],"destination":{"folderId":"@Home"}}"#,
            "VALIDATION documentIds[1]",
        ),
        (
            "move",
            r#"{"documentIds":["?"],"destination":{"folderId":"?"}}"#,
            "NOT_FOUND destination.folderId",
        ),
        (
            "move",
            r#"{"documentIds":["@loose"],"destination":{"destination":"root"}}"#,
            "VALIDATION destination.destination",
        ),
        ("move", r#"{"documentIds":["@loose"],"destination":{}}"#, "VALIDATION destination"),
        ("move", r#"{"documentIds":["@loose"]}"#, "VALIDATION destination"),
        (
            "move",
            r#"{"documentIds":["1","2","3","4","5"],"destination":{"destination":"unsorted"}}"#,
            "LIMIT_EXCEEDED documentIds",
        ),
        ("restore", r#"{"documentIds":["@old","@rubbish"]}"#, "RULE_VIOLATION documentIds[1]"),
        ("restore", r#"{"documentIds":["@old","@old"]}"#, "VALIDATION documentIds[1]"),
        ("purge", r#"{"documentIds":["@rubbish","@loose"]}"#, "RULE_VIOLATION documentIds[1]"),
        ("purge", r#"{"documentIds":["@rubbish","@rubbish"]}"#, "VALIDATION documentIds[1]"),
        ("purge", r#"{"documentIds":["@rubbish"],"olderThanDays":1}"#, "VALIDATION"),
        ("purge", "{}", "VALIDATION"),
        ("purge", r#"{"olderThanDays":4294967296}"#, "VALIDATION olderThanDays"),
        ("purge", r#"{"olderThanDays":-1}"#, "VALIDATION olderThanDays"),
    ]);
    let error = library
        .ask("move", r#"{"documentIds":"@old","destination":{"destination":"unsorted"}}"#)
        .unwrap_err();
    assert!(error.message().contains("restore_daily_notes"), "{error}");
    let error = library
        .ask("move", r#"{"documentIds":"@today","destination":{"destination":"unsorted"}}"#)
        .unwrap_err();
    assert_eq!(error.message(), "the daily note of 2026-03-10 cannot be moved");
}

#[test]
fn a_day_has_one_note_that_is_not_in_the_trash() {
    let mut library = Library::new();
    let notes = |library: &Library| {
        library.line(
            "list",
            r#"{"dailyNoteDateGte":"2026-03-01","dailyNoteDateLte":"2026-03-10","orderBy":"id"}"#,
        )
    };
    assert_eq!(notes(&library), "old:trash taken:trash today:daily_notes");
    library.table(&[
        ("delete", r#"{"documentIds":["@today"]}"#, "today"),
        ("fetch", r#"{"date":"today"}"#, "NOT_FOUND date"),
        // Two of one day: the first that is restored has it.
        ("restore", r#"{"documentIds":["@taken","@today"]}"#, "CONFLICT documentIds[1]"),
        ("restore", r#"{"documentIds":["@taken","@old"]}"#, "taken:daily_notes old:daily_notes"),
        ("restore", r#"{"documentIds":["@today"]}"#, "CONFLICT documentIds[0]"),
        ("fetch", r#"{"date":"today"}"#, "taken"),
        ("restore", r#"{"documentIds":["@taken"]}"#, "RULE_VIOLATION documentIds[0]"),
        ("delete", r#"{"documentIds":["@taken"]}"#, "taken"),
    ]);
    library.note("another", "today");
    library.table(&[("restore", r#"{"documentIds":["@taken"]}"#, "CONFLICT documentIds[0]")]);
    assert_eq!(notes(&library), "old:daily_notes taken:trash today:trash another:daily_notes");
    assert!(library.notes.space().check().unwrap().is_clean());
}

#[test]
fn what_is_in_the_trash_is_read_but_not_written() {
    let library = Library::new();
    library.table(&[
        ("fetch", r#"{"id":"@rubbish"}"#, "rubbish"),
        ("fetch", r#"{"id":"@old"}"#, "old"),
        ("update", r#"{"blocks":[{"id":"@rubbish","title":"x"}]}"#, "RULE_VIOLATION blocks[0].id"),
        (
            "insert",
            r#"{"markdown":"x","position":{"pageId":"@rubbish"}}"#,
            "RULE_VIOLATION position.pageId",
        ),
        (
            "move",
            r#"{"documentIds":["@rubbish"],"destination":{"destination":"unsorted"}}"#,
            "rubbish:unsorted",
        ),
        ("update", r#"{"blocks":[{"id":"@rubbish","title":"x"}]}"#, "rubbish"),
    ]);
}

const DAY: u64 = 24 * 60 * 60 * 1_000;

#[test]
fn the_trash_is_purged_by_age_oldest_first() {
    // b has been there for three days, a for two, c for one; to the millisecond.
    let library = || {
        let mut library = Library::empty("UTC", Limits::default());
        for name in ["c", "a", "b", "kept"] {
            library.document(name, r#"{"destination":"unsorted"}"#);
        }
        for name in ["b", "a", "c"] {
            library.done("delete", &format!(r#"{{"documentIds":"@{name}"}}"#));
            library.clock.advance(DAY);
        }
        library
    };
    for (days, purged) in [(1, "b a c"), (2, "b a"), (3, "b"), (0, "b a c")] {
        library().purged(&format!(r#"{{"olderThanDays":{days}}}"#), purged);
    }
    let library = library();
    library.table(&[("purge", r#"{"olderThanDays":4}"#, "")]);
    library.clock.advance(DAY - 1);
    library.table(&[("purge", r#"{"olderThanDays":4}"#, "")]);
    library.clock.advance(1);
    library.table(&[
        ("purge", r#"{"olderThanDays":4}"#, "b"),
        ("purge", r#"{"olderThanDays":4}"#, ""),
    ]);
    assert_eq!(library.line("list", "{}"), "c:trash a:trash kept:unsorted");
}

#[test]
fn what_is_purged_is_gone_with_all_its_blocks() {
    let library = Library::new();
    library.done("move", r#"{"documentIds":"@rubbish","destination":{"destination":"unsorted"}}"#);
    let made = library.done(
        "insert",
        r#"{"markdown":"<page><pageTitle>p</pageTitle><content>x</content></page>","position":{"pageId":"@rubbish"}}"#,
    );
    let page: BlockId = made["items"][0]["id"].as_str().unwrap().parse().unwrap();
    let link = format!("see [it](block://{page})");
    library.notes.insert_markdown(&link, library.id("loose")).unwrap();
    library.done("delete", r#"{"documentIds":"@rubbish"}"#);
    library.notes.purge_documents(PurgeDocuments::new([library.id("rubbish")])).unwrap();
    for id in [page, library.id("rubbish").root()] {
        assert_eq!(library.notes.fetch(Fetch::new(id)).unwrap_err().code(), "NOT_FOUND");
    }
    assert_eq!(
        library.notes.content_markdown(library.id("loose")).unwrap(),
        link,
        "a link stays, and leads nowhere"
    );
    assert!(library.notes.space().check().unwrap().is_clean());
}

#[test]
fn the_inbox_is_read_but_in_no_listing() {
    let library = Library::new();
    library.table(&[
        ("fetch", r#"{"id":"@inbox"}"#, "inbox"),
        ("list", r#"{"location":"inbox"}"#, "VALIDATION location"),
    ]);
    let listed = library.line("list", "{}");
    assert!(listed.contains("loose:unsorted") && !listed.contains("inbox"), "{listed}");
    assert!(!library.folders().contains("nbox"));
    assert_eq!(library.notes.document(library.id("inbox")).unwrap().title, "Inbox");
}
