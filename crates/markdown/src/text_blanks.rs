//! Blanks of a text that its markdown cannot have as they are.
//!
//! A blank line divides a text, but not within raw HTML that has an end of its own, nor within a
//! footnote whose next line is indented by four columns.

use crate::char_forms::CharForm;
use crate::cursor::{LineCursor, is_space};
use crate::raw_html::{self, RawEnds};
use crate::text_context::TextContext;
use crate::{line_starts, slice};

/// Line breaks and backslashes of a text, and the references that may denote a blank.
struct Blanks {
    /// In the order of the text: line breaks in any form, and references to blanks and backslashes.
    forms: Vec<CharForm>,
    /// Offsets of backslashes that escape nothing.
    backslashes: Vec<usize>,
}

impl Blanks {
    fn of(text: &str) -> Self {
        let (mut forms, mut backslashes) = (Vec::new(), Vec::new());
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => match bytes.get(at + 1) {
                    Some(next) if next.is_ascii_punctuation() => at += 1,
                    _ => backslashes.push(at),
                },
                b'\n' | b'\r' => forms.extend(CharForm::at(text, at)),
                b'&' => {
                    if let Some(form) = CharForm::reference(text, at)
                        && matches!(form.letter, '\n' | '\r' | ' ' | '\t' | '\\')
                    {
                        forms.push(form);
                        at = form.end - 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        // Both are searched by bisection.
        debug_assert!(backslashes.is_sorted(), "backslashes are found in the order of the text");
        debug_assert!(forms.is_sorted_by_key(|form| form.end), "forms do not overlap");
        Self { forms, backslashes }
    }

    /// `forms` with the backslashes before them: a reference after a backslash is none.
    fn with_backslashes(&self, mut forms: Vec<CharForm>) -> Vec<CharForm> {
        forms.sort_unstable();
        forms.dedup();
        let before = |form: &CharForm| {
            let end = form.start;
            let start = end.checked_sub(1)?;
            if self.backslashes.binary_search(&start).is_ok() {
                return Some(CharForm { start, end, letter: '\\', level: 0 });
            }
            let index = self.forms.binary_search_by_key(&end, |form| form.end).ok()?;
            self.forms.get(index).filter(|form| form.letter == '\\').copied()
        };
        let backslashes: Vec<_> = forms.iter().filter_map(before).collect();
        if !backslashes.is_empty() {
            forms.extend(backslashes);
            forms.sort_unstable();
        }
        forms
    }
}

/// The blank at `at`, in any form.
fn blank_at(text: &str, at: usize) -> Option<CharForm> {
    let form = match text.as_bytes().get(at)? {
        b' ' | b'\t' => CharForm::at(text, at),
        b'&' => CharForm::reference(text, at),
        _ => None,
    };
    form.filter(|form| matches!(form.letter, ' ' | '\t'))
}

/// Whether only blanks are between the offsets.
fn is_blank_between(text: &str, mut at: usize, end: usize) -> bool {
    while at < end {
        match blank_at(text, at) {
            Some(form) => at = form.end,
            None => return false,
        }
    }
    true
}

/// Meaning of a line break of a text to the parser of its rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BreakUse {
    /// Next to a blank line: it would divide the text.
    Divides,
    /// Between two lines of text.
    Continues,
    /// Within raw HTML or a footnote, whose lines are read as they are, blank ones included.
    Verbatim,
}

/// A line break, of one character or two.
#[derive(Clone, Copy, Debug)]
struct LineBreak {
    first: CharForm,
    last: Option<CharForm>,
}

impl LineBreak {
    /// The form at its end.
    fn end(&self) -> CharForm {
        self.last.unwrap_or(self.first)
    }

    fn all_of(blanks: &Blanks) -> Vec<Self> {
        let mut breaks: Vec<Self> = Vec::new();
        for form in blanks.forms.iter().filter(|form| matches!(form.letter, '\n' | '\r')) {
            match breaks.last_mut() {
                Some(Self { first, last: last @ None })
                    if first.letter == '\r' && form.letter == '\n' && first.end == form.start =>
                {
                    *last = Some(*form);
                }
                _ => breaks.push(Self { first: *form, last: None }),
            }
        }
        breaks
    }
}

/// Walks the line breaks of a text, as the parser reads its rendering.
///
/// It decides the same on the text and on what is written of it, because it looks at nothing that
/// the escaping changes: line breaks that are written as they are, blanks, and the first bytes of
/// a line.
struct BreakScanner<'t> {
    text: &'t str,
    breaks: Vec<LineBreak>,
    /// Whether a carriage return is written as itself, and read as a line break.
    keeps_returns: bool,
    ends: RawEnds<'t>,
    /// Where the lines that are read as they are end.
    verbatim_until: usize,
    /// Whether raw HTML may start: not in a formula, and not below a tag that may start raw HTML
    /// which ends at a blank line.
    may_start: bool,
    is_footnote: bool,
}

impl<'t> BreakScanner<'t> {
    fn new(text: &'t str, blanks: &Blanks, context: TextContext, keeps_returns: bool) -> Self {
        let is_paragraph = matches!(context, TextContext::Paragraph { .. });
        let is_formula = CharForm::at(text, 0).is_some_and(|form| {
            form.letter == '$' && slice::after(text, form.end).starts_with('$')
        });
        Self {
            text,
            breaks: LineBreak::all_of(blanks),
            keeps_returns,
            ends: RawEnds::of(text),
            verbatim_until: 0,
            may_start: is_paragraph && !is_formula,
            is_footnote: is_paragraph && line_starts::footnote(text),
        }
    }

    fn run(mut self, mut each: impl FnMut(LineBreak, BreakUse)) {
        if !self.text.starts_with(is_space) {
            self.begin_line(0);
        }
        let (mut start, mut above_is_blank) = (0, true);
        for index in 0..=self.breaks.len() {
            let next = self.breaks.get(index).copied();
            let end = next.map_or(self.text.len(), |next| next.first.start);
            debug_assert!(start <= end, "line breaks follow each other, {start} and {end} overlap");
            let is_blank = is_blank_between(self.text, start, end);
            if let Some(above) = index.checked_sub(1).and_then(|above| self.breaks.get(above)) {
                let above = *above;
                if is_blank && !above_is_blank && above.first.start >= self.verbatim_until {
                    self.begin_blank_lines(index - 1);
                }
                let verbatim = above.first.start < self.verbatim_until
                    || (self.is_footnote && self.is_written(above.end()) && self.is_inset(start));
                let divides = above_is_blank || is_blank;
                each(
                    above,
                    match (verbatim, divides) {
                        (true, _) => BreakUse::Verbatim,
                        (false, true) => BreakUse::Divides,
                        (false, false) => BreakUse::Continues,
                    },
                );
                if self.is_written(above.end()) && (verbatim || !divides) {
                    self.begin_line(start);
                }
            }
            above_is_blank = is_blank;
            start = next.map_or(end, |next| next.end().end);
        }
    }

    /// Whether a line break is written as itself.
    fn is_written(&self, form: CharForm) -> bool {
        form.level == 0 && (form.letter == '\n' || self.keeps_returns)
    }

    /// Whether the line at `start` has four columns of white space before its text.
    fn is_inset(&self, start: usize) -> bool {
        let line = slice::after(self.text, start);
        let cursor = LineCursor::new(line);
        let mut text = cursor;
        text.skip_indent();
        cursor.indent() >= 4 && !text.rest().is_empty() && !text.rest().starts_with(['\n', '\r'])
    }

    /// Blank lines of a footnote belong to it if the line below is inset.
    fn begin_blank_lines(&mut self, first: usize) {
        if !self.is_footnote {
            return;
        }
        let blank =
            |from: usize, to: usize| crate::cursor::is_blank(slice::within(self.text, from..to));
        for (index, line_break) in self.breaks.iter().enumerate().skip(first) {
            if line_break.last.is_some()
                || line_break.first.letter != '\n'
                || line_break.first.level > 0
            {
                return;
            }
            let (start, next) = (line_break.first.end, self.breaks.get(index + 1));
            if self.is_inset(start) {
                self.verbatim_until = start;
                return;
            }
            if !next.is_some_and(|next| blank(start, next.first.start)) {
                return;
            }
        }
    }

    /// Notes raw HTML that starts in the line at `start`.
    fn begin_line(&mut self, start: usize) {
        if !self.may_start || start < self.verbatim_until {
            return;
        }
        let line = slice::after(self.text, start);
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        if indent >= 4 || !rest.starts_with('<') {
            return;
        }
        let is_end = |letter| letter == '\n' || (letter == '\r' && self.keeps_returns);
        let rest = rest.split(is_end).next().unwrap_or(rest);
        match raw_html::html(rest, true).filter(|raw| raw.spans_blank_lines()) {
            Some(raw) => {
                let end = self.ends.end(raw, start + indent + 1);
                self.verbatim_until = end.map_or(self.verbatim_until, |end| end + 1);
            }
            None => self.may_start = !rest.as_bytes().get(1).copied().is_some_and(is_tag_start),
        }
    }
}

const fn is_tag_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'/'
}

/// Blanks of a text that a document cannot have as they are: at both ends, line breaks where there
/// is one line only or next to a blank line, and tabs before the text of a further line.
pub(crate) fn document_blanks(text: &str, context: TextContext) -> Vec<CharForm> {
    if memchr::memchr3(b'\n', b'\r', b'&', text.as_bytes()).is_none()
        && !text.starts_with(is_space)
        && !text.ends_with(is_space)
    {
        return Vec::new();
    }
    let blanks = Blanks::of(text);
    let is_line = !matches!(context, TextContext::Paragraph { .. });
    let mut found = Vec::new();
    BreakScanner::new(text, &blanks, context, false).run(|line_break, is_used| {
        for form in [Some(line_break.first), line_break.last].into_iter().flatten() {
            if is_line || form.letter == '\r' || is_used == BreakUse::Divides {
                found.push(form);
            } else if form.level == 0 && is_used == BreakUse::Continues {
                found.extend(tab_before_text(text, form.end));
            }
        }
    });
    found.extend(blank_at(text, 0));
    let last = match text.as_bytes().last() {
        Some(b' ' | b'\t') => CharForm::at(text, text.len() - 1),
        _ => blanks
            .forms
            .last()
            .filter(|form| form.end == text.len() && form.letter != '\\')
            .copied(),
    };
    found.extend(last);
    blanks.with_backslashes(found)
}

/// The first of the blanks at `start`, if a tab is among them.
fn tab_before_text(text: &str, start: usize) -> Option<CharForm> {
    let first = blank_at(text, start)?;
    let mut next = Some(first);
    while let Some(form) = next {
        if form.letter == '\t' {
            return Some(first);
        }
        next = blank_at(text, form.end);
    }
    None
}

/// Line breaks within a text, without blanks at both ends, that would divide it.
pub(crate) fn inner_blanks(text: &str, context: TextContext) -> Vec<CharForm> {
    if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() && !text.contains("&#") {
        return Vec::new();
    }
    let blanks = Blanks::of(text);
    let mut found = Vec::new();
    BreakScanner::new(text, &blanks, context, true).run(|line_break, is_used| {
        if is_used == BreakUse::Divides {
            found.push(line_break.first);
            found.extend(line_break.last);
        }
    });
    blanks.with_backslashes(found)
}
