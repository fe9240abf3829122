//! A text with a cursor, edited by keys.

use std::ops::Range;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use super::wrapped_text;
use crate::show::line;

/// A text with a cursor, which is always between two graphemes.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextInput {
    text: String,
    cursor: usize,
}

impl TextInput {
    /// The text with the cursor at its end.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { cursor: text.len(), text }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Inserts a text at the cursor. Line ends are normalized, tabs become blanks.
    pub(crate) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Applies an editing key in rows of `width` columns; returns whether the text changed.
    pub(crate) fn press(&mut self, key: KeyEvent, width: usize) -> bool {
        let length = self.text.len();
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('a') if is_control => self.cursor = self.row(width).start,
            KeyCode::Char('e') if is_control => self.cursor = self.row(width).end,
            KeyCode::Char('u') if is_control => self.erase(self.row(width).start),
            KeyCode::Char('w') if is_control => self.erase(self.word_before()),
            KeyCode::Char(letter) if !is_control => {
                self.insert(letter.encode_utf8(&mut [0; 4]));
                // A letter may be of the length of none: a combining one.
                return true;
            }
            KeyCode::Backspace => self.erase(self.before()),
            KeyCode::Delete => drop(self.text.drain(self.cursor..self.after())),
            KeyCode::Left => self.cursor = self.before(),
            KeyCode::Right => self.cursor = self.after(),
            KeyCode::Home => self.cursor = self.row(width).start,
            KeyCode::End => self.cursor = self.row(width).end,
            KeyCode::Up => self.go(width, |row| row.checked_sub(1)),
            KeyCode::Down => self.go(width, |row| row.checked_add(1)),
            _ => {}
        }
        self.text.len() != length
    }

    /// The byte ranges of the rows. One column is left for the cursor after a full row.
    pub(crate) fn rows(&self, width: usize) -> Vec<Range<usize>> {
        let (mut rows, mut begin) = (Vec::new(), 0);
        for paragraph in self.text.split('\n') {
            let columns = wrapped_text::columns(paragraph, width.saturating_sub(1).max(1));
            rows.extend(columns.into_iter().map(|row| begin + row.start..begin + row.end));
            begin += paragraph.len() + 1;
        }
        rows
    }

    /// The row and the column of the cursor.
    pub(crate) fn position(&self, width: usize) -> (usize, usize) {
        let rows = self.rows(width);
        let row = rows.iter().rposition(|row| row.start <= self.cursor).unwrap_or(0);
        let start = rows.get(row).map_or(0, |row| row.start);
        (row, line::width(self.text.get(start..self.cursor).unwrap_or("")))
    }

    fn row(&self, width: usize) -> Range<usize> {
        let (row, _) = self.position(width);
        self.rows(width).get(row).cloned().unwrap_or(0..self.text.len())
    }

    /// Moves the cursor to another row, as near to its column as the graphemes there allow.
    fn go(&mut self, width: usize, to: impl Fn(usize) -> Option<usize>) {
        let (row, column) = self.position(width);
        let Some(target) = to(row).and_then(|row| self.rows(width).get(row).cloned()) else {
            return;
        };
        let (mut cursor, mut used) = (target.start, 0);
        for grapheme in self.text.get(target).unwrap_or("").graphemes(true) {
            used += line::width(grapheme);
            if used > column {
                break;
            }
            cursor += grapheme.len();
        }
        self.cursor = cursor;
    }

    /// Erases from `begin` to the cursor.
    fn erase(&mut self, begin: usize) {
        drop(self.text.drain(begin..self.cursor));
        self.cursor = begin;
    }

    fn before(&self) -> usize {
        let text = self.text.get(..self.cursor).unwrap_or("");
        text.grapheme_indices(true).next_back().map_or(0, |(offset, _)| offset)
    }

    fn after(&self) -> usize {
        let text = self.text.get(self.cursor..).unwrap_or("");
        self.cursor + text.graphemes(true).next().map_or(0, str::len)
    }

    /// The start of the word before the cursor.
    fn word_before(&self) -> usize {
        let text = self.text.get(..self.cursor).unwrap_or("");
        let words = text.unicode_word_indices();
        words.map(|(offset, _)| offset).next_back().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(text: &str, keys: &[KeyCode]) -> (String, (usize, usize)) {
        let mut input = TextInput::new(text);
        for key in keys {
            input.press(KeyEvent::from(*key), 10);
        }
        (input.text.clone(), input.position(10))
    }

    #[test]
    fn keys_edit_whole_graphemes_and_move_by_columns() {
        use KeyCode::{Backspace, Char, Delete, Down, End, Home, Left, Right, Up};
        for (text, keys, edited, position) in [
            ("豆腐", vec![Left, Char('a')], "豆a腐", (0, 3)),
            ("e\u{301}x", vec![Left, Backspace], "x", (0, 0)),
            ("ab", vec![Home, Delete, Delete, Delete], "", (0, 0)),
            ("abcd\n豆腐", vec![Up, Char('!')], "abcd!\n豆腐", (0, 5)),
            ("豆腐\nab", vec![Left, Up], "豆腐\nab", (0, 0)),
            ("abcdefghijkl", vec![Up, End], "abcdefghijkl", (1, 0)),
            ("ab", vec![Right, Down, Up], "ab", (0, 2)),
        ] {
            assert_eq!(pressed(text, &keys), (edited.to_owned(), position), "{text:?} {keys:?}");
        }
        let mut input = TextInput::new("one two");
        input.press(KeyEvent::new(Char('w'), KeyModifiers::CONTROL), 10);
        assert_eq!(input.text(), "one ");
        input.insert("a\r\nb\tc");
        assert_eq!(input.text(), "one a\nb    c");
    }
}
