//! Texts of blocks in markdown and back: what would read as structure, and blanks that a reader of
//! markdown drops, are written in escaped forms.
//!
//! [`escape`] loses nothing: [`unescape`] of what it writes is the text, byte for byte, whatever
//! the text is, and the parser reads it as one text. Both find the same characters, because they
//! look at a character in whichever [form](crate::char_forms) it has. They go through the same
//! steps in opposite order: blanks, marks, and the comment after a link alone in its paragraph.

use std::borrow::Cow;

use leafbase_model::{BlockData, BlockKind, ListStyle, TextStyle};

use crate::char_forms::{CharForm, Shift, shifted};
use crate::cursor::{LineCursor, is_space};
use crate::line_starts;
use crate::lone_link::sole;
use crate::raw_html::{self, RawEnds, RawHtml};
use crate::slice;
use crate::tags::{self, Element};
use crate::text_blanks::{document_blanks, inner_blanks};
use crate::text_context::TextContext;

/// Placeholder for an empty text where the syntax needs one: an HTML comment, invisible in every
/// markdown reader.
pub(crate) const NOTHING: &str = "<!-- -->";

/// The text as it is written in a document.
pub(crate) fn escape(text: &str, context: TextContext) -> Cow<'_, str> {
    // `h` may start a bare `https://` address, which would be a rich link.
    if !matches!(text.as_bytes().first(), Some(b'h' | b'H')) && reads_as_it_is(text) {
        return Cow::Borrowed(text);
    }
    let mut marked = escape_text(text, context);
    if comments(&marked, context) == Some(0) {
        marked.to_mut().push_str(NOTHING);
    }
    marked
}

/// The text that is written as `written`, one line or paragraph of a document.
pub(crate) fn unescape(written: &str, context: TextContext) -> Cow<'_, str> {
    if memchr::memchr2(b'\\', b'&', written.as_bytes()).is_none() && !written.ends_with("-->") {
        return Cow::Borrowed(written);
    }
    let text = match comments(written, context) {
        Some(1..) => written.strip_suffix(NOTHING).unwrap_or(written),
        _ => written,
    };
    let unmarked = lower(Cow::Borrowed(text), |text| marks(text, context));
    lower(unmarked, |text| document_blanks(text, context))
}

/// [`escape`] for a block that is known to be a text: no comment keeps a link from reading as a
/// picture, file or rich link.
pub(crate) fn escape_text(text: &str, context: TextContext) -> Cow<'_, str> {
    if reads_as_it_is(text) {
        return Cow::Borrowed(text);
    }
    let blanks = raise(Cow::Borrowed(text), |text| document_blanks(text, context));
    let mut marked = raise(blanks, |text| marks(text, context));
    if comments(&marked, context).is_some_and(|comments| comments > 0) {
        marked.to_mut().push_str(NOTHING);
    }
    marked
}

/// The text as the `markdown` of a single block has it: blanks at both ends are themselves.
pub(crate) fn escape_alone(text: &str) -> Cow<'_, str> {
    if reads_as_it_is(text) {
        return Cow::Borrowed(text);
    }
    let (lead, core, trail) = edges(text);
    let blanks = raise(Cow::Borrowed(core), |text| inner_blanks(text, ALONE));
    match raise(blanks, |text| marks(text, ALONE)) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(core) => Cow::Owned([lead, &core, trail].concat()),
    }
}

/// The text whose [`escape_alone`] is `written`.
pub(crate) fn unescape_alone(written: &str) -> Cow<'_, str> {
    let (lead, core, trail) = edges(written);
    let unmarked = lower(Cow::Borrowed(core), |text| marks(text, ALONE));
    match lower(unmarked, |text| inner_blanks(text, ALONE)) {
        Cow::Borrowed(_) => Cow::Borrowed(written),
        Cow::Owned(core) => Cow::Owned([lead, &core, trail].concat()),
    }
}

const ALONE: TextContext = TextContext::Paragraph { list: ListStyle::None, style: TextStyle::Body };

/// Splits off the blanks at both ends.
fn edges(text: &str) -> (&str, &str, &str) {
    let is_blank = |letter| matches!(letter, ' ' | '\t' | '\n' | '\r');
    let core = text.trim_start_matches(is_blank);
    let lead = text.len() - core.len();
    let core = core.trim_end_matches(is_blank);
    (slice::before(text, lead), core, slice::after(text, lead + core.len()))
}

/// Fast path: one line that starts with nothing that a structure could start with, and contains no
/// character that could be a form of another or begin a tag.
fn reads_as_it_is(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return true };
    let starts = if first.is_ascii_digit() {
        // A number, which a list item has a sign behind, in whichever form.
        !matches!(bytes.iter().find(|byte| !byte.is_ascii_digit()), Some(b'.' | b')' | b'\\'))
    } else {
        first.is_ascii_alphabetic() || !first.is_ascii() || b"\"'(.,/%?".contains(first)
    };
    starts
        && !matches!(last, b' ' | b'\t' | b'#')
        && memchr::memchr3(b'\n', b'<', b'&', bytes).is_none()
        && memchr::memchr(b'\r', bytes).is_none()
}

fn raise(text: Cow<'_, str>, forms: impl FnOnce(&str) -> Vec<CharForm>) -> Cow<'_, str> {
    shift(text, forms, Shift::Raise)
}

fn lower(text: Cow<'_, str>, forms: impl FnOnce(&str) -> Vec<CharForm>) -> Cow<'_, str> {
    shift(text, forms, Shift::Lower)
}

fn shift(
    text: Cow<'_, str>,
    forms: impl FnOnce(&str) -> Vec<CharForm>,
    shift: Shift,
) -> Cow<'_, str> {
    let forms = forms(&text);
    if forms.iter().all(|form| shift == Shift::Lower && form.level == 0) {
        return text;
    }
    Cow::Owned(shifted(&text, &forms, shift))
}

/// The number of comments at the end of a text that is otherwise empty or a lone link;
/// `None` for any other text.
fn comments(text: &str, context: TextContext) -> Option<usize> {
    let core = text.trim_end_matches(NOTHING);
    let comments = (text.len() - core.len()) / NOTHING.len();
    (if core.is_empty() { comments > 0 } else { is_sole_link(core, context) }).then_some(comments)
}

/// Whether a text would read as a picture, file or rich link.
fn is_sole_link(text: &str, context: TextContext) -> bool {
    match context {
        TextContext::Paragraph { list, style: TextStyle::Body } => {
            crate::cursor::trim(text).len() == text.len()
                && sole(text).is_some_and(|sole| sole.block(list != ListStyle::None).is_some())
        }
        _ => false,
    }
}

/// Whether a text is a link that would read as a picture, file or rich link: in a document a
/// comment after it keeps it a text.
pub fn is_lone_link(data: &BlockData) -> bool {
    match &data.kind {
        BlockKind::Text(look) => {
            let context = TextContext::of(data.list_style, look.style);
            is_sole_link(&data.inline, context)
        }
        _ => false,
    }
}

/// Gives a text that was a lone link, and whose link was rewritten for a document in which it is
/// none, the comment all the same: where it is read, the link may be one again.
pub fn guard_lone_link(data: &mut BlockData) {
    if !is_lone_link(data) {
        data.inline.push_str(NOTHING);
    }
}

/// Takes the comment away from a text that is a lone link again.
pub fn unguard_lone_link(data: &mut BlockData) {
    if let Some(link) = data.inline.strip_suffix(NOTHING) {
        let link = link.to_owned();
        let guarded = std::mem::replace(&mut data.inline, link);
        if !is_lone_link(data) {
            data.inline = guarded;
        }
    }
}

/// Characters that would read as structure where the text stands.
fn marks(text: &str, context: TextContext) -> Vec<CharForm> {
    let mut found = Vec::new();
    match context {
        TextContext::Paragraph { list, style } => {
            ParagraphLines::new(text, list, style, &mut found).run();
        }
        TextContext::Heading => {
            forging_tags(text, 0, &mut found);
            found.extend(closing_hash(text));
        }
        TextContext::Title => forging_tags(text, 0, &mut found),
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The first of the `#`s that would read as the end of a heading.
fn closing_hash(text: &str) -> Option<CharForm> {
    let run = text.trim_end_matches('#').len();
    let behind = slice::before(text, run);
    let form = if crate::escape::ends_escaping(behind) {
        // The backslash is before the run, so the run is not at the start.
        CharForm::at(text, run - 1).filter(|form| form.end <= text.len())
    } else if behind.ends_with("35;") {
        let start = behind.rfind('&')?;
        let is_free = !crate::escape::ends_escaping(slice::before(behind, start));
        CharForm::reference(text, start).filter(|form| is_free && form.end == run)
    } else {
        CharForm::at(text, run)
    };
    let form = form.filter(|form| form.letter == '#')?;
    let before = slice::before(text, form.start);
    (before.is_empty() || before.ends_with(is_space)).then_some(form)
}

/// Closing tags of the dialect, which would close an enclosing element, and highlights of an
/// unknown color, from `start` to the end of `text`, a line.
fn forging_tags(text: &str, start: usize, found: &mut Vec<CharForm>) {
    let bytes = text.as_bytes();
    if memchr::memchr2(b'<', b'&', slice::after(text, start).as_bytes()).is_none() {
        return;
    }
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        let form = match byte {
            b'`' => {
                at = tags::behind_code_of_line(bytes, at);
                continue;
            }
            b'\\' if bytes.get(at + 1) != Some(&b'<') => {
                at += 2;
                continue;
            }
            b'<' | b'\\' | b'&' => CharForm::at(text, at).filter(|form| form.letter == '<'),
            _ => None,
        };
        let Some(form) = form else {
            at += 1;
            continue;
        };
        let behind = slice::after(text, form.end);
        // An opening tag is harmless in inline markdown: only a closing one could end an element.
        // No text has such a highlight as it is: one after a backslash was written so.
        let is_unknown = || tags::highlight_behind(behind).is_some_and(|(_, known)| !known);
        if tags::tag_behind(behind).is_some_and(|tag| tag.closing)
            || (form.level == 0 && is_unknown())
        {
            found.push(form);
        }
        at = form.end;
    }
}

/// The lines of a paragraph, as the parser would read them.
struct ParagraphLines<'t, 'f> {
    text: &'t str,
    list: ListStyle,
    style: TextStyle,
    found: &'f mut Vec<CharForm>,
    ends: RawEnds<'t>,
    /// Raw HTML in progress.
    raw: Option<RawHtml>,
    /// Whether an underline makes no heading: below raw HTML and in a footnote.
    is_no_heading: bool,
    /// Whether all lines are link definitions, which make no heading either.
    defines: bool,
}

impl<'t, 'f> ParagraphLines<'t, 'f> {
    fn new(text: &'t str, list: ListStyle, style: TextStyle, found: &'f mut Vec<CharForm>) -> Self {
        Self {
            text,
            list,
            style,
            found,
            ends: RawEnds::of(text),
            raw: None,
            is_no_heading: line_starts::footnote(text),
            defines: true,
        }
    }

    fn run(mut self) {
        let text = self.text;
        let (mut start, mut above) = (0, None);
        for line in text.split(['\n', '\r']) {
            let end = start + line.len();
            let mut cursor = LineCursor::new(line);
            let indent = cursor.indent();
            cursor.skip_indent();
            let content = start + cursor.offset();
            if content < end {
                let mark = if self.raw.is_none() && indent < 4 {
                    self.mark(content, end, above)
                } else {
                    None
                };
                let before = self.found.len();
                forging_tags(slice::before(text, end), content, self.found);
                let forged = self.found.get(before).is_some_and(|form| form.start == content);
                let rest = slice::within(text, content..end);
                if let Some(mark) = mark {
                    self.found.push(mark);
                } else if self.raw.is_none() && indent < 4 && !forged && rest.starts_with('<') {
                    self.raw = raw_html::html(rest, above.is_some());
                }
                if self.raw.is_some_and(|raw| raw.ends_in(rest)) {
                    (self.raw, self.is_no_heading) = (None, true);
                }
                self.defines = self.defines && line_starts::definition(rest);
                above = Some((content, end));
            } else if self.raw == Some(RawHtml::Blank) {
                (self.raw, self.is_no_heading) = (None, true);
            }
            start = end + 1;
        }
    }

    /// The character by which the line from `content` to `end` would start a structure.
    fn mark(
        &mut self,
        content: usize,
        end: usize,
        above: Option<(usize, usize)>,
    ) -> Option<CharForm> {
        // Most lines start with a letter.
        let byte = self.text.as_bytes().get(content)?;
        if !byte.is_ascii_punctuation() && !byte.is_ascii_digit() {
            return None;
        }
        let first = CharForm::at(self.text, content)?;
        if first.letter.is_ascii_digit() && first.level == 0 {
            return self.number(content, end, above.is_some());
        }
        let rest = self.line(first, end);
        let is_mark = match above {
            None => self.starts(first, &rest, end),
            Some((from, to)) => {
                let above = self.line_above(from, to);
                self.interrupts(first, &rest, &above)
            }
        };
        is_mark.then_some(first)
    }

    /// The sign after the number that starts a line.
    fn number(&self, content: usize, end: usize, is_below: bool) -> Option<CharForm> {
        let line = slice::within(self.text, content..end);
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let sign = CharForm::at(self.text, content + digits).filter(|form| form.end <= end)?;
        let mut rest = slice::before(line, digits).to_owned();
        rest.push(sign.letter);
        rest.push_str(slice::within(self.text, sign.end..end));
        let marker = line_starts::marker(&rest)?;
        (if is_below { marker.interrupts } else { self.list != ListStyle::Task }).then_some(sign)
    }

    /// The line whose text is from `from` to `to`, as it is written. Blanks at the start of a text
    /// are written as references, and would be in a cell of their own.
    fn line_above(&self, from: usize, to: usize) -> Cow<'t, str> {
        let Some(first) = CharForm::at(self.text, from) else { return Cow::default() };
        let is_blank = |letter: char| matches!(letter, ' ' | '\t' | '\n' | '\r');
        let is_after_blanks = from > 0 && slice::before(self.text, from).chars().all(is_blank);
        if is_after_blanks || is_blank(first.letter) {
            return Cow::Owned(format!("&{}", slice::within(self.text, from..to)));
        }
        self.line(first, to)
    }

    /// The line from `first` to `end`, with its first character as itself.
    fn line(&self, first: CharForm, end: usize) -> Cow<'t, str> {
        if first.level == 0 {
            return Cow::Borrowed(slice::within(self.text, first.start..end));
        }
        let mut line = first.letter.to_string();
        line.push_str(slice::within(self.text, first.end..end));
        Cow::Owned(line)
    }

    /// Whether the first line, which ends at `end`, would start a structure.
    fn starts(&mut self, first: CharForm, rest: &str, end: usize) -> bool {
        let is_task = self.list == ListStyle::Task;
        match rest.as_bytes().first() {
            Some(b'>') => !is_task,
            Some(b'#') => line_starts::heading(rest).is_some(),
            Some(b'`' | b'~') => line_starts::fence(rest).is_some(),
            Some(b'$') => {
                let text = [rest, slice::after(self.text, end)].concat();
                let lines = text.replace("\r\n", "\n").replace('\r', "\n");
                line_starts::formula(&lines).is_some()
            }
            Some(b'<') => self.opens(rest) || self.is_unended(first, rest),
            // After the item's own dash, the line would consist of dashes only: a separator.
            Some(b'-')
                if self.list == ListStyle::Bullet
                    && rest.len() > 1
                    && line_starts::marks(rest) == rest.len() =>
            {
                true
            }
            Some(b'[') if self.list != ListStyle::None && !is_task => {
                crate::list_marks::task_mark(rest).is_some()
            }
            _ => {
                line_starts::separator(rest).is_some()
                    || (!is_task && line_starts::marker(rest).is_some())
            }
        }
    }

    /// Whether a further line would start a structure below the line `above`.
    fn interrupts(&mut self, first: CharForm, rest: &str, above: &str) -> bool {
        if line_starts::table_rule(rest).is_some_and(|count| count == line_starts::columns(above)) {
            return true;
        }
        match rest.as_bytes().first() {
            Some(b'=' | b'-')
                if !self.is_no_heading
                    && !self.defines
                    && line_starts::underline(rest).is_some() =>
            {
                true
            }
            Some(b'`' | b'~') => line_starts::fence(rest).is_some(),
            Some(b'<') => self.opens(rest) || self.is_unended(first, rest),
            _ => line_starts::interrupts(rest),
        }
    }

    /// Whether the tag at the start of `rest` would open an element. A title opens only within a
    /// page or card.
    fn opens(&self, rest: &str) -> bool {
        let titled = matches!(self.style, TextStyle::Card | TextStyle::Page);
        tags::tag(rest).is_some_and(|tag| match tag.element {
            Element::Content => false,
            Element::Title => titled && !tag.closing,
            _ => !tag.closing,
        })
    }

    /// Whether the `<` in the form `first` would start raw HTML that takes the blocks below, too,
    /// because the text has no end of it.
    fn is_unended(&mut self, first: CharForm, rest: &str) -> bool {
        raw_html::html(rest, true)
            .is_some_and(|raw| raw.spans_blank_lines() && self.ends.end(raw, first.end).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_fast_path_need_no_escapes() {
        let paragraph =
            |list: &ListStyle| TextContext::Paragraph { list: *list, style: TextStyle::Body };
        let paragraphs = ListStyle::ALL.iter().map(paragraph);
        let contexts: Vec<_> =
            paragraphs.chain([TextContext::Heading, TextContext::Title]).collect();
        let (mut fast, mut texts) = ([0; 2], vec![String::new()]);
        for _ in 0..5 {
            let longer =
                |text: &String| "1.)\\a -#".chars().map(|last| format!("{text}{last}")).collect();
            texts = texts.iter().flat_map::<Vec<_>, _>(longer).collect();
            for text in &texts {
                if !reads_as_it_is(text) {
                    fast[0] += 1;
                    continue;
                }
                fast[1] += 1;
                for context in &contexts {
                    assert!(marks(text, *context).is_empty(), "{text:?} in {context:?}");
                    assert!(document_blanks(text, *context).is_empty(), "{text:?} in {context:?}");
                }
            }
        }
        assert!(fast.iter().all(|count| *count > 5_000), "{fast:?}");
    }
}
