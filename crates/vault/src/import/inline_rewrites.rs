//! Texts whose links are rewritten: the ordinary links in them, and the form that blocks get.

use std::ops::Range;

use leafbase::markdown::{self, LinkForm, LinkTarget};
use leafbase::{AssetUrl, BlockData, BlockKind, TextStyle};

/// Brings a block with new links into the form that the parser gives it: a link alone in a
/// paragraph is a block of its own.
pub(crate) fn normalize(data: &mut BlockData) {
    if !data.block_type().has_own_markdown() {
        return;
    }
    let is_paragraph = matches!(&data.kind, BlockKind::Text(look) if look.style == TextStyle::Body);
    if is_paragraph && data.inline.starts_with(['[', '!']) && data.inline.ends_with(')') {
        let parsed = markdown::parse(&data.inline, &markdown::ParseOptions::default());
        let mut blocks = parsed.map_or_else(|_| Vec::new(), |parsed| parsed.blocks);
        if let (Some(block), true) = (blocks.pop(), blocks.is_empty())
            && !block.data.block_type().has_own_markdown()
        {
            let (parsed, _) = block.into_parts();
            (data.kind, data.inline) = (parsed.kind, parsed.inline);
            return;
        }
    }
    markdown::unguard_lone_link(data);
    markdown::canonical(data);
}

/// Counts the links in `text` to blocks and uploads.
pub(super) fn own_links(text: &str) -> usize {
    own_link_starts(text).len()
}

/// The offsets of the links in `text` to blocks and uploads.
pub(super) fn own_link_starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    markdown::links(text, &mut |link| {
        let is_own = matches!(link.target, LinkTarget::Block(_))
            || AssetUrl::asset_of(&link.destination).is_some();
        starts.extend(is_own.then_some(link.whole.start));
    });
    starts
}

/// The byte range of each ordinary link, from its opening bracket to the end of its destination.
pub(super) fn ordinary_links(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    markdown::links(text, &mut |link| {
        let has_text = matches!(link.form, LinkForm::Inline | LinkForm::Embedded);
        let start = has_text.then(|| opening_bracket(text, link.range.start)).flatten();
        ranges.push(start.unwrap_or(link.range.start)..link.range.end);
    });
    ranges
}

/// The opening bracket of the link whose destination starts at `destination`.
fn opening_bracket(text: &str, destination: usize) -> Option<usize> {
    let before = text.get(..destination)?;
    let mut closed = 0_usize;
    for (at, character) in before.get(..before.rfind("](")? + 1)?.char_indices().rev() {
        let backslashes = before.get(..at)?.bytes().rev().take_while(|byte| *byte == b'\\');
        let is_escaped = backslashes.count() % 2 == 1;
        match character {
            _ if is_escaped => {}
            ']' => closed += 1,
            '[' if closed == 1 => return Some(at),
            '[' => closed -= 1,
            _ => {}
        }
    }
    None
}
