//! The documents of one trigram as bytes: the distances between them, or a bit for each document where that is shorter. Behind the bits of a trigram
//! that most documents have lie masks that tell in which texts each has it: that it has it tells little.

use tantivy::DocId;

use crate::grams::{ANY_TEXT, Mask};

/// Seven bits in a byte, the last one of a number marked.
const BITS: u32 = 7;
const LAST: u8 = 1 << BITS;

/// How the documents of a list are kept.
const DISTANCES: u8 = 0;
/// A bit for each document of the segment.
const BIT_EACH: u8 = 1;
/// The same and the distances between the bits of all masks, in half bytes.
const WITH_GAPS: u8 = 2;
/// The same and the masks as they are.
const WITH_MASKS: u8 = 3;

/// This half of a byte says that so many bits are left out, and nothing of the next one.
const FAR: u8 = 15;

const MASK_BITS: usize = Mask::BITS as usize;

/// A document, and in which of its texts the trigram may be.
pub(crate) type Posting = (DocId, Mask);

/// Documents in order, each as how many were left out before it, and its mask. Both lie together: most lists are added to again and again.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    bytes: Vec<u8>,
    /// The one behind the last document.
    next: DocId,
    count: u32,
}

impl List {
    /// Adds a document that comes after the others. Its mask has a bit.
    pub(super) fn push(&mut self, document: DocId, mask: Mask) {
        let mut left_out = document.wrapping_sub(self.next);
        self.next = document.wrapping_add(1);
        self.count += 1;
        while left_out >= u32::from(LAST) {
            self.bytes.push(u8::try_from(left_out % u32::from(LAST)).unwrap_or_default());
            left_out >>= BITS;
        }
        self.bytes.push(u8::try_from(left_out).unwrap_or_default() | LAST);
        self.bytes.extend_from_slice(&mask.to_le_bytes());
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What is kept in a segment of so many documents: how, and what.
    pub(super) fn kept(&self, all: DocId) -> (u8, Vec<u8>) {
        let (bits, has_masks) = (bits_length(all), is_in_most(self.count, all));
        let distances = self.bytes.len().saturating_sub(self.count as usize * size_of::<Mask>());
        if distances < bits {
            return (DISTANCES, self.distances(distances));
        }
        let (mut kept, mut masks) =
            (vec![0; bits], Vec::with_capacity(if has_masks { self.count as usize } else { 0 }));
        let mut pushed = Distances { bytes: &self.bytes, next: 0 };
        while let Some((document, mask)) = pushed.next().zip(pushed.mask()) {
            kept.get_mut(document as usize / 8).into_iter().for_each(|byte| *byte |= 1 << (document % 8));
            if has_masks {
                masks.push(mask);
            }
        }
        let how = if has_masks { put_masks(&mut kept, &masks) } else { BIT_EACH };
        (how, kept)
    }

    /// The distances alone: so many bytes.
    fn distances(&self, length: usize) -> Vec<u8> {
        let (mut kept, mut rest) = (Vec::with_capacity(length), self.bytes.as_slice());
        while let Some((byte, behind)) = rest.split_first() {
            kept.push(*byte);
            let is_last = *byte >= LAST;
            rest = if is_last { behind.get(size_of::<Mask>()..).unwrap_or_default() } else { behind };
        }
        kept
    }
}

/// Whether so many documents are two thirds of all. Fewer leave fewer candidates by themselves, and their masks would make an index a fifth larger.
const fn is_in_most(count: u32, all: DocId) -> bool {
    count as u64 * 3 >= all as u64 * 2
}

/// Puts masks behind what is kept, and says how.
fn put_masks(kept: &mut Vec<u8>, masks: &[Mask]) -> u8 {
    let most = size_of_val(masks) * 2;
    let (mut halves, mut next) = (Vec::with_capacity(most), 0);
    for (first, mask) in (0..).step_by(MASK_BITS).zip(masks) {
        let mut left = *mask;
        while left != 0 {
            let place = first + left.trailing_zeros() as usize;
            let mut left_out = place - next;
            while left_out >= usize::from(FAR) {
                halves.push(FAR);
                left_out -= usize::from(FAR);
            }
            halves.push(u8::try_from(left_out).unwrap_or_default());
            next = place + 1;
            left &= left - 1;
        }
        if halves.len() >= most {
            kept.extend(masks.iter().flat_map(|mask| mask.to_le_bytes()));
            return WITH_MASKS;
        }
    }
    // Where there is no other half it leaves out what nobody asks for.
    kept.extend(halves.chunks(2).map(|pair| pair.first().unwrap_or(&FAR) | pair.get(1).unwrap_or(&FAR) << 4));
    WITH_GAPS
}

/// The bytes of a bit for each document.
const fn bits_length(all: DocId) -> usize {
    all.div_ceil(8) as usize
}

/// The documents of what was kept, in order. Where nothing else is kept each may have the trigram in any text.
pub(super) fn postings(how: u8, kept: &[u8], all: DocId) -> Vec<Posting> {
    if how == DISTANCES {
        let documents = Distances { bytes: kept, next: 0 }.take_while(|document| *document < all);
        return documents.map(|document| (document, ANY_TEXT)).collect();
    }
    let (bits, masks) = kept.split_at_checked(bits_length(all)).unwrap_or((kept, &[]));
    let mut found = Vec::with_capacity(bits.iter().map(|byte| byte.count_ones() as usize).sum());
    let unknown = if how == WITH_GAPS { 0 } else { ANY_TEXT };
    for (first, byte) in (0..).step_by(8).zip(bits) {
        let mut left = *byte;
        while left != 0 {
            found.push((first + left.trailing_zeros(), unknown));
            left &= left - 1;
        }
    }
    if how == WITH_GAPS {
        let mut place = 0;
        for half in masks.iter().flat_map(|byte| [byte & 0xF, byte >> 4]) {
            place += usize::from(half);
            if half < FAR {
                if let Some((_, mask)) = found.get_mut(place / MASK_BITS) {
                    *mask |= 1 << (place % MASK_BITS);
                }
                place += 1;
            }
        }
    } else {
        let masks = masks.as_chunks().0.iter().map(|bytes| Mask::from_le_bytes(*bytes));
        found.iter_mut().zip(masks).for_each(|((_, mask), kept)| *mask = kept);
    }
    found
}

struct Distances<'b> {
    bytes: &'b [u8],
    next: DocId,
}

impl Iterator for Distances<'_> {
    type Item = DocId;

    fn next(&mut self) -> Option<DocId> {
        let (mut left_out, mut shift) = (0_u32, 0);
        loop {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            left_out |= u32::from(byte % LAST).checked_shl(shift).unwrap_or_default();
            shift += BITS;
            if *byte >= LAST {
                let document = self.next.wrapping_add(left_out);
                self.next = document.wrapping_add(1);
                return Some(document);
            }
        }
    }
}

impl Distances<'_> {
    /// The mask that was added with the last document.
    fn mask(&mut self) -> Option<Mask> {
        let (mask, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(Mask::from_le_bytes(*mask))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{List, bits_length, is_in_most, postings};
    use crate::grams::{ANY_TEXT, Mask};

    /// What is read of documents that are numbered below `all`, and how long it was.
    fn kept(some: &BTreeMap<u32, Mask>, all: u32) -> (Vec<(u32, Mask)>, usize) {
        let mut list = List::default();
        for (document, mask) in some {
            list.push(*document, *mask);
        }
        let (how, kept) = list.kept(all);
        (postings(how, &kept, all), kept.len())
    }

    /// Documents of which few or most are numbered below `all`, with masks of which many or hardly any bits are set.
    fn documents() -> impl Strategy<Value = (u32, BTreeMap<u32, Mask>)> {
        let one_bit = || (0..Mask::BITS).prop_map(|bit| 1 << bit);
        let mask = prop_oneof![1..=ANY_TEXT, one_bit(), Just(ANY_TEXT)];
        let masks = (1..400_u32).prop_flat_map(move |all| {
            let dense = prop::collection::btree_map(0..all, one_bit(), 0..2 * all as usize);
            let mixed = prop::collection::btree_map(0..all, mask.clone(), 0..2 * all as usize);
            (Just(all), prop_oneof![dense, mixed])
        });
        let sparse = (1..60_000_u32, prop::collection::btree_map(any::<u32>(), one_bit(), 0..400));
        prop_oneof![
            3 => masks,
            1 => sparse.prop_map(|(all, some)| (all, some.into_iter().map(|(one, mask)| (one % all, mask)).collect())),
        ]
    }

    proptest! {
        #[test]
        fn documents_are_read_as_they_were_kept((all, some) in documents()) {
            let (read, length) = kept(&some, all);
            let has_masks = is_in_most(u32::try_from(some.len()).unwrap(), all);
            let masks = if has_masks { some.len() * size_of::<Mask>() } else { 0 };
            prop_assert!(length <= bits_length(all) + masks);
            let expected = some.into_iter().map(|(document, mask)| (document, if has_masks { mask } else { ANY_TEXT }));
            prop_assert_eq!(read, expected.collect::<Vec<_>>());
        }

        #[test]
        fn whatever_is_kept_is_read(kept in prop::collection::vec(any::<u8>(), 0..40), how in 0..5_u8, all in 0..300_u32) {
            let found = postings(how, &kept, all);
            prop_assert!(found.len() <= kept.len() * 8);
            prop_assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0 || how == 0));
        }
    }

    #[test]
    fn masks_of_one_bit_take_less_than_they_are() {
        let some: BTreeMap<u32, Mask> =
            (0..1_000).map(|document| (document, 1 << (document * 7 % Mask::BITS))).collect();
        let (read, length) = kept(&some, 1_000);
        assert_eq!(read, some.into_iter().collect::<Vec<_>>());
        assert!(length < 125 + 1_500, "{length}");
    }
}
