//! The system clock: the only code that reads it.

use std::time::{SystemTime, UNIX_EPOCH};

use leafbase_model::{Clock, Timestamp};

/// The system clock, the default of [`SpaceBuilder::clock`](crate::SpaceBuilder::clock).
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            // A clock set before 1970 is wrong, but not an error.
            Err(before) => {
                i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
            }
        };
        Timestamp::from_millis(millis)
    }
}
