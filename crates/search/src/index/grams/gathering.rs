//! Trigrams of documents that are being written.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tantivy::{DocId, Segment};

use super::list::List;
use super::table::Writing;
use crate::grams::{ANY_TEXT, Gram, Marked, VARIES};

/// About what a list takes beside its documents, and what a document of one does: in some of them a mask.
const OF_LIST: usize = 160;
const OF_DOCUMENT: usize = 5;

/// The lists as they grow.
#[derive(Default)]
pub(in crate::index) struct Gathering {
    lists: HashMap<Gram, List, RandomState>,
    /// How many documents all lists have together.
    entries: usize,
    documents: DocId,
}

impl Gathering {
    /// Adds the trigrams of a document that comes after the others.
    pub(in crate::index) fn add(&mut self, document: DocId, grams: &Marked, varies: bool) {
        for (gram, mask) in grams.iter().chain(varies.then_some((VARIES, ANY_TEXT))) {
            self.lists.entry(gram).or_default().push(document, mask);
        }
        self.entries += grams.len();
        self.documents = document + 1;
    }

    /// About how many bytes they take.
    pub(in crate::index) fn bytes(&self) -> usize {
        self.lists.len() * OF_LIST + self.entries * OF_DOCUMENT
    }

    /// Writes the file of a segment.
    pub(in crate::index) fn write(&self, segment: &Segment) -> tantivy::Result<()> {
        let mut lists: Vec<_> = self.lists.iter().collect();
        lists.sort_unstable_by_key(|(gram, _)| **gram);
        let mut writing = Writing::begin(segment, self.documents)?;
        for (gram, list) in lists {
            writing.put(*gram, list)?;
        }
        writing.finish()
    }
}
