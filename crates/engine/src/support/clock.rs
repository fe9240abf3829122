//! The one place that reads the system's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use leafbase_model::{Clock, Timestamp};

/// The system's clock: what a space uses unless its builder is given another.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            // A clock set before 1970 is wrong, but no reason to fail.
            Err(before) => {
                i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
            }
        };
        Timestamp::from_millis(millis)
    }
}
