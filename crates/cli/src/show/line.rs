//! Single lines of text: no control characters reach the terminal, and lines are clipped to its
//! width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text on one line: line ends become spaces. Other control characters become U+FFFD, as do
/// those that change the direction of what follows, by which a name could pose as another one.
pub(crate) fn plain(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\n' | '\r' | '\t' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        letter if letter.is_control() => '\u{fffd}',
        letter => letter,
    };
    text.chars().map(shown).collect()
}

/// Columns that the text occupies.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text clipped to at most `columns` columns.
pub(crate) fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |letter: &char| {
        let wide = letter.width().unwrap_or(0);
        let fits = wide <= left;
        left = left.saturating_sub(wide);
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// The first line of the text without control characters, with block and day links reduced to their
/// labels.
pub(crate) fn first(text: &str) -> String {
    without_addresses(&plain(text.lines().next().unwrap_or("")))
}

/// Reduces block and day links to their labels: their addresses mean nothing to a person.
fn without_addresses(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some((before, label, after)) = next_link(rest) {
        shown.extend([before, label]);
        rest = after;
    }
    shown + rest
}

/// The text before the next block or day link, its label, and the text after it.
fn next_link(text: &str) -> Option<(&str, &str, &str)> {
    let starts = ["](block://", "](date://"].into_iter().filter_map(|start| text.find(start));
    let (start, address) = text.split_at_checked(starts.min()?)?;
    let (before, label) = start.rsplit_once('[')?;
    let (_, after) = address.split_once(')')?;
    Some((before, label, after))
}

/// A count with its noun: `1 block`, `1,234 blocks`.
pub(crate) fn count(count: impl TryInto<u64>, one: &str, several: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{} {}", number(count), if count == 1 { one } else { several })
}

/// A count with commas.
pub(crate) fn number(count: impl TryInto<u64>) -> String {
    let digits = count.try_into().unwrap_or(u64::MAX).to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A size in its largest binary unit.
pub(crate) fn bytes(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(power, _)| bytes >> power > 0);
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(power, unit)| {
            let tenths = (u128::from(bytes) * 10) >> power;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_by_columns_and_hold_no_control_characters() {
        for (text, columns, shown) in [
            ("short", 5, "short"),
            ("shorter", 5, "shor…"),
            ("豆腐汤", 6, "豆腐汤"),
            ("豆腐汤", 5, "豆腐…"),
            ("豆腐汤", 4, "豆…"),
            ("a\tb\nc", 9, "a b c"),
            ("\u{1b}[31mred", 9, "\u{fffd}[31mred"),
            ("a\u{202e}b", 9, "a\u{fffd}b"),
            ("", 0, ""),
        ] {
            assert_eq!(clip(&plain(text), columns), shown, "{text:?} in {columns}");
        }
    }

    #[test]
    fn links_to_blocks_and_days_are_shown_by_their_words() {
        for (text, shown) in [
            ("see [Tram 28](block://01KASZ4ZJG0000000000000001).", "see Tram 28."),
            ("[a](block://X)[b](date://2026-03-01) [c](https://c.org)", "ab [c](https://c.org)"),
            ("a](block://X) b", "a](block://X) b"),
            ("[a](block://X", "[a](block://X"),
            ("none", "none"),
        ] {
            assert_eq!(first(text), shown);
        }
    }

    #[test]
    fn numbers_have_commas_and_bytes_have_units() {
        let numbers = [0, 999, 1_000, 1_234_567].map(number);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
        let sizes = [0, 1_023, 1_024, 1_600, 5 << 20, u64::MAX].map(bytes);
        assert_eq!(
            sizes,
            ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 KiB", "5.0 MiB", "17179869183.9 GiB"]
        );
    }
}
