//! GFM tables, stored as they are written.

use std::borrow::Cow;
use std::ops::Range;

use crate::cursor::{is_blank, trim};
use crate::escape::escape_tags;
use crate::slice;
use crate::{line_starts, raw_html, tags};

/// Canonical form of a table's markdown. Other text becomes a table with a single column.
pub(crate) fn canonical(markdown: &str) -> Cow<'_, str> {
    let unified = if markdown.contains('\r') {
        Cow::Owned(markdown.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(markdown)
    };
    let rows: Vec<&str> = unified.split('\n').filter(|line| !is_blank(line)).map(trim).collect();
    let mut written = String::with_capacity(markdown.len() + 8);
    if is_table(&rows) {
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                written.push('\n');
            }
            if number != 1 && begins_something(row, number == 0) {
                written.push_str("| ");
            }
            written.push_str(&escape_tags(row));
        }
    } else {
        write_column(&mut written, &rows);
    }
    if written == markdown { Cow::Borrowed(markdown) } else { Cow::Owned(written) }
}

/// Renders a table whose first row is the header. Cells are inline markdown; pipes are escaped,
/// line breaks become spaces, and short rows are padded.
///
/// ```
/// let rows = [vec!["Title".to_owned(), "Pages".to_owned()], vec!["[A | B](https://a.example)".to_owned()]];
/// assert_eq!(
///     leafbase_markdown::table(&rows),
///     "| Title | Pages |\n| --- | --- |\n| [A \\| B](https://a.example) | |"
/// );
/// ```
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(1, |head| head.len().max(1));
    let mut written = String::new();
    for (number, row) in rows.iter().enumerate() {
        if number > 0 {
            written.push('\n');
        }
        written.push('|');
        for cell in row.iter().map(String::as_str).chain(std::iter::repeat("")).take(columns) {
            push_text(&mut written, cell);
        }
        if number == 0 {
            written.push_str("\n|");
            written.push_str(&" --- |".repeat(columns));
        }
    }
    match canonical(&written) {
        Cow::Borrowed(_) => written,
        Cow::Owned(canonical) => canonical,
    }
}

/// Appends a cell and its closing pipe.
fn push_text(written: &mut String, text: &str) {
    written.push(' ');
    let (text, mut escaped) = (trim(text), false);
    for letter in text.chars() {
        match letter {
            '|' if !escaped => written.push_str("\\|"),
            '\n' | '\r' => written.push(' '),
            letter => written.push(letter),
        }
        escaped = letter == '\\' && !escaped;
    }
    written.push_str(if text.is_empty() { "|" } else { " |" });
}

fn is_table(rows: &[&str]) -> bool {
    let rule = rows.get(1).and_then(|row| line_starts::table_rule(row));
    rule.is_some() && rows.first().map(|row| line_starts::columns(row)) == rule
}

fn write_column(written: &mut String, rows: &[&str]) {
    debug_assert!(rows.iter().all(|row| !row.contains('\n')), "a row is one line");
    let head = rows.first().copied().unwrap_or("");
    for (number, row) in std::iter::once(&head).chain(rows.iter().skip(1)).enumerate() {
        match number {
            0 => {}
            1 => written.push_str("\n| --- |\n"),
            _ => written.push('\n'),
        }
        written.push_str("| ");
        written.push_str(&escape_tags(&row.replace('\\', "\\\\").replace('|', "\\|")));
        written.push_str(" |");
    }
    if rows.len() < 2 {
        written.push_str("\n| --- |");
    }
}

/// Whether a row without a leading pipe would start another block.
fn begins_something(row: &str, first: bool) -> bool {
    let opens = tags::tag(row).is_some_and(|tag| !tag.closing);
    let at_start = || {
        line_starts::marker(row).is_some()
            || line_starts::opens_formula(row)
            || crate::list_marks::task_mark(row).is_some()
    };
    opens
        || line_starts::interrupts(row)
        || raw_html::html(row, !first).is_some()
        || (first && at_start())
}

/// Whether `text` is a table.
pub(crate) fn is_table_text(text: &str) -> bool {
    let mut lines = text.split('\n');
    match (lines.next(), lines.next()) {
        (Some(head), Some(rule)) => line_starts::table_rule(trim(rule))
            .is_some_and(|count| count == line_starts::columns(head)),
        _ => false,
    }
}

/// Ranges that inline markup never crosses: the cells of a table, or the whole text.
pub(crate) fn cells(text: &str) -> Vec<Range<usize>> {
    if !is_table_text(text) {
        return std::iter::once(0..text.len()).collect();
    }
    let (mut found, mut start, mut escaped, mut line) = (Vec::new(), 0, false, 0);
    for (at, byte) in text.bytes().enumerate() {
        let divides = byte == b'\n' || (byte == b'|' && !escaped);
        escaped = byte == b'\\';
        if !divides {
            continue;
        }
        if line != 1 {
            push_cell(&mut found, text, start..at);
        }
        start = at + 1;
        line += usize::from(byte == b'\n');
    }
    push_cell(&mut found, text, start..text.len());
    found
}

fn push_cell(found: &mut Vec<Range<usize>>, text: &str, cell: Range<usize>) {
    if !is_blank(slice::within(text, cell.clone())) {
        found.push(cell);
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::{BlockData, BlockDraft, BlockKind};

    use super::*;
    use crate::{ParseOptions, parse, render};

    /// Cells as given and as they stand in the table; whatever is in them, it is read as that table
    /// again.
    #[test]
    fn no_cell_breaks_the_table() {
        for (given, written) in [
            ("a", "a"),
            ("", ""),
            ("  a ", "a"),
            ("a|b||c", r"a\|b\|\|c"),
            (r"a\|b", r"a\|b"),
            (r"a\\|b", r"a\\\|b"),
            (r"a\", r"a\"),
            ("`a|b`", r"`a\|b`"),
            ("a\nb", "a b"),
            ("- a", "- a"),
            ("---", "---"),
            ("<page>", "<page>"),
        ] {
            let written = if written.is_empty() { String::new() } else { format!(" {written}") };
            let rows = [
                vec![given.to_owned(), "x".to_owned()],
                vec!["y".to_owned(), given.to_owned()],
                Vec::new(),
            ];
            let text = table(&rows);
            assert_eq!(
                text,
                format!("|{written} | x |\n| --- | --- |\n| y |{written} |\n| | |"),
                "{given:?}"
            );
            let read = parse(&text, &ParseOptions::default()).unwrap().blocks;
            let expected = BlockData { inline: text.clone(), ..BlockData::new(BlockKind::Table) };
            assert_eq!(
                read.iter().map(|draft| &draft.data).collect::<Vec<_>>(),
                [&expected],
                "{given:?}"
            );
            assert_eq!(render(&[BlockDraft::new(expected)]), text);
        }
    }
}
