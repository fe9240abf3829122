//! Plans: what a write transaction runs.

use leafbase_model::Result;

use crate::SpaceTransaction;

/// What a write runs in its transaction: reads, then edits.
pub trait WritePlan {
    /// The value that the plan returns besides its edits.
    type Output;

    /// Runs the plan. It may run again if a commit that it had read failed, and then starts over.
    ///
    /// # Errors
    /// Errors of the plan: nothing of the write is visible then.
    fn run(&mut self, transaction: &mut SpaceTransaction<'_>) -> Result<Self::Output>;
}

/// A plan that is a closure.
pub(crate) struct PlanFn<F>(pub(crate) F);

impl<T, F: FnMut(&mut SpaceTransaction<'_>) -> Result<T>> WritePlan for PlanFn<F> {
    type Output = T;

    fn run(&mut self, transaction: &mut SpaceTransaction<'_>) -> Result<T> {
        (self.0)(transaction)
    }
}
