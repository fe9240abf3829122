//! Checks of task rows, which follow from the blocks and the locations of their documents.

use std::collections::{BTreeMap, HashSet};

use leafbase_model::{DocumentId, DocumentRecord, TaskLocation};
use xxhash_rust::xxh3::xxh3_128;

use super::blocks::CheckedBlocks;
use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, Keyspace, LOGBOOK, RowName, TASKS, TASKS_BY_DAY};
use crate::reader::tasks::{parse_entry, parse_listed};
use crate::records::layout::Value;
use crate::records::listed_task::{ListedTask, task_location};
use crate::tasks::are_listed;

/// A hash of 128 bits: collisions are negligible.
pub(super) fn row_hash(key: &[u8], body: &[u8]) -> u128 {
    xxh3_128(&[key, body].concat())
}

fn listed_hash(key: &[u8], location: TaskLocation, block: u64) -> u128 {
    let mut body = block.to_be_bytes().to_vec();
    ListedTask { location, block: None }.encode(&mut body);
    row_hash(key, &body)
}

impl SpaceCheck<'_> {
    pub(super) fn tasks(
        &mut self,
        blocks: &CheckedBlocks,
        documents: &BTreeMap<DocumentId, DocumentRecord>,
    ) {
        let expected = self.expect_tasks(blocks, documents);
        self.rows(TASKS, &mut |check, key, value| {
            check.report.tasks += 1;
            let (_, entry) = parse_entry(key, value)?;
            if !expected.contains(&row_hash(key, entry.body())) {
                check.found(Invariant::Task, RowName(key), "it follows from no block");
            }
            Ok(())
        });
        for keyspace in [TASKS_BY_DAY, LOGBOOK] {
            self.listed_tasks(keyspace, &expected);
        }
    }

    /// Checks that the expected rows exist, and returns their hashes.
    fn expect_tasks(
        &mut self,
        blocks: &CheckedBlocks,
        documents: &BTreeMap<DocumentId, DocumentRecord>,
    ) -> HashSet<u128> {
        let mut expected = HashSet::new();
        for (block, entry, record_hash) in &blocks.tasks {
            let Some((document, ..)) = blocks.run_of(*block) else { continue };
            let key = keyspaces::task(document, entry.is_open(), *block);
            // Here the row must exist; its body is compared when rows are scanned.
            self.expect_index_row(Invariant::Task, &key);
            expected.insert(row_hash(&key, entry.body()));
            let record = documents.get(&document).filter(|record| are_listed(record.location));
            let Some(record) = record else { continue };
            let key = entry.listed(*block);
            self.expect_index_row(Invariant::Task, &key);
            expected.insert(listed_hash(&key, task_location(record), *record_hash));
        }
        expected
    }

    fn listed_tasks(&mut self, keyspace: Keyspace, expected: &HashSet<u128>) {
        self.rows(keyspace, &mut |check, key, value| {
            let (_, task) = parse_listed(key, value)?;
            let hash = listed_hash(key, task.location, task.block_hash());
            if !expected.contains(&hash) {
                check.found(
                    Invariant::Task,
                    RowName(key),
                    "it follows from no block as it is, or its document is in the trash or a \
                     template",
                );
            }
            Ok(())
        });
    }
}
