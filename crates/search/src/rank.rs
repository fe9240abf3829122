//! What a hit is worth: BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25
//! and Beyond", 2009), for each lane of a document by itself.

use crate::document::Lane;

/// How fast more of the same word counts less.
const K1: f64 = 1.2;

/// How much long lanes count less.
const B: f64 = 0.75;

/// How much a lane counts. What has a word as it was asked for has its stem as well: it is worth
/// both. Chosen by measuring (`benches/README.md`).
const fn worth(lane: Lane) -> f64 {
    match lane {
        Lane::Title | Lane::TitleStems => 0.5,
        Lane::Body => 0.8,
        Lane::BodyStems => 1.0,
    }
}

/// What is known of all documents that are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) documents: u64,
    /// Words by lane.
    pub(crate) words: [u64; 4],
}

impl Totals {
    pub(crate) fn add(&mut self, lengths: [u32; 4]) {
        self.documents += 1;
        for (sum, length) in self.words.iter_mut().zip(lengths) {
            *sum += u64::from(length);
        }
    }

    pub(crate) fn take(&mut self, lengths: [u32; 4]) {
        self.documents = self.documents.saturating_sub(1);
        for (sum, length) in self.words.iter_mut().zip(lengths) {
            *sum = sum.saturating_sub(u64::from(length));
        }
    }
}

/// What occurrences of something in a lane are worth, which so many documents have there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    weight: f64,
    average: f64,
}

#[expect(clippy::cast_precision_loss, reason = "scores need no more")]
const fn float(number: u64) -> f64 {
    number as f64
}

impl Scale {
    pub(crate) fn new(lane: Lane, totals: &Totals, found_in: u64) -> Self {
        let (all, found) = (float(totals.documents.max(found_in)), float(found_in));
        let rarity = (1.0 + (all - found + 0.5) / (found + 0.5)).ln();
        let words = totals.words.get(lane as usize).copied().unwrap_or_default();
        let average = (float(words) / all.max(1.0)).max(1.0);
        Self { weight: worth(lane) * rarity * (K1 + 1.0), average }
    }

    /// So many occurrences in a lane of this length.
    pub(crate) fn score(&self, occurrences: u32, length: u32) -> f64 {
        let occurrences = f64::from(occurrences);
        let norm = 1.0 - B + B * f64::from(length) / self.average;
        self.weight * occurrences / (occurrences + K1 * norm)
    }
}
