//! Positions: every valid form is read and written, every other one refused.

use leafbase_model::{
    DayRef, DocumentId, Edge, ErrorKind, InsertBlocks, Limits, Position, PositionTarget, Side, json,
};

use crate::support::{day, id};
use crate::wire::without_known_fields;

fn read(position: &str) -> leafbase_model::Result<Position> {
    let text = position.replace("ID1", &id(1).to_string()).replace("ID2", &id(2).to_string());
    json::from_str::<Position>(&text, &Limits::default())
}

#[test]
fn valid_forms() {
    let (start, end) = (Edge::Start, Edge::End);
    let (today, date) =
        (PositionTarget::Day(DayRef::Today), PositionTarget::Day(DayRef::Date(day("2026-03-01"))));
    let page = PositionTarget::Page(id(1));
    for (text, position, canonical) in [
        (r#"{"position":"start","pageId":"ID1"}"#, Position::Within(start, page), true),
        (r#"{"position":"end","pageId":"ID1"}"#, Position::Within(end, page), true),
        (r#"{"pageId":"ID1"}"#, Position::Within(end, page), false),
        (r#"{"position":"start","date":"2026-03-01"}"#, Position::Within(start, date), true),
        (r#"{"position":"end","date":"today"}"#, Position::Within(end, today), true),
        (r#"{"position":"end","date":"yesterday"}"#, Position::end_of_day(DayRef::Yesterday), true),
        (r#"{"position":"end","date":"tomorrow"}"#, Position::end_of_day(DayRef::Tomorrow), true),
        (r#"{"date":"today"}"#, Position::Within(end, today), false),
        (r#"{"position":"before","siblingId":"ID1"}"#, Position::Beside(Side::Before, id(1)), true),
        (r#"{"position":"after","siblingId":"ID1"}"#, Position::Beside(Side::After, id(1)), true),
        (r#"{"position":"start"}"#, Position::Within(start, PositionTarget::Unnamed), true),
        (r#"{"position":"end"}"#, Position::Within(end, PositionTarget::Unnamed), true),
        ("{}", Position::Within(end, PositionTarget::Unnamed), false),
    ] {
        assert_eq!(read(text).unwrap(), position, "{text}");
        let written = serde_json::to_string(&position).unwrap();
        assert_eq!(serde_json::from_str::<Position>(&written).unwrap(), position);
        if canonical {
            assert_eq!(written, text.replace("ID1", &id(1).to_string()));
        }
    }
    assert_eq!(Position::from(DocumentId::of_root(id(1))), Position::end_of(id(1)));
    assert_eq!(
        (Position::before(id(1)), Position::after(id(1))),
        (Position::Beside(Side::Before, id(1)), Position::Beside(Side::After, id(1)),)
    );
}

#[test]
fn every_combination_of_word_and_targets_that_is_not_valid_is_refused() {
    let targets =
        [(r#","pageId":"ID1""#, 1), (r#","date":"today""#, 2), (r#","siblingId":"ID2""#, 4)];
    for word in ["start", "end", "before", "after"] {
        for chosen in 0..8 {
            let given: String = targets
                .iter()
                .filter(|(_, bit)| chosen & bit != 0)
                .map(|(text, _)| *text)
                .collect();
            let text = format!(r#"{{"position":"{word}"{given}}}"#);
            let valid = match word {
                "start" | "end" => matches!(chosen, 0..=2),
                _ => chosen == 4,
            };
            match read(&text) {
                Ok(_) => assert!(valid, "{text}"),
                Err(error) => {
                    assert!(!valid, "{text}");
                    assert_eq!(error.kind(), ErrorKind::InvalidPosition, "{text}");
                }
            }
        }
    }
}

#[test]
fn refusals_say_why() {
    for (text, message) in [
        (r#"{"position":"before"}"#, "before and after need a siblingId"),
        (
            r#"{"position":"after","pageId":"ID1"}"#,
            "with pageId or date the position is start or end",
        ),
        (
            r#"{"position":"end","siblingId":"ID1"}"#,
            "with siblingId the position is before or after",
        ),
        (r#"{"siblingId":"ID1"}"#, "with siblingId the position is before or after"),
        (r#"{"pageId":"ID1","date":"today"}"#, "name exactly one of pageId, siblingId and date"),
        (
            r#"{"position":"before","pageId":"ID1","siblingId":"ID2"}"#,
            "name exactly one of pageId, siblingId and date",
        ),
        (
            r#"{"position":"above","pageId":"ID1"}"#,
            r#"position: unknown position "above", expected one of start, end, before, after"#,
        ),
        (
            r#"{"position":"START"}"#,
            r#"position: unknown position "START", expected one of start, end, before, after"#,
        ),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::InvalidPosition, message),
            "{text}"
        );
    }
    for (text, message) in [
        (r#"{"page":"ID1"}"#, "page: unknown field `page`"),
        (r#"{"position":1}"#, "position: expected a string, got 1"),
        (r#"{"pageId":7}"#, "pageId: expected an ID, got 7"),
        (r#"{"pageId":["ID1"]}"#, "pageId: expected an ID, got an array"),
        (
            r#"{"date":"soon"}"#,
            r#"date: expected a day YYYY-MM-DD, got "soon" (or today, tomorrow, yesterday)"#,
        ),
        (r#""root""#, r#"expected an object, got "root""#),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(
            (error.kind(), without_known_fields(&error.to_string())),
            (ErrorKind::Validation, message),
            "{text}"
        );
    }
}

#[test]
fn a_malformed_id_is_one_that_nothing_bears() {
    assert_eq!(read(r#"{"pageId":"x"}"#).unwrap(), Position::end_of(leafbase_model::BlockId::NIL));
}

#[test]
fn a_request_without_a_position_names_no_target() {
    let request: InsertBlocks = serde_json::from_str(r#"{"markdown":"x"}"#).unwrap();
    assert_eq!(request.position, Position::Within(Edge::End, PositionTarget::Unnamed));
    let error = json::from_str::<InsertBlocks>(
        r#"{"markdown":"x","position":{"position":"up"}}"#,
        &Limits::default(),
    );
    assert_eq!(error.unwrap_err().path(), "position.position");
}
