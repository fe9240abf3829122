//! What a block points to: the edges that the store keeps in step with its text.

use leafbase_markdown::{self as markdown, LinkTarget};
use leafbase_model::{BlockData, BlockKind, PropertyValue};
use leafbase_store::{EdgeEnd, EdgeKind, EdgeTarget};

/// Tells every block and day that `data` points to: links in its text, the link that it is, and relation values.
pub(crate) fn edges(data: &BlockData, tell: &mut dyn FnMut(EdgeTarget)) {
    if data.block_type().has_own_markdown() {
        markdown::links(&data.markdown, &mut |link| tell_target(&link.target, tell));
    }
    match &data.kind {
        BlockKind::RichUrl { url, .. } => tell_target(&LinkTarget::of(url), tell),
        BlockKind::CollectionItem { properties } => {
            for (_, value) in properties.iter() {
                if let PropertyValue::Relations(items) = value {
                    for item in items {
                        tell(EdgeTarget { to: EdgeEnd::Block(*item), kind: EdgeKind::Relation });
                    }
                }
            }
        }
        _ => {}
    }
}

fn tell_target(target: &LinkTarget, tell: &mut dyn FnMut(EdgeTarget)) {
    let to = match target {
        // A malformed ID leads nowhere.
        LinkTarget::Block(block) if !block.is_nil() => EdgeEnd::Block(*block),
        LinkTarget::Day(Some(day)) => EdgeEnd::Day(*day),
        _ => return,
    };
    tell(EdgeTarget { to, kind: EdgeKind::Link });
}
