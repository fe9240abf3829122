//! Reading is strict: each fault is refused with its path, in the error's own field and in the
//! message of plain serde.

use leafbase_model::{
    BackLinks, BlockDraft, DeleteBlocks, ErrorKind, Fetch, InsertBlocks, Limits, MoveBlocks, json,
};

use crate::wire::without_known_fields;

/// A block, the fault's path below it, and the message.
const FAULTS: [(&str, &str, &str); 31] = [
    ("{}", ".type", "the field `type` is missing"),
    ("7", "", "expected an object, got 7"),
    (r#"{"type":"text","Id":"x"}"#, ".Id", "unknown field `Id`"),
    (r#"{"type":"text","colour":"red"}"#, ".colour", "unknown field `colour`"),
    (r#"{"type":"text","text_style":"h1"}"#, ".text_style", "unknown field `text_style`"),
    (r#"{"type":"text","meta":{}}"#, ".meta", "unknown field `meta`"),
    (
        r#"{"type":"heading"}"#,
        ".type",
        r#"unknown block type "heading", expected one of text, page, collectionItem, image, video, file, drawing, whiteboard, table, collection, code, richUrl, line"#,
    ),
    (
        r#"{"type":"Text"}"#,
        ".type",
        r#"unknown block type "Text", expected one of text, page, collectionItem, image, video, file, drawing, whiteboard, table, collection, code, richUrl, line"#,
    ),
    (r#"{"type":1}"#, ".type", "expected a string, got 1"),
    (r#"{"type":"text","markdown":["a"]}"#, ".markdown", "expected a string, got an array"),
    (
        r#"{"type":"text","indentationLevel":6}"#,
        ".indentationLevel",
        "expected an indentation level from 0 to 5, got 6",
    ),
    (
        r#"{"type":"text","indentationLevel":-1}"#,
        ".indentationLevel",
        "expected an indentation level from 0 to 5, got -1",
    ),
    (
        r#"{"type":"text","indentationLevel":1.5}"#,
        ".indentationLevel",
        "expected an indentation level from 0 to 5, got 1.5",
    ),
    (
        r#"{"type":"text","indentationLevel":1e30}"#,
        ".indentationLevel",
        "expected an indentation level from 0 to 5, got 1e+30",
    ),
    (
        r#"{"type":"text","indentationLevel":"1"}"#,
        ".indentationLevel",
        r#"expected an indentation level from 0 to 5, got "1""#,
    ),
    (
        r#"{"type":"text","listStyle":"dotted"}"#,
        ".listStyle",
        r#"unknown list style "dotted", expected one of none, bullet, numbered, toggle, task"#,
    ),
    (r#"{"type":"text","content":[null]}"#, ".content[0]", "expected an object, got null"),
    (r##"{"type":"text","color":"#GGG"}"##, ".color", r##"expected a color #rrggbb, got "#GGG""##),
    (r#"{"type":"text","color":{"light":1}}"#, ".color", "expected a color #rrggbb, got an object"),
    (
        r##"{"type":"text","colorDark":"#GGG"}"##,
        ".colorDark",
        r##"expected a color #rrggbb, got "#GGG""##,
    ),
    (
        r#"{"type":"text","taskInfo":{"state":"done"}}"#,
        ".taskInfo",
        "taskInfo is only for blocks whose listStyle is task",
    ),
    (
        r#"{"type":"text","listStyle":"task","taskInfo":{"state":"open"}}"#,
        ".taskInfo.state",
        r#"unknown task state "open", expected one of todo, done, canceled"#,
    ),
    (
        r#"{"type":"text","listStyle":"task","taskInfo":{"due":1}}"#,
        ".taskInfo.due",
        "unknown field `due`",
    ),
    (
        r#"{"type":"text","listStyle":"task","taskInfo":{"scheduleDate":"2026-02-29"}}"#,
        ".taskInfo.scheduleDate",
        "the calendar has no day 2026-02-29 (or today, tomorrow, yesterday)",
    ),
    (
        r#"{"type":"text","listStyle":"task","taskInfo":{"completedAt":"2026-02-28"}}"#,
        ".taskInfo.completedAt",
        r#"expected an instant like 2026-03-01T09:30:00.000Z, got "2026-02-28""#,
    ),
    (
        r#"{"type":"text","decorations":["quote","box"]}"#,
        ".decorations[1]",
        r#"unknown decoration "box", expected callout or quote"#,
    ),
    (
        r#"{"type":"text","decorations":"quote"}"#,
        ".decorations",
        r#"expected an array, got "quote""#,
    ),
    (
        r#"{"type":"text","url":"https://example.org"}"#,
        ".url",
        "a block of type text has no field url",
    ),
    (r#"{"type":"text","content":{}}"#, ".content", "expected an array, got an object"),
    (
        r#"{"type":"page","content":[{"type":"line","layout":"card"}]}"#,
        ".content[0].layout",
        "a block of type line has no field layout",
    ),
    (
        r##"{"type":"page","content":[{"type":"text"},{"type":"line"},{"type":"text","color":"#12345"}]}"##,
        ".content[2].color",
        r##"expected a color #rrggbb, got "#12345""##,
    ),
];

#[test]
fn each_fault_is_named_with_its_path() {
    for place in [0, 3] {
        for (block, below, message) in FAULTS {
            let good = r#"{"type":"text"},"#.repeat(place);
            let text = format!(r#"{{"blocks":[{good}{block}],"position":{{}}}}"#);
            let error = json::from_str::<InsertBlocks>(&text, &Limits::default()).unwrap_err();
            let path = format!("blocks[{place}]{below}");
            assert_eq!(
                (error.kind(), error.path(), without_known_fields(error.message())),
                (ErrorKind::Validation, path.as_str(), message)
            );
            // Plain serde has the path below the hand-written type, and adds the position in the
            // text to errors of its parts.
            let separator = if below.is_empty() { "" } else { ": " };
            let expected = format!("{}{separator}{message}", below.trim_start_matches('.'));
            let alone = serde_json::from_str::<BlockDraft>(block).unwrap_err();
            assert_eq!(without_known_fields(&alone.to_string()), expected);
            let plain = serde_json::from_str::<InsertBlocks>(&text).unwrap_err().to_string();
            let (told, _) = plain.split_once(" at line 1 column ").unwrap();
            assert_eq!(without_known_fields(told), expected);
        }
    }
}

#[test]
fn children_of_what_has_none_break_a_rule() {
    for (block_type, allowed) in
        leafbase_model::BlockType::ALL.iter().map(|kind| (kind, kind.may_be_parent()))
    {
        let text =
            format!(r#"{{"blocks":[{{"type":"{block_type}","content":[{{"type":"text"}}]}}]}}"#);
        let read = json::from_str::<InsertBlocks>(&text, &Limits::default());
        if allowed {
            read.unwrap();
        } else {
            let error = read.unwrap_err();
            assert_eq!(
                (error.kind(), error.path()),
                (ErrorKind::RuleViolation, "blocks[0].content")
            );
            assert_eq!(
                error.message(),
                format!("a block of type {block_type} cannot have children")
            );
        }
        let empty = format!(r#"{{"blocks":[{{"type":"{block_type}","content":[]}}]}}"#);
        json::from_str::<InsertBlocks>(&empty, &Limits::default()).unwrap();
    }
}

/// In place of an unknown field the known ones are named: of many, those that begin most like it.
#[test]
fn an_error_lists_the_fields_that_are_known() {
    fn told<T: json::FromJson>(text: &str) -> String {
        json::from_str::<T>(text, &Limits::default()).err().unwrap().to_string()
    }
    for (found, expected) in [
        // Derived, by hand with the fields of its page, nested, of a single field.
        (
            told::<Fetch>(r#"{"id":"x","depth":1}"#),
            "depth: unknown field `depth`, expected one of id, date, maxDepth, fetchMetadata, \
             fetchText",
        ),
        (
            told::<BackLinks>(r#"{"id":"x","Limit":1}"#),
            "Limit: unknown field `Limit`, expected one of id, within, limit, cursor",
        ),
        (
            told::<MoveBlocks>(r#"{"blockIds":[],"position":{"page":"x"}}"#),
            "position.page: unknown field `page`, expected one of position, pageId, date, siblingId",
        ),
        (
            told::<DeleteBlocks>(r#"{"blockIds":[],"a`b":1}"#),
            "a`b: unknown field `a`b`, expected blockIds",
        ),
        (
            told::<InsertBlocks>(r#"{"blocks":[{"type":"text","colour":1}],"position":{}}"#),
            "blocks[0].colour: unknown field `colour`, expected one of color, cardLayout, type, \
             markdown, inlineMarkdown, text, indentationLevel, listStyle, taskInfo, decorations, \
             textStyle, textAlignment and 14 more",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn unknown_fields_are_ignored_and_reported_if_the_host_says_so() {
    use leafbase_model::json::UnknownFields;
    let text = r#"{
        "blocks": [
            {"type": "text", "opacity": 1},
            {"type": "page", "content": [{"type": "line", "taskInfo": null, "glow": {"a": [1]}}]},
            {"type": "text", "listStyle": "task", "taskInfo": {"state": "done", "mood": "glad"}}
        ],
        "position": {"pageId": "x", "zone": 1},
        "dryRun": true
    }"#;
    let limits = Limits::default();
    let read = json::from_str_with::<InsertBlocks>(text, &limits, UnknownFields::Ignore).unwrap();
    let mut ignored = read.ignored;
    ignored.sort();
    assert_eq!(
        ignored,
        [
            "blocks[0].opacity",
            "blocks[1].content[0].glow",
            "blocks[2].taskInfo.mood",
            "dryRun",
            "position.zone",
        ]
    );
    // Refused without that choice, also right after a read that made it.
    json::from_str::<InsertBlocks>(text, &limits).unwrap_err();
    let refused = json::from_str_with::<InsertBlocks>(text, &limits, UnknownFields::default());
    assert_eq!(without_known_fields(refused.unwrap_err().message()), "unknown field `opacity`");
    // Faults in known fields are refused either way.
    let wrong = text.replace(r#""done""#, "7");
    let error = json::from_str_with::<InsertBlocks>(&wrong, &limits, UnknownFields::Ignore);
    assert_eq!(error.unwrap_err().path(), "blocks[2].taskInfo.state");
}

#[test]
fn an_array_is_no_object() {
    use leafbase_model::{DeleteFolders, ListScopedDocuments};
    for text in ["[]", "[[]]", "[true]"] {
        json::from_str::<ListScopedDocuments>(text, &Limits::default()).unwrap_err();
        json::from_str::<DeleteFolders>(text, &Limits::default()).unwrap_err();
    }
    let error = json::from_str::<ListScopedDocuments>("[]", &Limits::default()).unwrap_err();
    assert_eq!(error.message(), "expected an object, got an array");
}

#[test]
fn messages_and_paths_are_bounded() {
    let long = "é".repeat(160_000);
    for text in [
        format!(r#"{{"{long}":1}}"#),
        format!(r#"{{"blocks":[{{"type":"text","{long}":1}}]}}"#),
        format!(r#"{{"blocks":[{{"type":"text","markdown":{{"{long}":1}}}}]}}"#),
        format!(r#"{{"blocks":[],"position":"{long}"}}"#),
        format!(r#"{{"blocks":[],"position":{{"position":"{long}"}}}}"#),
    ] {
        let error = json::from_str::<InsertBlocks>(&text, &Limits::default()).unwrap_err();
        assert!(error.to_string().len() < 2_100, "{}", error.to_string().len());
        assert!(error.message().len() < 1_010 && error.path().len() < 1_010);
    }
    let nested = (0..10_000)
        .fold(leafbase_model::Error::no_block(), |error, level| error.at(format!("level{level}")));
    assert!(nested.path().starts_with("level9999.") && nested.path().ends_with(".level0"));
    assert!(nested.path().len() < 1_010);
}

#[test]
fn long_values_are_cut_in_messages() {
    let text = format!(r#"{{"blocks":[{{"type":"{}"}}]}}"#, "é".repeat(10_000));
    let message =
        json::from_str::<InsertBlocks>(&text, &Limits::default()).unwrap_err().to_string();
    assert!(message.len() < 400, "{message}");
}

#[test]
fn every_value_of_the_specification_is_read() {
    for (field, block_type, values) in [
        ("textStyle", "text", "card page h1 h2 h3 h4 caption body"),
        ("textAlignment", "text", "left center right justify"),
        ("font", "text", "system serif rounded mono"),
        ("cardLayout", "page", "small square regular large"),
        ("listStyle", "text", "none bullet numbered toggle task"),
        ("size", "image", "fit fill"),
        ("width", "video", "auto fullWidth"),
        ("blockLayout", "file", "small regular card"),
        ("layout", "richUrl", "small regular card"),
        ("lineStyle", "line", "strong regular light extraLight pageBreak"),
        (
            "language",
            "code",
            "ada bash cpp cs css dart dockerfile matlab go groovy haskell html java javascript json julia kotlin lua \
             markdown mermaid objectivec perl php prolog plaintext python r ruby rust scala shell sql swift typescript \
             vbnet xml yaml math_formula other",
        ),
    ] {
        let mut written_out = 0;
        for value in values.split_whitespace() {
            let text = format!(r#"{{"type":"{block_type}","{field}":"{value}"}}"#);
            let draft: leafbase_model::BlockDraft = serde_json::from_str(&text).unwrap();
            let written = serde_json::to_value(&draft).unwrap();
            if let Some(found) = written.get(field) {
                assert_eq!(found, value);
                written_out += 1;
            } else {
                assert_eq!(
                    draft,
                    leafbase_model::BlockDraft::from(draft.data.block_type()),
                    "{text}"
                );
            }
        }
        assert_eq!(
            written_out + 1,
            values.split_whitespace().count(),
            "one value of {field} is the default"
        );
    }
}
