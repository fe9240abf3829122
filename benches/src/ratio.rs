//! One time over another, round by round.

use crate::measure::median;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The median of the rounds' ratios, the lowest and the highest.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ratio {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Ratio {
    /// `ours` over `theirs`, a sample a round; none without samples.
    pub fn of(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> =
            ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        let low = ratios.iter().copied().reduce(f64::min)?;
        let high = ratios.iter().copied().reduce(f64::max)?;
        Some(Self { median: median(ratios), low, high })
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} [{:.2}..{:.2}]", self.median, self.low, self.high)
    }
}

/// The median in nanoseconds.
pub fn typical(samples: impl IntoIterator<Item = Duration>) -> f64 {
    median(samples.into_iter().map(|took| took.as_secs_f64() * 1e9).collect())
}

/// # Panics
/// If two peers did not give the same lines, with the first in which they differ.
pub fn alike(what: &str, ours: &[String], theirs: &[String]) {
    let at = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    assert!(
        ours == theirs,
        "{what}: line {at} is {:?}, in SQLite {:?}",
        ours.get(at),
        theirs.get(at)
    );
}
