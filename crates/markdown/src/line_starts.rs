//! Predicates on the start of a line, shared by the parser and the escaping, so that both see the
//! same structure.
//!
//! Each takes the line from its first character that is not white space.

use leafbase_model::LineStyle;

use crate::cursor::{is_blank, is_space, trim, trim_end};
use crate::{destination, slice};

/// A separator: three or more of one of `*`, `-`, `_`, optionally with white space between.
pub(crate) fn separator(rest: &str) -> Option<LineStyle> {
    let mark = *rest.as_bytes().first()?;
    if !matches!(mark, b'*' | b'-' | b'_') || marks(rest) < rest.len() {
        return None;
    }
    let count = rest.bytes().filter(|byte| *byte == mark).count();
    if count < 3 {
        return None;
    }
    if mark != b'*' || trim_end(rest).len() != count {
        return Some(LineStyle::Regular);
    }
    Some(match count {
        3 => LineStyle::ExtraLight,
        4 => LineStyle::Light,
        5 => LineStyle::Regular,
        6 => LineStyle::Strong,
        _ => LineStyle::PageBreak,
    })
}

/// Length of the leading run of the first byte and white space.
pub(crate) fn marks(rest: &str) -> usize {
    let Some(mark) = rest.bytes().next() else { return 0 };
    rest.bytes().take_while(|byte| *byte == mark || matches!(byte, b' ' | b'\t')).count()
}

/// An ATX heading: its level and the offset of its text.
pub(crate) fn heading(rest: &str) -> Option<(usize, usize)> {
    let level = rest.bytes().take_while(|byte| *byte == b'#').count();
    if !(1..=6).contains(&level) {
        return None;
    }
    matches!(rest.as_bytes().get(level), None | Some(b' ' | b'\t')).then_some((level, level))
}

/// Text of a heading without the closing `#`s.
pub(crate) fn heading_text(text: &str) -> &str {
    let text = trim(text);
    let open = text.trim_end_matches('#');
    if open.len() == text.len() || !(open.is_empty() || open.ends_with(is_space)) {
        return text;
    }
    trim_end(open)
}

/// A setext underline: its level.
pub(crate) fn underline(rest: &str) -> Option<usize> {
    let rest = trim_end(rest);
    match rest.as_bytes().first()? {
        b'=' if rest.bytes().all(|byte| byte == b'=') => Some(1),
        b'-' if rest.bytes().all(|byte| byte == b'-') => Some(2),
        _ => None,
    }
}

/// Opening or closing fence of a code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence<'t> {
    pub(crate) mark: u8,
    pub(crate) length: usize,
    pub(crate) info: &'t str,
}

/// The opening fence of a code block.
pub(crate) fn fence(rest: &str) -> Option<Fence<'_>> {
    let mark = *rest.as_bytes().first()?;
    if !matches!(mark, b'`' | b'~') {
        return None;
    }
    let length = rest.bytes().take_while(|byte| *byte == mark).count();
    let info = slice::after(rest, length);
    if length < 3 || (mark == b'`' && info.contains('`')) {
        return None;
    }
    Some(Fence { mark, length, info: trim(info) })
}

/// Marker of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// `-`, `*`, `+`, or the delimiter after a number.
    pub(crate) sign: u8,
    /// Length in bytes.
    pub(crate) width: usize,
    /// Whether it can interrupt a paragraph.
    pub(crate) interrupts: bool,
}

/// The marker of a list item.
pub(crate) fn marker(rest: &str) -> Option<Marker> {
    let bytes = rest.as_bytes();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = *bytes.get(digits)?;
    let known =
        if digits == 0 { matches!(sign, b'-' | b'*' | b'+') } else { matches!(sign, b'.' | b')') };
    if !known || digits > 9 || !matches!(bytes.get(digits + 1), None | Some(b' ' | b'\t')) {
        return None;
    }
    let empty = is_blank(slice::after(rest, digits + 1));
    let first = digits == 0 || (digits == 1 && bytes.first() == Some(&b'1'));
    Some(Marker { sign, width: digits + 1, interrupts: first && !empty })
}

/// The delimiter row of a table: its number of columns.
pub(crate) fn table_rule(rest: &str) -> Option<usize> {
    if !matches!(rest.as_bytes().first(), Some(b'|' | b'-' | b':')) || !rest.contains('|') {
        return None;
    }
    let row = trim(rest);
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut columns = 0;
    for cell in row.split('|') {
        let cell = trim(cell);
        let cell = cell.strip_prefix(':').unwrap_or(cell);
        let cell = cell.strip_suffix(':').unwrap_or(cell);
        if cell.is_empty() || cell.bytes().any(|byte| byte != b'-') {
            return None;
        }
        columns += 1;
    }
    Some(columns)
}

/// Number of cells in a table row. A pipe after a backslash does not separate cells, not even after
/// two, as in cmark-gfm.
pub(crate) fn columns(row: &str) -> usize {
    let row = trim(row);
    let row = row.strip_prefix('|').unwrap_or(row);
    let (mut count, mut escaped, mut last_divides) = (1, false, false);
    for byte in row.bytes() {
        last_divides = byte == b'|' && !escaped;
        count += usize::from(last_divides);
        escaped = byte == b'\\';
    }
    count - usize::from(last_divides)
}

/// Whether a line interrupts a paragraph by the block that it starts, apart from underlines,
/// delimiter rows and tags.
pub(crate) fn interrupts(rest: &str) -> bool {
    match rest.as_bytes().first() {
        Some(b'>') => true,
        Some(b'#') => heading(rest).is_some(),
        Some(b'`' | b'~') => fence(rest).is_some(),
        Some(b'*' | b'-' | b'_' | b'+' | b'0'..=b'9') => {
            separator(rest).is_some() || marker(rest).is_some_and(|marker| marker.interrupts)
        }
        _ => false,
    }
}

/// Whether the line `rest` opens a formula: `$$` without another `$$` before the end of the line.
pub(crate) fn opens_formula(rest: &str) -> bool {
    let Some(after) = rest.strip_prefix("$$") else { return false };
    let after = trim_end(after);
    after.find("$$").is_none_or(|at| at > 0 && at + 2 == after.len())
}

/// Length in bytes of the formula at the start of `text`, including the closing `$$`, which ends a
/// line.
pub(crate) fn formula(text: &str) -> Option<usize> {
    let mut from = 0;
    for line in text.split('\n') {
        let shown = trim_end(line);
        if from == 0 && !opens_formula(line) {
            return None;
        }
        if ends_formula(shown, from == 0) {
            return Some(from + shown.len());
        }
        from += line.len() + 1;
    }
    None
}

/// Whether `line` ends a formula; the first line also has the opening `$$`.
pub(crate) fn ends_formula(line: &str, first: bool) -> bool {
    let shown = trim_end(line);
    shown.ends_with("$$") && (!first || shown.len() > 4)
}

/// Whether the line `rest` starts a footnote: `[^label]:`.
pub(crate) fn footnote(rest: &str) -> bool {
    // A label with these could be written otherwise than it is.
    let is_label = |label: &str| !label.is_empty() && !label.contains(UNCERTAIN);
    rest.strip_prefix("[^").and_then(|label| label.split_once("]:")).is_some_and(|(label, _)| {
        is_label(label) && !label.contains(['[', ']', ' ', '\t', '\n', '\r'])
    })
}

/// Whether the line `rest` is a link definition, which makes no heading with an underline.
pub(crate) fn definition(rest: &str) -> bool {
    let Some((label, target)) = rest.strip_prefix('[').and_then(|rest| rest.split_once("]:"))
    else {
        return false;
    };
    let target = trim(target);
    !rest.contains(UNCERTAIN)
        && !label.starts_with('^')
        && !label.contains('[')
        && !is_blank(label)
        && destination::target(target, 0)
            .is_some_and(|read| !read.destination.is_empty() && read.length == target.len())
}

/// Characters of forms that the escaping may change, so that a line with them is not the same for
/// the parser and the escaping.
const UNCERTAIN: [char; 3] = ['<', '&', '\\'];
