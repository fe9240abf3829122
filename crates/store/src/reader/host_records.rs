//! Reads of records that a host attaches to documents.

use std::ops::ControlFlow;

use leafbase_model::{DocumentId, Result};

use super::SpaceReader;
use crate::keyspaces::{self, HOST_RECORDS};
use crate::kv::KeyRange;
use crate::lookup::get;
use crate::records;

impl SpaceReader<'_> {
    /// The record of this name for a document, or under the zero ID for the space.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn host_record(&self, document: DocumentId, name: &str) -> Result<Option<Vec<u8>>> {
        let key = keyspaces::host_record(document, name);
        get(self.read, &key, |value| Ok(records::body(&key, value)?.to_vec()))
    }

    /// Whether a document has a record of any name.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn has_host_records(&self, document: DocumentId) -> Result<bool> {
        let lower = keyspaces::document_host_records(document);
        let upper = keyspaces::prefix_end(lower);
        let mut is_found = false;
        self.read.scan(KeyRange::half_open(&lower, &upper), &mut |_, _| {
            is_found = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(is_found)
    }

    /// Passes the records of this name to `visit` until it breaks, the space's under the zero
    /// ID. Scans the records of all names.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn host_records(
        &self,
        name: &str,
        visit: &mut dyn FnMut(DocumentId, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let (lower, upper) = ([HOST_RECORDS.tag], keyspaces::prefix_end([HOST_RECORDS.tag]));
        self.read.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            let (document, found) =
                keyspaces::parse_host_record(key).ok_or_else(|| records::corrupt(key))?;
            if found != name {
                return Ok(ControlFlow::Continue(()));
            }
            Ok(visit(document, records::body(key, value)?))
        })?;
        Ok(())
    }
}
