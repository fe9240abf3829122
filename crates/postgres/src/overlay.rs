//! Writes of a transaction that the database does not have yet.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use leafbase_kv::Visit;
use leafbase_model::Result;

use crate::key_span::KeySpan;
use crate::known_entry::KnownEntry;

/// Puts and deletes by key.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    /// `None` for a key that is deleted.
    writes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    bytes: usize,
}

impl Overlay {
    pub(crate) fn write(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.bytes += key.len() + value.map_or(0, <[u8]>::len);
        let value = value.map(<[u8]>::to_vec);
        match self.writes.get_mut(key) {
            Some(slot) => *slot = value,
            None => {
                self.writes.insert(key.to_vec(), value);
            }
        }
    }

    /// What is written to `key`.
    pub(crate) fn get(&self, key: &[u8]) -> Option<KnownEntry<&[u8]>> {
        self.writes.get(key).map(|value| value.as_deref().into())
    }

    /// Bytes of all writes so far, those that later ones replaced included.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The keys and values to put, and the keys to delete.
    pub(crate) fn take(&mut self) -> OverlayWrites {
        self.bytes = 0;
        let mut taken = OverlayWrites::default();
        for (key, value) in std::mem::take(&mut self.writes) {
            match value {
                Some(value) => {
                    taken.keys.push(key);
                    taken.values.push(value);
                }
                None => taken.deleted.push(key),
            }
        }
        taken
    }

    /// Passes the entries of `span` to `visit` in order: those that `stored` passes, as far as they
    /// are not written over, and those of the overlay.
    pub(crate) fn merge(
        &self,
        span: &KeySpan,
        reverse: bool,
        visit: Visit<'_>,
        stored: impl FnOnce(Visit<'_>) -> Result<()>,
    ) -> Result<()> {
        if span.is_empty() {
            return Ok(());
        }
        let upper = span.upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let range = self.writes.range::<[u8], _>((Bound::Included(&*span.lower), upper));
        let mut range: Box<dyn Iterator<Item = _>> =
            if reverse { Box::new(range.rev()) } else { Box::new(range) };
        let mut next = range.next();
        let mut is_broken = false;
        stored(&mut |key, value| {
            while let Some((written, to)) = next {
                let is_before = if reverse { **written > *key } else { **written < *key };
                if !is_before {
                    break;
                }
                next = range.next();
                if let Some(to) = to
                    && visit(written, to)?.is_break()
                {
                    is_broken = true;
                    return Ok(ControlFlow::Break(()));
                }
            }
            if next.is_some_and(|(written, _)| **written == *key) {
                // The write follows in the next step, or after the last one.
                return Ok(ControlFlow::Continue(()));
            }
            let flow = visit(key, value)?;
            is_broken = flow.is_break();
            Ok(flow)
        })?;
        while let Some((written, to)) = next.filter(|_| !is_broken) {
            next = range.next();
            if let Some(to) = to {
                is_broken = visit(written, to)?.is_break();
            }
        }
        Ok(())
    }
}

/// The writes of an overlay, in ascending order of keys.
#[derive(Debug, Default)]
pub(crate) struct OverlayWrites {
    pub(crate) keys: Vec<Vec<u8>>,
    pub(crate) values: Vec<Vec<u8>>,
    pub(crate) deleted: Vec<Vec<u8>>,
}
