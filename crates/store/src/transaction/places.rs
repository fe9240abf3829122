//! Staged places.

use std::collections::HashMap;

use leafbase_model::{BlockId, Result};

use crate::keyspaces;
use crate::kv::{Read, Transaction};
use crate::reader::place_of;
use crate::records;
use crate::records::place::{self, Place};

/// The places that a write changed.
#[derive(Debug, Default)]
pub(super) struct Places {
    staged: HashMap<BlockId, Option<Place>>,
}

impl Places {
    /// The place of `block`, if it exists.
    pub(super) fn get(&self, source: &dyn Read, block: BlockId) -> Result<Option<Place>> {
        match self.staged.get(&block) {
            Some(place) => Ok(place.clone()),
            None => place_of(source, block),
        }
    }

    pub(super) fn set(&mut self, block: BlockId, place: Place) {
        self.staged.insert(block, Some(place));
    }

    pub(super) fn remove(&mut self, block: BlockId) {
        self.staged.insert(block, None);
    }

    /// The block is in another run of the same parent. Only a place that is written anyway is told.
    pub(super) fn moved(&mut self, block: BlockId, order: &[u8]) {
        if let Some(Some(place)) = self.staged.get_mut(&block) {
            order.clone_into(&mut place.order);
        }
    }

    pub(super) fn flush(&mut self, rows: &mut dyn Transaction) -> Result<()> {
        let mut staged: Vec<_> = self.staged.drain().collect();
        staged.sort_unstable_by_key(|(block, _)| *block);
        let mut value = Vec::with_capacity(64);
        for (block, place) in &staged {
            let key = keyspaces::place(*block);
            match place {
                Some(place) => {
                    records::seal_into(&key, &mut value, |out| place::put(out, place));
                    rows.put(&key, &value)?;
                }
                None => rows.delete(&key)?,
            }
        }
        Ok(())
    }
}
