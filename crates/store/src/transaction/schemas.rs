//! Schemas of collections, and the indexes of their items.

use leafbase_model::{BlockId, DocumentId, Result, Schema};

use super::{SpaceTransaction, conflict};

impl SpaceTransaction<'_> {
    pub(super) fn set_schema(
        &mut self,
        document: DocumentId,
        _collection: BlockId,
        before: Option<&Schema>,
        after: Option<&Schema>,
    ) -> Result<()> {
        self.touch(document)?;
        if before == after { Ok(()) } else { Err(conflict("schemas are not kept yet")) }
    }
}
