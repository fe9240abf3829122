//! The collections as the decisions read them.

use leafbase_collections::{ReadCollections, StoredItem};
use leafbase_model::{BlockId, BlockKind, Result, Schema};
use leafbase_store::{BackLink, EdgeEnd, EdgeKind};
use leafbase_tree_ops::ReadTree;

use super::hidden;
use crate::core::scope::Leak;
use crate::core::tree::Tree;

impl ReadCollections for Tree<'_> {
    /// Without relations to what is not seen.
    fn schema(&self, collection: BlockId) -> Result<Option<Schema>> {
        let leaks = self.seen().leaks(Leak::Relations);
        if !leaks && self.locate(collection)?.is_none() {
            return Ok(None);
        }
        self.reader().schema(collection)?.map(|schema| hidden::seen(self, schema)).transpose()
    }

    fn item(&self, item: BlockId) -> Result<Option<StoredItem>> {
        if self.seen().leaks(Leak::Relations) {
            return Tree::full(self.reader()).item(item);
        }
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

    /// Those that are not seen, too, which [`Self::item`] does not find.
    fn items_naming(
        &self,
        item: BlockId,
        after: Option<BlockId>,
        limit: usize,
    ) -> Result<Vec<BlockId>> {
        let after = BackLink { kind: EdgeKind::Relation, source: after.unwrap_or(BlockId::NIL) };
        let links = self.reader().edges_to(EdgeEnd::Block(item), Some(after), limit)?;
        Ok(links
            .into_iter()
            .take_while(|link| link.kind == EdgeKind::Relation)
            .map(|link| link.source)
            .collect())
    }
}
