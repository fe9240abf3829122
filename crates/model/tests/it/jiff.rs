//! Days and instants to and from jiff's.

use jiff::civil::Date;
use leafbase_model::{Day, DayRef, Timestamp};

#[test]
fn every_kind_of_day_comes_back() {
    for text in ["0000-01-01", "1582-10-10", "1970-01-01", "2024-02-29", "9999-12-31"] {
        let day: Day = text.parse().unwrap();
        let date = Date::from(day);
        assert_eq!(date, text.parse().unwrap());
        assert_eq!(Day::try_from(date), Ok(day));
        assert_eq!(DayRef::try_from(date), Ok(DayRef::Date(day)));
    }
}

#[test]
fn instants_come_back_to_the_millisecond() {
    for text in ["0000-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "2026-03-02T09:30:00.001Z"]
    {
        let instant: Timestamp = text.parse().unwrap();
        let same = jiff::Timestamp::try_from(instant).unwrap();
        assert_eq!(same, text.parse().unwrap());
        assert_eq!(Timestamp::try_from(same), Ok(instant));
    }
    let finer: jiff::Timestamp = "2026-03-02T09:30:00.0019Z".parse().unwrap();
    assert_eq!(Timestamp::try_from(finer).unwrap().to_string(), "2026-03-02T09:30:00.001Z");
}

#[test]
fn what_the_other_does_not_have_is_an_error() {
    assert!(Day::try_from(Date::new(-1, 12, 31).unwrap()).is_err());
    assert!(Timestamp::try_from(jiff::Timestamp::MIN).is_err());
    assert!(jiff::Timestamp::try_from(Timestamp::MAX).is_err());
}
