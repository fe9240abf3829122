//! The documents of one trigram as bytes: the distances between them, or a bit for each document where that is shorter. Behind the bits of a trigram
//! that most documents have lie masks that tell in which texts each has it: that it has it tells little.

use std::borrow::Cow;

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

/// From this document on a list of fewer than half of all before gathers no masks any more: they would not be kept.
pub(super) const FEW_BY: DocId = 64;

/// Documents in order, each as how many were left out before it, and their masks.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    bytes: Vec<u8>,
    /// Of each document; none if there are too few documents for them to be kept.
    masks: Vec<Mask>,
    /// The one behind the last document.
    next: DocId,
    count: u32,
}

impl List {
    /// Adds a document that comes after the others. Its mask has a bit.
    pub(super) fn push(&mut self, document: DocId, mask: Mask) {
        self.push_distance(document);
        if self.gathers_masks() {
            self.masks.push(mask);
        }
        self.count += 1;
        self.drop_masks_of_few(document);
    }

    /// Adds documents that come after the others, from the first one on a bit for each. Their masks, if any are gathered, are added beside that.
    pub(super) fn push_all(&mut self, first: DocId, documents: u64) {
        let mut left = documents;
        self.bytes.reserve(left.count_ones() as usize);
        while left != 0 {
            self.push_distance(first + left.trailing_zeros());
            left &= left - 1;
        }
        self.count += documents.count_ones();
        self.drop_masks_of_few(first);
    }

    /// Adds the mask of a document, of which it is said apart that it has one.
    pub(super) fn push_mask(&mut self, mask: Mask) {
        self.masks.push(mask);
    }

    fn push_distance(&mut self, document: DocId) {
        let mut left_out = document.wrapping_sub(self.next);
        self.next = document.wrapping_add(1);
        while left_out >= u32::from(LAST) {
            self.bytes.push(u8::try_from(left_out % u32::from(LAST)).unwrap_or_default());
            left_out >>= BITS;
        }
        self.bytes.push(u8::try_from(left_out).unwrap_or_default() | LAST);
    }

    fn drop_masks_of_few(&mut self, document: DocId) {
        if document >= FEW_BY && self.count < document / 2 && !self.masks.is_empty() {
            self.masks = Vec::new();
        }
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Whether there is a mask of each document.
    pub(super) const fn gathers_masks(&self) -> bool {
        self.masks.len() == self.count as usize
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What is kept in a segment of so many documents: how, and what.
    pub(super) fn kept(&self, all: DocId) -> (u8, Cow<'_, [u8]>) {
        let bits = bits_length(all);
        if self.bytes.len() < bits {
            return (DISTANCES, Cow::Borrowed(&self.bytes));
        }
        let mut kept = vec![0; bits];
        for document in (Distances { bytes: &self.bytes, next: 0 }) {
            kept.get_mut(document as usize / 8).into_iter().for_each(|byte| *byte |= 1 << (document % 8));
        }
        if !self.gathers_masks() || !is_in_most(self.count, all) {
            return (BIT_EACH, Cow::Owned(kept));
        }
        kept.reserve(self.masks.len() * MASK);
        kept.extend(self.masks.iter().flat_map(|mask| mask.to_le_bytes().into_iter().take(MASK)));
        (WITH_MASKS, Cow::Owned(kept))
    }
}

/// Whether so many documents are three quarters of all. Fewer leave fewer candidates by themselves; those of two thirds would make an index larger by a tenth of the text.
pub(super) const fn is_in_most(count: u32, all: DocId) -> bool {
    count as u64 * 4 >= all as u64 * 3
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
        let (how, kept) = list.kept(all);
        (postings(how, &kept, all), kept.len())
    }

    /// Documents of which few or most are numbered below `all`, with masks of which many or hardly any bits are set.
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
