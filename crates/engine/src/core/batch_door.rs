//! The way of an operation into the transaction of its batch.

use leafbase_model::{Error, Result};

use crate::core::transaction::OperationTransaction;

/// The transaction that the operations of a batch take part in.
pub trait BatchDoor {
    /// Runs `plan` in the transaction.
    ///
    /// # Errors
    /// Errors of `plan`; after a failed operation, the error of that operation.
    fn enter(&self, plan: &mut BatchPlan<'_>) -> Result<()>;

    /// Notes that a write of the batch failed, so that nothing of it is kept.
    fn fail(&self, error: &Error);
}

/// A part of an operation that runs in a transaction.
pub(crate) type BatchPlan<'f> = dyn FnMut(&mut OperationTransaction<'_, '_>) -> Result<()> + 'f;
