//! A pattern as it is for texts of ASCII alone: its classes have no other letters, so that its
//! automaton is small and knows the borders of words.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

/// What matches in a text of ASCII where the pattern does. A pattern nests no deeper than the
/// parser allows.
pub(crate) fn of_ascii(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.is_ascii() => Hir::literal(literal.0.clone()),
        HirKind::Literal(_) => Hir::fail(),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\u{7f}')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => Hir::class(Class::Bytes(class.clone())),
        HirKind::Look(look) => Hir::look(at_ascii(*look)),
        HirKind::Repetition(repetition) => {
            Hir::repetition(repetition.with(of_ascii(&repetition.sub)))
        }
        HirKind::Capture(capture) => of_ascii(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(of_ascii).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(of_ascii).collect()),
    }
}

const fn at_ascii(look: Look) -> Look {
    match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        other => other,
    }
}
