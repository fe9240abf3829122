//! Instants, days, and the clock.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::json::{TextVisitor, from_text};
use crate::{Error, Result};

/// The source of the present time. Only the engine's default implementation reads the system clock.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

impl<T: Clock + ?Sized> Clock for Arc<T> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// An instant in milliseconds since 1970-01-01T00:00:00Z. Serialized as RFC 3339 in UTC with
/// milliseconds.
///
/// ```
/// use leafbase_model::{Day, Timestamp};
/// let noon = Timestamp::from_millis(1_772_366_400_000);
/// assert_eq!(noon.to_string(), "2026-03-01T12:00:00.000Z");
/// assert_eq!(noon.day_utc(), Day::new(2026, 3, 1)?);
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 9999-12-31T23:59:59.999Z, the latest instant with a textual form.
    pub const MAX: Self = Self(253_402_300_799_999);
    /// 0000-01-01T00:00:00.000Z, the earliest instant with a textual form.
    pub const MIN: Self = Self(-62_167_219_200_000);

    /// The instant this many milliseconds after 1970, clamped to [`Self::MIN`] and [`Self::MAX`].
    pub const fn from_millis(millis: i64) -> Self {
        if millis > Self::MAX.0 {
            Self::MAX
        } else if millis < Self::MIN.0 {
            Self::MIN
        } else {
            Self(millis)
        }
    }

    /// Milliseconds since 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The day in UTC.
    pub fn day_utc(self) -> Day {
        // Euclidean division: instants before 1970 belong to the day that has begun.
        let days = self.0.div_euclid(86_400_000);
        debug_assert!(Day::EPOCH_DAYS.contains(&days), "an instant is within the calendar");
        Day::from_epoch_days(days)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = self.0.rem_euclid(86_400_000);
        let (seconds, millis) = (rest / 1_000, rest % 1_000);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        debug_assert!(hour < 24, "the remainder of a day has less than 24 hours");
        write!(f, "{}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z", self.day_utc())
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    /// Parses `YYYY-MM-DDTHH:MM:SS[.fff]` with the suffix `Z` or `+00:00`. Other offsets are
    /// refused; fractions are truncated to milliseconds.
    fn from_str(text: &str) -> Result<Self> {
        read_timestamp(text).ok_or_else(|| {
            let got = crate::json::quoted(text);
            Error::validation(format!(
                "expected an instant like 2026-03-01T09:30:00.000Z, got {got}"
            ))
        })
    }
}

fn read_timestamp(text: &str) -> Option<Timestamp> {
    let (day, time) = text.split_once(['T', 't'])?;
    let day: Day = day.parse().ok()?;
    let time = time.strip_suffix(['Z', 'z']).or_else(|| time.strip_suffix("+00:00"))?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = clock.split(':');
    let (hour, minute, second) = (two(parts.next()?)?, two(parts.next()?)?, two(parts.next()?)?);
    // Leap seconds (:60) are refused: a day has 86,400,000 milliseconds.
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 || fraction.is_empty() {
        return None;
    }
    let mut millis = 0;
    for place in 0..fraction.len().max(3) {
        let digit = fraction.as_bytes().get(place).copied().unwrap_or(b'0');
        if !digit.is_ascii_digit() {
            return None;
        }
        // Digits after the third are validated and truncated.
        if place < 3 {
            millis = millis * 10 + i64::from(digit - b'0');
        }
    }
    let seconds = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
    debug_assert!(seconds < 86_400 && millis < 1_000, "the time is within the day");
    Some(Timestamp(day.epoch_days() * 86_400_000 + seconds * 1_000 + millis))
}

fn two(text: &str) -> Option<u8> {
    (text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(TextVisitor { expected: "an instant", read: PhantomData })
        } else {
            let millis = i64::deserialize(deserializer)?;
            let read = Self::from_millis(millis);
            // Clamping would silently change the instant.
            if read.0 == millis {
                Ok(read)
            } else {
                Err(serde::de::Error::custom("an instant beyond the calendar"))
            }
        }
    }
}

/// A calendar day from 0000-01-01 to 9999-12-31. Serialized as `YYYY-MM-DD`.
///
/// ```
/// use leafbase_model::Day;
/// let day: Day = "2026-02-28".parse()?;
/// let next = Day::from_epoch_days(day.epoch_days() + 1);
/// assert_eq!(next.to_string(), "2026-03-01");
/// let error = "2026-02-29".parse::<Day>().unwrap_err();
/// assert_eq!(error.message(), "the calendar has no day 2026-02-29");
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::struct_field_names, reason = "a day of the month is a day, too")]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl Day {
    /// The days of the calendar, counted from 1970-01-01: the years 0 to 9999.
    pub const EPOCH_DAYS: RangeInclusive<i64> = -719_528..=2_932_896;

    /// The day with this date.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the date does not exist.
    pub fn new(year: u16, month: u8, day: u8) -> Result<Self> {
        if year <= 9_999 && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day) {
            Ok(Self { year, month, day })
        } else {
            Err(Error::validation(format!("the calendar has no day {year:04}-{month:02}-{day:02}")))
        }
    }

    /// The year, 0 to 9999.
    pub const fn year(self) -> u16 {
        self.year
    }

    /// The month, 1 to 12.
    pub const fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, 1 to 31.
    pub const fn day(self) -> u8 {
        self.day
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar.
    pub fn epoch_days(self) -> i64 {
        debug_assert!(self.day >= 1 && self.day <= days_in(self.year, self.month), "a valid date");
        // Years that begin in March put the leap day last; 400 years have 146,097 days.
        let year = i64::from(self.year) - i64::from(self.month <= 2);
        let month = i64::from((self.month + 9) % 12);
        let day_of_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
    }

    /// The day this many days after 1970-01-01, clamped to the years 0 to 9999.
    pub fn from_epoch_days(days: i64) -> Self {
        // Counted from 0000-03-01: a shifted year ends with its leap day, if it has one.
        let (first, last) = (*Self::EPOCH_DAYS.start(), *Self::EPOCH_DAYS.end());
        let days = days.clamp(first, last) + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Five shifted months have 153 days, in the pattern 31, 30, 31, 30, 31.
        let shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        // January and February belong to the shifted year that began in the March before.
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        debug_assert!(
            (0..=9_999).contains(&year),
            "the clamped day is in the calendar, got {year}"
        );
        debug_assert!((1..=12).contains(&month) && (1..=31).contains(&day), "a valid date");
        let date = Self {
            year: u16::try_from(year).unwrap_or(0),
            month: u8::try_from(month).unwrap_or(1),
            day: u8::try_from(day).unwrap_or(1),
        };
        debug_assert_eq!(date.epoch_days(), days - 719_468, "the conversion is a round trip");
        date
    }
}

fn days_in(year: u16, month: u8) -> u8 {
    debug_assert!((1..=12).contains(&month), "months are counted from 1, got {month}");
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 31,
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Day {
    type Err = Error;

    /// Parses exactly `YYYY-MM-DD`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::validation(format!(
                "expected a day YYYY-MM-DD, got {}",
                crate::json::quoted(text)
            ))
        };
        let mut parts = text.split('-');
        // The length is checked below: `str::parse` alone accepts signs and missing zeros.
        let (Some(year), Some(month), Some(day), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        if text.len() != 10
            || year.len() != 4
            || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        {
            return Err(wrong());
        }
        match (year.parse(), two(month), two(day)) {
            (Ok(year), Some(month), Some(day)) => Self::new(year, month, day),
            _ => Err(wrong()),
        }
    }
}

impl Serialize for DayRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<Day> for serde_json::Value {
    /// The text, as the value of a property of an item, say.
    fn from(day: Day) -> Self {
        Self::String(day.to_string())
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A day in a request: a date, or relative to the present in the time zone of the space.
///
/// ```
/// use leafbase_model::{Day, DayRef};
/// assert_eq!("tomorrow".parse::<DayRef>()?, DayRef::Tomorrow);
/// assert_eq!("2026-03-01".parse::<DayRef>()?, DayRef::from(Day::new(2026, 3, 1)?));
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DayRef {
    /// A date.
    Date(Day),
    /// `today`.
    Today,
    /// `tomorrow`.
    Tomorrow,
    /// `yesterday`.
    Yesterday,
}

impl From<Day> for DayRef {
    fn from(day: Day) -> Self {
        Self::Date(day)
    }
}

impl fmt::Display for DayRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(day) => day.fmt(f),
            Self::Today => f.write_str("today"),
            Self::Tomorrow => f.write_str("tomorrow"),
            Self::Yesterday => f.write_str("yesterday"),
        }
    }
}

impl FromStr for DayRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "today" => Ok(Self::Today),
            "tomorrow" => Ok(Self::Tomorrow),
            "yesterday" => Ok(Self::Yesterday),
            // Relative names first: none of them is a date.
            date => date.parse().map(Self::Date).map_err(|error: Error| {
                let relative = "or today, tomorrow, yesterday";
                Error::validation(format!("{} ({relative})", error.message()))
            }),
        }
    }
}

from_text!(Day: "a day YYYY-MM-DD", DayRef: "a day");
