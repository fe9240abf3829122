//! Checks of places and of edges, which both follow from the blocks.

use std::collections::HashSet;

use leafbase_model::Result;

use super::blocks::{CheckedBlocks, edge_hash};
use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, BLOCK_LOCATIONS, EDGES, RowName};
use crate::records::{self, location};

impl SpaceCheck<'_> {
    pub(super) fn locations(&mut self, blocks: &CheckedBlocks) {
        let mut placed = HashSet::with_capacity(blocks.known.len());
        self.rows(BLOCK_LOCATIONS, &mut |check, key, value| {
            let block = keyspaces::read_block_location(key).ok_or_else(|| records::damaged(key))?;
            placed.insert(block);
            let location = records::read(key, value, location::read)?;
            match blocks.run_of(block) {
                None => {
                    check.found(Invariant::BlockLocation, RowName(key), "the block does not exist")
                }
                Some((document, parent, order)) => {
                    if (location.document, location.parent) != (document, parent) {
                        check.found(
                            Invariant::BlockLocation,
                            RowName(key),
                            "the block stands elsewhere",
                        );
                    } else if *location.order > *order {
                        check.found(
                            Invariant::BlockLocation,
                            RowName(key),
                            "the block is to the left of its hint",
                        );
                    }
                }
            }
            Ok(())
        });
        for block in blocks.known.keys().filter(|block| !placed.contains(*block)) {
            self.found(Invariant::BlockLocation, format_args!("block {block}"), "it has no place");
        }
    }

    /// The contents have been asked for their edges already; now the edges are.
    pub(super) fn edges(&mut self, said: &HashSet<u128>) {
        self.rows(EDGES, &mut |check, key, value| edge(check, said, key, value));
    }
}

fn edge(check: &mut SpaceCheck<'_>, said: &HashSet<u128>, key: &[u8], value: &[u8]) -> Result<()> {
    check.report.edges += 1;
    keyspaces::read_edge(key).ok_or_else(|| records::damaged(key))?;
    records::read_empty(key, value)?;
    if !said.contains(&edge_hash(key)) {
        check.found(Invariant::Edge, RowName(key), "no block says so");
    }
    Ok(())
}
