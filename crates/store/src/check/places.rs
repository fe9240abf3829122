//! Checks of places and of edges, which both follow from the blocks.

use std::collections::HashSet;

use leafbase_model::Result;

use super::blocks::{Blocks, edge_hash};
use super::{Check, Law};
use crate::keyspaces::{self, EDGES, PLACES, Row};
use crate::records::{self, place};

impl Check<'_> {
    pub(super) fn places(&mut self, blocks: &Blocks) {
        let mut placed = HashSet::with_capacity(blocks.known.len());
        self.rows(PLACES, &mut |check, key, value| {
            let block = keyspaces::read_place(key).ok_or_else(|| records::damaged(key))?;
            placed.insert(block);
            let place = records::read(key, value, place::read)?;
            match blocks.run_of(block) {
                None => check.found(Law::Place, Row(key), "the block does not exist"),
                Some((document, parent, order)) => {
                    if (place.document, place.parent) != (document, parent) {
                        check.found(Law::Place, Row(key), "the block stands elsewhere");
                    } else if *place.order > *order {
                        check.found(Law::Place, Row(key), "the block is to the left of its hint");
                    }
                }
            }
            Ok(())
        });
        for block in blocks.known.keys().filter(|block| !placed.contains(*block)) {
            self.found(Law::Place, format_args!("block {block}"), "it has no place");
        }
    }

    /// The contents have been asked for their edges already; now the edges are.
    pub(super) fn edges(&mut self, said: &HashSet<u128>) {
        self.rows(EDGES, &mut |check, key, value| edge(check, said, key, value));
    }
}

fn edge(check: &mut Check<'_>, said: &HashSet<u128>, key: &[u8], value: &[u8]) -> Result<()> {
    check.report.edges += 1;
    keyspaces::read_edge(key).ok_or_else(|| records::damaged(key))?;
    records::read_empty(key, value)?;
    if !said.contains(&edge_hash(key)) {
        check.found(Law::Edge, Row(key), "no block says so");
    }
    Ok(())
}
