//! Step budgets: they bound what searches cost, identically on every machine.

/// Steps that a search may still take.
///
/// A step is one instruction of the pattern's program at one character, or four bytes that an
/// automaton scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepBudget(u64);

/// The search would exceed its step budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetExhausted;

impl StepBudget {
    /// A budget of `steps`.
    pub const fn new(steps: u64) -> Self {
        Self(steps)
    }

    /// The steps that remain.
    pub const fn remaining(self) -> u64 {
        self.0
    }

    /// Runs `work` with at most `max_steps` of this budget, and subtracts the steps it consumes.
    pub fn lend<T>(&mut self, max_steps: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let mut lent = Self(self.0.min(max_steps));
        let kept = self.0 - lent.0;
        let result = work(&mut lent);
        debug_assert!(lent.0 <= max_steps, "work consumes steps and never adds any");
        self.0 = kept.saturating_add(lent.0);
        result
    }

    /// Subtracts `steps`.
    ///
    /// # Errors
    /// [`BudgetExhausted`] if fewer remain. The budget is then 0.
    pub fn consume(&mut self, steps: u64) -> Result<(), BudgetExhausted> {
        let remaining = self.0.checked_sub(steps);
        self.0 = remaining.unwrap_or(0);
        remaining.map(drop).ok_or(BudgetExhausted)
    }

    /// Subtracts the steps of an automaton that scans `bytes`.
    pub(crate) fn consume_scan(&mut self, bytes: usize) -> Result<(), BudgetExhausted> {
        self.consume(u64::try_from(bytes / 4).unwrap_or(u64::MAX).saturating_add(1))
    }
}
