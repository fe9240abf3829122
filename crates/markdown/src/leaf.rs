//! State of the innermost open block.

use crate::line_starts::RawHtml;

/// The innermost open block, which collects text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    None,
    Paragraph(Paragraph),
    /// A fenced code block.
    Code {
        mark: u8,
        length: usize,
        /// Indentation of the opening fence in columns.
        inset: usize,
        info: String,
        /// Whether it has a line already.
        begun: bool,
    },
    /// An indented code block.
    Indented,
    Table,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Paragraph {
    /// Raw HTML in progress, in which no line starts a block.
    pub(crate) raw: Option<RawHtml>,
    /// Whether it contained raw HTML: an underline then makes no heading.
    pub(crate) html: bool,
    /// Whether a formula is in progress.
    pub(crate) formula: bool,
    /// Offset of the last line in the buffer.
    pub(crate) last_line: usize,
}
