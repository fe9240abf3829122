//! A committed state with newer writes laid over it: what a snapshot and a transaction of the redb
//! store read.

use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::Result;

use super::base::Base;
pub(super) use super::edits::{Edits, Row};
use super::{KeyRange, Read, Rows, Snapshot, Transaction, Visit};

/// A base and the edits over it.
pub(super) struct View {
    pub(super) base: Arc<Base>,
    pub(super) edits: Edits,
}

impl Snapshot for View {
    /// Edits are not counted: most stand for a row that is there, and there are few of them.
    fn approximate_len(&self) -> Option<u64> {
        self.base.len().ok()
    }
}

impl Read for View {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        if !self.edits.is_empty()
            && let Some(edit) = self.edits.get(key)
        {
            return edit.value().map_or(Ok(false), |value| visit(value).map(|()| true));
        }
        self.base.get(key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        if self.edits.is_empty() {
            return self.base.scan(range, visit);
        }
        let edits = self.edits.range(range.lower, range.upper, range.reverse);
        if range.reverse {
            self.merge(range, edits, |edit, key| edit > key, visit)
        } else {
            self.merge(range, edits, |edit, key| edit < key, visit)
        }
    }
}

impl View {
    /// Walks the base and `edits`, both in the order that `comes_first` tells, and lets an edit
    /// stand for the row it replaces.
    fn merge<'e>(
        &self,
        range: KeyRange<'_>,
        edits: impl Iterator<Item = &'e Row>,
        comes_first: impl Fn(&[u8], &[u8]) -> bool,
        visit: Visit<'_>,
    ) -> Result<()> {
        let mut edits = edits.peekable();
        let mut stopped = false;
        self.base.scan(range, &mut |key, value| {
            while let Some(edit) = edits.next_if(|edit| comes_first(edit.key(), key)) {
                if let Some(value) = edit.value()
                    && visit(edit.key(), value)?.is_break()
                {
                    stopped = true;
                    return Ok(ControlFlow::Break(()));
                }
            }
            let flow = match edits.next_if(|edit| edit.key() == key).map(Row::value) {
                Some(Some(value)) => visit(key, value)?,
                Some(None) => ControlFlow::Continue(()),
                None => visit(key, value)?,
            };
            stopped = flow.is_break();
            Ok(flow)
        })?;
        if stopped {
            return Ok(());
        }
        for edit in edits {
            if let Some(value) = edit.value()
                && visit(edit.key(), value)?.is_break()
            {
                break;
            }
        }
        Ok(())
    }
}

/// So many rows are put in together; fewer are sooner put in than sorted.
const SORTED_FROM: usize = 8;

/// One call's writes: edits of its own version of a view, which the store takes over or drops.
pub(super) struct Draft {
    pub(super) view: View,
    /// Bytes put, for the bound on what is held in memory.
    pub(super) bytes: usize,
    /// The keys put or removed, some of them more than once.
    pub(super) keys: Vec<Row>,
    scratch: Vec<u8>,
}

impl Draft {
    pub(super) fn new(view: View) -> Self {
        Self { view, bytes: 0, keys: Vec::new(), scratch: Vec::new() }
    }

    fn edit(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let row = Row::made_in(&mut self.scratch, key, value)?;
        self.bytes += row.len();
        self.view.edits.insert(&row);
        self.keys.push(row);
        Ok(())
    }
}

impl Read for Draft {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        self.view.get(key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        self.view.scan(range, visit)
    }
}

impl Transaction for Draft {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.edit(key, Some(value))
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.edit(key, None)
    }

    fn put_all(&mut self, rows: &Rows) -> Result<()> {
        let mut rows = Row::all(rows)?;
        self.bytes += rows.iter().map(Row::len).sum::<usize>();
        if rows.len() < SORTED_FROM {
            for row in &rows {
                self.view.edits.insert(row);
            }
        } else {
            Row::sort(&mut rows);
            self.view.edits.insert_all(&rows);
        }
        self.keys.extend(rows);
        Ok(())
    }

    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        let mut keys = Rows::default();
        self.view.scan(KeyRange::half_open(lower, upper), &mut |key, _| {
            keys.delete(key);
            Ok(ControlFlow::Continue(()))
        })?;
        self.put_all(&keys)
    }
}
