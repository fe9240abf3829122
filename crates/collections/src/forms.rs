//! How values that are text must be written. Each form is said twice, as a test and as a pattern
//! that JSON Schema can carry: a property test holds them together.
//!
//! The patterns use what every dialect of regular expressions reads alike: no `\d`, `\s` or `\w`.

/// A way to write a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// What messages call it.
    pub(crate) expected: &'static str,
    /// The form as a regular expression (ECMA-262, as JSON Schema has it).
    pub(crate) pattern: &'static str,
    test: fn(&str) -> bool,
}

impl Form {
    pub(crate) fn fits(&self, text: &str) -> bool {
        (self.test)(text)
    }
}

/// Anything without white space: addresses are kept, not resolved, and people leave out the scheme.
pub(crate) const URL: Form = Form {
    expected: "a URL",
    pattern: r"^[^\u0000-\u0020\u007F]+$",
    test: |text| !text.is_empty() && text.chars().all(is_solid),
};

/// Something, an `@` and something.
pub(crate) const EMAIL: Form = Form {
    expected: "an e-mail address",
    pattern: r"^[^\u0000-\u0020\u007F@]+@[^\u0000-\u0020\u007F@]+$",
    test: |text| {
        let is_part =
            |part: &str| !part.is_empty() && !part.contains('@') && part.chars().all(is_solid);
        text.split_once('@').is_some_and(|(name, host)| is_part(name) && is_part(host))
    },
};

/// One line: numbers are written with spaces, brackets, extensions and letters.
pub(crate) const PHONE: Form = Form {
    expected: "a phone number",
    pattern: r"^[^\u0000-\u001F\u007F]+$",
    test: |text| !text.is_empty() && !text.chars().any(|letter| letter.is_ascii_control()),
};

/// A name that is not blank.
pub(crate) const OPTION: Form = Form {
    expected: "the name of an option",
    pattern: r"[^\u0009-\u000D\u0020\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]",
    test: |text| !text.trim().is_empty(),
};

/// A day that the calendar has, leap years and all, or one relative to the present.
pub(crate) const DAY: Form = Form {
    expected: "a day YYYY-MM-DD",
    pattern: concat!(
        "^(?:today|tomorrow|yesterday|",
        "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
        "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
        "|02-(?:0[1-9]|1[0-9]|2[0-8]))",
        "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)$",
    ),
    test: |text| text.parse::<leafbase_model::DayRef>().is_ok(),
};

/// An ID as it is written; whether it is borne by anything no form can tell.
pub(crate) const ID: Form = Form {
    expected: "an ID",
    pattern: "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$",
    test: |text| text.parse::<leafbase_model::BlockId>().is_ok(),
};

fn is_solid(letter: char) -> bool {
    letter != ' ' && !letter.is_ascii_control()
}

#[cfg(test)]
mod tests {
    use leafbase_model::Day;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn validator(form: &Form) -> jsonschema::Validator {
        jsonschema::draft202012::new(&json!({"pattern": form.pattern})).unwrap()
    }

    #[test]
    fn the_pattern_of_days_knows_every_day_of_the_calendar() {
        let pattern = validator(&DAY);
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
            assert_eq!(
                (DAY.fits(&text), pattern.is_valid(&json!(text))),
                (exists, exists),
                "{text}"
            );
        }
        for year in 0..=9_999_u16 {
            let exists = Day::new(year, 2, 29).is_ok();
            assert_eq!(pattern.is_valid(&json!(format!("{year:04}-02-29"))), exists, "{year}");
        }
    }

    #[test]
    fn white_space_is_the_same_in_the_pattern_of_options() {
        let pattern = validator(&OPTION);
        for letter in (0..=0x3100).filter_map(char::from_u32).chain(['\u{feff}', '🎉']) {
            let text = letter.to_string();
            assert_eq!(pattern.is_valid(&json!(text)), OPTION.fits(&text), "{letter:?}");
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
        fn tests_and_patterns_agree(text in letters()) {
            thread_local! {
                static ALL: [(Form, jsonschema::Validator); 6] =
                    [URL, EMAIL, PHONE, OPTION, DAY, ID].map(|form| (form, validator(&form)));
            }
            ALL.with(|all| {
                for (form, pattern) in all {
                    prop_assert_eq!(form.fits(&text), pattern.is_valid(&json!(text)), "{} {:?}", form.expected, text);
                }
                Ok(())
            })?;
        }
    }

    #[test]
    fn the_comparison_notices_a_wrong_pattern() {
        let careless = Form { pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", ..DAY };
        assert_ne!(
            careless.fits("2026-02-30"),
            validator(&careless).is_valid(&json!("2026-02-30"))
        );
    }
}
