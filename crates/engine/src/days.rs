//! Days in the space's time zone.

use jiff::tz::TimeZone;
use leafbase_model::{Day, DayRef, Error, Result, Timestamp};

/// The zone of this IANA name, such as `Europe/Lisbon`.
pub(crate) fn zone(name: &str) -> Result<TimeZone> {
    TimeZone::get(name)
        .map_err(|error| Error::validation(format!("{name:?} is no time zone that is known here")).with_source(error))
}

/// The day that `day` names at the instant `now`.
pub(crate) fn resolve(day: DayRef, zone: &TimeZone, now: Timestamp) -> Result<Day> {
    let shift = match day {
        DayRef::Date(day) => return Ok(day),
        DayRef::Yesterday => -1,
        DayRef::Today => 0,
        DayRef::Tomorrow => 1,
    };
    Ok(Day::from_epoch_days(today(zone, now)?.epoch_days() + shift))
}

fn today(zone: &TimeZone, now: Timestamp) -> Result<Day> {
    let beyond = |error: jiff::Error| Error::validation("the clock is beyond the calendar").with_source(error);
    let instant = jiff::Timestamp::from_millisecond(now.as_millis()).map_err(beyond)?;
    let date = instant.to_zoned(zone.clone()).date();
    let part = |value: i8| u8::try_from(value).unwrap_or_default();
    Day::new(u16::try_from(date.year()).unwrap_or_default(), part(date.month()), part(date.day()))
}

/// The day in words, as a daily note is titled: `Saturday, 21 November 2026`.
pub(crate) fn long_form(day: Day) -> String {
    const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    // 1970-01-01 was a Thursday.
    let weekday = usize::try_from(day.epoch_days().rem_euclid(7)).unwrap_or_default();
    let weekday = DAYS.get(weekday).copied().unwrap_or_default();
    let month = MONTHS.get(usize::from(day.month()).wrapping_sub(1)).copied().unwrap_or_default();
    format!("{weekday}, {} {month} {}", day.day(), day.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_in_words() {
        let day: Day = "2026-11-21".parse().unwrap();
        assert_eq!(long_form(day), "Saturday, 21 November 2026");
        assert_eq!(long_form("1969-12-31".parse().unwrap()), "Wednesday, 31 December 1969");
    }

    #[test]
    fn today_is_the_zones_today() {
        // 23:30 in UTC is the next day already in Tokyo, and still the day in New York.
        let now: Timestamp = "2026-03-01T23:30:00Z".parse().unwrap();
        for (name, today) in [("UTC", "2026-03-01"), ("Asia/Tokyo", "2026-03-02"), ("America/New_York", "2026-03-01")] {
            let zone = zone(name).unwrap();
            assert_eq!(resolve(DayRef::Today, &zone, now).unwrap().to_string(), today, "{name}");
        }
        assert!(zone("Middle/Earth").is_err());
    }
}
