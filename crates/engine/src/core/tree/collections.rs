//! Collections as plans read them: without hidden collections, and without relations to them.

use leafbase_collections::{ReadCollections, StoredItem};
use leafbase_model::{BlockId, BlockKind, Result, Schema};
use leafbase_store::{BackLink, EdgeEnd, EdgeKind};
use leafbase_tree_ops::ReadTree;

use super::Tree;
use crate::core::redaction::hidden_relations;

impl ReadCollections for Tree<'_> {
    /// The schema without relations to hidden collections.
    fn schema(&self, collection: BlockId) -> Result<Option<Schema>> {
        if self.locate(collection)?.is_none() {
            return Ok(None);
        }
        let schema = self.unguarded().schema(collection)?;
        schema.map(|schema| hidden_relations::visible(self, schema)).transpose()
    }

    fn item(&self, item: BlockId) -> Result<Option<StoredItem>> {
        let (Some(located), Some(block)) = (self.locate(item)?, self.block(item)?) else {
            return Ok(None);
        };
        Ok(match (located.parent, block.data.kind) {
            (Some(collection), BlockKind::CollectionItem { properties: values }) => {
                Some(StoredItem { collection, values })
            }
            _ => None,
        })
    }

    /// The result includes the IDs of hidden items, which [`Self::item`] does not find.
    fn items_naming(
        &self,
        item: BlockId,
        after: Option<BlockId>,
        limit: usize,
    ) -> Result<Vec<BlockId>> {
        // Relations are one kind of edge: the scan begins after those before it and ends with it.
        let after = BackLink { kind: EdgeKind::Relation, source: after.unwrap_or(BlockId::NIL) };
        let links = self.unguarded().edges_to(EdgeEnd::Block(item), Some(after), limit)?;
        Ok(links
            .into_iter()
            .take_while(|link| link.kind == EdgeKind::Relation)
            .map(|link| link.source)
            .collect())
    }
}
