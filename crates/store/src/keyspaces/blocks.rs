//! Keys of runs and of block locations.

use leafbase_model::{BlockId, DocumentId};

use super::{BLOCK_LOCATIONS, BLOCKS, MAX_KEY_BYTES, id_at, with_id};

/// All runs of a document.
pub(crate) fn document_runs(document: DocumentId) -> [u8; 17] {
    with_id(BLOCKS, document.as_bytes())
}

/// All runs of one parent.
pub(crate) fn parent_runs(document: DocumentId, parent: BlockId) -> [u8; 33] {
    let mut key = [BLOCKS.tag; 33];
    if let Some((head, tail)) = key.split_last_chunk_mut::<16>() {
        *tail = *parent.as_bytes();
        if let Some(middle) = head.last_chunk_mut::<16>() {
            *middle = *document.as_bytes();
        }
    }
    key
}

pub(crate) fn run(document: DocumentId, parent: BlockId, order: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(33 + order.len());
    key.extend_from_slice(&parent_runs(document, parent));
    key.extend_from_slice(order);
    debug_assert!(key.len() < MAX_KEY_BYTES, "order keys are bounded");
    key
}

/// Document, parent and order key.
pub(crate) fn parse_run(key: &[u8]) -> Option<(DocumentId, BlockId, &[u8])> {
    let document = DocumentId::from_bytes(id_at(key, 1)?);
    Some((document, BlockId::from_bytes(id_at(key, 17)?), key.get(33..)?))
}

pub(crate) fn block_location(block: BlockId) -> [u8; 17] {
    with_id(BLOCK_LOCATIONS, block.as_bytes())
}

pub(crate) fn parse_block_location(key: &[u8]) -> Option<BlockId> {
    (key.len() == 17).then(|| id_at(key, 1).map(BlockId::from_bytes))?
}
