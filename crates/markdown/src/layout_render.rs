//! Rendering of blocks with their source layout.

use leafbase_model::{BlockData, BlockDraft, FileLayout};
use xxhash_rust::xxh3::xxh3_64;

use crate::block_lines::RenderedSpan;
use crate::layout_text::{LayoutLevel, assemble, flatten};
use crate::parse::parse;
use crate::parsed::{EmptyFirstItem, ParseOptions, UnknownHighlight};
use crate::render::{Rendered, render_with_spans};

/// Renderings that are tried with less and less layout before the canonical form is used.
const MAX_ATTEMPTS: usize = 16;

/// Renders blocks as [`render`](crate::render) does, each with its source layout
/// ([`leafbase_model::SourceLayout`]) as far as that fits: the text parses to the same blocks with
/// and without layout. `file` is the layout of the document that the blocks are the content of.
///
/// Blocks that are as they were read give the text they were read from, without what follows the
/// last one. That costs one rendering more. After an edit the text is parsed as well, and where
/// blocks are read differently, their layout is left out.
///
/// ```
/// use leafbase_markdown::{ParseOptions, parse_with_layout, render, render_as_written};
///
/// let text = "Title\n=====\n* one\n* two";
/// let mut parsed = parse_with_layout(text, &ParseOptions::default())?;
/// assert_eq!(render_as_written(&parsed.blocks, parsed.file.as_ref()), text);
/// parsed.blocks[2].data.inline = "three".to_owned();
/// assert_eq!(render_as_written(&parsed.blocks, None), "Title\n=====\n* one\n* three");
/// assert_eq!(render(&parsed.blocks), "# Title\n\n- one\n- three");
/// # Ok::<(), leafbase_model::Error>(())
/// ```
pub fn render_as_written<B: Rendered>(blocks: &[B], file: Option<&FileLayout>) -> String {
    written(blocks, file).0
}

/// As [`render_as_written`], with the offset at which the first line of each of `blocks` starts.
///
/// ```
/// use leafbase_markdown::{ParseOptions, parse_with_layout, render_with_starts};
///
/// let parsed = parse_with_layout("one\n\n* two\n* three", &ParseOptions::default())?;
/// let (text, starts) = render_with_starts(&parsed.blocks, parsed.file.as_ref());
/// assert_eq!(text, "one\n\n* two\n* three");
/// assert_eq!(starts, [0, 5, 11]);
/// # Ok::<(), leafbase_model::Error>(())
/// ```
pub fn render_with_starts<B: Rendered>(
    blocks: &[B],
    file: Option<&FileLayout>,
) -> (String, Vec<usize>) {
    let (text, starts) = written(blocks, file);
    let (mut flat, mut waiting) = (starts.into_iter(), Vec::new());
    let mut own = Vec::with_capacity(blocks.len());
    for block in blocks {
        own.extend(flat.next());
        waiting.push(block);
        while let Some(block) = waiting.pop() {
            if !block.is_cut() {
                waiting.extend(block.children());
                flat.by_ref().take(block.children().len()).for_each(drop);
            }
        }
    }
    debug_assert!(flat.next().is_none(), "each block of the text is one of `blocks`, or below one");
    (text, own)
}

/// The text of blocks, and where each starts in it, in reading order.
fn written<B: Rendered>(blocks: &[B], file: Option<&FileLayout>) -> (String, Vec<usize>) {
    let (canonical, spans) = render_with_spans(blocks);
    if flatten(blocks).iter().any(|data| data.layout.is_some()) {
        let written = assemble(blocks, &canonical, &spans, &[]);
        let is_read = |file: &FileLayout| file.digest == xxh3_64(canonical.as_bytes());
        if written.0 == canonical || file.is_some_and(is_read) {
            return written;
        }
        if let Some(fitting) = fitting(blocks, &canonical, &spans, written) {
            return fitting;
        }
    }
    (canonical, spans.iter().map(|span| span.start).collect())
}

/// The rendering with as much layout as leaves the meaning unchanged.
fn fitting<B: Rendered>(
    blocks: &[B],
    canonical: &str,
    spans: &[RenderedSpan],
    mut written: (String, Vec<usize>),
) -> Option<(String, Vec<usize>)> {
    let options = ParseOptions::default()
        .with_empty_first_item(EmptyFirstItem::Drop)
        .with_unknown_highlight(UnknownHighlight::Keep);
    let expected = parse(canonical, &options).ok()?.blocks;
    let expected = flatten_drafts(&expected);
    if expected.len() != spans.len() {
        return None;
    }
    let data = flatten(blocks);
    let mut levels = vec![LayoutLevel::All; spans.len()];
    for _ in 0..MAX_ATTEMPTS {
        let read = parse(&written.0, &options).ok()?.blocks;
        let read = flatten_drafts(&read);
        let same = expected.iter().zip(&read).take_while(|(one, other)| one == other).count();
        if same == expected.len() && read.len() == same {
            return Some(written);
        }
        // Where reading first differs, the layout of that block is at fault, or of the block
        // before it, which then takes its lines.
        let place = same.min(spans.len().saturating_sub(1));
        let suspects = [Some(place), place.checked_sub(1), Some(place + 1)];
        let at_fault = suspects.into_iter().flatten().find(|place| {
            let has_layout = data.get(*place).is_some_and(|data| data.layout.is_some());
            has_layout && levels.get(*place).is_some_and(|level| *level != LayoutLevel::Nothing)
        });
        let level = levels.get_mut(at_fault?)?;
        *level = level.less();
        written = assemble(blocks, canonical, spans, &levels);
    }
    None
}

/// Drafts in reading order, each with the number of its children.
fn flatten_drafts(blocks: &[BlockDraft]) -> Vec<(usize, &BlockData)> {
    let mut flat = Vec::with_capacity(blocks.len());
    let mut stack: Vec<&BlockDraft> = blocks.iter().rev().collect();
    while let Some(block) = stack.pop() {
        flat.push((block.content.len(), &block.data));
        stack.extend(block.content.iter().rev());
    }
    flat
}
