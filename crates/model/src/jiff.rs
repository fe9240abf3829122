//! Conversions from and to the types of the crate `jiff` (feature `jiff`).

use jiff::civil::Date;

use crate::{Day, DayRef, Error, Result, Timestamp};

impl From<Day> for Date {
    /// Every day of the Leafbase calendar is a valid date of jiff.
    fn from(day: Day) -> Self {
        let small = |part: u8| i8::try_from(part).unwrap_or(1);
        let year = i16::try_from(day.year()).unwrap_or(0);
        let date = Self::new(year, small(day.month()), small(day.day()));
        debug_assert!(date.is_ok(), "jiff has every day of the years 0 to 9999, but not {day}");
        date.unwrap_or(Self::ZERO)
    }
}

impl TryFrom<Date> for Day {
    type Error = Error;

    /// # Errors
    /// [`crate::ErrorKind::Validation`] for a day before the year 0.
    fn try_from(date: Date) -> Result<Self> {
        let beyond = || {
            Error::validation(format!("expected a day from 0000-01-01 to 9999-12-31, got {date}"))
        };
        let year = u16::try_from(date.year()).map_err(|_| beyond())?;
        Self::new(year, date.month().unsigned_abs(), date.day().unsigned_abs())
    }
}

impl TryFrom<Date> for DayRef {
    type Error = Error;

    /// # Errors
    /// As for a [`Day`].
    fn try_from(date: Date) -> Result<Self> {
        Day::try_from(date).map(Self::Date)
    }
}

impl TryFrom<Timestamp> for jiff::Timestamp {
    type Error = Error;

    /// # Errors
    /// [`crate::ErrorKind::Validation`] for the last 26 hours of the year 9999, which jiff cannot
    /// represent.
    fn try_from(instant: Timestamp) -> Result<Self> {
        Self::from_millisecond(instant.as_millis())
            .map_err(|error| Error::validation(error.to_string()))
    }
}

impl TryFrom<jiff::Timestamp> for Timestamp {
    type Error = Error;

    /// Truncates to milliseconds.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] for an instant before the year 0.
    fn try_from(instant: jiff::Timestamp) -> Result<Self> {
        let millis = instant.as_millisecond();
        let read = Self::from_millis(millis);
        if read.as_millis() == millis {
            return Ok(read);
        }
        Err(Error::validation(format!(
            "expected an instant from {} to {}, got {instant}",
            Self::MIN,
            Self::MAX
        )))
    }
}
