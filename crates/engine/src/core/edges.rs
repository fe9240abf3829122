//! Edges from a block to blocks, days and files, which the store keeps consistent with its text.
//!
//! A link to an uploaded file references it just as an image block does: both keep the file alive.

use leafbase_markdown::{self as markdown, FRONT_MATTER_TAG, LinkTarget, front_properties};
use leafbase_model::{AssetId, AssetUrl, BlockData, BlockKind, PropertyValue, TextRole};
use leafbase_store::{EdgeEnd, EdgeKind, EdgeTarget, Extractor};

use crate::core::tags::tags;

/// The functions by which the store derives edges, index keys and tags from blocks.
pub(crate) const EXTRACTOR: Extractor =
    Extractor { edges, keys: leafbase_collections::index_keys, tags };

/// Emits every edge of `data`: links in its text, by ID and by name, the link or file that it is,
/// relation values, and the aliases of front matter.
pub(crate) fn edges(data: &BlockData, visit: &mut dyn FnMut(EdgeTarget)) {
    if data.block_type().has_own_markdown() {
        markdown::links(&data.inline, &mut |link| match AssetUrl::asset_of(&link.destination) {
            Some(file) => visit(shown(file)),
            None => visit_target(&link.target, visit),
        });
        markdown::wiki_links(&data.inline, &mut |name| {
            visit(EdgeTarget { to: EdgeEnd::name(name), kind: EdgeKind::Link });
        });
    }
    // The block's own URL, which no markdown contains.
    if let Some((role, url)) = data.url() {
        match AssetUrl::asset_of(url) {
            Some(file) => visit(shown(file)),
            None if role == TextRole::LinkUrl => visit_target(&LinkTarget::of(url), visit),
            None => {}
        }
    }
    match &data.kind {
        BlockKind::CollectionItem { properties } => {
            for value in properties.values() {
                if let PropertyValue::Relations(items) = value {
                    for item in items {
                        visit(EdgeTarget { to: EdgeEnd::Block(*item), kind: EdgeKind::Relation });
                    }
                }
            }
        }
        BlockKind::Code { raw_code, language_tag, .. } if language_tag == FRONT_MATTER_TAG => {
            for alias in front_properties(raw_code).aliases {
                visit(EdgeTarget { to: EdgeEnd::name(&alias), kind: EdgeKind::Alias });
            }
        }
        _ => {}
    }
}

fn visit_target(target: &LinkTarget, visit: &mut dyn FnMut(EdgeTarget)) {
    let to = match target {
        // A malformed ID has no target.
        LinkTarget::Block(block) if !block.is_nil() => EdgeEnd::Block(*block),
        LinkTarget::Day(Some(day)) => EdgeEnd::Day(*day),
        _ => return,
    };
    visit(EdgeTarget { to, kind: EdgeKind::Link });
}

fn shown(file: AssetId) -> EdgeTarget {
    EdgeTarget { to: EdgeEnd::Asset(file), kind: EdgeKind::Embed }
}

/// Emits the uploaded files that `data` shows. Text that cannot contain a file URL is not parsed.
pub(crate) fn files(data: &BlockData, visit: &mut dyn FnMut(AssetId)) {
    if data.url().is_none() && !may_name_file(&data.inline) {
        return;
    }
    edges(data, &mut |target| {
        if let EdgeEnd::Asset(file) = target.to {
            visit(file);
        }
    });
}

/// A file URL contains slashes, literally or as an escape or character reference.
fn may_name_file(text: &str) -> bool {
    markdown::may_have_links(text) && (text.contains("://") || text.contains(['&', '\\']))
}
