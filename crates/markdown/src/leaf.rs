//! State of the innermost open block.

use crate::raw_html::RawHtml;

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

#[expect(clippy::struct_excessive_bools, reason = "independent properties of one paragraph")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Paragraph {
    /// Raw HTML in progress, in which no line starts a block.
    pub(crate) raw: Option<RawHtml>,
    /// Whether it contained raw HTML: an underline then makes no heading.
    pub(crate) html: bool,
    /// Whether a formula is in progress.
    pub(crate) formula: bool,
    /// Whether it is a footnote, to which indented lines below a blank line belong.
    pub(crate) footnote: bool,
    /// Whether its last line is blank.
    pub(crate) is_behind_blank: bool,
    /// Offset in the buffer where the link definitions at its start end.
    pub(crate) definitions: usize,
    /// Offset of the last line in the buffer.
    pub(crate) last_line: usize,
}

impl Paragraph {
    /// Whether it contains raw HTML in progress that continues over blank lines.
    pub(crate) fn is_verbatim(self) -> bool {
        self.raw.is_some_and(RawHtml::spans_blank_lines)
    }
}
