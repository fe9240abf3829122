//! The committed state of a redb file: one read transaction on its table.

use std::cell::Cell;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use leafbase_model::Result;
use redb::{AccessGuard, ReadOnlyTable, ReadableDatabase, ReadableTableMetadata};

use super::page_verifier::PageVerifier;
use super::panic_boundary::HandleHealth;
use super::tables::ENTRIES;
use crate::store::{KeyRange, Visit};

/// The state of a redb commit, shared by all snapshots until the next commit.
pub(super) struct CommittedState {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
    pub(super) health: Arc<HandleHealth>,
    verifier: PageVerifier,
}

impl CommittedState {
    /// Begins a read transaction on the last commit of `database`. `begun` is called before the
    /// first page is read.
    pub(super) fn begin(
        database: &impl ReadableDatabase,
        health: &Arc<HandleHealth>,
        verifier: PageVerifier,
        begun: impl FnOnce(),
    ) -> Result<Self> {
        let table = health.catch(|| {
            let transaction = database.begin_read().map_err(|error| health.report(error))?;
            begun();
            transaction.open_table(ENTRIES).map_err(|error| health.report(error))
        })?;
        Ok(Self { table, health: Arc::clone(health), verifier })
    }

    pub(super) fn get(
        &self,
        key: &[u8],
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        let in_callback = Cell::new(false);
        self.health.catch_unless(&in_callback, || {
            let found = self.table.get(key).map_err(|error| self.health.report(error))?;
            let Some(guard) = found else {
                return self.verifier.check_missing(key).map(|()| false);
            };
            self.verifier.check_found(key)?;
            let value = guard.value();
            in_callback.set(true);
            visit(value)?;
            in_callback.set(false);
            Ok(true)
        })
    }

    /// The number of entries, from the root of the table.
    pub(super) fn len(&self) -> Result<u64> {
        self.health.catch(|| self.table.len().map_err(|error| self.health.report(error)))
    }

    pub(super) fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let in_callback = Cell::new(false);
        self.health.catch_unless(&in_callback, || {
            let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.lower, range.upper);
            let (mut last, mut before) = (None, None);
            let opened = self.table.range::<&[u8]>(bounds);
            let mut entries = opened.map_err(|error| self.health.report(error))?;
            while let Some(entry) = if range.reverse { entries.next_back() } else { entries.next() }
            {
                let (entry_key, value) = entry.map_err(|error| self.health.report(error))?;
                let (key, value) = (entry_key.value(), value.value());
                if self.verifier.has_suspects() {
                    let before: Option<&[u8]> =
                        before.as_ref().map(|key: &AccessGuard<'_, &[u8]>| key.value());
                    self.verifier.check_entry(range, before, key)?;
                }
                in_callback.set(true);
                let flow = visit(key, value)?;
                in_callback.set(false);
                if flow == ControlFlow::Break(()) {
                    last = self.verifier.has_suspects().then(|| key.to_vec());
                    break;
                }
                before = Some(entry_key);
            }
            // Only at the end: corrupt pages are found as the scan reads them.
            self.verifier.check_scanned(range, last.as_deref())
        })
    }
}
