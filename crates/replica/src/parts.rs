//! Large contents in parts: objects of a bounded size below one prefix.

use std::io::{self, Read};

use leafbase::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::store::{ReplicaStore, damaged, missing};

/// Bytes of each part but the last: bounds the memory of a transfer.
pub(crate) const PART_BYTES: usize = 8 << 20;

/// What the parts of a content are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredParts {
    /// Their bytes together.
    pub(crate) bytes: u64,
    /// The XXH3 of each, in hexadecimal digits.
    pub(crate) checksums: Vec<String>,
}

/// The name of a part.
fn part_name(prefix: &str, number: usize) -> String {
    format!("{prefix}/{number:06}")
}

/// Puts the bytes of `reader` below `prefix`.
pub(crate) fn put_parts(
    store: &dyn ReplicaStore,
    prefix: &str,
    mut reader: impl Read,
) -> Result<StoredParts> {
    let mut parts = StoredParts::default();
    loop {
        let mut part = Vec::new();
        reader.by_ref().take(PART_BYTES as u64).read_to_end(&mut part).map_err(read_error)?;
        if part.is_empty() {
            return Ok(parts);
        }
        store.put(&part_name(prefix, parts.checksums.len()), &part)?;
        parts.bytes += part.len() as u64;
        parts.checksums.push(checksum(&part));
    }
}

/// The error of a reader: that of the space, if it has one inside.
fn read_error(error: io::Error) -> Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    if let Some(inner) = inner {
        return inner.clone();
    }
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        _ => ErrorKind::Storage,
    };
    Error::new(kind, format!("cannot read what is shipped: {error}")).with_source(error)
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:016x}", xxh3_64(bytes))
}

/// Reads parts one by one and verifies them.
pub(crate) struct PartsReader<'a> {
    store: &'a dyn ReplicaStore,
    prefix: String,
    parts: &'a StoredParts,
    next: usize,
    part: io::Cursor<Vec<u8>>,
}

impl<'a> PartsReader<'a> {
    pub(crate) fn new(store: &'a dyn ReplicaStore, prefix: String, parts: &'a StoredParts) -> Self {
        Self { store, prefix, parts, next: 0, part: io::Cursor::default() }
    }

    /// Gets the next part; `false` after the last one.
    fn advance(&mut self) -> Result<bool> {
        let Some(expected) = self.parts.checksums.get(self.next) else { return Ok(false) };
        let name = part_name(&self.prefix, self.next);
        let part = self.store.get(&name)?.ok_or_else(|| missing(&name))?.bytes;
        // Before the first byte is passed on: nothing unverified reaches the copy.
        if checksum(&part) != *expected {
            return Err(damaged(&name, "its checksum is wrong"));
        }
        self.part = io::Cursor::new(part);
        self.next += 1;
        Ok(true)
    }
}

impl Read for PartsReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.part.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if !self.advance().map_err(io::Error::other)? {
                return Ok(0);
            }
        }
    }
}
