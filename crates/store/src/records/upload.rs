//! Records of uploads in flight.

use leafbase_model::{Result, Timestamp};

use super::layout::{Value as _, record};
use crate::records;

/// An upload in flight, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingUpload {
    /// The heart-beat: when it stored bytes last, by the clock of its host.
    pub(crate) active_at: Timestamp,
}

record! {
    PendingUpload = { PendingUpload { active_at } };
    active_at(required),
}

impl PendingUpload {
    /// Decodes the record under `key`. One without a body is of a version before heart-beats: its
    /// owner has gone.
    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self> {
        if records::body(key, value)?.is_empty() {
            return Ok(Self { active_at: Timestamp::from_millis(0) });
        }
        records::decode(key, value, Self::decode)
    }
}
