//! The blocks that tasks are.

use std::collections::HashSet;

use leafbase_model::{BlockId, BlockLocation, BlockRecord, Error, Result, Task, TaskLocation};
use leafbase_tree_ops::ReadTree;

use crate::operations::block_markdown::{block_form, render_text};

/// Looks up a task that the request names, and refuses a second mention.
pub(super) fn find<T: ReadTree>(
    tree: &T,
    named: &mut HashSet<BlockId>,
    id: BlockId,
) -> Result<(BlockLocation, BlockRecord)> {
    let located = tree.locate(id)?.ok_or_else(Error::no_block)?;
    if !named.insert(id) {
        return Err(Error::validation(format!("task {id} is named twice")));
    }
    let missing = || Error::corrupted(format_args!("block {id} has a location but no record"));
    let block = tree.block(id)?.ok_or_else(missing)?;
    if block.data.task.is_none() {
        return Err(Error::rule(format!(
            "block {id} is not a task: its listStyle is {}",
            block.data.list_style
        )));
    }
    Ok((located, block))
}

/// Maps the path of a block operation's error to the path of the task operation.
pub(super) fn renamed(error: &Error, from: &str, to: &str) -> Error {
    let path = error.path();
    let path =
        path.strip_prefix(from).map_or_else(|| path.to_owned(), |rest| format!("{to}{rest}"));
    error.clone().without_path().at(path.strip_prefix('.').unwrap_or(&path))
}

/// Converts a block to a task; `None` if the block is not a task.
pub(super) fn to_task(block: BlockRecord, location: TaskLocation) -> Option<Task> {
    let BlockRecord { id, rev, mut data, .. } = block;
    render_text(&mut data);
    let block_form = block_form(&data);
    Some(Task { id, inline: data.inline, block_form, info: data.task?, location, rev })
}
