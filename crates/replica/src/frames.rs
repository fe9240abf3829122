//! Segments: objects of frames, each a row of the change log with its checksum.
//!
//! FORMAT.md has the bytes.

use leafbase::{ChangeRow, Result};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::store::damaged;

/// The first bytes of a segment: a name and the version of its format.
const MAGIC: &[u8; 8] = b"LFBSEG\0\x01";
/// Bytes of the header: the magic, the number of frames, first and last sequence, checksum.
const HEADER_BYTES: usize = 36;
/// Bytes of a frame before its payload: length, sequence, checksum.
const FRAME_HEADER_BYTES: usize = 20;

/// A frame as it is stored.
#[derive(Clone, Copy)]
pub(crate) struct RawFrame<'a> {
    sequence: u64,
    /// The row.
    payload: &'a [u8],
}

/// Encodes a segment of these rows, which follow each other.
pub(crate) fn encode(rows: &[ChangeRow]) -> Result<Vec<u8>> {
    let payloads: Vec<_> =
        rows.iter().map(|row| (row.position().sequence(), row.to_bytes())).collect();
    debug_assert!(
        payloads.is_sorted_by(|(one, _), (other, _)| one < other),
        "rows are shipped in the order of the log"
    );
    let frames: Vec<_> = payloads
        .iter()
        .map(|(sequence, payload)| RawFrame { sequence: *sequence, payload })
        .collect();
    let first = rows.first().map_or(0, |row| row.change().first_sequence);
    encode_frames(first, &frames)
}

/// Encodes one segment of the frames of several ones, the names and bytes of which are given in
/// order.
pub(crate) fn join(segments: &[(String, Vec<u8>)]) -> Result<Vec<u8>> {
    let (mut first, mut frames) = (None, Vec::new());
    for (name, bytes) in segments {
        let segment = Segment::open(name, bytes)?;
        first.get_or_insert(segment.first);
        for frame in segment.frames() {
            frames.push(frame?);
        }
    }
    encode_frames(first.unwrap_or(0), &frames)
}

fn encode_frames(first: u64, frames: &[RawFrame<'_>]) -> Result<Vec<u8>> {
    let too_long = |_| leafbase::Error::limit("bytes of a frame", u32::MAX, "more");
    let bytes: usize = frames.iter().map(|frame| FRAME_HEADER_BYTES + frame.payload.len()).sum();
    let mut out = Vec::with_capacity(HEADER_BYTES + bytes);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&u32::try_from(frames.len()).map_err(too_long)?.to_be_bytes());
    out.extend_from_slice(&first.to_be_bytes());
    let last = frames.last().map_or(0, |frame| frame.sequence);
    out.extend_from_slice(&last.to_be_bytes());
    out.extend_from_slice(&xxh3_64(&out).to_be_bytes());
    debug_assert_eq!(out.len(), HEADER_BYTES, "the frames follow the header");
    for RawFrame { sequence, payload } in frames {
        out.extend_from_slice(&u32::try_from(payload.len()).map_err(too_long)?.to_be_bytes());
        out.extend_from_slice(&sequence.to_be_bytes());
        // Seeded with the sequence, so that a payload in another frame's place is damage, too.
        out.extend_from_slice(&xxh3_64_with_seed(payload, *sequence).to_be_bytes());
        out.extend_from_slice(payload);
    }
    Ok(out)
}

/// The bytes of a segment whose header was verified.
#[derive(Debug)]
pub(crate) struct Segment<'a> {
    name: &'a str,
    count: u32,
    first: u64,
    last: u64,
    frames: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Verifies the header of the segment `name`.
    pub(crate) fn open(name: &'a str, bytes: &'a [u8]) -> Result<Self> {
        let parsed = || {
            let (magic, rest) = bytes.split_first_chunk::<8>()?;
            let (count, rest) = rest.split_first_chunk::<4>()?;
            let (first, rest) = rest.split_first_chunk::<8>()?;
            let (last, rest) = rest.split_first_chunk::<8>()?;
            let (checksum, frames) = rest.split_first_chunk::<8>()?;
            let header = bytes.get(..HEADER_BYTES - 8)?;
            (magic == MAGIC && xxh3_64(header) == u64::from_be_bytes(*checksum)).then(|| Self {
                name,
                count: u32::from_be_bytes(*count),
                first: u64::from_be_bytes(*first),
                last: u64::from_be_bytes(*last),
                frames,
            })
        };
        parsed().ok_or_else(|| damaged(name, "its header is not that of a segment"))
    }

    /// Fails unless the segment covers the sequences that the manifest says.
    pub(crate) fn check_range(&self, first: u64, last: u64) -> Result<()> {
        if (self.first, self.last) == (first, last) {
            return Ok(());
        }
        let message = format!("it covers changes {} to {}", self.first, self.last);
        Err(damaged(self.name, message))
    }

    /// The frames in order. An error is the last one.
    pub(crate) fn frames(&self) -> impl Iterator<Item = Result<RawFrame<'a>>> + use<'a> {
        let (name, count, last, mut rest) = (self.name, self.count, self.last, self.frames);
        let (mut read, mut failed, mut newest) = (0, false, 0);
        std::iter::from_fn(move || {
            if failed || (read == count && rest.is_empty()) {
                return None;
            }
            // The header counts the frames, so a segment that was cut off between two of them
            // shows.
            let frame = if read == count {
                Err(damaged(name, "bytes follow its last frame"))
            } else {
                take_frame(&mut rest).ok_or_else(|| {
                    damaged(name, format_args!("the frame after change {newest} is damaged"))
                })
            };
            read += 1;
            let frame = frame.and_then(|frame| {
                newest = frame.sequence;
                if read == count && newest != last {
                    return Err(damaged(name, format_args!("it ends with change {newest}")));
                }
                Ok(frame)
            });
            failed = frame.is_err();
            Some(frame)
        })
    }

    /// The rows in order. An error is the last one.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Result<ChangeRow>> + use<'a> {
        let name = self.name;
        self.frames().map(move |frame| {
            let RawFrame { sequence, payload } = frame?;
            let row = ChangeRow::from_bytes(payload).map_err(|error| {
                leafbase::Error::new(error.kind(), format!("object {name}: {error}"))
            })?;
            if row.position().sequence() != sequence {
                return Err(damaged(name, format_args!("frame {sequence} has another change")));
            }
            Ok(row)
        })
    }
}

/// Takes the next frame, if it is whole.
fn take_frame<'a>(rest: &mut &'a [u8]) -> Option<RawFrame<'a>> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (sequence, after) = after.split_first_chunk::<8>()?;
    let (checksum, after) = after.split_first_chunk::<8>()?;
    let (payload, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let sequence = u64::from_be_bytes(*sequence);
    if xxh3_64_with_seed(payload, sequence) != u64::from_be_bytes(*checksum) {
        return None;
    }
    *rest = after;
    Some(RawFrame { sequence, payload })
}
