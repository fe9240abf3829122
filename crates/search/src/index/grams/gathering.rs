//! Trigrams of documents that are being written.

use std::collections::HashMap;
use std::mem;

use foldhash::fast::RandomState;
use tantivy::{DocId, Segment};

use super::list::{Block, Documents, OF_BLOCK, is_in_most, may_be_most};
use super::table::Writing;
use crate::grams::{ANY_TEXT, Gram, Marked, Mask, PLAIN, VARIES};
use crate::index::places::Places;

/// About what a list takes beside its documents, and what a block and a mask do: as they come, and
/// when they are put in order.
const OF_LIST: usize = 64;
const OF_PART: usize = 32;
const OF_MASK: usize = 12;

/// The number of a list, from 1 on, and none of one: a table of none costs nothing before it is
/// looked at.
type Number = u32;
const NONE: Number = 0;

/// The trigrams of documents. What is looked at for each of them is so little that the processor's
/// cache has it, and what is written lies one behind the other, until all are put in order at the
/// end.
#[derive(Default)]
pub(in crate::index) struct Gathering {
    /// The list of each trigram of plain letters.
    plain: Vec<Number>,
    others: HashMap<Gram, Number, RandomState>,
    /// Of each list, which documents of the block that is being gathered it has.
    gathered: Vec<u64>,
    /// The lists that have any of them.
    met: Vec<Number>,
    /// Of each list, how many documents it has, and whether masks are gathered for it.
    counts: Vec<u32>,
    has_masks: Vec<bool>,
    /// Of each block, lists that have documents of it; and where those of each block end.
    blocks: Vec<(Number, u64)>,
    ends: Vec<usize>,
    /// Masks of the first block: it is not known before its end which lists have most.
    first_masks: Vec<(Number, Mask)>,
    masks: Vec<(Number, Mask)>,
    documents: DocId,
}

impl Gathering {
    /// Adds the trigrams of the next document.
    pub(in crate::index) fn add(&mut self, grams: &Marked, varies: bool) {
        if self.counts.is_empty() {
            self.plain = vec![NONE; PLAIN as usize];
            // That of none.
            self.begin_list();
        }
        let is_early = self.documents < OF_BLOCK;
        for (gram, mask) in grams.iter().chain(varies.then_some((VARIES, ANY_TEXT))) {
            let number = self.number(gram);
            if let Some(gathered) = self.gathered.get_mut(number as usize) {
                if *gathered == 0 {
                    self.met.push(number);
                }
                *gathered |= 1 << (self.documents % OF_BLOCK);
            }
            if is_early {
                self.first_masks.push((number, mask));
            } else if self.has_masks.get(number as usize).is_some_and(|has| *has) {
                self.masks.push((number, mask));
            }
        }
        self.documents += 1;
        if self.documents.is_multiple_of(OF_BLOCK) {
            self.end_block();
        }
    }

    /// The number of a trigram's list.
    fn number(&mut self, gram: Gram) -> Number {
        let number = match self.plain.get_mut(gram as usize) {
            Some(number) => number,
            None => self.others.entry(gram).or_insert(NONE),
        };
        if *number != NONE {
            return *number;
        }
        let next = Number::try_from(self.counts.len()).unwrap_or(NONE);
        *number = next;
        self.begin_list();
        next
    }

    fn begin_list(&mut self) {
        self.gathered.push(0);
        self.counts.push(0);
        self.has_masks.push(false);
    }

    fn end_block(&mut self) {
        let (is_first, before) = (self.ends.is_empty(), self.documents.saturating_sub(1));
        for number in self.met.drain(..) {
            let place = number as usize;
            let documents = self.gathered.get_mut(place).map(mem::take).unwrap_or_default();
            if let (Some(count), Some(has_masks)) =
                (self.counts.get_mut(place), self.has_masks.get_mut(place))
            {
                *count += documents.count_ones();
                *has_masks = if is_first {
                    *count >= self.documents / 2
                } else {
                    *has_masks && may_be_most(*count, before)
                };
            }
            self.blocks.push((number, documents));
        }
        self.ends.push(self.blocks.len());
        let has_masks = |(number, _): &(Number, _)| {
            self.has_masks.get(*number as usize).is_some_and(|has| *has)
        };
        self.masks.extend(mem::take(&mut self.first_masks).into_iter().filter(has_masks));
    }

    /// About how many bytes they take.
    pub(in crate::index) fn bytes(&self) -> usize {
        let (parts, masks) =
            (self.blocks.len() + self.met.len(), self.masks.len() + self.first_masks.len());
        self.counts.len() * OF_LIST + parts * OF_PART + masks * OF_MASK
    }

    /// There are no more documents.
    pub(in crate::index) fn end(&mut self) {
        if !self.met.is_empty() {
            self.end_block();
        }
    }

    /// The lists of documents that have come to an end.
    fn lists(&self) -> Lists<'_> {
        let mut places =
            Places::of(self.blocks.iter().map(|(number, _)| *number), self.counts.len());
        let (mut blocks, mut start) = (vec![Block::default(); self.blocks.len()], 0);
        for (number, end) in (0..).zip(&self.ends) {
            for (list, documents) in self.blocks.get(start..*end).unwrap_or_default() {
                places.put(*list, Block { number, documents: *documents }, &mut blocks);
            }
            start = *end;
        }
        let kept = self.counts.iter().zip(&self.has_masks);
        let kept =
            kept.map(
                |(count, has)| {
                    if *has && is_in_most(*count, self.documents) { *count as usize } else { 0 }
                },
            );
        let kept: Vec<usize> = kept.collect();
        let mut masks = vec![0; kept.iter().sum()];
        let mut mask_places = Places::of_counts(kept.clone());
        for (list, mask) in &self.masks {
            if kept.get(*list as usize).is_some_and(|kept| *kept > 0) {
                mask_places.put(*list, *mask, &mut masks);
            }
        }
        Lists { counts: &self.counts, blocks, places, masks, mask_places }
    }

    /// Writes the file of a segment, of documents that have come to an end.
    pub(in crate::index) fn write(&self, segment: &Segment) -> tantivy::Result<()> {
        let lists = self.lists();
        let plain = (0..).zip(self.plain.iter().copied()).filter(|(_, number)| *number != NONE);
        let mut others: Vec<_> =
            self.others.iter().map(|(gram, number)| (*gram, *number)).collect();
        others.sort_unstable();
        let mut writing = Writing::begin(segment, self.documents)?;
        // Others have higher numbers than those of plain letters.
        for (gram, number) in plain.chain(others) {
            writing.put(gram, lists.get(number))?;
        }
        writing.finish()
    }
}

/// All lists, each with its blocks and masks together.
struct Lists<'g> {
    counts: &'g [u32],
    blocks: Vec<Block>,
    places: Places,
    masks: Vec<Mask>,
    mask_places: Places,
}

impl Lists<'_> {
    fn get(&self, number: Number) -> Documents<'_> {
        Documents {
            blocks: self.places.get(number, &self.blocks),
            masks: self.mask_places.get(number, &self.masks),
            count: self.counts.get(number as usize).copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::list::postings;
    use super::{Gathering, OF_BLOCK, is_in_most, may_be_most};
    use crate::grams::{ANY_TEXT, Grams, Mask};

    fn often() -> impl Strategy<Value = &'static str> {
        prop_oneof![1 => Just(""), 2 => Just("abc"), 9 => Just("abcdef")]
    }

    proptest! {
        /// Few documents, and so many that more than once some are gathered together; texts that
        /// most have, and others.
        #[test]
        fn lists_have_the_documents_that_were_added(
            all in prop::collection::vec((often(), prop::collection::vec("[é東ab]{0,5}", 0..3), any::<bool>()), 1..400)
        ) {
            let (mut grams, mut gathering) = (Grams::default(), Gathering::default());
            let mut expected: BTreeMap<u32, Vec<(u32, Mask)>> = BTreeMap::new();
            for (document, (often, texts, varies)) in (0..).zip(&all) {
                grams.clear();
                texts.iter().map(String::as_str).chain([*often]).for_each(|text| grams.add(text));
                let marked = grams.take();
                gathering.add(&marked, *varies);
                for (gram, mask) in marked.iter().chain(varies.then_some((super::VARIES, ANY_TEXT))) {
                    expected.entry(gram).or_default().push((document, mask));
                }
            }
            gathering.end();
            let documents = u32::try_from(all.len()).unwrap();
            let lists = gathering.lists();
            for (gram, expected) in expected {
                let number = gathering.plain.get(gram as usize).or_else(|| gathering.others.get(&gram)).unwrap();
                let (list, mut kept) = (lists.get(*number), Vec::new());
                let how = list.keep(documents, &mut kept);
                let count_by = |end: u32| u32::try_from(expected.iter().filter(|(document, _)| *document < end).count()).unwrap();
                let mut ends = (OF_BLOCK..).step_by(OF_BLOCK as usize).map(|end| end.min(documents)).skip(1).take(all.len() / 64);
                let was_in_most = count_by(OF_BLOCK) >= documents.min(OF_BLOCK) / 2
                    && ends.all(|end| may_be_most(count_by(end), end - 1));
                let has_masks = is_in_most(list.count, documents) && was_in_most;
                let expected = expected.iter().map(|(document, mask)| (*document, if has_masks { *mask } else { ANY_TEXT }));
                prop_assert_eq!(postings(how, &kept, documents), expected.collect::<Vec<_>>());
            }
        }
    }
}
