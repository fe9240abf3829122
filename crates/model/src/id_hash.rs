//! Hash maps keyed by ID. IDs end in random bits, so that one multiplication distributes them.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Hashes IDs and types that contain them. Use it only for IDs of existing objects: the engine
/// generated those, so that a caller cannot choose them to collide.
#[derive(Debug, Default)]
pub struct IdHasher(u64);

/// A map by ID.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;
/// A set of IDs.
pub type IdSet<K> = HashSet<K, BuildHasherDefault<IdHasher>>;

impl IdHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        // FxHash: the rotation makes the hash depend on the order of the words.
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for IdHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        // IDs are two words: the remainder is empty for them.
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_be_bytes(*word));
        }
        if !rest.is_empty() {
            self.add(rest.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte)));
        }
    }

    /// Lengths and enum discriminants.
    #[inline]
    fn write_usize(&mut self, number: usize) {
        // Equal within one type, so that no mixing is needed.
        self.0 ^= number as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, BuildHasherDefault};

    use super::*;
    use crate::{BlockId, DocumentId, InsertTarget};

    #[test]
    fn ids_and_slots_that_differ_in_a_bit_mostly_differ_in_their_hash() {
        let build = BuildHasherDefault::<IdHasher>::default();
        let (mut ids, mut slots) = (IdSet::default(), IdSet::default());
        let parent = BlockId::from_bytes([7; 16]);
        let slot = |after| InsertTarget { document: DocumentId::of_root(parent), parent, after };
        slots.insert(build.hash_one(slot(None)) & 0xffff);
        for bit in 0..128 {
            let id = BlockId::from_bytes((1_u128 << bit).to_be_bytes());
            ids.insert(build.hash_one(id));
            slots.insert(build.hash_one(slot(Some(id))));
        }
        assert!(ids.len() > 120 && slots.len() > 120, "{} {}", ids.len(), slots.len());
    }
}
