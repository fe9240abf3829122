//! Whether texts may be laid together for a pattern, so that what matches one of them has a match
//! in the whole.
//!
//! What takes letters takes the same ones there. What looks at a place without taking any has to
//! find the same: no letter of a word stands at the end of a text, nor is the separator one.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// The letters that may stand between texts.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    line_break: bool,
    others: bool,
    /// Those of [`ASKED`] that no match takes.
    spared: Vec<char>,
}

/// Letters of which it is known whether a match may take them.
const ASKED: [char; 2] = ['\0', '\n'];

impl Joined {
    /// None.
    pub(crate) const NEVER: Self = Self { line_break: false, others: false, spared: Vec::new() };

    /// What a plain pattern allows.
    pub(crate) fn of(hir: &Hir) -> Self {
        let looks = hir.properties().look_set();
        let line_break = looks
            .iter()
            .all(|look| is_at_words(look) || matches!(look, Look::StartLF | Look::EndLF));
        let others = looks.iter().all(is_at_words);
        Self {
            line_break,
            others,
            spared: ASKED.into_iter().filter(|letter| !takes(hir, *letter)).collect(),
        }
    }

    /// Whether this letter may.
    pub(crate) fn with(&self, separator: char) -> bool {
        let is_word = regex_syntax::try_is_word_character(separator).unwrap_or(true);
        !is_word && if separator == '\n' { self.line_break } else { self.others }
    }

    /// Whether no match reaches from one text to the next: so each match of the whole is one of a
    /// text.
    pub(crate) fn stays_within(&self, separator: char) -> bool {
        self.spared.contains(&separator)
    }
}

/// Whether the ends of a text are to it what a place beside a letter is that belongs to no word.
const fn is_at_words(look: Look) -> bool {
    !matches!(
        look,
        Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF
    )
}

/// Whether some match might take this letter of ASCII.
fn takes(hir: &Hir, letter: char) -> bool {
    let mut rest = vec![hir];
    while let Some(hir) = rest.pop() {
        let takes = match hir.kind() {
            HirKind::Literal(literal) => literal.0.iter().any(|byte| char::from(*byte) == letter),
            HirKind::Class(Class::Unicode(class)) => {
                class.iter().any(|range| (range.start()..=range.end()).contains(&letter))
            }
            HirKind::Class(Class::Bytes(_)) => true,
            HirKind::Empty | HirKind::Look(_) => false,
            HirKind::Repetition(_)
            | HirKind::Capture(_)
            | HirKind::Concat(_)
            | HirKind::Alternation(_) => {
                rest.extend(hir.kind().subs());
                false
            }
        };
        if takes {
            return true;
        }
    }
    false
}
