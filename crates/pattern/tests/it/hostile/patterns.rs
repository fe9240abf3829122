//! Patterns that are costly to match: shapes, in which `X` stands for each of several pieces.

/// What is repeated.
const PIECES: &[&str] = &[
    "a",
    ".",
    r"\w",
    "[^b]",
    "(?:a|aa)",
    "(?:a|b|ab)",
    r"[\p{L}\d]",
    "(?:a?a)",
    "(?:aa*)",
    r"(?:\w|a)",
];

/// What is done with it.
const SHAPES: &[&str] = &[
    // Repetitions in repetitions.
    "(?:X*)*c",
    "(?:X+)+$",
    "(?:(?:X+)*)+c",
    "(?:X*X*)*X*c",
    // Repetitions by number.
    "X{500}c",
    "X{0,900}c",
    "(?:X{20}){20}c",
    "(?:X?){100}X{100}c",
    "b?X{999}",
    // Long ways to no match, from every place anew.
    "X*c|X",
    "X+?X+?X+?c",
    ".*X.*X.*X.*c",
    "(?:X|bX|bbX|bbbX)*c",
    "(?i:X{1,300})q",
    // Words and lines at every letter.
    r"(?:\bX*\b)*c",
    r"(?m:^X*$)*c",
    // Looking around.
    "(?=.*X.*c)X*",
    "(?!X*b)X{50}(?=X*c)",
    "(?=(?=(?=X*c)X*)X*)X",
    "(?:(?=X{200})X)+c",
    "(?<=aaaaaaaaaaaaaaaaaaaa)X*c",
];

/// All of them.
pub(crate) fn hostile() -> impl Iterator<Item = String> {
    SHAPES.iter().flat_map(|shape| PIECES.iter().map(|piece| shape.replace('X', piece)))
}

/// Texts of so many bytes that are the worst for them. They begin with the literals that the
/// patterns require, so that the prefilter lets them pass.
pub(crate) fn texts(bytes: usize) -> [String; 3] {
    ["a", "ab", "aaaaaaaaaaaaaaaaaaab \n"]
        .map(|piece| format!("cq\n{}", piece.repeat(bytes / piece.len())))
}
