//! Trigrams of documents that are being written.

use std::collections::HashMap;
use std::mem;

use foldhash::fast::RandomState;
use tantivy::{DocId, Segment};

use super::list::{FEW_BY, List};
use super::table::Writing;
use crate::grams::{ANY_TEXT, Gram, Marked, Mask, PLAIN, VARIES};

/// About what a list takes beside its documents, and what a document of one does: in some of them a mask.
const OF_LIST: usize = 160;
const OF_DOCUMENT: usize = 5;

/// The number of a list, from 1 on, and none of one: a table of none costs nothing before it is looked at.
type Number = u32;
const NONE: Number = 0;

/// So many documents are gathered together: the first ones are those by which it is told which lists gather masks.
const TOGETHER: DocId = FEW_BY;
const _: () = assert!(TOGETHER == u64::BITS);

/// The lists as they grow. Documents are gathered as bits first, as many as a number has: what is looked at for each trigram of a document stays so small that
/// the processor's cache has it.
#[derive(Default)]
pub(in crate::index) struct Gathering {
    /// By number, in the order in which they were begun.
    lists: Vec<List>,
    /// The list of each trigram of plain letters.
    plain: Vec<Number>,
    others: HashMap<Gram, Number, RandomState>,
    /// Of each list, which of the documents that are being gathered it has.
    gathered: Vec<u64>,
    /// The lists that have any of them.
    met: Vec<Number>,
    /// Of each list, whether it gathers masks.
    has_masks: Vec<bool>,
    /// Masks of the first documents: it is not known yet which lists have most of them.
    first_masks: Vec<(Number, Mask)>,
    /// How many documents all lists have together.
    entries: usize,
    documents: DocId,
}

impl Gathering {
    /// Adds the trigrams of the next document.
    pub(in crate::index) fn add(&mut self, grams: &Marked, varies: bool) {
        if self.lists.is_empty() {
            self.plain = vec![NONE; PLAIN as usize];
            self.begin_list();
        }
        let (document, is_early) = (self.documents, self.documents < FEW_BY);
        for (gram, mask) in grams.iter().chain(varies.then_some((VARIES, ANY_TEXT))) {
            let number = self.number(gram);
            if let Some(gathered) = self.gathered.get_mut(number as usize) {
                if *gathered == 0 {
                    self.met.push(number);
                }
                *gathered |= 1 << (document % TOGETHER);
            }
            if is_early {
                self.first_masks.push((number, mask));
            } else {
                self.push_mask(number, mask);
            }
        }
        self.entries += grams.len();
        self.documents = document + 1;
        if self.documents.is_multiple_of(TOGETHER) {
            self.settle();
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
        let next = Number::try_from(self.lists.len()).unwrap_or(NONE);
        *number = next;
        self.begin_list();
        next
    }

    fn begin_list(&mut self) {
        self.lists.push(List::default());
        self.gathered.push(0);
        self.has_masks.push(false);
    }

    /// Adds a mask to a list, if it gathers them.
    fn push_mask(&mut self, number: Number, mask: Mask) {
        if self.has_masks.get(number as usize).is_some_and(|has| *has) {
            self.lists.get_mut(number as usize).into_iter().for_each(|list| list.push_mask(mask));
        }
    }

    /// Puts the documents that are gathered into the lists.
    pub(in crate::index) fn settle(&mut self) {
        let first = self.documents.saturating_sub(1) / TOGETHER * TOGETHER;
        let (mut met, first_masks) = (mem::take(&mut self.met), mem::take(&mut self.first_masks));
        for number in met.drain(..) {
            let place = number as usize;
            let gathered = self.gathered.get_mut(place).map(mem::take).unwrap_or_default();
            if let (Some(list), Some(has_masks)) = (self.lists.get_mut(place), self.has_masks.get_mut(place)) {
                list.push_all(first, gathered);
                *has_masks = if first == 0 { list.count() >= self.documents / 2 } else { list.gathers_masks() };
            }
        }
        for (number, mask) in first_masks {
            self.push_mask(number, mask);
        }
        self.met = met;
    }

    /// About how many bytes they take.
    pub(in crate::index) fn bytes(&self) -> usize {
        self.lists.len() * OF_LIST + self.entries * OF_DOCUMENT
    }

    /// Writes the file of a segment, of documents that are all in the lists.
    pub(in crate::index) fn write(&self, segment: &Segment) -> tantivy::Result<()> {
        let plain = (0..).zip(self.plain.iter().copied()).filter(|(_, number)| *number != NONE);
        let mut others: Vec<_> = self.others.iter().map(|(gram, number)| (*gram, *number)).collect();
        others.sort_unstable();
        let mut writing = Writing::begin(segment, self.documents)?;
        // Others have higher numbers than those of plain letters.
        for (gram, number) in plain.chain(others) {
            if let Some(list) = self.lists.get(number as usize) {
                writing.put(gram, list)?;
            }
        }
        writing.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::list::{is_in_most, postings};
    use super::{FEW_BY, Gathering, TOGETHER};
    use crate::grams::{ANY_TEXT, Grams, Mask};

    fn often() -> impl Strategy<Value = &'static str> {
        prop_oneof![1 => Just(""), 2 => Just("abc"), 9 => Just("abcdef")]
    }

    proptest! {
        /// Few documents, and so many that more than once some are gathered together; texts that most have, and others.
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
            gathering.settle();
            let documents = u32::try_from(all.len()).unwrap();
            for (gram, expected) in expected {
                let number = gathering.number(gram) as usize;
                let list = &gathering.lists[number];
                let (how, kept) = list.kept(documents);
                let count_by = |end: u32| expected.iter().filter(|(document, _)| *document < end).count();
                let mut starts = (FEW_BY..documents).step_by(TOGETHER as usize);
                let was_in_most = count_by(FEW_BY) >= documents.min(FEW_BY) as usize / 2
                    && starts.all(|start| count_by(start + TOGETHER) >= start as usize / 2);
                let has_masks = is_in_most(list.count(), documents) && was_in_most;
                let expected = expected.iter().map(|(document, mask)| (*document, if has_masks { *mask } else { ANY_TEXT }));
                prop_assert_eq!(postings(how, &kept, documents), expected.collect::<Vec<_>>());
            }
        }
    }
}
