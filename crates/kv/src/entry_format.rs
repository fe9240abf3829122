//! The format of entries, as far as the redb adapter depends on it.

use std::fmt::Write as _;

/// How entries are verified and named. Keys and values have no meaning to a store, but page
/// verification, salvage and error messages need these two functions.
#[derive(Clone, Copy, Debug)]
pub struct EntryFormat {
    /// Whether the checksum inside an entry is correct. If entries carry no checksum, this must
    /// always return `true`: then no entry on a page with a wrong checksum is returned.
    pub is_intact: fn(key: &[u8], value: &[u8]) -> bool,
    /// Names the entry of a key in error messages.
    pub describe: fn(key: &[u8]) -> String,
}

impl Default for EntryFormat {
    /// Entries without checksums, named by their keys in hexadecimal.
    fn default() -> Self {
        Self { is_intact: |_, _| true, describe: hexadecimal }
    }
}

fn hexadecimal(key: &[u8]) -> String {
    let mut name = "key ".to_owned();
    for byte in key {
        // Formatting into a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}
