//! The factor of a document's score that its words do not decide: how recent it is, and how many
//! documents link to it.

use std::cell::{Cell, RefCell};

use leafbase_model::{Result, SearchWeights, Timestamp};
use leafbase_search::Attributes;

use crate::core::tree::Tree;
use crate::operations::links::LinkingDocuments;

/// The number of linking documents with half of the most that links can gain.
const HALF_GAIN_LINKS: f64 = 4.0;
/// Linking documents that are counted; more gain as much.
const MAX_COUNTED_LINKS: usize = 100;
const MILLIS_PER_DAY: f64 = 86_400_000.0;

/// Computes factors for one call.
pub(super) struct ScoreBoost<'t, 'a> {
    weights: SearchWeights,
    /// The time of the first page, from which ages count.
    now: Timestamp,
    links: RefCell<LinkingDocuments<'t, 'a>>,
    has_failed: Cell<bool>,
}

impl<'t, 'a> ScoreBoost<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>, weights: SearchWeights, now: Timestamp) -> Self {
        let links = RefCell::new(LinkingDocuments::new(tree));
        Self { weights, now, links, has_failed: Cell::new(false) }
    }

    pub(super) const fn weights(&self) -> &SearchWeights {
        &self.weights
    }

    /// Whether some factor differs from 1.
    pub(super) fn is_needed(&self) -> bool {
        self.weights.recency > 0.0 || self.weights.links > 0.0
    }

    /// Whether the links of a document could not be read.
    pub(super) const fn has_failed(&self) -> bool {
        self.has_failed.get()
    }

    /// The factor of a document.
    pub(super) fn factor(&self, document: &Attributes) -> Result<f64> {
        let Self { weights, now, links, has_failed } = self;
        let mut factor = 1.0;
        if weights.recency > 0.0 {
            factor += weights.recency * recency(*now, document.modified_at, weights.half_life_days);
        }
        if weights.links > 0.0 {
            let count = links.borrow_mut().count(document.id, MAX_COUNTED_LINKS);
            let count = count.inspect_err(|_| has_failed.set(true))?;
            factor += weights.links * saturated(u32::try_from(count).unwrap_or(u32::MAX));
        }
        Ok(factor)
    }
}

/// From 1 for a document of `now`, or of a later time by another clock, down to 0.
fn recency(now: Timestamp, modified: Timestamp, half_life_days: f64) -> f64 {
    let age = now.as_millis().saturating_sub(modified.as_millis()).max(0);
    #[expect(clippy::cast_precision_loss, reason = "a score needs no more")]
    let days = age as f64 / MILLIS_PER_DAY;
    (-days / half_life_days).exp2()
}

/// From 0 without links up to 1.
fn saturated(links: u32) -> f64 {
    f64::from(links) / (f64::from(links) + HALF_GAIN_LINKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recency_halves_with_each_half_life() {
        let day = 86_400_000;
        for (age, half_life, expected) in [
            (0, 30.0, 1.0),
            (-day, 30.0, 1.0),
            (30 * day, 30.0, 0.5),
            (60 * day, 30.0, 0.25),
            (day / 2, 0.5, 0.5),
            (36_500 * day, 1.0, 0.0),
            (day, f64::MIN_POSITIVE, 0.0),
            (0, f64::MIN_POSITIVE, 1.0),
        ] {
            let (now, modified) = (Timestamp::from_millis(day), Timestamp::from_millis(day - age));
            let found = recency(now, modified, half_life);
            assert!((found - expected).abs() < 1e-9, "{age} {half_life}: {found}");
        }
    }

    #[test]
    fn links_saturate() {
        for (links, share) in [(0, 0.0), (4, 0.5), (12, 0.75)] {
            assert!((saturated(links) - share).abs() < 1e-9);
        }
        assert!(saturated(100) < 1.0);
    }
}
