//! The documents of one trigram as bytes: the distances between them, or a bit for each document where that is shorter.

use std::borrow::Cow;

use tantivy::DocId;

/// Seven bits in a byte, the last one of a number marked.
const BITS: u32 = 7;
const LAST: u8 = 1 << BITS;

/// Documents in order, each as how many were left out before it.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    bytes: Vec<u8>,
    /// The one behind the last document.
    next: DocId,
}

impl List {
    /// Adds a document that comes after the others.
    pub(super) fn push(&mut self, document: DocId) {
        let mut left_out = document.wrapping_sub(self.next);
        self.next = document.wrapping_add(1);
        while left_out >= u32::from(LAST) {
            self.bytes.push(u8::try_from(left_out % u32::from(LAST)).unwrap_or_default());
            left_out >>= BITS;
        }
        self.bytes.push(u8::try_from(left_out).unwrap_or_default() | LAST);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What is kept in a segment of so many documents.
    pub(super) fn kept(&self, all: DocId) -> Cow<'_, [u8]> {
        if self.bytes.len() < bits_length(all) {
            return Cow::Borrowed(&self.bytes);
        }
        let mut bits = vec![0; bits_length(all)];
        for document in (Distances { bytes: &self.bytes, next: 0 }) {
            bits.get_mut(document as usize / 8).into_iter().for_each(|byte| *byte |= 1 << (document % 8));
        }
        Cow::Owned(bits)
    }
}

/// The bytes of a bit for each document.
const fn bits_length(all: DocId) -> usize {
    all.div_ceil(8) as usize
}

/// The documents of what was kept, in order.
pub(super) fn documents(kept: &[u8], all: DocId) -> Vec<DocId> {
    if kept.len() < bits_length(all) {
        return Distances { bytes: kept, next: 0 }.take_while(|document| *document < all).collect();
    }
    let mut documents = Vec::with_capacity(kept.iter().map(|byte| byte.count_ones() as usize).sum());
    for (first, byte) in (0..).step_by(8).zip(kept) {
        let mut left = *byte;
        while left != 0 {
            documents.push(first + left.trailing_zeros());
            left &= left - 1;
        }
    }
    documents
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
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{List, documents};

    proptest! {
        #[test]
        fn documents_are_read_as_they_were_kept(all in 1..60_000_u32, some in prop::collection::btree_set(any::<u32>(), 0..400)) {
            for all in [all, all % 300 + 1] {
                let some: BTreeSet<u32> = some.iter().map(|document| document % all).collect();
                let mut list = List::default();
                for document in &some {
                    list.push(*document);
                }
                let kept = list.kept(all);
                prop_assert!(kept.len() <= all.div_ceil(8) as usize);
                prop_assert_eq!(documents(&kept, all), some.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
