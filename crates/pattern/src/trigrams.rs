//! Trigram queries: which documents of a trigram index can match a pattern (Cox, "Regular
//! Expression Matching with a Trigram Index", 2012).

use std::collections::BTreeSet;

use crate::literals::{LiteralBounds, Requirement};
use crate::tree::Node;

/// Three consecutive characters, folded.
pub type Trigram = [char; 3];

const BOUNDS: LiteralBounds =
    LiteralBounds { fold: fold_char, max_literals: 32, max_class_chars: 8 };

/// The trigrams that every matching text contains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrigramQuery {
    /// Any text may match.
    Unrestricted,
    /// The text contains this trigram.
    Trigram(Trigram),
    /// All of these hold.
    And(Vec<TrigramQuery>),
    /// One of these holds.
    Or(Vec<TrigramQuery>),
}

/// The distinct trigrams of `text`.
pub fn trigrams(text: &str) -> BTreeSet<Trigram> {
    each_trigram(text).collect()
}

/// The trigrams of `text` in order, with repetitions.
pub fn each_trigram(text: &str) -> impl Iterator<Item = Trigram> {
    let mut last = [None, None];
    text.chars().filter_map(move |char| {
        let [first, second] = last;
        let third = fold_char(char);
        last = [second, Some(third)];
        Some([first?, second?, third])
    })
}

/// Lowercases one character to one character, so that adjacent ones stay adjacent.
fn fold_char(char: char) -> char {
    if char.is_ascii() {
        return char.to_ascii_lowercase();
    }
    char.to_lowercase().next().unwrap_or(char)
}

impl TrigramQuery {
    /// The query of the pattern with this syntax tree.
    pub(crate) fn of(tree: &Node) -> Self {
        Self::of_requirement(&Requirement::of(tree, BOUNDS))
    }

    fn of_requirement(requirement: &Requirement) -> Self {
        match requirement {
            Requirement::Unknown => Self::Unrestricted,
            Requirement::OneOf(literals) => {
                let of_literal =
                    |literal: &String| trigrams(literal).into_iter().map(Self::Trigram).collect();
                Self::or(literals.iter().map(of_literal).map(Self::and).collect())
            }
            Requirement::All(parts) => Self::and(parts.iter().map(Self::of_requirement).collect()),
            Requirement::Any(parts) => Self::or(parts.iter().map(Self::of_requirement).collect()),
        }
    }

    fn and(mut parts: Vec<Self>) -> Self {
        parts.retain(|part| *part != Self::Unrestricted);
        parts.sort_unstable();
        parts.dedup();
        match <[Self; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) if parts.is_empty() => Self::Unrestricted,
            Err(parts) => Self::And(parts),
        }
    }

    fn or(mut parts: Vec<Self>) -> Self {
        if parts.is_empty() || parts.contains(&Self::Unrestricted) {
            return Self::Unrestricted;
        }
        parts.sort_unstable();
        parts.dedup();
        match <[Self; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => Self::Or(parts),
        }
    }
}
