//! Requests that are refused, by code and path; and what the message says.

use super::shelf::{Shelf, TRIP};

#[test]
fn refusals() {
    let shelf = Shelf::of(TRIP);
    let nowhere = r#""blockId":"01ARZ3NDEKTSV4RRFFQ69G5FAV""#;
    let long = "a".repeat(1_001);
    let nine = ["\"a\""; 9].join(",");
    let refused = "back-references are not supported, at byte 3";
    for (body, expected) in [
        (format!(r#"{{{nowhere},"pattern":"a"}}"#), "blockId: no block has this ID".to_owned()),
        // What does not exist is told before anything else.
        (
            format!(r#"{{{nowhere},"pattern":"(a","cursor":"x"}}"#),
            "blockId: no block has this ID".to_owned(),
        ),
        (r#"{"blockId":"@trip","pattern":"(a)\\1"}"#.to_owned(), format!("pattern: {refused}")),
        (r#"{"blockId":"@trip","pattern":["(a)\\1"]}"#.to_owned(), format!("pattern: {refused}")),
        (
            r#"{"blockId":"@trip","pattern":["a","(a)\\1"]}"#.to_owned(),
            format!("pattern[1]: {refused}"),
        ),
        (
            r#"{"blockId":"@trip","pattern":["(a","(b"]}"#.to_owned(),
            "pattern[0]: unclosed group, at byte 0".to_owned(),
        ),
        (
            format!(r#"{{"blockId":"@trip","pattern":"{long}"}}"#),
            "pattern: bytes of a pattern: at most 1000, got 1001".to_owned(),
        ),
        (
            format!(r#"{{"blockId":"@trip","pattern":["a","{long}"]}}"#),
            "pattern[1]: bytes of a pattern: at most 1000, got 1001".to_owned(),
        ),
        (
            format!(r#"{{"blockId":"@trip","pattern":[{nine}]}}"#),
            "pattern: patterns: at most 8, got 9".to_owned(),
        ),
        (
            r#"{"blockId":"@trip","pattern":"a","beforeBlockCount":101}"#.to_owned(),
            "beforeBlockCount: blocks around a match: at most 100, got 101".to_owned(),
        ),
        (
            r#"{"blockId":"@trip","pattern":"a","afterBlockCount":1e3}"#.to_owned(),
            "afterBlockCount: expected a whole number, 0 or more, got 1000.0".to_owned(),
        ),
        (
            r#"{"blockId":"@trip","pattern":"a","limit":0}"#.to_owned(),
            "limit: expected a number of items, 1 or more, got 0".to_owned(),
        ),
        (
            r#"{"blockId":"@trip","pattern":"a","cursor":"x"}"#.to_owned(),
            "cursor: the cursor is not of this search".to_owned(),
        ),
        (
            r#"{"blockId":"@trip","pattern":"(?:a{500}){500}"}"#.to_owned(),
            "pattern: instructions of a pattern: at most 20000, repetitions make this one larger"
                .to_owned(),
        ),
    ] {
        assert_eq!(shelf.search(&body).unwrap_err().to_string(), expected, "{body}");
    }
}

#[test]
fn the_codes() {
    let shelf = Shelf::of("text \"a\"");
    for (body, expected) in [
        (r#"{"blockId":"@trip","pattern":"(a"}"#, "INVALID_PATTERN pattern"),
        (r#"{"blockId":"@trip","pattern":["a","[b"]}"#, "INVALID_PATTERN pattern[1]"),
        (r#"{"blockId":"01ARZ3NDEKTSV4RRFFQ69G5FAV","pattern":"a"}"#, "NOT_FOUND blockId"),
        (r#"{"documentId":"01ARZ3NDEKTSV4RRFFQ69G5FAV","pattern":"a"}"#, "NOT_FOUND documentId"),
        (
            r#"{"blockId":"@trip","pattern":"a","afterBlockCount":101}"#,
            "LIMIT_EXCEEDED afterBlockCount",
        ),
        (r#"{"blockId":"@trip","pattern":[]}"#, "VALIDATION pattern"),
        (r#"{"blockId":"@trip","pattern":7}"#, "VALIDATION pattern"),
    ] {
        assert_eq!(shelf.found(body), [expected], "{body}");
    }
}
