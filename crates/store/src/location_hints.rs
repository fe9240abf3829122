//! Where blocks of a store on another machine were when this handle last saw them.
//!
//! A request names a block, and the location of the block names its run: two round trips. The run
//! is prefetched with the location, where the block was before, which saves the second one. A hint
//! is for prefetching alone: a stale one costs time and changes no result.

use leafbase_model::BlockId;

use crate::location_cache::{LocationCache, StateVersion};
use crate::records::location::LocationRecord;

/// Hints are of no state.
const NO_VERSION: StateVersion = 0;

#[derive(Debug, Default)]
pub(crate) struct LocationHints(LocationCache);

impl LocationHints {
    /// Where `block` was, unless it is a root, whose document has its ID.
    pub(crate) fn get(&self, block: BlockId) -> Option<LocationRecord> {
        self.0.location(NO_VERSION, block).filter(|location| !location.parent.is_nil())
    }

    /// Remembers that `blocks` are in the run of `location`.
    pub(crate) fn set(&self, location: &LocationRecord, blocks: impl Iterator<Item = BlockId>) {
        self.0.add_locations(NO_VERSION, location, blocks);
    }
}
