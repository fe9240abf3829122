//! Batches: several operations in one transaction, all or nothing.

use std::cell::RefCell;

use leafbase_model::{Error, Result, invariant};
use leafbase_store::SpaceReader;

use crate::core::access::{AccessScope, Full, FullAccess, Scoped, Unbatched, sealed};
use crate::core::batch_door::{BatchDoor, BatchPlan};
use crate::core::connection::Connection;
use crate::core::transaction::OperationTransaction;
use crate::core::visibility::Visibility;

/// Access within a batch: the access of the connection that began it, in the batch's transaction.
#[derive(Clone, Copy)]
pub struct BatchAccess<'b, A = Full> {
    access: &'b A,
    door: &'b dyn BatchDoor,
}

impl<A: AccessScope> AccessScope for BatchAccess<'_, A> {}

impl FullAccess for BatchAccess<'_, Full> {}

impl<A> std::fmt::Debug for BatchAccess<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchAccess").finish_non_exhaustive()
    }
}

impl<A: AccessScope> sealed::Sealed for BatchAccess<'_, A> {
    fn visibility(&self) -> Visibility {
        self.access.visibility()
    }

    fn within(
        &self,
        visibility: Visibility,
        reader: SpaceReader<'_>,
        is_committed: bool,
    ) -> Result<Visibility> {
        self.access.within(visibility, reader, is_committed)
    }

    fn is_read_only(&self) -> bool {
        self.access.is_read_only()
    }

    fn identity(&self) -> Vec<u8> {
        self.access.identity()
    }

    fn scoped(&self) -> Option<&Scoped> {
        self.access.scoped()
    }

    fn door(&self) -> Option<&dyn BatchDoor> {
        Some(self.door)
    }
}

/// The open transaction of a batch.
struct OpenBatch<'x, 'w, 't> {
    transaction: RefCell<&'x mut OperationTransaction<'w, 't>>,
    /// The first error of a write.
    failed: RefCell<Option<Error>>,
}

impl BatchDoor for OpenBatch<'_, '_, '_> {
    fn enter(&self, plan: &mut BatchPlan<'_>) -> Result<()> {
        if let Some(error) = &*self.failed.borrow() {
            return Err(error.clone());
        }
        let Ok(mut transaction) = self.transaction.try_borrow_mut() else {
            invariant!("an operation of a batch runs after another, not within it")
        };
        plan(&mut transaction)
    }

    fn fail(&self, error: &Error) {
        // The first one: errors of later operations may follow from it.
        self.failed.borrow_mut().get_or_insert_with(|| error.clone());
    }
}

impl<A: Unbatched> Connection<A> {
    /// Runs several operations in one transaction: one change in the log, one undo, all or nothing.
    /// `work` gets a connection with the same operations, whose reads see its own writes. If `work`
    /// returns an error, or one of its writes failed, the transaction is rolled back.
    ///
    /// Others write after it or before it, never in between, and wait for it: keep `work` short.
    /// It may run again from the start, when a write that it was based on fails, so it should have
    /// no effects besides. Searches across documents, uploads, imports and purges are not part of
    /// batches.
    ///
    /// ```
    /// use leafbase::{Fetch, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.batch(|batch| {
    ///     let trip = batch.create_document("Trip")?.id();
    ///     batch.insert_markdown("- [ ] passport", trip)?;
    ///     assert_eq!(batch.fetch(Fetch::new(trip))?.children().len(), 1);
    ///     Ok(trip)
    /// })?;
    /// assert_eq!(notes.content_markdown(trip)?, "- [ ] passport");
    ///
    /// let refused = notes.batch(|batch| {
    ///     batch.update_markdown(trip, "Journey")?;
    ///     batch.update_markdown(leafbase::BlockId::NIL, "there is no such block")
    /// });
    /// assert!(refused.is_err());
    /// assert_eq!(notes.document(trip)?.title, "Trip");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error of `work`; otherwise the first error of a write in it.
    pub fn batch<T>(
        &self,
        mut work: impl FnMut(&Connection<BatchAccess<'_, A>>) -> Result<T>,
    ) -> Result<T> {
        let (value, _) = self.operation("batch").write(|transaction| {
            transaction.begin_batch();
            let open =
                OpenBatch { transaction: RefCell::new(transaction), failed: RefCell::new(None) };
            let access = BatchAccess { access: self.access(), door: &open };
            let done = work(&self.with_access(access));
            // The error of `work` has the path of the operation, if it adds one.
            done.and_then(|value| open.failed.into_inner().map_or(Ok(value), Err))
        })?;
        Ok(value)
    }
}
