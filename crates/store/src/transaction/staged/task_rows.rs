//! Staged task rows: by document, and by day or in the logbook where tasks are listed.

use std::collections::BTreeMap;

use leafbase_model::{BlockId, BlockRecord, DocumentId, IdMap, Result, TaskLocation, invariant};

use crate::keyspaces;
use crate::kv::{Transaction, WriteBatch};
use crate::reader::{DocumentTasks, SpaceReader};
use crate::records;
use crate::records::block::encoded;
use crate::records::layout::Value;
use crate::records::listed_task::ListedTask;
use crate::tasks::TaskEntry;

/// The document of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskDocument {
    pub(crate) id: DocumentId,
    /// Where lists say that its tasks are; `None` if they leave them out.
    pub(crate) listed_at: Option<TaskLocation>,
}

/// What becomes of a row by day or in the logbook.
#[derive(Debug)]
enum StagedList {
    Put(ListedTask),
    /// Put, with the block of the document as the transaction leaves it.
    PutStored(DocumentId, TaskLocation),
    Delete,
}

/// The rows of tasks that a transaction puts or deletes.
#[derive(Debug, Default)]
pub(crate) struct StagedTaskRows {
    /// By document, with their bodies.
    entries: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    listed: BTreeMap<Vec<u8>, StagedList>,
}

impl StagedTaskRows {
    pub(crate) fn put(&mut self, document: DocumentId, block: BlockId, entry: TaskEntry) {
        let key = keyspaces::task(document, entry.is_open(), block).to_vec();
        self.entries.insert(key, Some(entry.body().to_vec()));
    }

    pub(crate) fn delete(&mut self, document: DocumentId, block: BlockId, entry: TaskEntry) {
        self.entries.insert(keyspaces::task(document, entry.is_open(), block).to_vec(), None);
    }

    /// Lists a task by day or in the logbook, with the record of its block.
    pub(crate) fn list(&mut self, block: BlockId, entry: TaskEntry, task: ListedTask) {
        self.listed.insert(entry.listed(block), StagedList::Put(task));
    }

    /// Lists a task with its block as the transaction leaves it, which is read at its end.
    pub(crate) fn relist(
        &mut self,
        document: DocumentId,
        block: BlockId,
        entry: TaskEntry,
        location: TaskLocation,
    ) {
        self.listed.insert(entry.listed(block), StagedList::PutStored(document, location));
    }

    pub(crate) fn unlist(&mut self, block: BlockId, entry: TaskEntry) {
        self.listed.insert(entry.listed(block), StagedList::Delete);
    }

    /// Writes the rows by document. Those of lists wait for the blocks.
    pub(crate) fn flush_entries(&mut self, rows: &mut dyn Transaction) -> Result<()> {
        for (key, body) in std::mem::take(&mut self.entries) {
            match body {
                Some(body) => {
                    rows.put(&key, &records::seal(&key, |out| out.extend_from_slice(&body)))?;
                }
                None => rows.delete(&key)?,
            }
        }
        Ok(())
    }

    /// Adds the rows of lists to a batch. `reader` has all blocks of the transaction.
    pub(crate) fn flush_listed(
        &mut self,
        reader: SpaceReader<'_>,
        batch: &mut WriteBatch,
    ) -> Result<()> {
        let listed = std::mem::take(&mut self.listed);
        let mut stored = stored_blocks(reader, &listed)?;
        for (key, what) in listed {
            let task = match what {
                StagedList::Delete => {
                    batch.delete(&key);
                    continue;
                }
                StagedList::Put(task) => task,
                StagedList::PutStored(_, location) => {
                    let block = keyspaces::parse_listed_task(&key);
                    let Some(block) = block.and_then(|block| stored.remove(&block)) else {
                        invariant!("the block of a listed task was read")
                    };
                    ListedTask::new(location, &encoded(&block))
                }
            };
            records::put(batch, &key, |out| task.encode(out));
        }
        Ok(())
    }
}

/// The blocks of rows that are put with stored blocks. A run is read once for all that it has.
fn stored_blocks(
    reader: SpaceReader<'_>,
    listed: &BTreeMap<Vec<u8>, StagedList>,
) -> Result<IdMap<BlockId, BlockRecord>> {
    let mut of_documents: BTreeMap<DocumentId, Vec<BlockId>> = BTreeMap::new();
    for (key, what) in listed {
        if let StagedList::PutStored(document, _) = what {
            let Some(block) = keyspaces::parse_listed_task(key) else {
                invariant!("the key of a listed task ends with its block")
            };
            of_documents.entry(*document).or_default().push(block);
        }
    }
    let all: Vec<BlockId> = of_documents.values().flatten().copied().collect();
    if !all.is_empty() {
        reader.prefetch(&all);
    }
    let mut stored = IdMap::default();
    for (document, blocks) in of_documents {
        let whole = 0..blocks.len();
        // Their rows may be damaged, which no other read would report.
        let blocks = reader.task_blocks(document, DocumentTasks::Ids(blocks), whole)?;
        stored.extend(blocks.into_iter().map(|block| (block.id, block)));
    }
    Ok(stored)
}
