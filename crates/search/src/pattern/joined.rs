//! Whether texts may be laid together for a pattern, so that what matches one of them has a match in the whole.
//!
//! What takes letters takes the same ones there. What looks at a place without taking any has to find the same: no letter of a word stands at
//! the end of a text, nor is the separator one.

use regex_syntax::hir::{Hir, Look};

/// The letters that may stand between texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joined {
    line_break: bool,
    others: bool,
}

impl Joined {
    /// None.
    pub(crate) const NEVER: Self = Self { line_break: false, others: false };

    /// What a plain pattern allows.
    pub(crate) fn of(hir: &Hir) -> Self {
        let looks = hir.properties().look_set();
        let line_break = looks.iter().all(|look| is_at_words(look) || matches!(look, Look::StartLF | Look::EndLF));
        Self { line_break, others: looks.iter().all(is_at_words) }
    }

    /// Whether this letter may.
    pub(crate) fn with(self, separator: char) -> bool {
        let is_word = regex_syntax::try_is_word_character(separator).unwrap_or(true);
        !is_word && if separator == '\n' { self.line_break } else { self.others }
    }
}

/// Whether the ends of a text are to it what a place beside a letter is that belongs to no word.
const fn is_at_words(look: Look) -> bool {
    !matches!(look, Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF)
}
