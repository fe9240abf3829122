//! The URLs of a block, one by one.

use std::borrow::Cow;

use leafbase_markdown as markdown;
use leafbase_model::{BlockData, BlockId, BlockKind};

/// Where a link leads, as written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Url<'a> {
    pub(super) url: &'a str,
    /// Whether what it leads to is shown in place.
    pub(super) embedded: bool,
}

/// Gives each URL that `data` links to, to `change`, which may give another one for it. Tells
/// whether any changed.
pub(super) fn rewrite_urls(
    data: &mut BlockData,
    change: &mut dyn FnMut(Url<'_>) -> Option<String>,
) -> bool {
    if let Some((url, embedded)) = own_url(&mut data.kind) {
        let new = change(Url { url, embedded });
        let changed = new.is_some();
        *url = new.unwrap_or_else(|| std::mem::take(url));
        return changed;
    }
    if !data.block_type().has_own_markdown() {
        return false;
    }
    let rewritten = markdown::rewrite_links(&data.markdown, &mut |link| {
        // `[[Note]]: words` defines nothing.
        let before = data.markdown.get(..link.range.start).unwrap_or_default();
        if link.form == markdown::LinkForm::Definition && before.trim_end().ends_with("]]:") {
            return None;
        }
        change(Url { url: &link.destination, embedded: link.form == markdown::LinkForm::Embedded })
    });
    let Cow::Owned(rewritten) = rewritten else { return false };
    let changed = rewritten != data.markdown;
    data.markdown = rewritten;
    changed
}

/// The URL that a block of this kind is of, and whether it shows what that leads to.
fn own_url(kind: &mut BlockKind) -> Option<(&mut String, bool)> {
    match kind {
        BlockKind::RichUrl { url, .. } => Some((url, false)),
        BlockKind::Image { url, .. }
        | BlockKind::Video { url, .. }
        | BlockKind::File { url, .. }
        | BlockKind::Drawing { url }
        | BlockKind::Whiteboard { url } => Some((url, true)),
        _ => None,
    }
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
