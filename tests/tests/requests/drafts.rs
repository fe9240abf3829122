//! Drafts: errors name them as they were given, and nothing happens for none.

use crate::host::{Host, wrong};

#[test]
fn an_error_names_the_draft_as_it_was_given() {
    Host::new().table(&[
        (
            "insert",
            r#"{"blocks":[{"type":"text","markdown":"a\n\nb\n\nc"},{"type":"text","cardLayout":"small"}],"position":{"pageId":"@root"}}"#,
            "RULE_VIOLATION blocks[1].cardLayout",
        ),
        (
            "insert",
            r#"{"blocks":[{"type":"text","markdown":"a\n\nb"},{"type":"page","content":[{"type":"text","markdown":"c\n\nd"},
                {"type":"text"},{"type":"line","rawCode":""}]}],"position":{"pageId":"@root"}}"#,
            "VALIDATION blocks[1].content[2].rawCode",
        ),
        (
            "insert",
            r#"{"blocks":[{"type":"text","markdown":"a\n\nb"},{"type":"page","content":[{"type":"text","markdown":"c\n\nd"},
                {"type":"text","markdown":"<highlight color='puce'>e</highlight>"}]}],"position":{"pageId":"@root"}}"#,
            "INVALID_MARKDOWN blocks[1].content[1].markdown",
        ),
        (
            "insert",
            r#"{"blocks":[{"type":"text","markdown":"a\n\nb"},{"type":"collection"}],"position":{"pageId":"@root"}}"#,
            "RULE_VIOLATION blocks[1].type",
        ),
        (
            "create",
            r#"{"type":"page","title":"t","content":[{"type":"text","markdown":"a\n\nb"},{"type":"image","markdown":"no"}]}"#,
            "INVALID_MARKDOWN content[1].markdown",
        ),
        ("create", r#"{"type":"page","title":"<highlight color='puce'>x</highlight>"}"#, "INVALID_MARKDOWN title"),
        ("create", r#"{"type":"text","markdown":"a\n\nb"}"#, "VALIDATION markdown"),
        ("create", r#"{"type":"line"}"#, "RULE_VIOLATION type"),
    ]);
}

#[test]
fn markdown_is_named_as_a_whole() {
    let host = Host::new();
    host.table(&[
        (
            "insert",
            r#"{"markdown":"a <highlight color='puce'>b</highlight>","position":{"pageId":"@root"}}"#,
            "INVALID_MARKDOWN markdown",
        ),
        ("insert", r#"{"markdown":"- \n- b","position":{"pageId":"@root"}}"#, "INVALID_MARKDOWN markdown"),
    ]);
    let long =
        format!("<page><pageTitle>{}</pageTitle><content>x</content></page>", "t".repeat(1_001));
    let error = host.notes.insert_markdown(&long, host.document()).unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED markdown");
}

#[test]
fn a_highlight_of_an_unknown_colour_is_refused_by_every_door() {
    let host = Host::new();
    let text = "<highlight color='puce'>x</highlight>";
    host.table(&[
        ("insert", &format!(r#"{{"markdown":"{text}","position":{{"pageId":"@root"}}}}"#), "INVALID_MARKDOWN markdown"),
        (
            "insert",
            &format!(r#"{{"blocks":[{{"type":"text","markdown":"{text}"}}],"position":{{"pageId":"@root"}}}}"#),
            "INVALID_MARKDOWN blocks[0].markdown",
        ),
        (
            "update",
            &format!(r#"{{"blocks":[{{"id":"@text","markdown":"{text}"}}]}}"#),
            "INVALID_MARKDOWN blocks[0].markdown",
        ),
        (
            "update",
            &format!(r#"{{"blocks":[{{"id":"@page","title":"{text}"}}]}}"#),
            "INVALID_MARKDOWN blocks[0].title",
        ),
        (
            "insert",
            &format!(r#"{{"blocks":[{{"type":"page","title":"{text}"}}],"position":{{"pageId":"@root"}}}}"#),
            "INVALID_MARKDOWN blocks[0].title",
        ),
        (
            "update",
            &format!(r#"{{"blocks":[{{"id":"@table","markdown":"| {text} |\n| --- |\n| b |"}}]}}"#),
            "INVALID_MARKDOWN blocks[0].markdown",
        ),
    ]);
    assert_eq!(wrong(&host.notes.create_document(text).unwrap_err()), "INVALID_MARKDOWN markdown");
    host.table(&[(
        "insert",
        &format!(r#"{{"markdown":"| {text} |\n| --- |\n| b |","position":{{"pageId":"@root"}}}}"#),
        "INVALID_MARKDOWN markdown",
    )]);
    // Code is not markup, and what is escaped already stays so.
    host.table(&[(
        "update",
        r#"{"blocks":[{"id":"@text","markdown":"`<highlight color='puce'>` \\<highlight color='puce'>"}]}"#,
        r#"[{"markdown":"`<highlight color='puce'>` \\<highlight color='puce'>","type":"text"}]"#,
    )]);
}

#[test]
fn nothing_is_done_for_nothing() {
    let host = Host::new();
    let before = host.notes.last_sequence().unwrap();
    for target in [
        "",
        r#","position":{"date":"2026-03-01"}"#,
        r#","position":{"pageId":"@root"}"#,
        r#","position":{"position":"after","siblingId":"@text"}"#,
    ] {
        for (operation, what) in [
            ("insert", r#""blocks":[]"#),
            ("insert", r#""markdown":"""#),
            ("insert", r#""markdown":"\n \n""#),
            ("move", r#""blockIds":[]"#),
        ] {
            assert_eq!(
                host.line(operation, &format!("{{{what}{target}}}")),
                "[]",
                "{operation} {what} {target}"
            );
        }
    }
    host.table(&[
        ("update", r#"{"blocks":[]}"#, "[]"),
        ("delete", r#"{"blockIds":[]}"#, "[]"),
        (
            "insert",
            r#"{"blocks":[],"position":{"pageId":"@line"}}"#,
            "RULE_VIOLATION position.pageId",
        ),
        ("insert", r#"{"markdown":"","position":{"pageId":"x"}}"#, "NOT_FOUND position.pageId"),
        (
            "move",
            r#"{"blockIds":[],"position":{"position":"before","siblingId":"@root"}}"#,
            "INVALID_POSITION position.siblingId",
        ),
    ]);
    assert_eq!(host.notes.last_sequence().unwrap(), before, "no note was made");
    assert_eq!(host.notes.documents().unwrap().0.len(), 2);
}

#[test]
fn a_text_of_several_lines_that_receives_a_child_keeps_them() {
    let host = Host::new();
    host.table(&[
        ("update", r#"{"blocks":[{"id":"@text","markdown":"one\ntwo"}]}"#, r#"[{"markdown":"one\ntwo","type":"text"}]"#),
        ("insert", r#"{"markdown":"child","position":{"pageId":"@text"}}"#, r#"[{"markdown":"child","type":"text"}]"#),
        ("fetch", r#"{"id":"@text"}"#, r#"{"content":[{"markdown":"child","type":"text"}],"markdown":"one\ntwo","title":"one\ntwo","type":"page"}"#),
        (
            "insert",
            r#"{"blocks":[{"type":"text","markdown":"a\nb","content":[{"type":"text","markdown":"c"}]}],"position":{"pageId":"@other"}}"#,
            r#"[{"content":[{"markdown":"c","type":"text"}],"markdown":"a\nb","title":"a\nb","type":"page"}]"#,
        ),
    ]);
}

#[test]
fn task_stamps_are_given_only_where_the_state_has_them() {
    let host = Host::new();
    let task = |info: &str| {
        format!(r#"{{"blocks":[{{"id":"@text","listStyle":"task","taskInfo":{info}}}]}}"#)
    };
    host.table(&[
        ("update", &task(r#"{"state":"todo","completedAt":"2026-03-01T00:00:00Z"}"#), "VALIDATION blocks[0].taskInfo.completedAt"),
        ("update", &task(r#"{"state":"done","canceledAt":"2026-03-01T00:00:00Z"}"#), "VALIDATION blocks[0].taskInfo.canceledAt"),
        ("update", &task(r#"{"state":"done","completedAt":null}"#), "VALIDATION blocks[0].taskInfo.completedAt"),
        ("update", &task(r#"{"state":"canceled","canceledAt":null}"#), "VALIDATION blocks[0].taskInfo.canceledAt"),
        (
            "insert",
            r#"{"blocks":[{"type":"text","listStyle":"task","taskInfo":{"canceledAt":"2026-03-01T00:00:00Z"}}],"position":{"pageId":"@root"}}"#,
            "VALIDATION blocks[0].taskInfo.canceledAt",
        ),
        (
            "update",
            &task(r#"{"state":"done","completedAt":"2026-03-01T00:00:00Z","canceledAt":null}"#),
            r#"[{"listStyle":"task","markdown":"- [x] text","taskInfo":{"completedAt":"2026-03-01T00:00:00.000Z","state":"done"},"type":"text"}]"#,
        ),
        (
            "update",
            &task(r#"{"state":"todo","completedAt":null}"#),
            r#"[{"listStyle":"task","markdown":"- [ ] text","taskInfo":{"state":"todo"},"type":"text"}]"#,
        ),
    ]);
}
