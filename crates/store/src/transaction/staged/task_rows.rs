//! Staged task rows: by document, and by day or in the logbook where tasks are listed.

use std::collections::BTreeMap;

use leafbase_model::{BlockId, DocumentId, Result};

use crate::keyspaces;
use crate::kv::Transaction;
use crate::records;
use crate::tasks::TaskEntry;

/// The document of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskDocument {
    pub(crate) id: DocumentId,
    /// Whether listings by day and the logbook include its tasks.
    pub(crate) is_listed: bool,
}

/// The rows of tasks that a transaction puts, with their bodies, or deletes.
#[derive(Debug, Default)]
pub(crate) struct StagedTaskRows {
    staged: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl StagedTaskRows {
    pub(crate) fn put(&mut self, document: TaskDocument, block: BlockId, entry: TaskEntry) {
        let key = keyspaces::task(document.id, entry.is_open(), block).to_vec();
        self.staged.insert(key, Some(entry.body().to_vec()));
        // The row by document exists in every location, that of listings does not.
        if document.is_listed {
            self.list(block, entry, true);
        }
    }

    pub(crate) fn delete(&mut self, document: TaskDocument, block: BlockId, entry: TaskEntry) {
        self.staged.insert(keyspaces::task(document.id, entry.is_open(), block).to_vec(), None);
        if document.is_listed {
            self.list(block, entry, false);
        }
    }

    /// Puts or deletes the row of the task by day or in the logbook.
    pub(crate) fn list(&mut self, block: BlockId, entry: TaskEntry, exists: bool) {
        self.staged.insert(entry.listed(block), exists.then(Vec::new));
    }

    pub(crate) fn flush(&mut self, rows: &mut dyn Transaction) -> Result<()> {
        for (key, body) in std::mem::take(&mut self.staged) {
            match body {
                Some(body) => {
                    rows.put(&key, &records::seal(&key, |out| out.extend_from_slice(&body)))?;
                }
                None => rows.delete(&key)?,
            }
        }
        Ok(())
    }
}
