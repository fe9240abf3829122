//! Cursor over one line, in bytes and columns: a tab reaches to the next multiple of four columns,
//! and a container may consume a part of it.

use crate::slice;

/// Tab width in columns (`CommonMark` 0.31, "Tabs").
const TAB: usize = 4;

/// Cursor over one line without its line break.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineCursor<'t> {
    rest: &'t str,
    offset: usize,
    column: usize,
    /// Columns left of a partially consumed tab.
    spare: usize,
}

impl<'t> LineCursor<'t> {
    pub(crate) const fn new(line: &'t str) -> Self {
        Self { rest: line, offset: 0, column: 0, spare: 0 }
    }

    /// Rest of the line, without the columns of a partially consumed tab.
    pub(crate) const fn rest(&self) -> &'t str {
        self.rest
    }

    /// Offset in bytes from the start of the line.
    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// Columns left of a partially consumed tab: spaces before [`Self::rest`].
    pub(crate) const fn spare(&self) -> usize {
        self.spare
    }

    /// Columns of white space ahead.
    pub(crate) fn indent(&self) -> usize {
        let mut column = self.column;
        for byte in self.rest.bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column += TAB - column % TAB,
                _ => break,
            }
        }
        self.spare + column - self.column
    }

    /// Whether only white space is left.
    pub(crate) fn is_blank(&self) -> bool {
        is_blank(self.rest)
    }

    /// Skips `bytes`, none of which may be white space.
    pub(crate) fn skip(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.rest.len(), "a cursor stays within its line");
        self.rest = slice::after(self.rest, bytes);
        self.offset += bytes;
        self.column += bytes;
        self.spare = 0;
    }

    /// Skips up to `columns` columns of white space.
    pub(crate) fn skip_columns(&mut self, columns: usize) {
        let mut left = columns;
        let taken = left.min(self.spare);
        self.spare -= taken;
        left -= taken;
        let mut skipped = 0;
        for byte in self.rest.bytes() {
            if left == 0 {
                break;
            }
            match byte {
                b' ' => {
                    self.column += 1;
                    left -= 1;
                }
                b'\t' => {
                    let width = TAB - self.column % TAB;
                    self.column += width;
                    self.spare = width.saturating_sub(left);
                    left = left.saturating_sub(width);
                }
                _ => break,
            }
            skipped += 1;
        }
        self.rest = slice::after(self.rest, skipped);
        self.offset += skipped;
    }

    /// Skips all white space ahead.
    pub(crate) fn skip_indent(&mut self) {
        match self.rest.as_bytes().first() {
            Some(b' ' | b'\t') => self.skip_columns(usize::MAX),
            _ => self.spare = 0,
        }
    }

    /// Consumes the white space ahead and appends it as spaces: the stored text is independent of
    /// its column.
    pub(crate) fn take_indent(&mut self, into: &mut String) {
        for _ in 0..self.indent() {
            into.push(' ');
        }
        self.skip_indent();
    }
}

/// White space within a line as defined by `CommonMark`.
pub(crate) const fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t')
}

/// Whether `line` is empty or white space.
pub(crate) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// The text without white space at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n'])
}

/// The text without trailing white space.
pub(crate) fn trim_end(text: &str) -> &str {
    text.trim_end_matches([' ', '\t', '\n'])
}

/// The text without leading white space.
pub(crate) fn trim_start(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n'])
}
