//! Keys of the change log.

use super::{CHANGES, joined};

/// Maximum bytes of the body in one part of a change: with key, header and frame it fills a page.
/// Longer values would take pages of a power of two.
pub(crate) const CHANGE_PART_BYTES: usize = 4_050;

pub(crate) fn change_part(sequence: u64, part: u32) -> [u8; 13] {
    joined(CHANGES, &[&sequence.to_be_bytes(), &part.to_be_bytes()])
}

/// Prefix of the parts of a change.
pub(crate) fn change_parts(sequence: u64) -> [u8; 9] {
    joined(CHANGES, &[&sequence.to_be_bytes()])
}

/// The sequence and the number of the part.
pub(crate) fn parse_change_part(key: &[u8]) -> Option<(u64, u32)> {
    let (sequence, part) = key.get(1..)?.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*sequence), u32::from_be_bytes(part.try_into().ok()?)))
}
