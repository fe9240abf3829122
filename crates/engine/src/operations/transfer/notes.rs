//! What is remarked while a file is imported, with the lines where it stands.

use crate::operations::transfer::report::{Adaptation, AdaptationKind};

/// Blocks that were looked for in vain before no more are: a file that has many would be read over
/// and over.
const MISSES: usize = 32;

/// Bytes around a block's own length where its links are looked for: a table is written wider in
/// the file than in the block.
const MARGIN: usize = 4 << 10;

/// A place in the text.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    line: usize,
}

/// The remarks on one file. Blocks do not know their lines, so those are found by what is written
/// there.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    path: &'a str,
    text: &'a str,
    /// The block that was found last: those after it are looked for from there.
    block: Place,
    /// What was found last in this block.
    last: Place,
    /// The first line of this block and the bytes of all, until it is looked for.
    begun: Option<String>,
    length: usize,
    misses: usize,
    pub(super) adaptations: Vec<Adaptation>,
}

impl<'a> Notes<'a> {
    /// No remarks yet on the file at `path`, of this `text`.
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        let start = Place { at: 0, line: 1 };
        let (begun, length, misses, adaptations) = (None, text.len(), 0, Vec::new());
        Self { path, text, block: start, last: start, begun, length, misses, adaptations }
    }

    /// What follows is remarked on the block that begins so.
    pub(super) fn begin_block(&mut self, markdown: &str) {
        self.begun = markdown.lines().next().filter(|line| !line.is_empty()).map(ToOwned::to_owned);
        self.length = markdown.len();
        self.last = self.block;
    }

    /// Remarks on what is `written` in the block.
    pub(super) fn add(&mut self, kind: AdaptationKind, written: &str, message: String) {
        let line = self.line_of(written);
        self.adaptations.push(Adaptation { path: self.path.to_owned(), line, kind, message });
    }

    /// Remarks on a known line, or on the file as a whole.
    pub(super) fn add_at(
        &mut self,
        kind: AdaptationKind,
        line: Option<usize>,
        message: impl Into<String>,
    ) {
        self.adaptations.push(Adaptation {
            path: self.path.to_owned(),
            line,
            kind,
            message: message.into(),
        });
    }

    /// The line where `written` stands next in the block; none if it is written otherwise there.
    pub(super) fn line_of(&mut self, written: &str) -> Option<usize> {
        self.find_block();
        let found = self.find(written, self.last, MARGIN + self.length);
        let found = found.or_else(|| self.find(written, self.block, MARGIN + self.length));
        let (place, end) = found?;
        self.last = end;
        Some(place.line)
    }

    fn find_block(&mut self) {
        let Some(begun) = self.begun.take().filter(|_| self.misses < MISSES) else { return };
        match self.find(&begun, self.block, usize::MAX) {
            Some((place, _)) => (self.block, self.last) = (place, place),
            None => self.misses += 1,
        }
    }

    /// Where `written` stands within so many bytes of a place, and the place behind it.
    fn find(&self, written: &str, from: Place, within: usize) -> Option<(Place, Place)> {
        let rest = self.text.get(from.at..)?;
        let end = rest.len().min(within);
        let end = (end..=rest.len()).find(|end| rest.is_char_boundary(*end))?;
        let found = rest.get(..end)?.find(written).filter(|_| !written.is_empty())?;
        let newlines = |text: &str| text.matches('\n').count();
        let start = Place { at: from.at + found, line: from.line + newlines(rest.get(..found)?) };
        Some((start, Place { at: start.at + written.len(), line: start.line + newlines(written) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_any_order_within_a_block() {
        let mut notes = Notes::new("a.md", "[[a]]\n\nx\n[[a]] [[b]]\n[[a]]\n\n[[c]]\n");
        notes.begin_block("x\n[[a]] [[b]]\n[[a]]");
        let lines = ["[[b]]", "[[a]]", "[[b]]", "[[z]]"].map(|written| notes.line_of(written));
        assert_eq!(lines, [Some(4), Some(5), Some(4), None]);
        notes.begin_block("[[c]]");
        assert_eq!(notes.line_of("[[c]]"), Some(7));
    }
}
