//! The hash of a file, computed piece by piece.

use leafbase_model::FileHash;
use sha2::{Digest, Sha256};

/// Computes the hash of a file from its bytes in order, in pieces of any size.
#[derive(Clone, Debug, Default)]
pub struct FileHasher(Sha256);

impl FileHasher {
    /// Adds the next bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all bytes added.
    pub fn finish(self) -> FileHash {
        FileHash::from_bytes(self.0.finalize().into())
    }
}
