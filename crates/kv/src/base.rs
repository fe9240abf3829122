//! A committed state of a redb file: one read transaction, its one table, and visits of borrowed
//! bytes.

use std::cell::Cell;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use leafbase_model::Result;
use redb::{ReadOnlyTable, ReadableDatabase, ReadableTableMetadata, TableDefinition};

use super::failure::Health;
use super::guard::Guard;
use super::{KeyRange, Visit};

/// The one table: every further one would cost each durable commit 45 µs or more.
pub(super) const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new(TABLE_NAME);
pub(super) const TABLE_NAME: &str = "leafbase";

/// The state of the last commit, begun once and shared by every snapshot until the next commit.
pub(super) struct Base {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
    pub(super) health: Arc<Health>,
    guard: Guard,
}

impl Base {
    pub(super) fn begin(
        database: &impl ReadableDatabase,
        health: &Arc<Health>,
        guard: Guard,
    ) -> Result<Self> {
        let table = health.guard(|| {
            let transaction = database.begin_read().map_err(|error| health.report(error))?;
            transaction.open_table(TABLE).map_err(|error| health.report(error))
        })?;
        Ok(Self { table, health: Arc::clone(health), guard })
    }

    pub(super) fn get(
        &self,
        key: &[u8],
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        let visiting = Cell::new(false);
        self.health.guard_visits(&visiting, || {
            let Some(guard) = self.table.get(key).map_err(|error| self.health.report(error))?
            else {
                return self.guard.check_missing(key).map(|()| false);
            };
            self.guard.check_found(key)?;
            let value = guard.value();
            visiting.set(true);
            visit(value)?;
            visiting.set(false);
            Ok(true)
        })
    }

    /// How many keys there are, as the root of the table says; nothing else is read.
    pub(super) fn len(&self) -> Result<u64> {
        self.health.guard(|| self.table.len().map_err(|error| self.health.report(error)))
    }

    pub(super) fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let visiting = Cell::new(false);
        self.health.guard_visits(&visiting, || {
            let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.lower, range.upper);
            let mut last = None;
            let mut rows =
                self.table.range::<&[u8]>(bounds).map_err(|error| self.health.report(error))?;
            while let Some(row) = if range.reverse { rows.next_back() } else { rows.next() } {
                let (key, value) = row.map_err(|error| self.health.report(error))?;
                let (key, value) = (key.value(), value.value());
                self.guard.check_found(key)?;
                visiting.set(true);
                let flow = visit(key, value)?;
                visiting.set(false);
                if flow == ControlFlow::Break(()) {
                    last = self.guard.is_in_doubt().then(|| key.to_vec());
                    break;
                }
            }
            self.guard.check_all(range, last.as_deref())
        })
    }
}
