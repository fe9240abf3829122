//! Whether a document's markdown says all that its blocks say.

use leafbase_markdown as markdown;
use leafbase_model::{Block, BlockData, TaskInfo};

/// How the blocks that are read from `rendered` differ from `blocks`, in a sentence; nothing if
/// they are the same.
pub(super) fn difference(rendered: &str, blocks: &[Block]) -> Option<String> {
    let parsed = match markdown::parse(rendered, &markdown::ParseOptions::default()) {
        Ok(parsed) => parsed.blocks,
        Err(error) => return Some(format!("it cannot be read back: {error}")),
    };
    let mut read =
        parsed.iter().flat_map(|draft| draft.walk().map(|(depth, draft)| (depth, &draft.data)));
    let written =
        blocks.iter().flat_map(|block| block.walk().map(|(depth, block)| (depth, &block.data)));
    for (number, (depth, data)) in written.enumerate() {
        let number = number + 1;
        match read.next() {
            None => {
                return Some(format!("it reads back without block {number} and what follows it"));
            }
            Some((found, _)) if found != depth => {
                return Some(format!("block {number} reads back on another level"));
            }
            Some((_, found)) if plain(found) == plain(data) => {}
            Some((_, found)) => {
                let field = field_that_differs(&plain(data), &plain(found));
                return Some(format!(
                    "block {number} ({}) reads back with another {field}",
                    data.block_type()
                ));
            }
        }
    }
    read.next().map(|_| "it reads back with more blocks".to_owned())
}

/// The block as markdown can say it: not when a task was done, and nothing that is made from its
/// other fields.
fn plain(data: &BlockData) -> BlockData {
    let mut data = data.clone();
    if !data.block_type().has_own_markdown() {
        data.markdown.clear();
    }
    data.task = data.task.map(|task| TaskInfo { completed_at: None, canceled_at: None, ..task });
    data
}

fn field_that_differs(one: &BlockData, other: &BlockData) -> &'static str {
    let fields = [
        ("type", one.block_type() == other.block_type()),
        ("text", one.markdown == other.markdown),
        ("indentation", one.indentation == other.indentation),
        ("list style", one.list_style == other.list_style),
        ("task", one.task == other.task),
        ("color", one.color == other.color),
        ("decoration", one.decorations == other.decorations),
    ];
    fields.iter().find(|(_, same)| !same).map_or("look", |(name, _)| name)
}
