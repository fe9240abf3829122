//! How requests and nouns are tested: as tables of JSON. `ID1`, `ID2`, .. stand for IDs.

use std::fmt::Debug;

use leafbase_model::json::{self, FromJson};
use leafbase_model::{ErrorKind, Limits};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::support::id;

/// The ID of this number, of any kind.
pub(crate) fn of<T: DeserializeOwned>(number: u8) -> T {
    serde_json::from_value(serde_json::to_value(id(number)).unwrap()).unwrap()
}

pub(crate) fn with_ids(text: &str) -> String {
    (1..=9).fold(text.to_owned(), |text, number| {
        text.replace(&format!("ID{number}"), &id(number).to_string())
    })
}

/// The value that [`json::from_str`] reads. Plain serde reads it, and refuses a text, alike.
pub(crate) fn read<T: FromJson + DeserializeOwned + PartialEq + Debug>(
    text: &str,
) -> leafbase_model::Result<T> {
    let text = with_ids(text);
    let read = json::from_str::<T>(&text, &Limits::default());
    match (&read, serde_json::from_str::<T>(&text)) {
        (Ok(read), Ok(plain)) => assert_eq!(*read, plain, "{text}"),
        (Err(_), Err(_)) => {}
        (read, plain) => panic!("{text}: {read:?}, but {plain:?}"),
    }
    read
}

/// Each text is what its value is written as, and reads as it.
pub(crate) fn written<T: FromJson + DeserializeOwned + Serialize + PartialEq + Debug>(
    rows: &[(&str, T)],
) {
    for (text, value) in rows {
        assert_eq!(serde_json::to_string(value).unwrap(), with_ids(text));
        assert_eq!(read::<T>(text).unwrap(), *value, "{text}");
    }
}

/// Each text is another way of writing its value.
pub(crate) fn also_read<T: FromJson + DeserializeOwned + Serialize + PartialEq + Debug>(
    rows: &[(&str, T)],
) {
    for (text, value) in rows {
        assert_eq!(read::<T>(text).unwrap(), *value, "{text}");
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(read::<T>(&text).unwrap(), *value, "{text}");
    }
}

/// A message without the known fields that it lists in place of an unknown one.
pub(crate) fn without_known_fields(message: &str) -> &str {
    match message.split_once("`, expected ") {
        Some((unknown, _)) if unknown.contains("unknown field `") => &message[..=unknown.len()],
        _ => message,
    }
}

/// Each text is refused, with this path and this message.
pub(crate) fn refused<T: FromJson + DeserializeOwned + PartialEq + Debug>(
    rows: &[(&str, &str, &str)],
) {
    for (text, path, message) in rows {
        let Err(error) = read::<T>(text) else { panic!("{text} is read") };
        let found = without_known_fields(error.message());
        assert_eq!((error.path(), found), (*path, *message), "{text}");
        assert!(
            [ErrorKind::Validation, ErrorKind::RuleViolation, ErrorKind::InvalidPosition]
                .contains(&error.kind())
        );
    }
}

mod controls {
    use leafbase_model::DeleteTasks;

    use super::*;

    #[test]
    #[should_panic(expected = "assertion `left == right` failed")]
    fn what_is_written_otherwise_is_found() {
        written(&[(r#"{"idsToDelete":"ID1"}"#, DeleteTasks::from(id(1)))]);
    }

    #[test]
    #[should_panic(expected = "idsToDelete")]
    fn what_is_read_is_found() {
        refused::<DeleteTasks>(&[(r#"{"idsToDelete":["ID1"]}"#, "", "")]);
    }

    #[test]
    #[should_panic(expected = "assertion `left == right` failed")]
    fn another_path_is_found() {
        refused::<DeleteTasks>(&[(
            r#"{"idsToDelete":[1]}"#,
            "idsToDelete",
            "expected an ID, got 1",
        )]);
    }
}
