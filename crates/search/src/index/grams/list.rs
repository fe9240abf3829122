//! The documents of one trigram as bytes: the distances between them, or a bit for each document
//! where that is shorter. Behind the bits of a trigram that most documents have lie masks that tell
//! in which texts each has it: that it has it tells little.

use tantivy::DocId;

use crate::grams::{ANY_TEXT, MASK_BITS, Mask};

/// Seven bits in a byte, the last one of a number marked.
const BITS: u32 = 7;
const LAST: u8 = 1 << BITS;

/// How the documents of a list are kept.
const DISTANCES: u8 = 0;
/// A bit for each document of the segment.
const BIT_EACH: u8 = 1;
/// The same, and the mask of each document that has one.
const WITH_MASKS: u8 = 2;

/// The bytes of a mask that has no more texts.
const MASK: usize = MASK_BITS.div_ceil(8) as usize;

/// A document, and in which of its texts the trigram may be.
pub(crate) type Posting = (DocId, Mask);

/// Of so many documents it cannot be told yet whether a list has most.
const FEW_BY: DocId = 64;

/// Documents with one number of a block, a bit for each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    pub(super) number: u32,
    pub(super) documents: u64,
}

/// So many documents are a block.
pub(super) const OF_BLOCK: DocId = u64::BITS;

/// The documents of a trigram, in order, and their masks; no masks if there are too few documents
/// for them to be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Documents<'l> {
    pub(super) blocks: &'l [Block],
    pub(super) masks: &'l [Mask],
    pub(super) count: u32,
}

impl Documents<'_> {
    /// Writes what is kept in a segment of so many documents in place of what is in `kept`, and
    /// tells how it is.
    pub(super) fn keep(&self, all: DocId, kept: &mut Vec<u8>) -> u8 {
        let bits = bits_length(all);
        kept.clear();
        // A distance takes a byte at least.
        if (self.count as usize) < bits {
            self.keep_distances(kept);
            if kept.len() < bits {
                return DISTANCES;
            }
            kept.clear();
        }
        kept.resize(bits, 0);
        let (places, rest) = kept.as_chunks_mut();
        for block in self.blocks {
            let bytes = block.documents.to_le_bytes();
            match places.get_mut(block.number as usize) {
                Some(place) => *place = bytes,
                None => rest.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte),
            }
        }
        if self.masks.len() != self.count as usize || !is_in_most(self.count, all) {
            return BIT_EACH;
        }
        kept.reserve(self.masks.len() * MASK);
        kept.extend(self.masks.iter().flat_map(|mask| mask.to_le_bytes().into_iter().take(MASK)));
        WITH_MASKS
    }

    fn keep_distances(&self, kept: &mut Vec<u8>) {
        let mut next = 0;
        for block in self.blocks {
            let mut left = block.documents;
            while left != 0 {
                let document = block.number * OF_BLOCK + left.trailing_zeros();
                left &= left - 1;
                let mut left_out = document.wrapping_sub(next);
                next = document.wrapping_add(1);
                while left_out >= u32::from(LAST) {
                    kept.push(u8::try_from(left_out % u32::from(LAST)).unwrap_or_default());
                    left_out >>= BITS;
                }
                kept.push(u8::try_from(left_out).unwrap_or_default() | LAST);
            }
        }
    }
}

/// Documents of a trigram, as they come in order.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    blocks: Vec<Block>,
    masks: Vec<Mask>,
    count: u32,
}

impl List {
    /// Adds a document that comes after the others. Its mask has a bit.
    pub(super) fn push(&mut self, document: DocId, mask: Mask) {
        let (number, bit) = (document / OF_BLOCK, 1 << (document % OF_BLOCK));
        match self.blocks.last_mut() {
            Some(last) if last.number == number => last.documents |= bit,
            _ => self.blocks.push(Block { number, documents: bit }),
        }
        if self.masks.len() == self.count as usize {
            if may_be_most(self.count, document) {
                self.masks.push(mask);
            } else {
                self.masks = Vec::new();
            }
        }
        self.count += 1;
    }

    pub(super) fn documents(&self) -> Documents<'_> {
        Documents { blocks: &self.blocks, masks: &self.masks, count: self.count }
    }
}

/// Whether masks are gathered on for a list of so many documents before this one: if it has fewer
/// than half of them, they would not be kept.
pub(super) const fn may_be_most(count: u32, document: DocId) -> bool {
    document < FEW_BY || count >= document / 2
}

/// Whether so many documents are three quarters of all. Fewer leave fewer candidates by themselves;
/// those of two thirds would make an index larger by a tenth of the text.
pub(super) const fn is_in_most(count: u32, all: DocId) -> bool {
    count as u64 * 4 >= all as u64 * 3
}

/// The bytes of a bit for each document.
const fn bits_length(all: DocId) -> usize {
    all.div_ceil(8) as usize
}

/// The documents of what was kept, in order. Where nothing else is kept each may have the trigram
/// in any text.
pub(super) fn postings(how: u8, kept: &[u8], all: DocId) -> Vec<Posting> {
    if how == DISTANCES {
        let documents = Distances { bytes: kept, next: 0 }.take_while(|document| *document < all);
        return documents.map(|document| (document, ANY_TEXT)).collect();
    }
    let (bits, masks) = kept.split_at_checked(bits_length(all)).unwrap_or((kept, &[]));
    let mut found = Vec::with_capacity(bits.iter().map(|byte| byte.count_ones() as usize).sum());
    for (first, byte) in (0..).step_by(8).zip(bits) {
        let mut left = *byte;
        while left != 0 {
            found.push((first + left.trailing_zeros(), ANY_TEXT));
            left &= left - 1;
        }
    }
    if how == WITH_MASKS {
        for ((_, mask), kept) in found.iter_mut().zip(masks.as_chunks::<MASK>().0) {
            *mask = kept.iter().rev().fold(0, |mask, byte| mask << 8 | Mask::from(*byte));
        }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{FEW_BY, List, MASK, bits_length, is_in_most, postings};
    use crate::grams::{ANY_TEXT, MASK_BITS, Mask};

    /// What is read of documents that are numbered below `all`, and how long it was.
    fn kept(some: &BTreeMap<u32, Mask>, all: u32) -> (Vec<(u32, Mask)>, usize) {
        let mut list = List::default();
        for (document, mask) in some {
            list.push(*document, *mask);
        }
        let mut kept = vec![1, 2, 3];
        let how = list.documents().keep(all, &mut kept);
        (postings(how, &kept, all), kept.len())
    }

    /// Documents of which few or most are numbered below `all`, with masks of which many or hardly
    /// any bits are set.
    fn documents() -> impl Strategy<Value = (u32, BTreeMap<u32, Mask>)> {
        let one_bit = || (0..MASK_BITS).prop_map(|bit| 1 << bit);
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
            let was_in_few = (0..).zip(some.keys()).any(|(before, document)| *document >= FEW_BY && before < document / 2);
            let has_masks = is_in_most(u32::try_from(some.len()).unwrap(), all) && !was_in_few;
            let masks = if has_masks { some.len() * MASK } else { 0 };
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
}
