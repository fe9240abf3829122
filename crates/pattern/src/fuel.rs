//! What a search may cost, counted in steps: the same on every machine.

/// Steps that are left to a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fuel(u64);

/// A search has taken all the steps that it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl Fuel {
    /// So many steps. A step is an instruction of the pattern at a letter, or a few bytes that are
    /// passed by without one.
    pub const fn new(steps: u64) -> Self {
        Self(steps)
    }

    /// Gives at most so many of them to `work`, and takes what it has used.
    pub fn lend<T>(&mut self, most: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let lent = self.0.min(most);
        let mut part = Self(lent);
        let done = work(&mut part);
        self.0 = (self.0 - lent).saturating_add(part.0);
        done
    }

    /// How many are left.
    pub const fn left(self) -> u64 {
        self.0
    }

    pub(crate) fn take(&mut self, steps: u64) -> Result<(), Exhausted> {
        let left = self.0.checked_sub(steps);
        self.0 = left.unwrap_or_default();
        left.map(drop).ok_or(Exhausted)
    }

    /// Steps for so many bytes that an automaton passes by, which takes one table look-up each.
    pub(crate) fn pass(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.take(u64::try_from(bytes / 4).unwrap_or(u64::MAX).saturating_add(1))
    }
}
