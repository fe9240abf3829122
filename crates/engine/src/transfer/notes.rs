//! What is remarked while a file is imported, with the lines where it stands.

use crate::transfer::report::{Adaptation, AdaptationKind};

/// Texts that were looked for in vain before lines are no longer looked up: a file without any would be read over and over.
const MISSES: usize = 32;

/// The remarks on one file.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    path: &'a str,
    text: &'a str,
    /// Remarks come in reading order, so each is looked for after the one before.
    at: usize,
    line: usize,
    misses: usize,
    pub(super) adaptations: Vec<Adaptation>,
}

impl<'a> Notes<'a> {
    /// No remarks yet on the file at `path`, of this `text`.
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        Self { path, text, at: 0, line: 1, misses: 0, adaptations: Vec::new() }
    }

    /// Remarks on what is `written` in the file.
    pub(super) fn add(&mut self, kind: AdaptationKind, written: &str, message: String) {
        let line = self.line_of(written);
        self.adaptations.push(Adaptation { path: self.path.to_owned(), line, kind, message });
    }

    /// Remarks on a known line, or on the file as a whole.
    pub(super) fn add_at(&mut self, kind: AdaptationKind, line: Option<usize>, message: impl Into<String>) {
        self.adaptations.push(Adaptation { path: self.path.to_owned(), line, kind, message: message.into() });
    }

    /// The line where `written` stands next; none if it is written otherwise there.
    pub(super) fn line_of(&mut self, written: &str) -> Option<usize> {
        let rest = self.text.get(self.at..).filter(|_| self.misses < MISSES && !written.is_empty())?;
        let Some(found) = rest.find(written) else {
            self.misses += 1;
            return None;
        };
        let newlines = |text: &str| text.matches('\n').count();
        let line = self.line + newlines(rest.get(..found).unwrap_or_default());
        self.line = line + newlines(written);
        self.at += found + written.len();
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_order() {
        let mut notes = Notes::new("a.md", "x\n[[a]] [[b]]\n\n[[a]]\n");
        let lines = ["[[a]]", "[[a]]", "[[b]]"].map(|written| notes.line_of(written));
        assert_eq!(lines, [Some(2), Some(4), None]);
    }
}
