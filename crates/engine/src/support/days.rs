//! Days in the space's time zone: resolution of relative days, and the first and last instant of a
//! day.
//!
//! A zone may skip a day, when it moved west across the date line (Apia has no 2011-12-30), or have
//! one twice (in Juneau 1867-10-18 lasted 48 hours). Midnight may not exist, if clocks are set
//! forward at 0:00, or occur twice.

use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use leafbase_model::{Day, DayRef, Error, Result, Timestamp};

/// The zone of this IANA name, such as `Europe/Lisbon`. jiff caches zones, so repeated calls cost a
/// look-up by name.
pub(crate) fn zone(name: &str) -> Result<TimeZone> {
    let unknown = || Error::validation(format!("{name:?} is not a known time zone"));
    let zone = TimeZone::get(name).map_err(|error| unknown().with_source(error))?;
    // `Etc/Unknown` is a valid name of no zone.
    if zone.is_unknown() { Err(unknown()) } else { Ok(zone) }
}

/// Resolves `day` at the instant `now`: tomorrow is the next day that exists in the zone, yesterday
/// the previous one.
pub(crate) fn resolve(day: DayRef, zone: &TimeZone, now: Timestamp) -> Result<Day> {
    match day {
        DayRef::Date(day) => Ok(day),
        DayRef::Today => today(zone, now),
        DayRef::Tomorrow => neighbour(today(zone, now)?, 1, zone),
        DayRef::Yesterday => neighbour(today(zone, now)?, -1, zone),
    }
}

/// The first instant of `day` in the zone. For a day that the zone skips, the first instant of the
/// next day. Clamped to the calendar.
pub(crate) fn start_of(day: Day, zone: &TimeZone) -> Timestamp {
    Timestamp::from_millis(midnight(day.epoch_days(), zone).first)
}

/// The last millisecond of `day` in the zone. For a day that the zone skips, the last millisecond
/// of the day before, so that it ends before it starts. Clamped to the calendar.
///
/// Where clocks go back over midnight, days overlap: each reaches from its first to its last
/// instant.
pub(crate) fn end_of(day: Day, zone: &TimeZone) -> Timestamp {
    Timestamp::from_millis(midnight(day.epoch_days() + 1, zone).last - 1)
}

fn beyond() -> Error {
    Error::validation("the clock is outside the supported years 0 to 9999")
}

fn instant(now: Timestamp) -> Result<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(now.as_millis()).map_err(|error| beyond().with_source(error))
}

/// How far the zone's clocks are from UTC.
pub(crate) fn offset(zone: &TimeZone, now: Timestamp) -> Result<Offset> {
    Ok(zone.to_offset(instant(now)?))
}

/// The day that it is in the zone.
pub(crate) fn today(zone: &TimeZone, now: Timestamp) -> Result<Day> {
    let date = zone.to_datetime(instant(now)?).date();
    let year = u16::try_from(date.year()).map_err(|_| beyond())?;
    Day::new(year, date.month().unsigned_abs(), date.day().unsigned_abs())
}

/// The nearest day in the direction of `step` that the zone does not skip.
fn neighbour(day: Day, step: i64, zone: &TimeZone) -> Result<Day> {
    debug_assert!(step == 1 || step == -1, "a neighbour is one day away, not {step}");
    let mut number = day.epoch_days();
    // A zone skips one day at a time, so this takes two steps at most.
    loop {
        number += step;
        let found = Day::from_epoch_days(number);
        if found.epoch_days() != number {
            return Err(beyond());
        }
        if !midnight(number, zone).is_skipped {
            return Ok(found);
        }
    }
}

/// When a day begins, in milliseconds since 1970.
struct Midnight {
    /// The first instant that is of the day or later.
    first: i64,
    /// The instant after the last one that is of an earlier day.
    last: i64,
    /// Whether the zone has no instant of the day.
    is_skipped: bool,
}

impl Midnight {
    fn once(at: i64) -> Self {
        Self { first: at, last: at, is_skipped: false }
    }
}

fn midnight(day: i64, zone: &TimeZone) -> Midnight {
    let utc = day * 86_400_000;
    let shifted = |offset: Offset| utc - i64::from(offset.seconds()) * 1_000;
    let Some(date) = date(day) else { return Midnight::once(utc) };
    match zone.to_ambiguous_timestamp(date.at(0, 0, 0, 0)).offset() {
        AmbiguousOffset::Unambiguous { offset } => Midnight::once(shifted(offset)),
        AmbiguousOffset::Gap { after, .. } => leap(date, shifted(after), zone),
        AmbiguousOffset::Fold { before, after } => {
            let (first, second) = (shifted(before), shifted(after));
            // Clocks that go back to midnight and no further do not bring the day before again.
            let again = local_date(second - 1, zone).is_some_and(|shown| shown < date);
            Midnight { first, last: if again { second } else { first }, is_skipped: false }
        }
    }
}

/// The midnight of `date` that clocks leap over, at the first transition after `before`.
fn leap(date: Date, before: i64, zone: &TimeZone) -> Midnight {
    let from = jiff::Timestamp::from_millisecond(before).ok();
    let transition = from.and_then(|from| zone.following(from).next());
    let Some(at) = transition.map(|transition| transition.timestamp()) else {
        return Midnight::once(before);
    };
    let is_skipped = zone.to_datetime(at).date() > date;
    debug_assert!(at.as_millisecond() >= before, "a transition follows the instant before it");
    Midnight { is_skipped, ..Midnight::once(at.as_millisecond()) }
}

fn local_date(millis: i64, zone: &TimeZone) -> Option<Date> {
    jiff::Timestamp::from_millisecond(millis).ok().map(|instant| zone.to_datetime(instant).date())
}

/// None after the last day of the calendar.
fn date(day: i64) -> Option<Date> {
    let found = Day::from_epoch_days(day);
    let part = |value: u8| i8::try_from(value).ok();
    let date =
        Date::new(i16::try_from(found.year()).ok()?, part(found.month())?, part(found.day())?)
            .ok()?;
    (found.epoch_days() == day).then_some(date)
}

/// The day in words, as a daily note is titled: `Saturday, 21 November 2026`.
pub fn long_form(day: Day) -> String {
    const DAYS: [&str; 7] =
        ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
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
    let weekday = usize::try_from(day.epoch_days().rem_euclid(7)).ok();
    let weekday = weekday.and_then(|weekday| DAYS.get(weekday));
    let month = MONTHS.get(usize::from(day.month()) - 1);
    debug_assert!(weekday.is_some() && month.is_some(), "{day} has a weekday and a month");
    let (weekday, month) = (weekday.unwrap_or(&""), month.unwrap_or(&""));
    format!("{weekday}, {} {month} {}", day.day(), day.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_day_is_written_in_words() {
        let day: Day = "2026-11-21".parse().unwrap();
        assert_eq!(long_form(day), "Saturday, 21 November 2026");
        assert_eq!(long_form("1969-12-31".parse().unwrap()), "Wednesday, 31 December 1969");
    }

    /// Zone, instant, and the three days there.
    const NAMED: &[(&str, &str, [&str; 3])] = &[
        // 23:30 in UTC is the next day already in Tokyo, and still the day in New York.
        ("UTC", "2026-03-01T23:30:00Z", ["2026-02-28", "2026-03-01", "2026-03-02"]),
        ("Asia/Tokyo", "2026-03-01T23:30:00Z", ["2026-03-01", "2026-03-02", "2026-03-03"]),
        ("America/New_York", "2026-03-01T23:30:00Z", ["2026-02-28", "2026-03-01", "2026-03-02"]),
        // Over the date line: Samoa had no 2011-12-30, Kwajalein no 1993-08-21, Kiritimati no
        // 1994-12-31, Manila no 1844-12-31.
        ("Pacific/Apia", "2011-12-30T09:59:59.999Z", ["2011-12-28", "2011-12-29", "2011-12-31"]),
        ("Pacific/Apia", "2011-12-30T10:00:00Z", ["2011-12-29", "2011-12-31", "2012-01-01"]),
        (
            "Pacific/Kwajalein",
            "1993-08-21T11:59:59.999Z",
            ["1993-08-19", "1993-08-20", "1993-08-22"],
        ),
        ("Pacific/Kwajalein", "1993-08-21T12:00:00Z", ["1993-08-20", "1993-08-22", "1993-08-23"]),
        (
            "Pacific/Kiritimati",
            "1994-12-31T09:59:59.999Z",
            ["1994-12-29", "1994-12-30", "1995-01-01"],
        ),
        ("Asia/Manila", "1844-12-31T15:00:00Z", ["1844-12-29", "1844-12-30", "1845-01-01"]),
        ("Asia/Manila", "1844-12-31T16:00:00Z", ["1844-12-30", "1845-01-01", "1845-01-02"]),
        // The other way: Juneau lived through 1867-10-18 twice.
        ("America/Juneau", "1867-10-18T00:00:00Z", ["1867-10-17", "1867-10-18", "1867-10-19"]),
        ("America/Juneau", "1867-10-19T00:00:00Z", ["1867-10-18", "1867-10-19", "1867-10-20"]),
        ("America/Juneau", "1867-10-19T00:33:32Z", ["1867-10-17", "1867-10-18", "1867-10-19"]),
        // Clocks leap over midnight, and back over it.
        (
            "America/Sao_Paulo",
            "2018-11-04T02:59:59.999Z",
            ["2018-11-02", "2018-11-03", "2018-11-04"],
        ),
        ("America/Sao_Paulo", "2018-11-04T03:00:00Z", ["2018-11-03", "2018-11-04", "2018-11-05"]),
        ("America/Sao_Paulo", "2018-02-18T02:00:00Z", ["2018-02-16", "2018-02-17", "2018-02-18"]),
        ("America/St_Johns", "2010-11-07T02:30:30Z", ["2010-11-06", "2010-11-07", "2010-11-08"]),
        ("America/St_Johns", "2010-11-07T02:31:00Z", ["2010-11-05", "2010-11-06", "2010-11-07"]),
        // The calendar's first days.
        ("UTC", "0000-01-02T00:00:00Z", ["0000-01-01", "0000-01-02", "0000-01-03"]),
    ];

    #[test]
    fn days_are_those_of_the_zone() {
        for (name, now, days) in NAMED {
            let named = [DayRef::Yesterday, DayRef::Today, DayRef::Tomorrow];
            let found =
                named.map(|day| resolve(day, &zone(name).unwrap(), at(now)).unwrap().to_string());
            assert_eq!(found, *days, "{name} {now}");
        }
    }

    #[test]
    fn beyond_the_calendar_is_an_error() {
        for (day, name, now) in [
            (DayRef::Yesterday, "UTC", Timestamp::MIN),
            (DayRef::Today, "America/New_York", Timestamp::MIN),
            (DayRef::Today, "UTC", Timestamp::MAX),
            (DayRef::Tomorrow, "Asia/Tokyo", Timestamp::MAX),
            (DayRef::Tomorrow, "Asia/Tokyo", at("9999-12-30T16:00:00Z")),
        ] {
            let error = resolve(day, &zone(name).unwrap(), now).unwrap_err();
            assert_eq!(
                error.message(),
                "the clock is outside the supported years 0 to 9999",
                "{day}"
            );
        }
        for name in ["Middle/Earth", "", "UTC ", "/etc/passwd", "Etc/Unknown", "+01:00"] {
            assert!(zone(name).is_err(), "{name}");
        }
    }

    /// Zone, day, its first instant, its last.
    const BOUNDS: &[(&str, &str, &str, &str)] = &[
        ("UTC", "2026-03-01", "2026-03-01T00:00:00.000Z", "2026-03-01T23:59:59.999Z"),
        ("Asia/Kolkata", "2026-03-01", "2026-02-28T18:30:00.000Z", "2026-03-01T18:29:59.999Z"),
        // Days of 23 and of 25 hours, changed at night.
        ("Europe/Lisbon", "2026-03-29", "2026-03-29T00:00:00.000Z", "2026-03-29T22:59:59.999Z"),
        ("Europe/Lisbon", "2026-10-25", "2026-10-24T23:00:00.000Z", "2026-10-25T23:59:59.999Z"),
        // No midnight: the day begins at 1:00, in Toronto of 1919 at 0:30.
        ("America/Sao_Paulo", "2018-11-03", "2018-11-03T03:00:00.000Z", "2018-11-04T02:59:59.999Z"),
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00.000Z", "2018-11-05T01:59:59.999Z"),
        ("Asia/Beirut", "2026-03-29", "2026-03-28T22:00:00.000Z", "2026-03-29T20:59:59.999Z"),
        ("America/Toronto", "1919-03-30", "1919-03-30T05:00:00.000Z", "1919-03-31T04:29:59.999Z"),
        ("America/Toronto", "1919-03-31", "1919-03-31T04:30:00.000Z", "1919-04-01T03:59:59.999Z"),
        // Midnight twice: back from 1:00 to 0:00, from 0:00 to 23:00, and from 0:01 to 23:01, where
        // days overlap.
        ("America/Havana", "2026-10-31", "2026-10-31T04:00:00.000Z", "2026-11-01T03:59:59.999Z"),
        ("America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z", "2026-11-02T04:59:59.999Z"),
        ("America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00.000Z", "2018-02-18T02:59:59.999Z"),
        ("America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00:00.000Z", "2018-02-19T02:59:59.999Z"),
        ("America/St_Johns", "2010-11-06", "2010-11-06T02:30:00.000Z", "2010-11-07T03:29:59.999Z"),
        ("America/St_Johns", "2010-11-07", "2010-11-07T02:30:00.000Z", "2010-11-08T03:29:59.999Z"),
        // A day that is skipped ends before it starts; one that is lived twice has 48 hours.
        ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00.000Z", "2011-12-30T09:59:59.999Z"),
        ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z", "2011-12-30T09:59:59.999Z"),
        ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00.000Z", "2011-12-31T09:59:59.999Z"),
        ("America/Juneau", "1867-10-18", "1867-10-17T08:57:41.000Z", "1867-10-19T08:57:40.999Z"),
        // The ends of the calendar.
        ("UTC", "0000-01-01", "0000-01-01T00:00:00.000Z", "0000-01-01T23:59:59.999Z"),
        ("Asia/Tokyo", "0000-01-01", "0000-01-01T00:00:00.000Z", "0000-01-01T14:41:00.999Z"),
        ("America/New_York", "0000-01-01", "0000-01-01T04:56:02.000Z", "0000-01-02T04:56:01.999Z"),
        ("UTC", "9999-12-31", "9999-12-31T00:00:00.000Z", "9999-12-31T23:59:59.999Z"),
        ("Asia/Tokyo", "9999-12-31", "9999-12-30T15:00:00.000Z", "9999-12-31T23:59:59.999Z"),
        ("America/New_York", "9999-12-31", "9999-12-31T05:00:00.000Z", "9999-12-31T23:59:59.999Z"),
    ];

    #[test]
    fn days_begin_and_end_in_the_zone() {
        for (name, day, first, last) in BOUNDS {
            let (zone, day) = (zone(name).unwrap(), day.parse().unwrap());
            let bounds = (start_of(day, &zone).to_string(), end_of(day, &zone).to_string());
            assert_eq!(bounds, ((*first).to_owned(), (*last).to_owned()), "{name} {day}");
        }
    }

    type Bounds = fn(Day, &TimeZone) -> (Timestamp, Timestamp);

    /// The instants around every transition that there was, at which the bounds of the day are not
    /// what the clocks show.
    fn wrong(bounds: Bounds) -> Vec<String> {
        let from = jiff::Timestamp::from_second(-4_102_444_800).unwrap();
        let mut wrong = Vec::new();
        for name in jiff::tz::db().available() {
            let zone = zone(name.as_str()).unwrap();
            let transitions = zone
                .following(from)
                .take_while(|transition| transition.timestamp().as_second() < 2_000_000_000);
            for transition in transitions {
                let at = transition.timestamp().as_millisecond();
                for millis in [-24, -12, -1, 0, 1, 12, 24].map(|hours| at + hours * 3_600_000) {
                    let fits = [millis - 1, millis].map(|millis| fits(bounds, millis, &zone));
                    if fits != [true; 2] {
                        wrong.push(format!("{name} {millis}"));
                    }
                }
            }
        }
        wrong
    }

    /// Whether the day at this instant reaches from its first instant to its last, and no further.
    fn fits(bounds: Bounds, millis: i64, zone: &TimeZone) -> bool {
        let shown = |millis| today(zone, Timestamp::from_millis(millis)).unwrap();
        let day = shown(millis);
        let (first, last) = bounds(day, zone);
        let (first, last) = (first.as_millis(), last.as_millis());
        let whole = (first..=last).contains(&millis) && [shown(first), shown(last)] == [day; 2];
        whole && shown(first - 1) < day && shown(last + 1) > day
    }

    #[test]
    fn bounds_are_what_the_clocks_show_in_every_zone() {
        let found = wrong(|day, zone| (start_of(day, zone), end_of(day, zone)));
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn bounds_that_take_midnight_to_come_once_are_found_wrong() {
        let found = wrong(|day, zone| {
            let at = |day| {
                zone.to_timestamp(date(day).unwrap().at(0, 0, 0, 0)).unwrap().as_millisecond()
            };
            let number = day.epoch_days();
            (Timestamp::from_millis(at(number)), Timestamp::from_millis(at(number + 1) - 1))
        });
        for zone in ["America/Toronto", "America/St_Johns"] {
            assert!(found.iter().any(|at| at.starts_with(zone)), "{zone}");
        }
    }
}
