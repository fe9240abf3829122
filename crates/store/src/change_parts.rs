//! Parts of changes: a change is stored in parts that each fill a page.

use leafbase_model::{Change, Result};

use crate::keyspaces::{self, COMPRESSED};
use crate::msgpack::Decoded;
use crate::records::{self, change, compressed};

/// The body of a change, of which all parts were read.
pub(crate) struct ChangeBody {
    pub(crate) sequence: u64,
    /// Number of parts.
    pub(crate) parts: u32,
    pub(crate) is_compressed: bool,
    pub(crate) bytes: Vec<u8>,
}

impl ChangeBody {
    /// Decodes the body with `decode`.
    pub(crate) fn decode<T>(&self, decode: fn(u64, &[u8]) -> Decoded<T>) -> Result<T> {
        let decoded = if self.is_compressed {
            compressed::decompress(&self.bytes).and_then(|body| decode(self.sequence, &body))
        } else {
            decode(self.sequence, &self.bytes)
        };
        decoded.map_err(|error| {
            records::decode_error(&keyspaces::change_part(self.sequence, 0), error)
        })
    }

    /// Decodes the change.
    pub(crate) fn change(&self) -> Result<Change> {
        self.decode(change::decode)
    }
}

/// Assembles the bodies of changes from their parts, in the order of their keys.
#[derive(Default)]
pub(crate) struct ChangeParts {
    /// Sequence of the change begun, and the header that all of its parts share.
    begun: Option<(u64, u32)>,
    read: u32,
    bytes: Vec<u8>,
}

impl ChangeParts {
    /// Adds the next part; returns the body if the part is the last one of its change.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<Option<ChangeBody>> {
        let corrupt = || records::corrupt(key);
        let (sequence, part) = keyspaces::parse_change_part(key).ok_or_else(corrupt)?;
        let (header, bytes) =
            records::body(key, value)?.split_first_chunk::<4>().ok_or_else(corrupt)?;
        let header = u32::from_be_bytes(*header);
        let count = header & !COMPRESSED;
        if *self.begun.get_or_insert((sequence, header)) != (sequence, header)
            || part != self.read
            || part >= count
        {
            return Err(corrupt());
        }
        // Parts come in the order of their keys, so a missing one is detected by the next.
        self.read += 1;
        self.bytes.extend_from_slice(bytes);
        if self.read < count {
            return Ok(None);
        }
        debug_assert_eq!(self.read, count, "all parts are read in order");
        let Self { bytes, .. } = std::mem::take(self);
        Ok(Some(ChangeBody {
            sequence,
            parts: count,
            is_compressed: header & COMPRESSED != 0,
            bytes,
        }))
    }

    /// The sequence of the change that lacks parts, if any.
    pub(crate) fn incomplete(&self) -> Option<u64> {
        self.begun.map(|(sequence, _)| sequence)
    }
}
