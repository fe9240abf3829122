//! Keys of tasks: by document, by day, and in the logbook.

use leafbase_model::{BlockId, DocumentId};

use super::{LOGBOOK, TASKS, TASKS_BY_DAY, id_at, joined, of};

/// In place of a day; greater than the bytes of any day.
const NO_DAY: [u8; 4] = [0xFF; 4];

/// The open tasks of a document, or the closed ones.
pub(crate) fn document_tasks(document: DocumentId, is_open: bool) -> [u8; 18] {
    joined(TASKS, &[document.as_bytes(), &[u8::from(!is_open)]])
}

pub(crate) fn task(document: DocumentId, is_open: bool, block: BlockId) -> [u8; 34] {
    joined(TASKS, &[document.as_bytes(), &[u8::from(!is_open)], block.as_bytes()])
}

/// Of a task without a day after those of all days.
pub(crate) fn task_by_day(day: Option<[u8; 4]>, block: BlockId) -> [u8; 21] {
    joined(TASKS_BY_DAY, &[&day.unwrap_or(NO_DAY), block.as_bytes()])
}

pub(crate) fn logged_task(at: [u8; 8], block: BlockId) -> [u8; 25] {
    joined(LOGBOOK, &[&at, block.as_bytes()])
}

/// Where the tasks without a day begin in [`TASKS_BY_DAY`], after those with one.
pub(crate) fn tasks_without_day() -> [u8; 5] {
    joined(TASKS_BY_DAY, &[&NO_DAY])
}

/// Document, whether the task is open, and block.
pub(crate) fn parse_document_task(key: &[u8]) -> Option<(DocumentId, bool, BlockId)> {
    let is_open = match key.get(17)? {
        0 => true,
        1 => false,
        _ => return None,
    };
    let (document, block) =
        (DocumentId::from_bytes(id_at(key, 1)?), BlockId::from_bytes(id_at(key, 18)?));
    (key.len() == 34).then_some((document, is_open, block))
}

/// The block that ends a key by day or in the logbook.
pub(crate) fn parse_listed_task(key: &[u8]) -> Option<BlockId> {
    let length = match of(key) {
        TASKS_BY_DAY => 21,
        LOGBOOK => 25,
        _ => return None,
    };
    (key.len() == length).then(|| key.last_chunk::<16>().copied().map(BlockId::from_bytes))?
}
