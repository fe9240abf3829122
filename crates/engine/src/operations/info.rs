//! Information about the space of a connection.

use jiff::tz::Offset;
use leafbase_model::{ConnectionInfo, Error, Result, SpaceInfo, Timestamp, UrlTemplates, UtcInfo};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::support::days;

impl<A: AccessScope> Connection<A> {
    /// The space's ID, name, zone and current time, and the template of block URLs. One look-up,
    /// however large the space is.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::builder().name("Notes").zone("Asia/Tokyo").in_memory()?
    ///     .connect();
    /// let info = notes.info()?;
    /// assert_eq!((info.space.name.as_str(), info.space.zone.as_str()), ("Notes", "Asia/Tokyo"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the clock is outside of the years 0 to 9999, or this
    /// version does not know the zone of the space; errors of the store.
    pub fn info(&self) -> Result<ConnectionInfo> {
        let meta = self.space.meta().map_err(|error| self.visibility().redact_error(error))?;
        let now = self.space.now();
        let zone = days::zone(&meta.zone)?;
        Ok(ConnectionInfo {
            space: SpaceInfo {
                id: meta.id,
                name: meta.name,
                time: local_time(now, days::offset(&zone, now)?)?,
                friendly_date: days::long_form(days::today(&zone, now)?),
                zone: meta.zone,
            },
            utc: UtcInfo { time: now },
            url_templates: UrlTemplates { app: self.space.url_template().to_owned() },
        })
    }
}

/// The instant in RFC 3339 with milliseconds and this offset. The standard has offsets in whole
/// minutes: the seconds of historical offsets are dropped from the offset and from the local time,
/// so that the instant stays the same.
fn local_time(now: Timestamp, offset: Offset) -> Result<String> {
    let minutes = offset.seconds() / 60;
    let shifted = now.as_millis() + i64::from(minutes) * 60_000;
    let local = Timestamp::from_millis(shifted);
    if local.as_millis() != shifted {
        return Err(Error::validation("the clock is outside the supported years 0 to 9999"));
    }
    let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.abs());
    let text = local.to_string();
    let time = text.strip_suffix('Z').unwrap_or(&text);
    Ok(format!("{time}{sign}{:02}:{:02}", minutes / 60, minutes % 60))
}
