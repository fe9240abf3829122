//! Three-way merges of a block: what its markdown said before and says now changes, and what
//! markdown does not say stays.

use leafbase_model::{BlockData, BlockKind, ListStyle, SourceLayout, TaskInfo, TextFormat};

use super::outline::OutlineBlock;

/// The data of a block that read as `before` and reads as `after` now.
pub(super) fn merged(present: &BlockData, before: &BlockData, after: &BlockData) -> BlockData {
    let list_style = pick(&present.list_style, &before.list_style, &after.list_style);
    let task = match (list_style, present.task, after.task) {
        (ListStyle::Task, Some(present), Some(after)) => {
            let state = before.task.map(|task| task.state);
            Some(if state == Some(after.state) {
                present
            } else {
                TaskInfo { state: after.state, ..present }
            })
        }
        (ListStyle::Task, present, after) => after.or(present),
        _ => None,
    };
    let kind = if reads_as_text(&present.kind, before, after) {
        after.kind.clone()
    } else {
        merged_kind(&present.kind, &before.kind, &after.kind)
    };
    BlockData {
        kind,
        inline: pick(&present.inline, &before.inline, &after.inline),
        indentation: pick(&present.indentation, &before.indentation, &after.indentation),
        list_style,
        color: present.color,
        task,
        decorations: pick(&present.decorations, &before.decorations, &after.decorations),
        layout: None,
    }
}

/// The layout of a block that the text before writes as `old`, and the new text as `new`. The text
/// of a page has no links as a file writes them, and no file.
pub(super) fn merged_layout(
    present: &BlockData,
    old: &OutlineBlock,
    new: &OutlineBlock,
) -> Option<Box<SourceLayout>> {
    let taken = |layout: Option<&Box<SourceLayout>>| {
        let mut layout = layout.map(|layout| (**layout).clone()).unwrap_or_default();
        let links = std::mem::take(&mut layout.links);
        (layout, links)
    };
    let (present_layout, present_links) = taken(present.layout.as_ref());
    let (old_layout, _) = taken(old.layout.as_ref());
    let (new_layout, new_links) = taken(new.layout.as_ref());
    let links = if new_links.is_empty() { present_links } else { new_links };
    let file = present_layout.file.clone();
    // The text before may show a part of the layout.
    let layout = if old_layout == new_layout { present_layout } else { new_layout };
    SourceLayout { links, file, ..layout }.into_option()
}

/// Makes a text the page that it becomes when it receives children.
pub(super) fn make_page(data: &mut BlockData) {
    if let BlockKind::Text(format) = data.kind {
        data.kind = BlockKind::Page(format);
    }
}

/// The present value if the text still says what it said.
fn pick<T: Clone + PartialEq>(present: &T, before: &T, after: &T) -> T {
    if before == after { present.clone() } else { after.clone() }
}

/// Whether a link that has no markdown of its own, for its address is none that a rich link or a
/// picture may have in a file, was written as a text, and that text was edited.
fn reads_as_text(present: &BlockKind, before: &BlockData, after: &BlockData) -> bool {
    use BlockKind::{Drawing, File, Image, RichUrl, Text, Video, Whiteboard};
    let is_link = matches!(
        present,
        RichUrl { .. }
            | Image { .. }
            | Video { .. }
            | File { .. }
            | Drawing { .. }
            | Whiteboard { .. }
    );
    is_link
        && matches!((&before.kind, &after.kind), (Text(_), Text(_)))
        && before.inline != after.inline
}

fn merged_kind(present: &BlockKind, before: &BlockKind, after: &BlockKind) -> BlockKind {
    use BlockKind::{Drawing, File, Image, Page, RichUrl, Text, Video, Whiteboard};
    if before == after {
        return present.clone();
    }
    match (present, before, after) {
        (Text(now) | Page(now), Text(was) | Page(was), Text(new)) => Text(format(*now, *was, *new)),
        (Text(now) | Page(now), Text(was) | Page(was), Page(new)) => Page(format(*now, *was, *new)),
        // A drawing is written as its picture.
        (Drawing { .. }, Image { .. }, Image { url, .. }) => Drawing { url: url.clone() },
        (Whiteboard { .. }, Image { .. }, Image { url, .. }) => Whiteboard { url: url.clone() },
        (Image { size, width, .. }, Image { .. }, Image { url, alt_text, .. }) => {
            let (url, alt_text) = (url.clone(), alt_text.clone());
            Image { url, alt_text, size: *size, width: *width }
        }
        (Video { size, width, .. }, Video { .. }, Video { url, alt_text, .. }) => {
            let (url, alt_text) = (url.clone(), alt_text.clone());
            Video { url, alt_text, size: *size, width: *width }
        }
        (File { layout, .. }, File { .. }, File { url, file_name, .. }) => {
            File { url: url.clone(), file_name: file_name.clone(), layout: *layout }
        }
        (RichUrl { layout, .. }, RichUrl { .. }, RichUrl { url, title, description, .. }) => {
            let (url, title, description) = (url.clone(), title.clone(), description.clone());
            RichUrl { url, title, description, layout: *layout }
        }
        (_, _, after) => after.clone(),
    }
}

fn format(present: TextFormat, before: TextFormat, after: TextFormat) -> TextFormat {
    TextFormat {
        style: pick(&present.style, &before.style, &after.style),
        card_layout: pick(&present.card_layout, &before.card_layout, &after.card_layout),
        ..present
    }
}
