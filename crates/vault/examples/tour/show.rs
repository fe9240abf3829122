//! Output helpers of the tour.

use std::io::Write;

use crate::Result;

/// Lines of a tree that are shown.
const SHOWN: usize = 24;

pub(crate) fn heading(out: &mut impl Write, words: &str) -> Result<()> {
    writeln!(out, "\n== {words}\n")?;
    Ok(())
}

/// The first lines, and how many more there are.
pub(crate) fn lines(out: &mut impl Write, lines: &[String]) -> Result<()> {
    for line in lines.iter().take(SHOWN) {
        writeln!(out, "{line}")?;
    }
    if lines.len() > SHOWN {
        writeln!(out, ".. and {} more", number(u64::try_from(lines.len() - SHOWN)?))?;
    }
    Ok(())
}

pub(crate) fn shortened(words: &str, characters: usize) -> String {
    let words = words.replace('\n', " ");
    match words.char_indices().nth(characters) {
        Some((end, _)) => format!("{}..", words.split_at(end).0),
        None => words,
    }
}

/// With commas between thousands.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
