//! Deletion of items.

use std::collections::HashSet;

use leafbase_model::{BlockId, Edit, Error, Result};
use leafbase_tree_ops::{self as ops, Context, ReadTree};

use super::lookup::{check_count, item, writable};
use crate::core::tree::Tree;

const LIST: &str = "idsToDelete";

/// The edits that delete these items of a collection.
pub(super) fn edits(
    tree: &Tree<'_>,
    context: &Context<'_>,
    collection: BlockId,
    ids: &[BlockId],
) -> Result<Vec<Edit>> {
    writable(tree, collection)?;
    check_count(LIST, context.limits.blocks_per_request, ids.len())?;
    tree.prefetch_subtrees(ids);
    let mut named = HashSet::new();
    for (index, id) in ids.iter().enumerate() {
        let mut check = || {
            item(tree, collection, *id)?;
            if named.insert(*id) {
                Ok(())
            } else {
                Err(Error::validation(format!("item {id} is named twice")))
            }
        };
        check().map_err(|error| error.at(format_args!("{LIST}[{index}]")))?;
    }
    Ok(ops::delete(tree, context, ids.to_vec())?.edits)
}
