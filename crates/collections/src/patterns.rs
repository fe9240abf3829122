//! Patterns of text values. Each is stated once: emitted JSON Schemas carry the regular expression,
//! and the reader of values matches with it.
//!
//! Only constructs that every regex dialect reads alike are used: no `\d`, `\s` or `\w`.

use std::sync::LazyLock;

use regex::Regex;

/// The text form of a property type.
#[derive(Debug)]
pub(crate) struct TextPattern {
    /// What error messages call a matching text.
    pub(crate) expected: &'static str,
    /// The regular expression, as JSON Schema (ECMA-262) and the crate `regex` both read it.
    pub(crate) pattern: &'static str,
    regex: LazyLock<Regex>,
}

impl TextPattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// Declares a pattern; the regex is compiled on first use.
macro_rules! text_pattern {
    ($(#[$doc:meta])* $name:ident, $expected:literal, $pattern:expr) => {
        $(#[$doc])*
        pub(crate) static $name: TextPattern = TextPattern {
            expected: $expected,
            pattern: $pattern,
            regex: LazyLock::new(|| {
                #[allow(
                    clippy::expect_used,
                    reason = "the pattern is a constant, compiled by the tests of this file"
                )]
                Regex::new($pattern).expect("constant patterns are valid")
            }),
        };
    };
}

text_pattern!(
    /// No white space or control characters. Addresses are stored, not resolved, and users omit
    /// the scheme.
    URL, "a URL", r"^[^\u0000-\u0020\u007F]+$"
);
text_pattern!(
    /// One `@` between two non-empty parts.
    EMAIL, "an e-mail address", r"^[^\u0000-\u0020\u007F@]+@[^\u0000-\u0020\u007F@]+$"
);
text_pattern!(
    /// One line: numbers are written with spaces, brackets, extensions and letters.
    PHONE, "a phone number", r"^[^\u0000-\u001F\u007F]+$"
);
text_pattern!(
    /// Not blank: at least one character that is not Unicode white space.
    OPTION_NAME, "the name of an option",
    r"[^\u0009-\u000D\u0020\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]"
);

/// A day of the proleptic Gregorian calendar, leap years included, or a relative day. Values are
/// parsed by [`leafbase_model::DayRef`], which accepts the same texts.
pub(crate) const DAY: &str = concat!(
    "^(?:today|tomorrow|yesterday|",
    "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))",
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)$",
);

/// An ID in either case. Values are parsed by [`leafbase_model::BlockId`], which accepts the same
/// texts.
pub(crate) const ID: &str = "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$";

#[cfg(test)]
mod tests {
    use leafbase_model::{BlockId, Day, DayRef};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const TEXT_PATTERNS: [&TextPattern; 4] = [&URL, &EMAIL, &PHONE, &OPTION_NAME];

    fn validator(pattern: &str) -> jsonschema::Validator {
        jsonschema::draft202012::new(&json!({"pattern": pattern})).unwrap()
    }

    fn is_day(text: &str) -> bool {
        text.parse::<DayRef>().is_ok()
    }

    fn is_id(text: &str) -> bool {
        text.parse::<BlockId>().is_ok()
    }

    /// Texts that are accepted and refused today: a change of a pattern shows here.
    #[test]
    fn what_each_pattern_accepts() {
        for (pattern, accepted, refused) in [
            (&URL, &["https://a.example", "example.org", "ä\u{2028}"][..], &["", "a b", "a\n"][..]),
            (&EMAIL, &["a@b", "ä@é"], &["", "a", "@b", "a@", "a@b@c", "a @b"]),
            (&PHONE, &["+351 21 000", "x", " "], &["", "1\n2", "1\u{7f}"]),
            (&OPTION_NAME, &["open", " a ", "\u{feff}"], &["", " ", "\u{2028}\u{3000}"]),
        ] {
            for text in accepted {
                assert!(pattern.matches(text), "{} {text:?}", pattern.expected);
            }
            for text in refused {
                assert!(!pattern.matches(text), "{} {text:?}", pattern.expected);
            }
        }
    }

    #[test]
    fn the_pattern_of_days_knows_every_day_of_the_calendar() {
        let pattern = validator(DAY);
        let days =
            |year: u16| (1..=13).flat_map(move |month| (0..=32).map(move |day| (year, month, day)));
        // All leap years and their neighbours are among these, at both ends of centuries.
        for (year, month, day) in [0, 1, 4, 96, 100, 1896, 1900, 1999, 2000, 2024, 2026, 9996, 9999]
            .map(days)
            .into_iter()
            .flatten()
        {
            let text = format!("{year:04}-{month:02}-{day:02}");
            let exists = Day::new(year, month, day).is_ok();
            assert_eq!((is_day(&text), pattern.is_valid(&json!(text))), (exists, exists), "{text}");
        }
        for year in 0..=9_999_u16 {
            let exists = Day::new(year, 2, 29).is_ok();
            assert_eq!(pattern.is_valid(&json!(format!("{year:04}-02-29"))), exists, "{year}");
        }
    }

    #[test]
    fn a_blank_option_name_is_one_that_trims_to_nothing() {
        for letter in (0..=0x3100).filter_map(char::from_u32).chain(['\u{feff}', '🎉']) {
            let text = letter.to_string();
            assert_eq!(OPTION_NAME.matches(&text), !text.trim().is_empty(), "{letter:?}");
        }
    }

    fn letters() -> impl Strategy<Value = String> {
        let some = proptest::sample::select(vec![
            "a",
            "Z",
            "0",
            "7",
            "8",
            "@",
            "@",
            ".",
            "-",
            " ",
            "\t",
            "\n",
            "\u{7f}",
            "\u{0}",
            "ä",
            "\u{2028}",
            "2024-02-29",
            "2023-02-29",
            "today",
            "today ",
            "01KASZ4ZJG0000000000000001",
            "8",
            "U",
            "L",
            "i",
        ]);
        proptest::collection::vec(some, 0..5).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn readers_and_json_schema_agree(text in letters()) {
            thread_local! {
                static TEXTS: [jsonschema::Validator; 4] =
                    TEXT_PATTERNS.map(|pattern| validator(pattern.pattern));
                static PARSED: [jsonschema::Validator; 2] = [DAY, ID].map(validator);
            }
            let json = json!(text);
            TEXTS.with(|validators| {
                for (pattern, validator) in TEXT_PATTERNS.iter().zip(validators) {
                    prop_assert_eq!(
                        pattern.matches(&text), validator.is_valid(&json), "{} {:?}", pattern.expected, text
                    );
                }
                Ok(())
            })?;
            PARSED.with(|[day, id]| {
                prop_assert_eq!(is_day(&text), day.is_valid(&json), "{:?}", text);
                prop_assert_eq!(is_id(&text), id.is_valid(&json), "{:?}", text);
                Ok(())
            })?;
        }
    }

    #[test]
    fn the_comparison_notices_a_wrong_pattern() {
        let careless = validator("^[0-9]{4}-[0-9]{2}-[0-9]{2}$");
        assert_ne!(is_day("2026-02-30"), careless.is_valid(&json!("2026-02-30")));
    }
}
