//! The one place that reads randomness.

use std::time::{Duration, UNIX_EPOCH};

use leafbase_model::{IdSource, Timestamp};
use ulid::Ulid;

/// ULIDs with fresh randomness for each: what a space uses unless its builder is given another.
/// They are not counted up within a millisecond, so that no ID tells how many others were made.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn new_id(&self, now: Timestamp) -> [u8; 16] {
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        Ulid::from_datetime(UNIX_EPOCH + Duration::from_millis(millis)).to_bytes()
    }
}
