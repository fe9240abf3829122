//! What a store's adapter knows of its entries.

use std::fmt::Write as _;

/// How entries are verified and named. The store itself attaches no meaning to keys and values;
/// this tells it which of them carry a checksum of their own.
#[derive(Clone, Copy, Debug)]
pub struct EntryFormat {
    /// Whether the checksum that an entry carries is right. Where entries carry none this is always
    /// `true`: then no entry of a page with a wrong checksum is believed.
    pub is_intact: fn(key: &[u8], value: &[u8]) -> bool,
    /// Names the entry of a key in error messages.
    pub describe: fn(key: &[u8]) -> String,
}

impl Default for EntryFormat {
    /// Entries without a checksum, named by the bytes of their keys.
    fn default() -> Self {
        Self { is_intact: |_, _| true, describe: hexadecimal }
    }
}

fn hexadecimal(key: &[u8]) -> String {
    key.iter().fold("key ".to_owned(), |mut name, byte| {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
        name
    })
}
