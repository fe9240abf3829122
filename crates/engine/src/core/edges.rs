//! What a block points to: the edges that the store keeps in step with its text.
//!
//! A link to an uploaded file shows it as much as an image block does: both keep the file.

use leafbase_markdown::{self as markdown, LinkTarget};
use leafbase_model::{AssetId, AssetUrl, BlockData, BlockKind, PropertyValue};
use leafbase_store::{EdgeEnd, EdgeKind, EdgeTarget, Extractor};

/// What the store derives from blocks.
pub(crate) const EXTRACTOR: Extractor = Extractor { edges, keys: leafbase_collections::index_keys };

/// Tells everything that `data` points to: links in its text, the link or the file that it is, and
/// relation values.
pub(crate) fn edges(data: &BlockData, tell: &mut dyn FnMut(EdgeTarget)) {
    if data.block_type().has_own_markdown() {
        markdown::links(&data.markdown, &mut |link| match AssetUrl::asset_of(&link.destination) {
            Some(file) => tell(shown(file)),
            None => tell_target(&link.target, tell),
        });
    }
    if let Some(file) = url_of(&data.kind).and_then(AssetUrl::asset_of) {
        tell(shown(file));
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

fn shown(file: AssetId) -> EdgeTarget {
    EdgeTarget { to: EdgeEnd::Asset(file), kind: EdgeKind::Embed }
}

/// The URL that a block of this kind is of.
fn url_of(kind: &BlockKind) -> Option<&str> {
    match kind {
        BlockKind::Image { url, .. }
        | BlockKind::Video { url, .. }
        | BlockKind::File { url, .. }
        | BlockKind::Drawing { url }
        | BlockKind::Whiteboard { url }
        | BlockKind::RichUrl { url, .. } => Some(url),
        _ => None,
    }
}

/// Tells the uploaded files that `data` shows. A text that cannot name one is not read.
pub(crate) fn files(data: &BlockData, tell: &mut dyn FnMut(AssetId)) {
    if url_of(&data.kind).is_none() && !may_name_file(&data.markdown) {
        return;
    }
    edges(data, &mut |target| {
        if let EdgeEnd::Asset(file) = target.to {
            tell(file);
        }
    });
}

/// A URL has its slashes, unless an escape or a character reference stands for one.
fn may_name_file(text: &str) -> bool {
    markdown::may_have_links(text) && (text.contains("://") || text.contains(['&', '\\']))
}
