//! The forms that one character of a text can have in markdown: itself, after a backslash, and
//! numeric references with more and more leading zeros.
//!
//! A character that would read as structure is *raised* to its next form when it is written, and
//! *lowered* again when it is read. Because a text may contain any of these forms itself, each is
//! raised to the next one, and no two texts are written alike. The last form, a reference of seven
//! digits, has none above it and stays.

use crate::slice;

/// Most digits of a decimal reference (`CommonMark` 0.31, "Entity and numeric character
/// references").
const MOST_DIGITS: usize = 7;

/// One character as written in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CharForm {
    /// Offset in bytes.
    pub(crate) start: usize,
    /// Offset after it.
    pub(crate) end: usize,
    /// The character that it denotes.
    pub(crate) letter: char,
    /// 0 as itself, 1 in its first escaped form.
    pub(crate) level: usize,
}

/// Whether a backslash before the character is itself a character: its first escaped form is a
/// reference. A backslash is among them, for use before such references.
const fn has_no_backslash_form(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\\')
}

impl CharForm {
    /// The form at `start`, which lies neither within a form nor after an escaping backslash.
    pub(crate) fn at(text: &str, start: usize) -> Option<Self> {
        let rest = slice::after(text, start);
        let letter = rest.chars().next()?;
        let alone = Self { start, end: start + letter.len_utf8(), letter, level: 0 };
        Some(match letter {
            '\\' => match rest.chars().nth(1).filter(char::is_ascii_punctuation) {
                Some(letter) if letter != '\\' => Self { start, end: start + 2, letter, level: 1 },
                _ => alone,
            },
            '&' => Self::reference(text, start).unwrap_or(alone),
            _ => alone,
        })
    }

    /// The decimal reference at `start`.
    pub(crate) fn reference(text: &str, start: usize) -> Option<Self> {
        let digits = slice::after(text, start).strip_prefix("&#")?;
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        let number = digits.get(..length).filter(|_| (1..=MOST_DIGITS).contains(&length))?;
        digits.get(length..)?.strip_prefix(';')?;
        let zeros = length - number.trim_start_matches('0').len();
        let letter = char::from_u32(number.parse().ok()?).filter(|letter| *letter != '\0')?;
        let level = zeros + if has_no_backslash_form(letter) { 1 } else { 2 };
        Some(Self { start, end: start + "&#;".len() + length, letter, level })
    }

    fn zeros(self, level: usize) -> Option<usize> {
        level.checked_sub(if has_no_backslash_form(self.letter) { 1 } else { 2 })
    }

    fn write(self, out: &mut String, level: usize) {
        let Some(zeros) = self.zeros(level) else {
            if level > 0 {
                out.push('\\');
            }
            return out.push(self.letter);
        };
        let number = u32::from(self.letter).to_string();
        out.push_str("&#");
        out.extend(std::iter::repeat_n('0', zeros.min(MOST_DIGITS - number.len())));
        out.push_str(&number);
        out.push(';');
    }
}

/// The direction of a change of forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Raise,
    Lower,
}

/// `text` with these forms, sorted by offset, raised or lowered.
pub(crate) fn shifted(text: &str, forms: &[CharForm], shift: Shift) -> String {
    debug_assert!(forms.is_sorted(), "forms are in the order of the text");
    let mut out = String::with_capacity(text.len() + 6 * forms.len());
    let mut from = 0;
    for form in forms {
        out.push_str(slice::within(text, from..form.start));
        let level = match shift {
            Shift::Raise => form.level + 1,
            Shift::Lower => form.level.saturating_sub(1),
        };
        form.write(&mut out, level);
        from = form.end;
    }
    out.push_str(slice::after(text, from));
    out
}
