//! What is decided about the values of items becomes edits of their blocks.

use leafbase_collections::ChangedItem;
use leafbase_model::{BlockData, BlockKind, Edit, Error, Result, Stamp};
use leafbase_tree_ops::{ReadTree, revise};

/// The edits after which the items, which exist, hold what `changed` says.
pub(crate) fn edits<T: ReadTree>(tree: &T, stamp: &Stamp, changed: Vec<ChangedItem>) -> Result<Vec<Edit>> {
    let mut edits = Vec::with_capacity(changed.len());
    for ChangedItem { id, values, .. } in changed {
        let missing = || Error::corrupted(format_args!("item {id} has no block"));
        let document = tree.locate(id)?.ok_or_else(missing)?.document;
        let before = tree.block(id)?.ok_or_else(missing)?;
        let data = BlockData { kind: BlockKind::CollectionItem { properties: values }, ..before.data.clone() };
        edits.extend(revise(document, before, data, stamp));
    }
    Ok(edits)
}
