//! What a record is on disk: a version byte, `MessagePack` in array form, and a checksum over key
//! and value.
//!
//! redb verifies no checksum when it reads, so each record carries its own. The key goes into it,
//! so that a row that stands where another one belongs is noticed. Every version of every record
//! ends in this checksum: a version that is not known is told from damage by it.

use leafbase_model::{Error, ErrorKind, Result};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::keyspaces::{self, RowName};
use crate::kv::WriteBatch;
use crate::msgpack::{DecodeError, Decoded, Decoder};

pub(crate) mod asset;
pub(crate) mod block;
pub(crate) mod change;
pub(crate) mod codes;
pub(crate) mod comment;
pub(crate) mod document;
pub(crate) mod folder;
pub(crate) mod location;
pub(crate) mod meta;
pub(crate) mod packed;
pub(crate) mod schema;

/// The version of all records so far.
const VERSION: u8 = 1;
pub(crate) const CHECKSUM_BYTES: usize = 8;
/// The version byte and the checksum.
pub(crate) const FRAME_BYTES: usize = 1 + CHECKSUM_BYTES;

fn checksum(key: &[u8], value: &[u8]) -> [u8; CHECKSUM_BYTES] {
    xxh3_64_with_seed(value, xxh3_64(key)).to_be_bytes()
}

/// Appends the record under `key` whose body `write` appends.
pub(crate) fn append(key: &[u8], out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.push(VERSION);
    write(out);
    let checksum = checksum(key, out.get(start..).unwrap_or_default());
    out.extend_from_slice(&checksum);
}

/// The same, made in `value`.
pub(crate) fn seal_into(key: &[u8], value: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    value.clear();
    append(key, value, write);
}

/// Adds the record under `key` whose body `write` appends.
pub(crate) fn put(rows: &mut WriteBatch, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
    rows.put(key, |out| append(key, out, write));
}

/// The record under `key` whose body `write` appends.
pub(crate) fn seal(key: &[u8], write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut value = Vec::with_capacity(96);
    seal_into(key, &mut value, write);
    value
}

/// The record of an index row, whose key says all.
pub(crate) fn seal_empty(key: &[u8]) -> Vec<u8> {
    seal(key, |_| ())
}

fn agrees(key: &[u8], value: &[u8], sum: [u8; CHECKSUM_BYTES]) -> bool {
    #[cfg(feature = "testkit")]
    if trust::is_blind() {
        return true;
    }
    sum == checksum(key, value)
}

/// A reader that takes every checksum for right: the control of the tests that damage spaces.
#[cfg(feature = "testkit")]
pub(crate) mod trust {
    use std::cell::Cell;

    thread_local! {
        static BLIND: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn is_blind() -> bool {
        BLIND.get()
    }

    /// Does `work`, which verifies no checksum of a record on this thread.
    pub(crate) fn blindly<T>(work: impl FnOnce() -> T) -> T {
        struct Seeing;
        impl Drop for Seeing {
            fn drop(&mut self) {
                BLIND.set(false);
            }
        }
        BLIND.set(true);
        let _until_the_end = Seeing;
        work()
    }
}

/// The body of the record under `key`, of whatever version, if its checksum holds.
fn checked<'v>(key: &[u8], value: &'v [u8]) -> Result<(&'v [u8], u8)> {
    let sealed =
        value.split_last_chunk::<CHECKSUM_BYTES>().filter(|(rest, sum)| agrees(key, rest, **sum));
    let (version, body) = sealed
        .and_then(|(rest, _)| rest.split_first())
        .ok_or_else(|| fault(key, DecodeError::Corrupt))?;
    Ok((body, *version))
}

/// Whether the checksum of the record under `key` holds, whatever is in it.
pub(crate) fn check(key: &[u8], value: &[u8]) -> Result<()> {
    checked(key, value).map(|_| ())
}

/// The body of the record under `key`.
pub(crate) fn body<'v>(key: &[u8], value: &'v [u8]) -> Result<&'v [u8]> {
    match checked(key, value)? {
        (body, VERSION) => Ok(body),
        _ => Err(fault(key, DecodeError::UnsupportedVersion)),
    }
}

/// The body of a record that was read before.
pub(crate) fn body_again(value: &[u8]) -> Option<&[u8]> {
    value.get(1..value.len().checked_sub(CHECKSUM_BYTES)?)
}

/// Reads the beginning of the body of the record under `key`, whatever follows it and whatever its
/// version.
pub(crate) fn read_prefix<'v, T>(
    key: &[u8],
    value: &'v [u8],
    read: impl FnOnce(&mut Decoder<'v>) -> Decoded<T>,
) -> Result<T> {
    let (rest, _) = checked(key, value)?;
    read(&mut Decoder::new(rest)).map_err(|found| fault(key, found))
}

/// Reads the whole body of the record under `key` by `read`.
pub(crate) fn read<'v, T>(
    key: &[u8],
    value: &'v [u8],
    read: impl FnOnce(&mut Decoder<'v>) -> Decoded<T>,
) -> Result<T> {
    let mut decoder = Decoder::new(body(key, value)?);
    let record = read(&mut decoder).map_err(|found| fault(key, found))?;
    decoder.finish().map_err(|found| fault(key, found))?;
    Ok(record)
}

/// The record of an index row, which must have no body.
pub(crate) fn read_empty(key: &[u8], value: &[u8]) -> Result<()> {
    read(key, value, |_| Ok(()))
}

/// The error for the row under `key`.
#[cold]
pub(crate) fn fault(key: &[u8], found: DecodeError) -> Error {
    match found {
        DecodeError::Corrupt => Error::corrupted(RowName(key)),
        DecodeError::UnsupportedVersion => {
            let name = keyspaces::of(key).name;
            Error::new(
                ErrorKind::NewerFormat,
                format!("a record of {name} was written by a later version of Leafbase"),
            )
        }
    }
}

/// A key that does not read, or a row that is missing though another one says it is there.
#[cold]
pub(crate) fn damaged(key: &[u8]) -> Error {
    fault(key, DecodeError::Corrupt)
}
