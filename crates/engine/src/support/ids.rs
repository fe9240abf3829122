//! Random IDs: the only code that reads randomness.

use std::time::{Duration, UNIX_EPOCH};

use leafbase_model::{IdSource, Timestamp};
use ulid::Ulid;

/// ULIDs with independent randomness, the default of
/// [`SpaceBuilder::ids`](crate::SpaceBuilder::ids). They do not increment within a millisecond, so
/// that no ID reveals how many others were created.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn new_id(&self, now: Timestamp) -> [u8; 16] {
        // A time before 1970 cannot be represented: the ID is then random without a time.
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        Ulid::from_datetime(UNIX_EPOCH + Duration::from_millis(millis)).to_bytes()
    }
}
