//! What is decided about the values of items becomes edits of their blocks.
//!
//! An item that the request names, or whose collection gets another schema by it, is changed: it
//! gets another `rev` and the stamp of the write. One that only stands at the other end of a
//! relation is not: what happens there moves nothing that tells of it.

use leafbase_collections::ChangedItem;
use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, DocumentId, Edit, Error, Properties, Result, Stamp,
};
use leafbase_tree_ops::{ReadTree, update_edit};

/// The edits after which the items, which exist and are changed, hold what `changed` says.
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

/// The edits after which the items, which exist and stand at other ends, hold what `changed` says.
pub(crate) fn unstamped_updates<T: ReadTree>(
    tree: &T,
    changed: Vec<ChangedItem>,
) -> Result<Vec<Edit>> {
    let mut edits = Vec::with_capacity(changed.len());
    for ChangedItem { id, values, .. } in changed {
        let (document, before) = found(tree, id)?;
        let after = BlockRecord { data: holding(&before, values), ..before.clone() };
        if before != after {
            edits.push(Edit::Update { document, before: Box::new(before), after: Box::new(after) });
        }
    }
    Ok(edits)
}

/// The edit after which an item is changed that holds what it held: its relations are others, which
/// items at their other ends hold.
pub(crate) fn restamp(document: DocumentId, before: BlockRecord, stamp: &Stamp) -> Edit {
    let after = BlockRecord {
        rev: before.rev.saturating_add(1),
        modified: stamp.clone(),
        ..before.clone()
    };
    Edit::Update { document, before: Box::new(before), after: Box::new(after) }
}

fn found<T: ReadTree>(tree: &T, id: BlockId) -> Result<(DocumentId, BlockRecord)> {
    let missing = || Error::corrupted(format_args!("item {id} has no block"));
    let document = tree.locate(id)?.ok_or_else(missing)?.document;
    Ok((document, tree.block(id)?.ok_or_else(missing)?))
}

fn holding(item: &BlockRecord, values: Properties) -> BlockData {
    BlockData { kind: BlockKind::CollectionItem { properties: values }, ..item.data.clone() }
}
