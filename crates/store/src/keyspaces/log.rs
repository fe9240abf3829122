//! Keys of the change log.

use super::{CHANGES, joined};

pub(crate) fn change_part(sequence: u64, part: u32) -> [u8; 13] {
    joined(CHANGES, &[&sequence.to_be_bytes(), &part.to_be_bytes()])
}

/// What the number of parts of a packed change has set: the change is what
/// [`crate::records::packed`] makes of them together.
pub(crate) const PACKED: u32 = 1 << 31;

/// Sequence and part.
pub(crate) fn read_change_part(key: &[u8]) -> Option<(u64, u32)> {
    let (sequence, part) = key.get(1..)?.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*sequence), u32::from_be_bytes(part.try_into().ok()?)))
}
