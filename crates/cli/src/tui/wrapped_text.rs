//! Text in rows of a width, by the columns that characters occupy.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::show::line;

/// The text in rows of at most `width` columns, broken between words, and within a word that is
/// wider than a row. Line ends in the text begin a row.
pub(crate) fn words(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for paragraph in text.split('\n') {
        let paragraph = line::plain(paragraph);
        let (mut row, mut used) = (String::new(), 0);
        for word in paragraph.split_word_bounds() {
            let wide = line::width(word);
            if used + wide > width && used > 0 {
                rows.push(row.trim_end().to_owned());
                (row, used) = (String::new(), 0);
                // The blank at which a row is broken is not shown.
                if word.trim().is_empty() {
                    continue;
                }
            }
            if wide <= width {
                row.push_str(word);
                used += wide;
                continue;
            }
            for part in columns(word, width) {
                if used > 0 {
                    rows.push(std::mem::take(&mut row));
                }
                row.push_str(word.get(part).unwrap_or(word));
                used = line::width(&row);
            }
        }
        rows.push(row.trim_end().to_owned());
    }
    rows
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
            ("tab\there", 20, vec!["tab here"]),
        ] {
            assert_eq!(words(text, width), rows, "{text:?} in {width}");
        }
        assert_eq!(columns("豆腐汤", 1), [0..3, 3..6, 6..9]);
    }
}
