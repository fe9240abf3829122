//! Signatures: what rows of an index tell of the selects and booleans of their item, so that a
//! query need not look it up.

use leafbase_model::Result;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::msgpack::DecodeError;
use crate::records;

/// Which selects and booleans an item has set, and to what, in 64 bits: each value sets two, which
/// others may set too. So a bitmap tells for certain that an item has a value not, and never
/// that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IndexBitmap(u64);

impl IndexBitmap {
    /// Adds a key of the column of this number.
    pub(crate) fn add(&mut self, column: u32, key: &[u8]) {
        let hash = xxh3_64_with_seed(key, u64::from(column));
        self.0 |= 1 << (hash & 63) | 1 << (hash >> 6 & 63);
    }

    /// Whether an item of this bitmap may have all that `other` stands for: false is certain.
    #[must_use]
    pub const fn may_have(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What items have that have what either stands for.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Makes the record of an index row in `value`.
    pub(crate) fn seal_into(self, key: &[u8], value: &mut Vec<u8>) {
        records::seal_into(key, value, |out| out.extend_from_slice(&self.0.to_be_bytes()));
    }

    /// Reads the record of an index row.
    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self> {
        let bits = records::body(key, value)?
            .try_into()
            .map_err(|_| records::fault(key, DecodeError::Corrupt))?;
        Ok(Self(u64::from_be_bytes(bits)))
    }
}
