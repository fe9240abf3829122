//! Days as people say them, and versions by number or day.

use std::str::FromStr;

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use leafbase::{ChangePosition, Connection, Day, DayRef, Timestamp};

use crate::error::{CliError, CliResult};

/// The forms of a day, as errors and help list them.
pub(crate) const DAY_FORMS: &str =
    "2026-03-01, today, friday, last friday, +3d, -2w, in 3 days, 3 days ago, next week";

/// A day as it was said: what depends on the present is counted from it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpokenDay {
    /// A date, or one of the names that requests have, too.
    Request(DayRef),
    /// The first such day after today, or the last one before it.
    Weekday(Weekday, Direction),
    /// This many units from today.
    Shifted(i32, CalendarUnit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Future,
    Past,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CalendarUnit {
    Day,
    Week,
    Month,
    Year,
}

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// The letter of a unit, and its name.
const UNITS: [(&str, &str, CalendarUnit); 4] = [
    ("d", "day", CalendarUnit::Day),
    ("w", "week", CalendarUnit::Week),
    ("m", "month", CalendarUnit::Month),
    ("y", "year", CalendarUnit::Year),
];

impl FromStr for SpokenDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_lowercase();
        if let Ok(day) = lower.parse::<DayRef>() {
            return Ok(Self::Request(day));
        }
        // A date that the calendar lacks has an error of its own.
        if let Some(error) = lower.parse::<Day>().err().filter(is_of_calendar) {
            return Err(error.message().to_owned());
        }
        let found = signed(&lower).or_else(|| worded(&lower));
        found.ok_or_else(|| format!("{text:?} is not a day; days are {DAY_FORMS}"))
    }
}

fn is_of_calendar(error: &leafbase::Error) -> bool {
    error.message().starts_with("the calendar")
}

/// `+3d`, `-2w`.
fn signed(text: &str) -> Option<SpokenDay> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+')?),
    };
    let unit = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let count: i32 = rest.strip_suffix(unit)?.parse().ok()?;
    let (.., unit) = UNITS.into_iter().find(|(letter, ..)| *letter == unit)?;
    Some(SpokenDay::Shifted(sign * count, unit))
}

/// Words between blanks or hyphens, so that `next-friday` needs no quotation marks in a shell.
fn worded(text: &str) -> Option<SpokenDay> {
    let words: Vec<&str> =
        text.split(|letter: char| letter.is_whitespace() || letter == '-').collect();
    match *words.as_slice() {
        [name] => weekday(name).map(|day| SpokenDay::Weekday(day, Direction::Future)),
        ["next", name] => towards(name, Direction::Future),
        ["last", name] => towards(name, Direction::Past),
        ["in", number, name] => Some(SpokenDay::Shifted(count(number)?, unit(name)?)),
        [number, name, "ago"] => Some(SpokenDay::Shifted(-count(number)?, unit(name)?)),
        _ => None,
    }
}

fn weekday(name: &str) -> Option<Weekday> {
    let is_named = |day: &str| name == day || day.get(..3) == Some(name);
    WEEKDAYS.into_iter().find(|(day, _)| is_named(day)).map(|(_, weekday)| weekday)
}

fn unit(name: &str) -> Option<CalendarUnit> {
    let name = name.strip_suffix('s').unwrap_or(name);
    UNITS.into_iter().find(|(_, unit, _)| *unit == name).map(|(.., unit)| unit)
}

fn count(number: &str) -> Option<i32> {
    if matches!(number, "a" | "one") { Some(1) } else { number.parse().ok() }
        .filter(|count| *count >= 0)
}

/// `next friday`, `last week`.
fn towards(name: &str, direction: Direction) -> Option<SpokenDay> {
    if let Some(day) = weekday(name) {
        return Some(SpokenDay::Weekday(day, direction));
    }
    let step = if direction == Direction::Future { 1 } else { -1 };
    unit(name).map(|unit| SpokenDay::Shifted(step, unit))
}

impl SpokenDay {
    /// The day for a request, counted from today in the time zone of the space.
    pub(crate) fn at(self, notes: &Connection) -> CliResult<DayRef> {
        match self {
            Self::Request(day) => Ok(day),
            _ => Ok(DayRef::Date(self.date(today(notes)?)?)),
        }
    }

    /// The date, counted from `today`.
    pub(crate) fn date(self, today: Day) -> CliResult<Day> {
        let from = to_date(today)?;
        let found = match self {
            Self::Request(DayRef::Date(day)) => return Ok(day),
            Self::Request(DayRef::Today) => Ok(from),
            Self::Request(DayRef::Tomorrow) => from.tomorrow(),
            Self::Request(DayRef::Yesterday) => from.yesterday(),
            Self::Weekday(weekday, Direction::Future) => from.nth_weekday(1, weekday),
            Self::Weekday(weekday, Direction::Past) => from.nth_weekday(-1, weekday),
            Self::Shifted(count, unit) => shifted(from, count, unit),
        };
        found.map_err(|_| beyond()).and_then(to_day)
    }
}

fn shifted(from: Date, count: i32, unit: CalendarUnit) -> Result<Date, jiff::Error> {
    let span = match unit {
        CalendarUnit::Day => 0.days().try_days(count),
        CalendarUnit::Week => 0.days().try_weeks(count),
        CalendarUnit::Month => 0.days().try_months(count),
        CalendarUnit::Year => 0.days().try_years(count),
    };
    // The last day of a shorter month takes the place of a day that it lacks.
    from.checked_add(span?)
}

fn beyond() -> CliError {
    CliError::usage("the day is outside of the years 0 to 9999")
}

fn to_date(day: Day) -> CliResult<Date> {
    let parts = (i16::try_from(day.year()), i8::try_from(day.month()), i8::try_from(day.day()));
    let (Ok(year), Ok(month), Ok(day)) = parts else { return Err(beyond()) };
    Date::new(year, month, day).map_err(|_| beyond())
}

fn to_day(date: Date) -> CliResult<Day> {
    date.to_string().parse().map_err(|_| beyond())
}

/// The text of a search with the days of its filters as dates, `created:>=last-monday` among them.
/// Phrases stay as they are.
pub(crate) fn in_query(notes: &Connection, text: &str) -> CliResult<String> {
    // A mark that is not closed is a character like any other.
    let mut closed_marks = text.matches('"').count() / 2 * 2;
    let mut is_quoted = false;
    let words = text.split(|letter: char| {
        if letter == '"' && closed_marks > 0 {
            closed_marks -= 1;
            is_quoted = !is_quoted;
        }
        letter.is_whitespace() && !is_quoted
    });
    let dated = words.map(|word| {
        let filter = word.split_once(':').filter(|(name, _)| is_of_days(name));
        let Some((name, days)) = filter else { return Ok(word.to_owned()) };
        let days = dated(notes, days.trim_matches('"'))?;
        Ok(days.map_or_else(|| word.to_owned(), |days| format!("{name}:{days}")))
    });
    Ok(dated.collect::<CliResult<Vec<_>>>()?.join(" "))
}

/// Whether a filter of this name has days as its value.
fn is_of_days(name: &str) -> bool {
    ["created", "modified"].iter().any(|filter| name.eq_ignore_ascii_case(filter))
}

/// `DAY`, `>=DAY`, `<=DAY` or `DAY..DAY` with dates; none if it has another form.
fn dated(notes: &Connection, days: &str) -> CliResult<Option<String>> {
    let (sign, rest) = days
        .split_at_checked(2)
        .filter(|(sign, _)| matches!(*sign, ">=" | "<="))
        .unwrap_or(("", days));
    let parsed: Result<Vec<SpokenDay>, _> = rest.splitn(2, "..").map(str::parse).collect();
    let Ok(parsed) = parsed else { return Ok(None) };
    let dates = parsed.into_iter().map(|day| Ok(day.at(notes)?.to_string()));
    let dates = dates.collect::<CliResult<Vec<_>>>()?;
    Ok(Some(format!("{sign}{}", dates.join(".."))))
}

/// The current day in the time zone of the space.
pub(crate) fn today(notes: &Connection) -> CliResult<Day> {
    let time = notes.info()?.space.time;
    Ok(time.get(..10).unwrap_or_default().parse()?)
}

/// The day in words, as in the titles of daily notes.
pub(crate) fn in_words(day: Day) -> String {
    to_date(day).map_or_else(|_| day.to_string(), |date| date.strftime("%A, %-d %B %Y").to_string())
}

/// The time zone of the space; UTC if this system does not know it.
pub(crate) fn zone(notes: &Connection) -> CliResult<TimeZone> {
    Ok(TimeZone::get(&notes.space().meta()?.zone).unwrap_or(TimeZone::UTC))
}

/// The day of an instant in the zone.
pub(crate) fn day_in(zone: &TimeZone, at: Timestamp) -> Day {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis());
    let date = instant.map(|instant| instant.to_zoned(zone.clone()).date());
    date.ok().and_then(|date| to_day(date).ok()).unwrap_or_else(|| at.day_utc())
}

/// The instant at which the day begins in the zone, in milliseconds since 1970.
fn beginning(day: Day, zone: &TimeZone) -> CliResult<i64> {
    let start = to_date(day)?.to_zoned(zone.clone()).map_err(|_| beyond())?;
    Ok(start.timestamp().as_millisecond())
}

/// A point in the history: a change by its number, or the beginning of a day.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HistoryPoint {
    Position(ChangePosition),
    Day(SpokenDay),
}

impl FromStr for HistoryPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<SpokenDay>() {
            Ok(day) => Ok(Self::Day(day)),
            Err(_) => text.parse().map(Self::Position).map_err(|error: leafbase::Error| {
                format!("{}, or a day: {DAY_FORMS}", error.message())
            }),
        }
    }
}

impl HistoryPoint {
    /// The position; for a day, that of the last change before it.
    pub(crate) fn position(&self, notes: &Connection) -> CliResult<ChangePosition> {
        let day = match self {
            Self::Position(position) => return Ok(*position),
            Self::Day(day) => day.date(today(notes)?)?,
        };
        let start = beginning(day, &zone(notes)?)?;
        let mut last = notes.log_begins_at()?;
        for change in notes.changes_since(last) {
            let change = change?;
            if change.stamp.at.as_millis() >= start {
                break;
            }
            last = change.position();
        }
        Ok(last)
    }

    /// The number of that change.
    pub(crate) fn number(&self, notes: &Connection) -> CliResult<u64> {
        Ok(self.position(notes)?.sequence())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-12 is a Thursday.
    #[test]
    fn days_are_counted_from_today() {
        for (said, day) in [
            ("2026-03-01", "2026-03-01"),
            ("today", "2026-03-12"),
            ("Tomorrow", "2026-03-13"),
            ("yesterday", "2026-03-11"),
            ("friday", "2026-03-13"),
            ("Fri", "2026-03-13"),
            ("thursday", "2026-03-19"),
            ("wed", "2026-03-18"),
            ("next friday", "2026-03-13"),
            ("next-monday", "2026-03-16"),
            ("last friday", "2026-03-06"),
            ("last thu", "2026-03-05"),
            ("+3d", "2026-03-15"),
            ("+0d", "2026-03-12"),
            ("-2w", "2026-02-26"),
            ("+1m", "2026-04-12"),
            ("-1y", "2025-03-12"),
            ("in 3 days", "2026-03-15"),
            ("in a week", "2026-03-19"),
            ("in-2-months", "2026-05-12"),
            ("3 days ago", "2026-03-09"),
            ("one year ago", "2025-03-12"),
            ("next month", "2026-04-12"),
            ("last week", "2026-03-05"),
        ] {
            let today: Day = "2026-03-12".parse().unwrap();
            let said = said.parse::<SpokenDay>().unwrap();
            assert_eq!(said.date(today).unwrap().to_string(), day, "{said:?}");
        }
    }

    #[test]
    fn a_shorter_month_ends_earlier() {
        let month: SpokenDay = "+1m".parse().unwrap();
        let last = month.date("2026-01-31".parse().unwrap()).unwrap();
        assert_eq!(last.to_string(), "2026-02-28");
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for said in [
            "",
            "3",
            "3d",
            "+d",
            "+3",
            "+3x",
            "next",
            "next may",
            "may",
            "fr",
            "friday next",
            "in 3",
            "in -3 days",
            "3 days",
            "+99999999999d",
            "2026-3-1",
            "monday tuesday",
        ] {
            let error = said.parse::<SpokenDay>().unwrap_err();
            assert_eq!(error, format!("{said:?} is not a day; days are {DAY_FORMS}"));
        }
        let error = "2026-02-30".parse::<SpokenDay>().unwrap_err();
        assert_eq!(error, "the calendar has no day 2026-02-30");
        let far: SpokenDay = "+9000y".parse().unwrap();
        assert!(far.date("2026-03-12".parse().unwrap()).is_err());
    }
}
