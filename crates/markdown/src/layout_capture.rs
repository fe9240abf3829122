//! Capture of source layout: the differences between a text and the canonical form of its blocks.

use leafbase_model::{BlockDraft, FileLayout, Result, SourceLayout, invariant};
use xxhash_rust::xxh3::xxh3_64;

use crate::block_lines::{BlockLines, BlockShape};
use crate::layout_text::assemble;
use crate::parse::{parse, unified};
use crate::parsed::{ParseOptions, ParsedMarkdown};
use crate::render::render_with_spans;
use crate::slice;
use crate::source_spans::SourceSpan;

/// Parses markdown as [`parse`] does, and gives each block its source layout
/// ([`SourceLayout`]): how the text differs from the canonical form of the block, so that
/// [`render_as_written`](crate::render_as_written) writes the text again. Costs a rendering more.
///
/// ```
/// use leafbase_markdown::{ParseOptions, parse_with_layout, render, render_as_written};
///
/// let text = "* one\n* two\n---\n";
/// let parsed = parse_with_layout(text, &ParseOptions::default())?;
/// assert_eq!(render(&parsed.blocks), "- one\n- two\n\n*****");
/// assert_eq!(render_as_written(&parsed.blocks, parsed.file.as_ref()), "* one\n* two\n---");
/// # Ok::<(), leafbase_model::Error>(())
/// ```
///
/// # Errors
/// The errors of [`parse`].
pub fn parse_with_layout(text: &str, options: &ParseOptions) -> Result<ParsedMarkdown> {
    let options = ParseOptions { keeps_spans: true, ..options.clone() };
    let mut parsed = parse(text, &options)?;
    let spans = std::mem::take(&mut parsed.spans);
    parsed.file = capture(&unified(text), &mut parsed.blocks, &spans)?;
    Ok(parsed)
}

/// Gives `blocks`, read from `text`, their layouts. Returns the document's, or `None` if the
/// layouts do not describe the text as a whole.
fn capture(
    text: &str,
    blocks: &mut [BlockDraft],
    spans: &[SourceSpan],
) -> Result<Option<FileLayout>> {
    let (rendered, rendered_spans) = render_with_spans(blocks);
    let spans = SourceSpan::flatten(spans);
    let starts = LineStarts::new(text);
    let mut drafts = Vec::with_capacity(spans.len());
    let mut stack: Vec<&mut BlockDraft> = blocks.iter_mut().rev().collect();
    invariant!(rendered_spans.len() == spans.len(), "each block has a span of lines");
    let (mut source_end, mut rendered_end, mut in_page) = (0, 0, false);
    let mut is_whole = true;
    let mut layouts = Vec::with_capacity(spans.len());
    for (span, place) in spans.iter().zip(&rendered_spans) {
        let (start, end) = (starts.start(span.first), starts.end(span.last));
        // Two blocks on one line, or lines out of order.
        if start < source_end || end < start {
            return Ok(None);
        }
        let mut layout = SourceLayout::default();
        let before = slice::within(text, source_end..start);
        if before != slice::within(&rendered, rendered_end..place.start) {
            // The lines after the tag of a page have its title, and tags have one form.
            if in_page || before.contains('<') {
                is_whole = false;
            } else {
                layout.before = Some(before.into());
            }
        }
        let own = slice::within(text, start..end);
        if own != slice::within(&rendered, place.start..place.end) {
            if place.shape == BlockShape::Page {
                is_whole = false;
            } else {
                BlockLines::new(&rendered, place).describe(own, &mut layout);
            }
        }
        layouts.push(layout.into_option());
        (source_end, rendered_end) = (end, place.end);
        in_page = place.shape == BlockShape::Page;
    }
    while let Some(BlockDraft { data, content, .. }) = stack.pop() {
        stack.extend(content.iter_mut().rev());
        drafts.push(data);
    }
    invariant!(drafts.len() == layouts.len(), "each block has a layout");
    for (data, layout) in drafts.into_iter().zip(layouts) {
        data.layout = layout;
    }
    let (after, tail) = (slice::after(text, source_end), slice::after(&rendered, rendered_end));
    // Tags after the last block close the containers around it: they are not the end of the text.
    let end = after.strip_prefix(tail).filter(|end| is_whole && !end.contains('<'));
    let Some(end) = end else { return Ok(None) };
    // The digest vouches for the whole text, so the layouts have to give it byte for byte.
    let (written, _) = assemble(blocks, &rendered, &rendered_spans, &[]);
    let file = FileLayout {
        digest: xxh3_64(rendered.as_bytes()),
        end: (end != "\n").then(|| end.into()),
        ..FileLayout::default()
    };
    Ok((text.strip_prefix(&*written) == Some(end)).then_some(file))
}

/// Offsets of the lines of a text.
struct LineStarts<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineStarts<'t> {
    fn new(text: &'t str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// Start of line `number`, from 1.
    fn start(&self, number: usize) -> usize {
        self.starts.get(number.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }

    /// End of line `number`, without its line break.
    fn end(&self, number: usize) -> usize {
        self.starts.get(number).map_or(self.text.len(), |next| next - 1)
    }
}
