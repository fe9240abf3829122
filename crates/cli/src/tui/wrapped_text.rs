//! Text in rows of a width, by the columns that characters occupy.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::show::line;

/// The byte ranges of the rows of a text in at most `width` columns, broken between words, and
/// within a word that is wider than a row. Line ends in the text begin a row; it has no other
/// control characters.
pub(crate) fn words(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut start = 0;
    for paragraph in text.split('\n') {
        let (mut row, mut used, rows_before) = (start..start, 0, rows.len());
        for (offset, word) in paragraph.split_word_bound_indices() {
            let (at, wide) = (start + offset, line::width(word));
            if used + wide > width && used > 0 {
                rows.push(std::mem::replace(&mut row, at..at));
                used = 0;
                // The blank at which a row is broken is not shown.
                if word.trim().is_empty() {
                    row = at + word.len()..at + word.len();
                    continue;
                }
            }
            if wide <= width {
                row.end = at + word.len();
                used += wide;
                continue;
            }
            for part in columns(word, width) {
                if used > 0 {
                    rows.push(std::mem::replace(&mut row, at + part.start..at + part.start));
                }
                row.end = at + part.end;
                used = line::width(text.get(row.clone()).unwrap_or(word));
            }
        }
        // Blanks at the end, at which the last row was broken, begin none.
        if !row.is_empty() || rows.len() == rows_before {
            rows.push(row);
        }
        start += paragraph.len() + 1;
    }
    let trimmed = |row: Range<usize>| {
        let shown = text.get(row.clone()).unwrap_or_default().trim_end();
        row.start..row.start + shown.len()
    };
    rows.into_iter().map(trimmed).collect()
}

/// The byte ranges of the rows of a text without line ends, each as wide as `width` allows, and at
/// least one grapheme.
pub(crate) fn columns(text: &str, width: usize) -> Vec<Range<usize>> {
    let (mut rows, mut begin, mut used) = (Vec::new(), 0, 0);
    for (offset, grapheme) in text.grapheme_indices(true) {
        let wide = line::width(grapheme);
        if used + wide > width && offset > begin {
            rows.push(begin..offset);
            (begin, used) = (offset, 0);
        }
        used += wide;
    }
    rows.push(begin..text.len());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_between_words_and_count_wide_characters_twice() {
        for (text, width, rows) in [
            ("one two three", 7, vec!["one two", "three"]),
            ("one  two", 4, vec!["one", "two"]),
            ("a\nb", 9, vec!["a", "b"]),
            ("", 9, vec![""]),
            ("豆腐汤", 4, vec!["豆腐", "汤"]),
            ("abcdefgh", 3, vec!["abc", "def", "gh"]),
            ("xy abcdef", 4, vec!["xy", "abcd", "ef"]),
            ("a b\n c  \n", 3, vec!["a b", " c", ""]),
        ] {
            let shown: Vec<_> = words(text, width).into_iter().map(|row| &text[row]).collect();
            assert_eq!(shown, rows, "{text:?} in {width}");
        }
        assert_eq!(columns("豆腐汤", 1), [0..3, 3..6, 6..9]);
    }
}
