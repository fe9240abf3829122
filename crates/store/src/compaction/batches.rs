//! Rewriting of the change log in transactions of bounded size.

use leafbase_model::{Result, invariant};

use crate::kv::{Durability, Store, Transaction, WriteOptions};

/// Bytes of the log that are read in one transaction: bounds memory, and how long writers wait.
pub(super) const BATCH_BYTES: usize = 4 << 20;

/// Runs `batch` in one transaction after the other, from the sequence that the one before returned,
/// until it returns none. What a transaction writes it has read itself: a purge may redact changes
/// in between.
pub(super) fn in_batches(
    store: &dyn Store,
    mut batch: impl FnMut(&mut dyn Transaction, u64) -> Result<Option<u64>>,
) -> Result<()> {
    let mut next = Some(0);
    while let Some(first) = next {
        store.write(WriteOptions::durability(Durability::Durable), &mut |rows| {
            next = batch(rows, first)?;
            // Otherwise the loop would write the same rows without an end.
            invariant!(next.is_none_or(|next| next > first), "change {next:?} follows {first}");
            Ok(())
        })?;
    }
    Ok(())
}
