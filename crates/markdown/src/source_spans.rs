//! The lines of a text that each of its blocks was read from.

/// The lines of a block, from its first to its last one, both counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceSpan {
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// Spans of the blocks in a page.
    pub(crate) within: Vec<SourceSpan>,
}

impl SourceSpan {
    pub(crate) const fn of_lines(first: usize, last: usize) -> Self {
        Self { first, last, within: Vec::new() }
    }

    /// The spans in reading order: a page before its content.
    pub(crate) fn flatten(spans: &[Self]) -> Vec<&Self> {
        let mut flat = Vec::new();
        let mut stack: Vec<&Self> = spans.iter().rev().collect();
        while let Some(span) = stack.pop() {
            flat.push(span);
            stack.extend(span.within.iter().rev());
        }
        flat
    }
}
