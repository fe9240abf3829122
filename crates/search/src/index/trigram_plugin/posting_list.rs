//! Encoding of a posting list: delta-encoded varints, or a bitmap where that is shorter.

use std::io;

use tantivy::DocId;

/// Bits per byte of a varint. The last byte of a number has the highest bit set.
const VARINT_BITS: u32 = 7;
const VARINT_END: u8 = 1 << VARINT_BITS;

/// Tag of a list of gaps: for each document how many IDs lie between it and the one before.
const GAPS: u8 = 0;
/// Tag of a bitmap with a bit per document of the segment.
const BITMAP: u8 = 1;

/// Encodes sorted, distinct IDs below `max_doc` into `bytes`, replacing its content.
pub(super) fn encode(list: &[DocId], max_doc: DocId, bytes: &mut Vec<u8>) {
    debug_assert!(list.is_sorted_by(|one, other| one < other), "postings are sorted and distinct");
    debug_assert!(list.last().is_none_or(|last| *last < max_doc), "postings are in the segment");
    let bitmap_bytes = bitmap_bytes(max_doc);
    bytes.clear();
    // A gap takes a byte at least.
    if list.len() < bitmap_bytes {
        bytes.push(GAPS);
        encode_gaps(list, bytes);
        if bytes.len() <= bitmap_bytes {
            return;
        }
        bytes.clear();
    }
    bytes.push(BITMAP);
    bytes.resize(1 + bitmap_bytes, 0);
    for doc in list {
        if let Some(byte) = bytes.get_mut(1 + (doc / 8) as usize) {
            *byte |= 1 << (doc % 8);
        }
    }
}

fn encode_gaps(list: &[DocId], bytes: &mut Vec<u8>) {
    let mut next = 0;
    for doc in list {
        let mut gap = doc.wrapping_sub(next);
        next = doc.wrapping_add(1);
        loop {
            let [low, ..] = gap.to_le_bytes();
            gap >>= VARINT_BITS;
            if gap == 0 {
                bytes.push(low | VARINT_END);
                break;
            }
            bytes.push(low & !VARINT_END);
        }
    }
}

const fn bitmap_bytes(max_doc: DocId) -> usize {
    max_doc.div_ceil(8) as usize
}

fn corrupt() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a posting list of trigrams is corrupt")
}

/// Decodes a list of a segment of `max_doc` documents: sorted, distinct IDs.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] for bytes that [`encode`] does not write.
pub(super) fn decode(bytes: &[u8], max_doc: DocId) -> io::Result<Vec<DocId>> {
    match bytes.split_first() {
        Some((&GAPS, gaps)) => decode_gaps(gaps, max_doc).ok_or_else(corrupt),
        Some((&BITMAP, bitmap)) if bitmap.len() == bitmap_bytes(max_doc) => {
            decode_bitmap(bitmap, max_doc).ok_or_else(corrupt)
        }
        _ => Err(corrupt()),
    }
}

fn decode_gaps(bytes: &[u8], max_doc: DocId) -> Option<Vec<DocId>> {
    let (mut list, mut next) = (Vec::with_capacity(bytes.len()), 0_u32);
    let (mut gap, mut shift) = (0_u32, 0);
    for byte in bytes {
        gap |= u32::from(byte % VARINT_END).checked_shl(shift)?;
        shift += VARINT_BITS;
        if *byte >= VARINT_END {
            let doc = next.checked_add(gap).filter(|doc| *doc < max_doc)?;
            list.push(doc);
            (next, gap, shift) = (doc + 1, 0, 0);
        }
    }
    // An unfinished number means that the list was cut off.
    (shift == 0).then_some(list)
}

fn decode_bitmap(bitmap: &[u8], max_doc: DocId) -> Option<Vec<DocId>> {
    let count = bitmap.iter().map(|byte| byte.count_ones() as usize).sum();
    let mut list = Vec::with_capacity(count);
    for (first, byte) in (0..).step_by(8).zip(bitmap) {
        let mut left = *byte;
        while left != 0 {
            list.push(first + left.trailing_zeros());
            left &= left - 1;
        }
    }
    list.last().is_none_or(|last| *last < max_doc).then_some(list)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn encoded(list: &[DocId], max_doc: DocId) -> Vec<u8> {
        let mut bytes = vec![1, 2, 3];
        encode(list, max_doc, &mut bytes);
        bytes
    }

    /// Lists of few or most documents of small and large segments.
    fn lists() -> impl Strategy<Value = (DocId, BTreeSet<DocId>)> {
        let dense = (1..400_u32)
            .prop_flat_map(|max| (Just(max), prop::collection::btree_set(0..max, 0..800)));
        let sparse = (1..60_000_u32)
            .prop_flat_map(|max| (Just(max), prop::collection::btree_set(0..max, 0..400)));
        prop_oneof![dense, sparse]
    }

    proptest! {
        #[test]
        fn lists_round_trip((max_doc, list) in lists()) {
            let list: Vec<DocId> = list.into_iter().collect();
            let bytes = encoded(&list, max_doc);
            prop_assert!(bytes.len() <= 1 + bitmap_bytes(max_doc));
            prop_assert_eq!(decode(&bytes, max_doc).unwrap(), list);
        }

        #[test]
        fn any_bytes_are_a_sorted_list_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            tag in 0..3_u8,
            max_doc in 0..300_u32,
        ) {
            let bytes: Vec<u8> = std::iter::once(tag).chain(bytes).collect();
            if let Ok(list) = decode(&bytes, max_doc) {
                prop_assert!(list.is_sorted_by(|one, other| one < other));
                prop_assert!(list.iter().all(|doc| *doc < max_doc));
            }
        }

        #[test]
        fn a_list_that_is_cut_off_is_shorter_or_an_error((max_doc, list) in lists(), cut in any::<u16>()) {
            let list: Vec<DocId> = list.into_iter().collect();
            let bytes = encoded(&list, max_doc);
            let cut = usize::from(cut) % bytes.len();
            if let Ok(read) = decode(&bytes[..cut], max_doc) {
                prop_assert!(read.len() < list.len() || list.is_empty());
            }
        }
    }
}
