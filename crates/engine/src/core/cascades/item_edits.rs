//! Edits of item blocks from planned values.
//!
//! An item that the request names, or whose collection gets another schema, gets a new revision and
//! the stamp of the write. An item that only holds the other end of a relation keeps both, so that
//! nothing visible of it reveals the relation.

use leafbase_collections::ChangedItem;
use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, DocumentId, Edit, Error, Properties, Result, Stamp,
};
use leafbase_tree_ops::{ReadTree, update_edit};

/// The updates after which existing items hold the planned values, with a new stamp.
pub(crate) fn updates<T: ReadTree>(
    tree: &T,
    stamp: &Stamp,
    changed: Vec<ChangedItem>,
) -> Result<Vec<Edit>> {
    let mut edits = Vec::with_capacity(changed.len());
    for ChangedItem { id, values, .. } in changed {
        let (document, before) = found(tree, id)?;
        let data = holding(&before, values);
        edits.extend(update_edit(document, before, data, stamp));
    }
    Ok(edits)
}

/// The updates after which existing items hold the planned values, without a new stamp: for items
/// at the other end of a relation.
pub(crate) fn unstamped_updates<T: ReadTree>(
    tree: &T,
    changed: Vec<ChangedItem>,
) -> Result<Vec<Edit>> {
    let mut edits = Vec::with_capacity(changed.len());
    for ChangedItem { id, values, .. } in changed {
        let (document, before) = found(tree, id)?;
        // The revision and the stamp stay: the request did not name this item.
        let after = BlockRecord { data: holding(&before, values), ..before.clone() };
        if before != after {
            edits.push(Edit::Update { document, before: Box::new(before), after: Box::new(after) });
        }
    }
    Ok(edits)
}

/// The record of an item with a new stamp and the same values: only its relations changed, and
/// other items hold those.
pub(crate) fn restamped(before: &BlockRecord, stamp: &Stamp) -> BlockRecord {
    BlockRecord { rev: before.rev.saturating_add(1), modified: stamp.clone(), ..before.clone() }
}

fn found<T: ReadTree>(tree: &T, id: BlockId) -> Result<(DocumentId, BlockRecord)> {
    let missing = || Error::corrupted(format_args!("item {id} has no block"));
    let document = tree.locate(id)?.ok_or_else(missing)?.document;
    Ok((document, tree.block(id)?.ok_or_else(missing)?))
}

fn holding(item: &BlockRecord, values: Properties) -> BlockData {
    BlockData { kind: BlockKind::CollectionItem { properties: values }, ..item.data.clone() }
}
