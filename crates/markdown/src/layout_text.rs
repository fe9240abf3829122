//! The text of rendered blocks with their source layout.

use leafbase_model::{BlockData, SourceLayout};

use crate::block_lines::{BlockLines, RenderedSpan};
use crate::render::Rendered;
use crate::slice;

/// How much of a block's layout is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LayoutLevel {
    #[default]
    All,
    /// Only the text between the block and the one before it.
    Before,
    /// Only its own lines.
    Lines,
    Nothing,
}

impl LayoutLevel {
    pub(crate) const fn less(self) -> Self {
        match self {
            Self::All => Self::Before,
            Self::Before => Self::Lines,
            Self::Lines | Self::Nothing => Self::Nothing,
        }
    }
}

/// The text of blocks with their layouts, and where each starts in it, in reading order; `levels`
/// that are missing are [`LayoutLevel::All`].
pub(crate) fn assemble<B: Rendered>(
    blocks: &[B],
    canonical: &str,
    spans: &[RenderedSpan],
    levels: &[LayoutLevel],
) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(canonical.len() + canonical.len() / 8);
    let mut starts = Vec::with_capacity(spans.len());
    let mut end = 0;
    let levels = levels.iter().copied().chain(std::iter::repeat(LayoutLevel::All));
    let flat = flatten(blocks);
    debug_assert!(flat.len() == spans.len(), "each block has a span");
    for ((data, span), level) in flat.into_iter().zip(spans).zip(levels) {
        debug_assert!(end <= span.start && span.start <= span.end, "spans are in reading order");
        let before = slice::within(canonical, end..span.start);
        let layout = data.layout.as_deref();
        let (uses_before, uses_lines) = match level {
            LayoutLevel::All => (true, true),
            LayoutLevel::Before => (true, false),
            LayoutLevel::Lines => (false, true),
            LayoutLevel::Nothing => (false, false),
        };
        let written = layout.filter(|_| uses_before).and_then(|layout| layout.before.as_deref());
        out.push_str(written.unwrap_or(before));
        starts.push(out.len());
        match layout {
            Some(layout) if uses_lines && describes_lines(layout) => {
                out.push_str(&BlockLines::new(canonical, span).write(layout));
            }
            _ => out.push_str(slice::within(canonical, span.start..span.end)),
        }
        end = span.end;
    }
    out.push_str(slice::after(canonical, end));
    (out, starts)
}

/// Whether a layout says anything of the block's own lines.
fn describes_lines(layout: &SourceLayout) -> bool {
    let SourceLayout { first_lead, other_lead, opening, closing, lines, verbatim, .. } = layout;
    let parts = [first_lead, other_lead, opening, closing];
    parts.iter().any(|part| part.is_some()) || !lines.is_empty() || verbatim.is_some()
}

/// The data of blocks in reading order.
pub(crate) fn flatten<B: Rendered>(blocks: &[B]) -> Vec<&BlockData> {
    let mut flat = Vec::with_capacity(blocks.len());
    let mut stack: Vec<&B> = blocks.iter().rev().collect();
    while let Some(block) = stack.pop() {
        flat.push(block.data());
        if !block.is_cut() {
            stack.extend(block.children().iter().rev());
        }
    }
    flat
}
