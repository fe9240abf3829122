//! Warnings about one file, with the lines they concern. Blocks do not record their lines, so lines
//! are found again by searching the file for what a block contains.

use crate::report::{VaultWarning, VaultWarningKind};

/// Threshold of missed blocks after which blocks are no longer searched for: bounds the cost of a
/// file in which many cannot be found.
const MAX_MISSES: usize = 32;

/// Bytes beyond a block's length that are searched for its links: a table is wider in the file than
/// in its block.
const SEARCH_MARGIN: usize = 4 << 10;

#[derive(Clone, Copy, Debug)]
struct TextPosition {
    offset: usize,
    line: usize,
}

/// Collects the warnings of one file.
#[derive(Debug)]
pub(super) struct FileWarnings<'a> {
    path: &'a str,
    text: &'a str,
    /// The last block that was found: searches for later blocks start there.
    block: TextPosition,
    /// The end of the last match within the block.
    last_match: TextPosition,
    /// The first line of the current block, until it has been searched for.
    first_line: Option<String>,
    /// Length of the current block in bytes.
    length: usize,
    misses: usize,
    pub(super) warnings: Vec<VaultWarning>,
}

impl<'a> FileWarnings<'a> {
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        let start = TextPosition { offset: 0, line: 1 };
        Self {
            path,
            text,
            block: start,
            last_match: start,
            first_line: None,
            length: text.len(),
            misses: 0,
            warnings: Vec::new(),
        }
    }

    /// Starts the next block in document order; it contains `markdown`.
    pub(super) fn begin_block(&mut self, markdown: &str) {
        self.first_line =
            markdown.lines().next().filter(|line| !line.is_empty()).map(ToOwned::to_owned);
        self.length = markdown.len();
        self.last_match = self.block;
    }

    /// Warns about `written`, a text of the current block.
    pub(super) fn warn(&mut self, kind: VaultWarningKind, written: &str, message: String) {
        let line = self.line_of(written);
        self.warn_at(kind, line, message);
    }

    /// Warns about a line, or about the file as a whole.
    pub(super) fn warn_at(
        &mut self,
        kind: VaultWarningKind,
        line: Option<usize>,
        message: impl Into<String>,
    ) {
        let warning = VaultWarning::of_file(self.path, kind, message);
        self.warnings.push(VaultWarning { line, ..warning });
    }

    /// The line of the next occurrence of `written` in the current block. `None` if the file
    /// spells it differently.
    pub(super) fn line_of(&mut self, written: &str) -> Option<usize> {
        self.find_block();
        let limit = SEARCH_MARGIN + self.length;
        let (start, end) = self
            .find(written, self.last_match, limit)
            .or_else(|| self.find(written, self.block, limit))?;
        // The next lookup continues after this match, so that equal links get their own lines.
        self.last_match = end;
        Some(start.line)
    }

    fn find_block(&mut self) {
        let pending = self.first_line.take().filter(|_| self.misses < MAX_MISSES);
        if let Some(first_line) = pending {
            match self.find(&first_line, self.block, usize::MAX) {
                Some((start, _)) => (self.block, self.last_match) = (start, start),
                None => self.misses += 1,
            }
        }
    }

    /// Start and end offsets of `written` within `limit` bytes after a position.
    fn find(
        &self,
        written: &str,
        from: TextPosition,
        limit: usize,
    ) -> Option<(TextPosition, TextPosition)> {
        debug_assert!(self.text.is_char_boundary(from.offset), "offsets are those of matches");
        let rest = self.text.get(from.offset..)?;
        let end = rest.len().min(limit);
        let end = (end..=rest.len()).find(|end| rest.is_char_boundary(*end))?;
        let found = rest.get(..end)?.find(written).filter(|_| !written.is_empty())?;
        let newlines = |text: &str| text.matches('\n').count();
        let start = TextPosition {
            offset: from.offset + found,
            line: from.line + newlines(rest.get(..found)?),
        };
        let end = TextPosition {
            offset: start.offset + written.len(),
            line: start.line + newlines(written),
        };
        Some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_any_order_within_a_block() {
        let mut warnings = FileWarnings::new("a.md", "[[a]]\n\nx\n[[a]] [[b]]\n[[a]]\n\n[[c]]\n");
        warnings.begin_block("x\n[[a]] [[b]]\n[[a]]");
        let lines = ["[[b]]", "[[a]]", "[[b]]", "[[z]]"].map(|written| warnings.line_of(written));
        assert_eq!(lines, [Some(4), Some(5), Some(4), None]);
        warnings.begin_block("[[c]]");
        assert_eq!(warnings.line_of("[[c]]"), Some(7));
    }
}
