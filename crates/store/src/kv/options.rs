//! How the embedded store is opened.

/// How a store is opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Bytes of pages kept in memory.
    pub cache_bytes: usize,
    /// Whether writes are refused. What a crash left is mended in memory, and the files stay as
    /// they are.
    pub read_only: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        // With what an upload of any length takes beside, it stays below 64 MiB.
        Self { cache_bytes: 48 << 20, read_only: false }
    }
}

impl OpenOptions {
    /// The defaults: 48 MiB of cache, reading and writing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same options with so many bytes of pages kept in memory.
    pub fn cache_bytes(self, cache_bytes: usize) -> Self {
        Self { cache_bytes, ..self }
    }

    /// The same options for reading only, or not.
    pub fn read_only(self, read_only: bool) -> Self {
        Self { read_only, ..self }
    }
}
