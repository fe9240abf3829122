//! State of the innermost open block.

use crate::line_starts::RawHtml;

/// The innermost open block, which holds text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    None,
    Paragraph(Paragraph),
    /// Code between fences.
    Code {
        mark: u8,
        length: usize,
        /// Columns that the opening fence is set in.
        inset: usize,
        info: String,
        /// Whether a line is there already.
        begun: bool,
    },
    /// Code that is set in.
    Indented,
    Table,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Paragraph {
    /// Whether raw HTML is being read, where no line begins anything.
    pub(crate) raw: Option<RawHtml>,
    /// Whether raw HTML was read: an underline makes no heading of it.
    pub(crate) html: bool,
    /// Whether a formula is being read.
    pub(crate) formula: bool,
    /// Whether a line came in that would read otherwise where the paragraph is written: it is
    /// brought into canonical form.
    pub(crate) unsettled: bool,
    /// Where in the buffer the last line begins.
    pub(crate) last_line: usize,
}
