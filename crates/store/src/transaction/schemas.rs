//! Schemas of collections, and the indexes of their items.

use leafbase_model::{BlockId, BlockType, DocumentId, Result, Schema};

use super::{SpaceTransaction, conflict, missing};
use crate::keyspaces;
use crate::reader::items::numbered;
use crate::records;
use crate::records::schema::{self, Numbered};

impl SpaceTransaction<'_> {
    pub(super) fn set_schema(
        &mut self,
        document: DocumentId,
        collection: BlockId,
        before: Option<&Schema>,
        after: Option<&Schema>,
    ) -> Result<()> {
        self.touch(document)?;
        let place = self.places.get(&*self.rows, &self.memo, collection)?.ok_or_else(|| missing("the collection"))?;
        if place.document != document {
            return Err(conflict("the collection is in another document"));
        }
        let stored = numbered(&*self.rows, collection)?;
        if stored.as_ref().map(|stored| &stored.schema) != before {
            return Err(conflict("the schema has changed"));
        }
        let (key, count_key) = (keyspaces::schema(collection), keyspaces::collection(document, collection));
        match (stored, after) {
            (None, Some(after)) => {
                let reader = self.reader()?;
                let block = reader.block(collection)?;
                if block.is_none_or(|block| block.data.block_type() != BlockType::Collection) {
                    return Err(conflict("the block is no collection"));
                }
                let items = reader.children(document, collection)?.len() as u64;
                let numbered =
                    Numbered::first(after).ok_or_else(|| conflict("the collection has had too many columns"))?;
                self.rows.put(&key, &records::seal(&key, |out| schema::put_numbered(out, &numbered)))?;
                self.rows.put(&count_key, &records::seal(&count_key, |out| schema::put_items(out, items)))?;
            }
            (Some(stored), Some(after)) => {
                let numbered =
                    stored.replaced_by(after).ok_or_else(|| conflict("the collection has had too many columns"))?;
                self.rows.put(&key, &records::seal(&key, |out| schema::put_numbered(out, &numbered)))?;
            }
            (Some(_), None) => {
                self.rows.delete(&key)?;
                self.rows.delete(&count_key)?;
            }
            (None, None) => {}
        }
        self.log.set_schema(document, collection, before, after);
        Ok(())
    }
}
