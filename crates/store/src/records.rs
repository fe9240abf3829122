//! Records: the value of a row is a version byte, a body in `MessagePack` arrays, and a checksum
//! over key and value.
//!
//! redb does not verify checksums when it reads, so each record carries its own. The key is part of
//! it, which detects a value under another row's key. Every version of every record must end in
//! this checksum: it tells an unsupported version from corruption.

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
pub(crate) mod compressed;
pub(crate) mod document;
pub(crate) mod embeddings;
pub(crate) mod folder;
pub(crate) mod layout;
pub(crate) mod listed_task;
pub(crate) mod location;
pub(crate) mod meta;
pub(crate) mod reply;
pub(crate) mod schema;
pub(crate) mod upload;

/// The version of all records.
const VERSION: u8 = 1;
pub(crate) const CHECKSUM_BYTES: usize = 8;
/// Bytes of a record besides its body: version and checksum.
pub(crate) const FRAME_BYTES: usize = 1 + CHECKSUM_BYTES;

pub(crate) fn checksum(key: &[u8], value: &[u8]) -> [u8; CHECKSUM_BYTES] {
    xxh3_64_with_seed(value, xxh3_64(key)).to_be_bytes()
}

/// Appends the record under `key`, whose body `encode` appends.
pub(crate) fn append(key: &[u8], out: &mut Vec<u8>, encode: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.push(VERSION);
    encode(out);
    let record = out.split_at(start.min(out.len())).1;
    debug_assert!(!record.is_empty(), "encoding appends to the buffer");
    let checksum = checksum(key, record);
    out.extend_from_slice(&checksum);
}

/// Replaces `value` by the record under `key`, whose body `encode` appends.
pub(crate) fn seal_into(key: &[u8], value: &mut Vec<u8>, encode: impl FnOnce(&mut Vec<u8>)) {
    value.clear();
    append(key, value, encode);
}

/// Adds the record under `key`, whose body `encode` appends, to a batch.
pub(crate) fn put(batch: &mut WriteBatch, key: &[u8], encode: impl FnOnce(&mut Vec<u8>)) {
    batch.put(key, |out| append(key, out, encode));
}

/// The record under `key`, whose body `encode` appends.
pub(crate) fn seal(key: &[u8], encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut value = Vec::with_capacity(96);
    seal_into(key, &mut value, encode);
    value
}

/// The record of an index row, which has no body.
pub(crate) fn seal_empty(key: &[u8]) -> Vec<u8> {
    seal(key, |_| ())
}

/// Verifies the checksum of the record under `key`. Returns its body and its version.
fn verify<'v>(key: &[u8], value: &'v [u8]) -> Result<(&'v [u8], u8)> {
    let sealed = value
        .split_last_chunk::<CHECKSUM_BYTES>()
        .filter(|(rest, sum)| checksum(key, rest) == **sum);
    let (version, body) =
        sealed.and_then(|(rest, _)| rest.split_first()).ok_or_else(|| corrupt(key))?;
    Ok((body, *version))
}

/// Verifies the checksum of the record under `key`, whatever its version and body.
pub(crate) fn check(key: &[u8], value: &[u8]) -> Result<()> {
    verify(key, value).map(|_| ())
}

/// The body of the record under `key`.
pub(crate) fn body<'v>(key: &[u8], value: &'v [u8]) -> Result<&'v [u8]> {
    match verify(key, value)? {
        (body, VERSION) => Ok(body),
        _ => Err(decode_error(key, DecodeError::UnsupportedVersion)),
    }
}

/// The body of a record that was verified before.
pub(crate) fn verified_body(value: &[u8]) -> Option<&[u8]> {
    value.get(1..value.len().checked_sub(CHECKSUM_BYTES)?)
}

/// Decodes the beginning of the body of the record under `key`, whatever follows it and whatever
/// its version.
pub(crate) fn decode_prefix<'v, T>(
    key: &[u8],
    value: &'v [u8],
    decode: impl FnOnce(&mut Decoder<'v>) -> Decoded<T>,
) -> Result<T> {
    // Any version: the record of the format versions must decode in all of them.
    let (rest, _) = verify(key, value)?;
    decode(&mut Decoder::new(rest)).map_err(|error| decode_error(key, error))
}

/// Decodes the whole body of the record under `key`.
pub(crate) fn decode<'v, T>(
    key: &[u8],
    value: &'v [u8],
    decode: impl FnOnce(&mut Decoder<'v>) -> Decoded<T>,
) -> Result<T> {
    let mut decoder = Decoder::new(body(key, value)?);
    let record = decode(&mut decoder).map_err(|error| decode_error(key, error))?;
    // Trailing bytes would be lost when the record is written again.
    decoder.finish().map_err(|error| decode_error(key, error))?;
    Ok(record)
}

/// Verifies the record of an index row, which must have no body.
pub(crate) fn decode_empty(key: &[u8], value: &[u8]) -> Result<()> {
    decode(key, value, |_| Ok(()))
}

/// The error of the row under `key`, whose record does not decode.
#[cold]
pub(crate) fn decode_error(key: &[u8], error: DecodeError) -> Error {
    match error {
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

/// The error of a key that does not parse, or of a row that is missing although another row refers
/// to it.
#[cold]
pub(crate) fn corrupt(key: &[u8]) -> Error {
    decode_error(key, DecodeError::Corrupt)
}
