//! Checks of records that a host attaches to documents.

use leafbase_model::{BlockId, DocumentId};

use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, HOST_RECORDS, RowName};
use crate::records;

impl SpaceCheck<'_> {
    pub(super) fn host_records(&mut self, is_document: &dyn Fn(DocumentId) -> bool) {
        let space = DocumentId::of_root(BlockId::NIL);
        self.rows(HOST_RECORDS, &mut |check, key, value| {
            records::body(key, value)?;
            let (document, _) =
                keyspaces::parse_host_record(key).ok_or_else(|| records::corrupt(key))?;
            if document != space && !is_document(document) {
                let message = "its document does not exist";
                check.found(Invariant::HostRecord, RowName(key), message);
            }
            Ok(())
        });
    }
}
