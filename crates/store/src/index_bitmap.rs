//! Index bitmaps: a filter over the selects and booleans of an item in each of its index rows, so
//! that a query rejects most items without a lookup.

use leafbase_model::Result;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::msgpack::DecodeError;
use crate::records;

/// A bloom filter of 64 bits over the selects and booleans of an item, with two bits for each
/// value. It can prove that an item lacks a value, never that it has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IndexBitmap(u64);

impl IndexBitmap {
    /// Adds a sort key of a column.
    pub(crate) fn add(&mut self, column: u32, key: &[u8]) {
        let hash = xxh3_64_with_seed(key, u64::from(column));
        // Two of 64 bits, from independent parts of one hash.
        self.0 |= 1 << (hash & 63) | 1 << (hash >> 6 & 63);
    }

    /// Whether an item with this bitmap may have all values of `other`; `false` is certain.
    #[must_use]
    pub const fn may_have(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both bitmaps.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Encodes the record of an index row into `value`.
    pub(crate) fn seal_into(self, key: &[u8], value: &mut Vec<u8>) {
        // Raw bytes: the row is written for every value of every item.
        records::seal_into(key, value, |out| out.extend_from_slice(&self.0.to_be_bytes()));
    }

    /// Decodes the record of an index row.
    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self> {
        let bits = records::body(key, value)?
            .try_into()
            .map_err(|_| records::decode_error(key, DecodeError::Corrupt))?;
        Ok(Self(u64::from_be_bytes(bits)))
    }
}
