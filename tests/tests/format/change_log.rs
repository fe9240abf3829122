//! Changes, put together from their parts.

use crate::entries::Entry;
use crate::message_pack::{take, take_uint};
use crate::records::{LayoutReader, Record};
use crate::{Refused, refuse};

const COMPRESSED: u64 = 1 << 31;
const MERGED: u64 = 1 << 30;

/// A change of the log.
#[derive(Clone, Debug)]
pub(crate) struct LoggedChange {
    pub(crate) first_sequence: u64,
    pub(crate) sequence: u64,
    pub(crate) token: u64,
    pub(crate) is_compressed: bool,
    pub(crate) record: Record,
}

/// What the first part of a change says, and the bytes of all parts so far.
struct Begun {
    sequence: u64,
    head: (u64, u64, u64),
    bytes: Vec<u8>,
    parts: u64,
}

/// The changes of the entries of the log, in their order.
pub(crate) fn read<'e>(
    reader: &LayoutReader,
    parts: impl Iterator<Item = &'e Entry>,
) -> Refused<Vec<LoggedChange>> {
    let (mut changes, mut begun): (Vec<LoggedChange>, Option<Begun>) = (Vec::new(), None);
    for entry in parts {
        let (sequence, part) = (entry.uint(0), entry.uint(1));
        let mut rest = entry.bytes();
        let (count, token) = (take_uint(&mut rest, 4)?, take_uint(&mut rest, 8)?);
        let is_merged = count & MERGED != 0;
        let first = if is_merged { take_uint(&mut rest, 8)? } else { sequence };
        let most = if is_merged { 4_042 } else { 4_050 };
        let head = (count, token, first);
        let new = || Begun { sequence, head, bytes: Vec::new(), parts: 0 };
        let change = begun.get_or_insert_with(new);
        let is_last = part + 1 == count & !(COMPRESSED | MERGED);
        if (change.sequence, change.head, change.parts) != (sequence, head, part)
            || rest.len() > most
            || !is_last && rest.len() < most
            || is_merged && (first == 0 || first >= sequence)
        {
            return refuse(format!("part {part} of change {sequence}"));
        }
        change.parts += 1;
        change.bytes.extend(rest);
        if is_last {
            let is_compressed = count & COMPRESSED != 0;
            let bytes = begun.take().unwrap().bytes;
            let bytes = if is_compressed { decompress(&bytes)? } else { bytes };
            let record = reader
                .read("change", &bytes)
                .map_err(|error| error.within(&format!("change {sequence}")))?;
            if changes.last().is_some_and(|before| before.sequence + 1 != first) {
                return refuse(format!("a gap before change {sequence}"));
            }
            let (first_sequence, record) = (first, record);
            changes.push(LoggedChange { first_sequence, sequence, token, is_compressed, record });
        }
    }
    if begun.is_some() { refuse("a change without its last part") } else { Ok(changes) }
}

/// An LZ4 block after its length.
fn decompress(bytes: &[u8]) -> Refused<Vec<u8>> {
    let mut block = bytes;
    let length = usize::try_from(take_uint(&mut block, 4)?).unwrap();
    match lz4_flex::block::decompress(take(&mut block, bytes.len() - 4)?, length) {
        Ok(body) if body.len() == length => Ok(body),
        other => refuse(format!("{other:?}")),
    }
}
