//! Instants and days, against another calendar.

use leafbase_model::{Day, DayRef, Timestamp};
use proptest::prelude::*;

use crate::support::{any_day, any_instant, day, instant};

const FIRST: i64 = -719_528;
const LAST: i64 = 2_932_896;

#[test]
fn every_day_of_the_range_agrees_with_another_calendar() {
    let mut expected = jiff::civil::date(0, 1, 1);
    for number in FIRST..=LAST {
        let day = Day::from_epoch_days(number);
        let parts = (i64::from(day.year()), i64::from(day.month()), i64::from(day.day()));
        assert_eq!(
            parts,
            (i64::from(expected.year()), i64::from(expected.month()), i64::from(expected.day()))
        );
        assert_eq!(day.epoch_days(), number);
        assert_eq!(Day::new(day.year(), day.month(), day.day()).unwrap(), day);
        if number < LAST {
            expected = expected.tomorrow().unwrap();
        }
    }
    assert_eq!(expected, jiff::civil::Date::MAX);
}

#[test]
fn known_days() {
    for (text, number) in [
        ("0000-01-01", FIRST),
        ("1969-12-31", -1),
        ("1970-01-01", 0),
        ("2000-02-29", 11_016),
        ("9999-12-31", LAST),
    ] {
        assert_eq!(
            (day(text).epoch_days(), Day::from_epoch_days(number).to_string().as_str()),
            (number, text)
        );
    }
    assert_eq!(
        (Day::from_epoch_days(i64::MIN), Day::from_epoch_days(i64::MAX)),
        (day("0000-01-01"), day("9999-12-31"))
    );
}

#[test]
fn what_is_no_day_is_refused() {
    for wrong in [
        "",
        "2026",
        "2026-3-1",
        "2026-03-1",
        "2026-3-011",
        "20260301",
        "2026-03-01T00:00",
        "2026-03-01 ",
        " 2026-03-01",
        "26-03-0001",
        "02026-3-01",
        "+026-03-01",
        "-026-03-01",
        "2026/03/01",
        "2026-03-0x",
        "٢٠٢٦-٠٣-٠١",
        "2026-W0-01",
    ] {
        let message = wrong.parse::<Day>().unwrap_err().message().to_owned();
        assert_eq!(message, format!("expected a day YYYY-MM-DD, got {wrong:?}"));
    }
    for wrong in [
        "2026-02-29",
        "1900-02-29",
        "2026-00-01",
        "2026-13-01",
        "2026-01-00",
        "2026-01-32",
        "2026-04-31",
    ] {
        let message = wrong.parse::<Day>().unwrap_err().message().to_owned();
        assert_eq!(message, format!("the calendar has no day {wrong}"));
    }
    assert!(Day::new(10_000, 1, 1).is_err());
}

#[test]
fn days_by_name() {
    for (text, day_ref) in [
        ("today", DayRef::Today),
        ("tomorrow", DayRef::Tomorrow),
        ("yesterday", DayRef::Yesterday),
        ("2026-03-01", DayRef::from(day("2026-03-01"))),
    ] {
        assert_eq!(text.parse::<DayRef>().unwrap(), day_ref);
        assert_eq!(day_ref.to_string(), text);
    }
    let error = "Today".parse::<DayRef>().unwrap_err();
    assert_eq!(
        error.message(),
        r#"expected a day YYYY-MM-DD, got "Today" (or today, tomorrow, yesterday)"#
    );
}

#[test]
fn instants_are_read_with_any_fraction() {
    for (text, written) in [
        ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01t09:30:00z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00+00:00", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00.1Z", "2026-03-01T09:30:00.100Z"),
        ("2026-03-01T09:30:00.123456789Z", "2026-03-01T09:30:00.123Z"),
        ("2026-03-01T09:30:00.9999999999Z", "2026-03-01T09:30:00.999Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("0000-01-01T00:00:00.000Z", "0000-01-01T00:00:00.000Z"),
    ] {
        assert_eq!(instant(text).to_string(), written);
    }
    for wrong in [
        "",
        "2026-03-01",
        "2026-03-01T09:30Z",
        "2026-03-01T09:30:00",
        "2026-03-01 09:30:00Z",
        "2026-03-01T09:30:00+01:00",
        "2026-03-01T24:00:00Z",
        "2026-03-01T09:60:00Z",
        "2026-03-01T09:30:60Z",
        "2026-03-01T09:30:00.Z",
        "2026-03-01T09:30:00.1x3Z",
        "2026-03-01T9:30:00Z",
        "2026-03-01T09:30:00:00Z",
        "2026-02-29T09:30:00Z",
        "2026-03-01T09:30:00.é00Z",
        "2026-03-01T09:30:00.0000x00Z",
    ] {
        let message = wrong.parse::<Timestamp>().unwrap_err().message().to_owned();
        assert_eq!(
            message,
            format!("expected an instant like 2026-03-01T09:30:00.000Z, got {wrong:?}")
        );
    }
}

#[test]
fn instants_stay_within_what_can_be_written() {
    assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00.000Z");
    assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
    assert_eq!(Timestamp::from_millis(i64::MIN), Timestamp::MIN);
    assert_eq!(Timestamp::from_millis(i64::MAX), Timestamp::MAX);
    assert_eq!(Timestamp::from_millis(-1).day_utc(), day("1969-12-31"));
}

proptest! {
    #[test]
    fn text_round_trips(instant in any_instant(), day in any_day()) {
        prop_assert_eq!(instant.to_string().parse::<Timestamp>().unwrap(), instant);
        prop_assert_eq!(day.to_string().parse::<Day>().unwrap(), day);
        let json = serde_json::to_string(&(instant, day)).unwrap();
        prop_assert_eq!(serde_json::from_str::<(Timestamp, Day)>(&json).unwrap(), (instant, day));
    }

    #[test]
    fn instants_agree_with_another_calendar(instant in any_instant()) {
        let expected = jiff::Timestamp::from_millisecond(instant.as_millis());
        // The other one ends a day earlier, to leave room for zones.
        if let Ok(expected) = expected {
            prop_assert_eq!(instant.to_string(), format!("{expected:.3}"));
            prop_assert_eq!(instant.to_string().parse::<jiff::Timestamp>().unwrap(), expected);
        }
    }

    #[test]
    fn order_is_the_order_of_texts(a in any_instant(), b in any_instant(), c in any_day(), d in any_day()) {
        prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        prop_assert_eq!(c.cmp(&d), c.to_string().cmp(&d.to_string()));
        prop_assert_eq!(c.cmp(&d), c.epoch_days().cmp(&d.epoch_days()));
    }

    #[test]
    fn no_text_panics(text in "[0-9TZ:.é-]{0,26}") {
        let _ = text.parse::<Timestamp>();
        let _ = text.parse::<Day>();
    }
}
