//! The hash by which keys stand for texts of any length.

use sha2::{Digest, Sha256};

/// The SHA-256 of `parts`, each after its length.
pub fn hash_parts(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}
