//! The URLs of a block, one by one.

use leafbase_markdown as markdown;
use leafbase_model::{BlockData, BlockId, BlockKind};

/// Gives each URL that `data` links to, to `change`, which may give another one for it. Tells whether any changed.
pub(super) fn rewrite_urls(data: &mut BlockData, change: &mut dyn FnMut(&str) -> Option<String>) -> bool {
    if let BlockKind::RichUrl { url, .. } = &mut data.kind {
        let new = change(url);
        let changed = new.is_some();
        *url = new.unwrap_or_else(|| std::mem::take(url));
        return changed;
    }
    // What has no bracket and no scheme has no link: most texts.
    if !data.block_type().has_own_markdown() || !data.markdown.contains(['[', ':']) {
        return false;
    }
    let rewritten = markdown::rewrite_links(&data.markdown, change).into_owned();
    let changed = rewritten != data.markdown;
    data.markdown = rewritten;
    changed
}

/// The URL that names a block.
pub(super) fn block_url(id: BlockId) -> String {
    format!("block://{id}")
}

/// The block that a URL names.
pub(super) fn linked_block(url: &str) -> Option<BlockId> {
    match markdown::LinkTarget::of(url) {
        markdown::LinkTarget::Block(id) => Some(id),
        _ => None,
    }
}
