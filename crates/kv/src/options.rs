//! How the embedded store is opened.

use super::entry_format::EntryFormat;

/// How a store is opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Bytes of pages kept in memory.
    pub cache_bytes: usize,
    /// How entries are verified and named.
    pub entries: EntryFormat,
    /// Whether pages that are read from the file are compared with the checksum in their parent.
    /// Without that, damage may hide entries unnoticed.
    pub verify_pages: bool,
    /// Whether writes are refused. What a crash left is mended in memory, and the files stay as
    /// they are.
    pub read_only: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        // With what an upload of any length takes beside, it stays below 64 MiB.
        Self {
            cache_bytes: 48 << 20,
            entries: EntryFormat::default(),
            verify_pages: true,
            read_only: false,
        }
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

    /// The same options for entries of this format.
    pub fn entries(self, entries: EntryFormat) -> Self {
        Self { entries, ..self }
    }

    /// The same options with pages verified as they are read, or not.
    pub fn verify_pages(self, verify_pages: bool) -> Self {
        Self { verify_pages, ..self }
    }

    /// The same options for reading only, or not.
    pub fn read_only(self, read_only: bool) -> Self {
        Self { read_only, ..self }
    }
}
