//! Checks of block locations and of edges, which both follow from the blocks.

use std::collections::HashSet;

use leafbase_model::{BlockId, Result};

use super::blocks::{CheckedBlocks, edge_hash};
use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, BLOCK_LOCATIONS, EDGES, RowName};
use crate::records::{self, location};

impl SpaceCheck<'_> {
    pub(super) fn locations(&mut self, blocks: &CheckedBlocks) {
        // Both are in the order of IDs, so they are compared without a table.
        let mut rest = blocks.known().iter().peekable();
        self.rows(BLOCK_LOCATIONS, &mut |check, key, value| {
            let block =
                keyspaces::parse_block_location(key).ok_or_else(|| records::corrupt(key))?;
            while let Some(before) = rest.next_if(|known| known.id < block) {
                check.unlocated(before.id);
            }
            // Before decoding: a corrupt record is reported as such, not as missing.
            let known = rest.next_if(|known| known.id == block);
            let location = records::decode(key, value, location::decode)?;
            match known.and_then(|known| blocks.run(known)) {
                None => {
                    check.found(Invariant::BlockLocation, RowName(key), "the block does not exist");
                }
                Some((document, parent, order)) => {
                    if (location.document, location.parent) != (document, parent) {
                        check.found(
                            Invariant::BlockLocation,
                            RowName(key),
                            "the block has another document or parent",
                        );
                    } else if *location.order > *order {
                        check.found(
                            Invariant::BlockLocation,
                            RowName(key),
                            "the block is before the run of its hint",
                        );
                    }
                }
            }
            Ok(())
        });
        rest.for_each(|block| self.unlocated(block.id));
    }

    fn unlocated(&mut self, block: BlockId) {
        self.found(Invariant::BlockLocation, format_args!("block {block}"), "it has no location");
    }

    /// The other direction was checked with the blocks: each expected edge exists.
    pub(super) fn edges(&mut self, expected: &HashSet<u128>) {
        self.rows(EDGES, &mut |check, key, value| edge(check, expected, key, value));
    }
}

fn edge(
    check: &mut SpaceCheck<'_>,
    expected: &HashSet<u128>,
    key: &[u8],
    value: &[u8],
) -> Result<()> {
    check.report.edges += 1;
    keyspaces::parse_edge(key).ok_or_else(|| records::corrupt(key))?;
    records::decode_empty(key, value)?;
    if !expected.contains(&edge_hash(key)) {
        check.found(Invariant::Edge, RowName(key), "it follows from no block");
    }
    Ok(())
}
