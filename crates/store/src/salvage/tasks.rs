//! Lists of tasks, whose rows hold blocks: lost blocks are taken from them, and the locations of
//! documents whose records are lost.

use std::collections::HashMap;

use leafbase_model::{BlockId, BlockRecord, DocumentId, DocumentRecord, Result, TaskLocation};

use super::inventory::{Inventory, apply_task_location, recovered_document};
use super::{LossKind, OnStep, Salvager};
use crate::keyspaces::{LOGBOOK, TASKS_BY_DAY};
use crate::reader::tasks::parse_listed;
use crate::records::block::{self, AuthorCache};
use crate::records::listed_task::{ListedTask, task_location};

/// A lost block that a list of tasks has.
#[derive(Debug)]
pub(super) struct ListedTaskBlock {
    /// As its own row, or the list, names it.
    document: Option<DocumentId>,
    location: TaskLocation,
    block: BlockRecord,
}

impl Salvager<'_> {
    /// Reads the lists of tasks. Documents that they alone name join the inventory.
    pub(super) fn inventory_tasks(
        &mut self,
        inventory: &mut Inventory,
        step: OnStep<'_>,
    ) -> Result<Vec<ListedTaskBlock>> {
        let (mut listed, mut authors) = (Vec::new(), AuthorCache::default());
        for keyspace in [TASKS_BY_DAY, LOGBOOK] {
            self.rows(keyspace, &mut |_, key, value| {
                step()?;
                // Lists are derived: a row that does not decode is not a loss.
                let Ok((id, ListedTask { location, block: record })) = parse_listed(key, value)
                else {
                    return Ok(());
                };
                let known = inventory.known.get(&id).map(|known| known.document);
                let document = known.or_else(|| inventory.document_of_lost(id, location));
                if let Some(document) = document
                    && inventory.documents.entry(document).or_default().is_none()
                {
                    inventory.located_by_tasks.insert(document, location);
                }
                let record = record.filter(|_| known.is_none());
                if let Some(block) =
                    record.and_then(|record| block::decode(id, &record, &mut authors).ok())
                {
                    listed.push(ListedTaskBlock { document, location, block });
                }
                Ok(())
            })?;
        }
        Ok(listed)
    }

    /// Takes the lost blocks of lists into the inventory, whose documents are complete.
    pub(super) fn take_listed(&mut self, inventory: &mut Inventory, listed: Vec<ListedTaskBlock>) {
        let mut by_location: HashMap<TaskLocation, DocumentId> = inventory
            .documents
            .iter()
            .filter_map(|(id, document)| Some((task_location(&document.as_ref()?.record), *id)))
            .collect();
        for ListedTaskBlock { document, location, block } in listed {
            let document = document.unwrap_or_else(|| {
                *by_location.entry(location).or_insert_with(|| {
                    let rev = inventory.log.rev();
                    let mut record = DocumentRecord { rev, ..self.new_record() };
                    apply_task_location(&mut record, location);
                    let id = record.id;
                    inventory.documents.insert(id, Some(recovered_document(record)));
                    id
                })
            });
            let message = "it is saved from a list of tasks: it may have another position";
            self.report.lose(LossKind::Block, format_args!("block {}", block.id), message);
            inventory.needed.insert(block.id, document);
            inventory.listed.insert(block.id, block);
        }
    }
}

impl Inventory {
    /// The document of a lost block, as far as its own row or the list names it.
    fn document_of_lost(&self, block: BlockId, listed: TaskLocation) -> Option<DocumentId> {
        match (self.lost.get(&block), listed) {
            (Some(location), _) => Some(location.document),
            (None, TaskLocation::Document(document)) => Some(document),
            (None, TaskLocation::Inbox | TaskLocation::DailyNote(_)) => None,
        }
    }
}
