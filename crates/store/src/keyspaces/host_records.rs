//! Keys of records that a host attaches to documents.

use leafbase_model::DocumentId;

use super::{HOST_RECORDS, id_at, with_id};

/// The records attached to a document.
pub(crate) fn document_host_records(document: DocumentId) -> [u8; 17] {
    with_id(HOST_RECORDS, document.as_bytes())
}

pub(crate) fn host_record(document: DocumentId, name: &str) -> Vec<u8> {
    [&document_host_records(document), name.as_bytes()].concat()
}

/// Document and name.
pub(crate) fn parse_host_record(key: &[u8]) -> Option<(DocumentId, &str)> {
    let name = std::str::from_utf8(key.get(17..)?).ok()?;
    Some((DocumentId::from_bytes(id_at(key, 1)?), name))
}
