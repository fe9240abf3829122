//! In how many blocks of each document patterns match.

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{DocumentId, Result};
use leafbase_pattern::{Fuel, Pattern, Required};

use super::{Matching, Patterns, STEPS_OF_TEXT, Sought};

impl Patterns {
    /// What a document has that one of them matches in, of each.
    pub(crate) fn required(&self) -> Vec<&Required> {
        self.read.iter().map(Pattern::required).collect()
    }
}

/// In how many texts of each document a pattern matches. Texts of several documents are looked
/// through together.
pub(crate) struct Counting<'m, 'p> {
    matching: &'m mut Matching<'p>,
    /// Whose the texts are that are laid together.
    laid: Vec<DocumentId>,
    counts: Vec<(DocumentId, usize)>,
}

impl<'p> Matching<'p> {
    pub(crate) const fn patterns(&self) -> &'p Patterns {
        self.patterns
    }

    /// How many steps are left.
    pub(crate) const fn left(&self) -> u64 {
        self.left.left()
    }

    /// Takes so many steps; none if fewer are left, and says so.
    pub(crate) fn spend(&mut self, steps: u64) -> bool {
        let left = self.left().checked_sub(steps);
        self.left = left.map_or(self.left, Fuel::new);
        left.is_some()
    }

    /// The same, with the steps that are left, as if it had matched nothing yet.
    pub(crate) fn anew(&self) -> Self {
        self.patterns.matching_with(self.left())
    }

    /// Finds where texts may be that match, where that is known.
    pub(crate) fn sieve(&self) -> Option<Sought<'p>> {
        self.patterns.sieve()
    }

    /// Whether a text of these bytes matches, where that is soon told. What is sought begins
    /// nowhere in it before `from`.
    fn matches_plainly(&mut self, text: &[u8], from: usize) -> Option<bool> {
        match self.patterns.read.as_slice() {
            [only] => self.left.lend(STEPS_OF_TEXT, |fuel| only.matches_plainly(text, from, fuel)),
            several => (!several.iter().any(|pattern| pattern.may_match(text))).then_some(false),
        }
    }

    /// Begins to count.
    pub(crate) fn counting(&mut self) -> Counting<'_, 'p> {
        self.piece.clear();
        Counting { matching: self, laid: Vec::new(), counts: Vec::new() }
    }
}

impl Counting<'_, '_> {
    /// Adds a text of a document, if its bytes tell soon whether it matches; and says so. What is
    /// sought begins nowhere in it before `from`.
    pub(crate) fn is_told_by(&mut self, document: DocumentId, text: &[u8], from: usize) -> bool {
        let is_match = self.matching.matches_plainly(text, from);
        if is_match == Some(true) {
            self.count(document);
        }
        is_match.is_some()
    }

    /// Adds a text of a document that has to be looked through.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] at the pattern that costs too much.
    pub(crate) fn add(&mut self, document: DocumentId, text: &str) -> Result<()> {
        if !self.matching.has_room_for(text) {
            self.look_through()?;
        }
        if self.matching.has_room_for(text) {
            self.matching.lay(text);
            self.laid.push(document);
        } else if self.matching.is_match(text)? {
            self.count(document);
        }
        Ok(())
    }

    fn look_through(&mut self) -> Result<()> {
        let mut from = 0;
        while let Some(index) = self.matching.next_laid(from)? {
            self.laid.get(index).copied().into_iter().for_each(|document| self.count(document));
            from = index + 1;
        }
        self.matching.piece.clear();
        self.laid.clear();
        Ok(())
    }

    fn count(&mut self, document: DocumentId) {
        match self.counts.last_mut() {
            Some((last, count)) if *last == document => *count += 1,
            _ => self.counts.push((document, 1)),
        }
    }

    /// The documents that have a text that matches, by ID, and how many.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub(crate) fn finish(mut self) -> Result<Vec<(DocumentId, usize)>> {
        self.look_through()?;
        // What was laid aside was counted late.
        self.counts.sort_unstable();
        self.counts.dedup_by(|(later, more), (document, count)| {
            let is_same = later == document;
            *count += if is_same { *more } else { 0 };
            is_same
        });
        Ok(self.counts)
    }
}
