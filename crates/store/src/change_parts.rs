//! Parts of changes: a change is stored in parts that each fill a page.

use std::ops::ControlFlow;

use leafbase_model::{
    Change, ChangePosition, ChangeToken, DocumentId, Error, Result, Stamp, invariant,
};

use crate::change_row::ChangeRow;
use crate::keyspaces::{self, CHANGE_PART_BYTES};
use crate::kv::{KeyRange, Read, Transaction, WriteBatch};
use crate::msgpack::Decoded;
use crate::records::change::{self, ChangeIdentity, TouchedDocument};
use crate::records::{self, compressed};

/// Set in the number of parts of a compressed change, whose parts together are what
/// [`crate::records::compressed`] decompresses.
const COMPRESSED: u32 = 1 << 31;
/// Set in the number of parts of a change that compaction merged from several ones: the sequence of
/// the first of them follows the token.
const MERGED: u32 = 1 << 30;
/// Bytes of that sequence.
const FIRST_SEQUENCE_BYTES: usize = size_of::<u64>();

/// What each part of a change begins with. It is never compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartHeader {
    /// Number of parts, less than [`MERGED`].
    parts: u32,
    is_compressed: bool,
    pub(crate) token: ChangeToken,
    /// The first sequence of a merged change.
    merged_from: Option<u64>,
}

impl PartHeader {
    /// The header of a change whose body has `length` bytes.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::LimitExceeded`] above 2^30 - 1 parts.
    pub(crate) fn new(
        length: usize,
        is_compressed: bool,
        identity: ChangeIdentity,
    ) -> Result<Self> {
        let ChangeIdentity { first_sequence, sequence, token } = identity;
        let merged_from = (first_sequence != sequence).then_some(first_sequence);
        let mut header = Self { parts: 0, is_compressed, token, merged_from };
        let (parts, most) = (length.div_ceil(header.bytes_per_part()), MERGED - 1);
        let count = u32::try_from(parts).ok().filter(|count| *count <= most);
        header.parts = count.ok_or_else(|| Error::limit("parts of a change", most, parts))?;
        Ok(header)
    }

    /// Bytes of the body in a part: with the header they fill a page.
    pub(crate) const fn bytes_per_part(self) -> usize {
        match self.merged_from {
            Some(_) => CHANGE_PART_BYTES - FIRST_SEQUENCE_BYTES,
            None => CHANGE_PART_BYTES,
        }
    }

    /// The first of the sequences that the change `sequence` covers.
    pub(crate) fn first_sequence(self, sequence: u64) -> u64 {
        self.merged_from.unwrap_or(sequence)
    }

    /// The numbers of the parts.
    pub(crate) const fn numbers(self) -> std::ops::Range<u32> {
        0..self.parts
    }

    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        debug_assert!((1..MERGED).contains(&self.parts), "flags are next to {} parts", self.parts);
        let compressed = if self.is_compressed { COMPRESSED } else { 0 };
        let merged = if self.merged_from.is_some() { MERGED } else { 0 };
        out.extend_from_slice(&(self.parts | compressed | merged).to_be_bytes());
        out.extend_from_slice(&self.token.to_u64().to_be_bytes());
        if let Some(first) = self.merged_from {
            out.extend_from_slice(&first.to_be_bytes());
        }
    }

    /// The header of a part, and the bytes after it.
    fn decode(part: &[u8]) -> Option<(Self, &[u8])> {
        let (count, rest) = part.split_first_chunk::<4>()?;
        let (token, mut bytes) = rest.split_first_chunk::<8>()?;
        let count = u32::from_be_bytes(*count);
        let mut merged_from = None;
        if count & MERGED != 0 {
            let (first, rest) = bytes.split_first_chunk::<FIRST_SEQUENCE_BYTES>()?;
            (merged_from, bytes) = (Some(u64::from_be_bytes(*first)), rest);
        }
        let header = Self {
            parts: count & !(COMPRESSED | MERGED),
            is_compressed: count & COMPRESSED != 0,
            token: ChangeToken::from_u64(u64::from_be_bytes(*token)),
            merged_from,
        };
        Some((header, bytes))
    }

    /// The header of the part `value`, stored under `key`, and the bytes after it.
    pub(crate) fn read<'v>(key: &[u8], value: &'v [u8]) -> Result<(Self, &'v [u8])> {
        Self::decode(records::body(key, value)?).ok_or_else(|| records::corrupt(key))
    }
}

/// The body of a change, of which all parts were read.
pub(crate) struct ChangeBody {
    pub(crate) sequence: u64,
    header: PartHeader,
    pub(crate) bytes: Vec<u8>,
}

impl ChangeBody {
    /// Number of parts.
    pub(crate) const fn parts(&self) -> u32 {
        self.header.parts
    }

    pub(crate) const fn is_compressed(&self) -> bool {
        self.header.is_compressed
    }

    pub(crate) fn identity(&self) -> ChangeIdentity {
        let PartHeader { token, .. } = self.header;
        let first_sequence = self.header.first_sequence(self.sequence);
        ChangeIdentity { first_sequence, sequence: self.sequence, token }
    }

    pub(crate) const fn position(&self) -> ChangePosition {
        ChangePosition::new(self.sequence, self.header.token)
    }

    /// Decodes the body with `decode`.
    fn decode<T>(&self, decode: impl FnOnce(&[u8]) -> Decoded<T>) -> Result<T> {
        let decoded = if self.is_compressed() {
            compressed::decompress(&self.bytes).and_then(|body| decode(&body))
        } else {
            decode(&self.bytes)
        };
        decoded.map_err(|error| {
            records::decode_error(&keyspaces::change_part(self.sequence, 0), error)
        })
    }

    /// The uncompressed body with other links: see [`change::relink`].
    pub(crate) fn relinked(&self, previous: impl Fn(DocumentId) -> u64) -> Result<Vec<u8>> {
        self.decode(|bytes| change::relink(bytes, previous))
    }

    /// Decodes the change.
    pub(crate) fn change(&self) -> Result<Change> {
        self.decode(|bytes| change::decode(self.identity(), bytes))
    }

    /// The row for a follower, which comes after `previous`.
    pub(crate) fn row(&self, previous: ChangePosition) -> Result<ChangeRow> {
        self.decode(|bytes| ChangeRow::new(previous, self.identity(), bytes.to_vec(), Vec::new()))
    }

    /// Decodes time and author of the change.
    pub(crate) fn stamp(&self) -> Result<Stamp> {
        self.decode(change::decode_stamp)
    }

    /// Decodes the documents that the change touches, and none of its edits.
    pub(crate) fn documents(&self) -> Result<Vec<TouchedDocument>> {
        self.decode(change::decode_documents)
    }
}

/// The body of the change `sequence`, which exists.
pub(crate) fn change_body(source: &dyn Read, sequence: u64) -> Result<ChangeBody> {
    let (lower, mut body) = (keyspaces::change_parts(sequence), None);
    let upper = keyspaces::prefix_end(lower);
    let mut parts = ChangeParts::default();
    source.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
        body = parts.push(key, value)?;
        Ok(if body.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    body.ok_or_else(|| records::corrupt(&keyspaces::change_part(sequence, 0)))
}

/// Assembles the bodies of changes from their parts, in the order of their keys.
#[derive(Default)]
pub(crate) struct ChangeParts {
    /// Sequence of the change begun, and the header that all of its parts share.
    begun: Option<(u64, PartHeader)>,
    read: u32,
    bytes: Vec<u8>,
}

impl ChangeParts {
    /// Adds the next part; returns the body if the part is the last one of its change.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<Option<ChangeBody>> {
        let corrupt = || records::corrupt(key);
        let (sequence, part) = keyspaces::parse_change_part(key).ok_or_else(corrupt)?;
        let (header, bytes) = PartHeader::read(key, value)?;
        let count = header.parts;
        if *self.begun.get_or_insert((sequence, header)) != (sequence, header)
            || part != self.read
            || part >= count
            || header.merged_from.is_some_and(|first| first == 0 || first >= sequence)
        {
            return Err(corrupt());
        }
        // Parts come in the order of their keys, so a missing one is detected by the next.
        self.read += 1;
        self.bytes.extend_from_slice(bytes);
        if self.read < count {
            return Ok(None);
        }
        debug_assert_eq!(self.read, count, "all parts are read in order");
        let Self { bytes, .. } = std::mem::take(self);
        Ok(Some(ChangeBody { sequence, header, bytes }))
    }

    /// The sequence of the change that lacks parts, if any.
    pub(crate) fn incomplete(&self) -> Option<u64> {
        self.begun.map(|(sequence, _)| sequence)
    }
}

/// Writes the parts of a change whose body is `header` followed by `edits`, and returns how many.
pub(crate) fn put_change(
    rows: &mut dyn Transaction,
    identity: ChangeIdentity,
    (header, edits): (Vec<u8>, &[u8]),
) -> Result<u32> {
    let length = header.len() + edits.len();
    let part_header = PartHeader::new(length, false, identity)?;
    let (parts, most) = (part_header.numbers().len(), part_header.bytes_per_part());
    let mut batch = WriteBatch::with_capacity(parts, length.min(most) + 40);
    let (mut header, mut edits) = (header.as_slice(), edits);
    for part in part_header.numbers() {
        let (first, rest) = header.split_at(header.len().min(most));
        let (second, rest_of_edits) = edits.split_at(edits.len().min(most - first.len()));
        (header, edits) = (rest, rest_of_edits);
        records::put(&mut batch, &keyspaces::change_part(identity.sequence, part), |out| {
            part_header.encode(out);
            out.extend_from_slice(first);
            out.extend_from_slice(second);
        });
        if batch.is_full() {
            batch.write_to(rows)?;
        }
    }
    invariant!(header.is_empty() && edits.is_empty(), "the parts of a change hold its whole body");
    batch.write_to(rows)?;
    Ok(part_header.numbers().end)
}
