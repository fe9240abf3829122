//! Records that a host attaches to documents: erased with their document, and no part of the
//! change log.

use leafbase_model::{BlockId, DocumentId, Result};

use super::SpaceTransaction;
use super::errors::missing;
use crate::keyspaces;
use crate::records;

impl SpaceTransaction<'_> {
    /// Sets the record of this name of a document, or of the space under the zero ID.
    /// `None` removes it.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::NotFound`] if there is no such document; errors of the store.
    pub fn put_host_record(
        &mut self,
        document: DocumentId,
        name: &str,
        value: Option<&[u8]>,
    ) -> Result<()> {
        let key = keyspaces::host_record(document, name);
        let Some(value) = value else { return self.rows.delete(&key) };
        let is_space = document == DocumentId::of_root(BlockId::NIL);
        if !is_space && self.reader()?.document(document)?.is_none() {
            return Err(missing("the document"));
        }
        self.rows.put(&key, &records::seal(&key, |out| out.extend_from_slice(value)))
    }

    /// Erases the records of a document that is erased.
    pub(super) fn erase_host_records(&mut self, document: DocumentId) -> Result<()> {
        let lower = keyspaces::document_host_records(document);
        self.rows.delete_range(&lower, &keyspaces::prefix_end(lower))
    }
}
