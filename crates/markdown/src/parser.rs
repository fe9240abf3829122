//! The parser's state machine: reads line by line, keeps a stack of open containers, and emits a
//! block when its leaf closes.
//!
//! It follows `CommonMark`'s algorithm for block structure (containers that each line continues or
//! closes, then the blocks that the line opens, then text) without parsing inline markdown, which
//! is kept verbatim. The stack is flat, there is no recursion, and the work per line is bounded by
//! its length and [`MAX_CONTAINERS`](crate::containers::MAX_CONTAINERS).

use std::cell::Cell;

use leafbase_model::{BlockDraft, Error, Result, invariant};

use crate::containers::{Container, ItemContent, PagePart};
use crate::cursor::LineCursor;
use crate::front_matter;
use crate::leaf::Leaf;
use crate::parsed::{
    ParseOptions, ParseWarning, ParseWarningKind, ParsedMarkdown, UnknownHighlight, invalid,
};
use crate::slice;
use crate::source_spans::SourceSpan;
use crate::tags::{self, Element, TagPresence};

/// A closing tag on the current line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosingTag {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) element: Element,
}

/// Next step within the current line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineStep {
    /// Parse the rest of the line.
    Again,
    /// Continue with the next line.
    Done,
}

pub(crate) struct BlockParser<'t, 'o> {
    pub(crate) options: &'o ParseOptions,
    /// The whole text, for lookahead.
    pub(crate) text: &'t str,
    /// Offset of the current line.
    pub(crate) line_start: usize,
    next_start: usize,
    pub(crate) line: &'t str,
    pub(crate) number: usize,
    /// Cache for columns: a line, an offset in it, and the number of characters before that offset.
    counted: Cell<(usize, usize, usize)>,
    pub(crate) stack: Vec<Container>,
    /// Number of containers that the current line continues, then also of those that it opens.
    pub(crate) matched: usize,
    /// Whether the line has fewer quote marks than a quote that it continues.
    pub(crate) short: bool,
    /// Columns that a list item lacks to the content column of its parent item.
    pub(crate) shift: usize,
    pub(crate) leaf: Leaf,
    /// Text of the leaf.
    pub(crate) buffer: String,
    /// Line and column of the start of the leaf.
    pub(crate) leaf_at: (usize, usize),
    /// The last line of the leaf so far.
    pub(crate) leaf_end: usize,
    pub(crate) closers: Vec<ClosingTag>,
    next_closer: usize,
    pub(crate) present: TagPresence,
    /// Stack index and sign of the last closed item: a directly following item joins its list.
    pub(crate) after_item: Option<(usize, u8)>,
    /// Cache of a failed separator search: a mark, and the number of bytes left where the run of
    /// marks ended. No separator of that mark starts before.
    pub(crate) no_separator: (u8, usize),
    /// Blocks of the document and of each open page.
    pub(crate) out: Vec<Vec<BlockDraft>>,
    /// The lines of each block in `out`.
    pub(crate) spans: Vec<Vec<SourceSpan>>,
    /// Number of blocks emitted so far.
    pub(crate) made: usize,
    pub(crate) warnings: Vec<ParseWarning>,
}

impl<'t, 'o> BlockParser<'t, 'o> {
    pub(crate) fn new(text: &'t str, options: &'o ParseOptions) -> Self {
        Self {
            options,
            text,
            line_start: 0,
            next_start: 0,
            line: "",
            number: 0,
            counted: Cell::new((0, 0, 0)),
            stack: Vec::new(),
            matched: 0,
            short: false,
            shift: 0,
            leaf: Leaf::None,
            buffer: String::new(),
            leaf_at: (1, 1),
            leaf_end: 1,
            closers: Vec::new(),
            next_closer: 0,
            present: tags::present(text),
            after_item: None,
            no_separator: (0, 0),
            out: vec![Vec::new()],
            spans: vec![Vec::new()],
            made: 0,
            warnings: Vec::new(),
        }
    }

    /// Parses one line without its line break.
    pub(crate) fn line(&mut self, line: &'t str) -> Result<()> {
        debug_assert!(!line.contains('\n'), "a line contains no line break");
        self.begin_line(line);
        let mut cursor = LineCursor::new(line);
        self.matched = 0;
        if !self.stack.is_empty() {
            debug_assert_eq!(self.matched, 0, "no container of this line is matched yet");
            self.match_containers(&mut cursor);
        }
        // Code and raw HTML take the line before any container can open in it.
        if self.continue_leaf(&mut cursor)? == LineStep::Done {
            return Ok(());
        }
        while self.open(&mut cursor)? == LineStep::Again {
            self.check_made()?;
        }
        self.check_made()
    }

    /// Stops as soon as more blocks are emitted than the caller accepts.
    fn check_made(&self) -> Result<()> {
        match self.options.most_blocks {
            Some(most) if self.made > most => Err(Error::limit("blocks in markdown", most, "more")),
            _ => Ok(()),
        }
    }

    fn begin_line(&mut self, line: &'t str) {
        self.line_start = self.next_start;
        self.next_start += line.len() + 1;
        self.line = line;
        self.number += 1;
        self.short = false;
        self.shift = 0;
        self.no_separator = (0, 0);
        self.next_closer = 0;
        self.closers.clear();
        // Closing tags are located once per line; `segment` then walks them from left to right.
        if self.present.tags && memchr::memchr(b'<', line.as_bytes()).is_some() {
            self.find_closers();
        }
    }

    fn find_closers(&mut self) {
        let (line, closers) = (self.line, &mut self.closers);
        tags::each_bracket(line, |start| {
            if let Some(tag) = tags::tag(slice::after(line, start)).filter(|tag| tag.closing) {
                closers.push(ClosingTag { start, end: start + tag.length, element: tag.element });
            }
            true
        });
    }

    /// Whether the line continues all open containers.
    pub(crate) fn all_matched(&self) -> bool {
        self.matched == self.stack.len() && !self.short
    }

    fn match_containers(&mut self, cursor: &mut LineCursor<'t>) {
        let (blank, is_empty) = (cursor.is_blank(), self.leaf == Leaf::None);
        for container in &mut self.stack {
            match container {
                Container::Quote(quote) => {
                    // A quote mark may be indented by up to three columns, and consumes one column
                    // after it.
                    quote.seen = 0;
                    while quote.seen < quote.depth && is_quote_mark(cursor) {
                        take_quote_mark(cursor);
                        quote.seen += 1;
                    }
                    // Without any mark the quote ends, unless the line continues a paragraph
                    // lazily.
                    if quote.seen == 0 {
                        return;
                    }
                    self.short |= quote.seen < quote.depth;
                }
                Container::Item(item) if blank || cursor.is_blank() => {
                    // An item whose marker line is blank ends at the next blank line.
                    if item.begins_blank && item.holds == ItemContent::Nothing && is_empty {
                        return;
                    }
                    cursor.skip_columns(item.content);
                }
                Container::Item(item) => {
                    let indent = cursor.indent();
                    if indent >= item.content {
                        cursor.skip_columns(item.content);
                    } else if indent >= item.lenient && begins_item(*cursor) {
                        cursor.skip_columns(indent);
                        // The item is nested although it is indented by less than the content
                        // column.
                        self.shift = item.content - indent;
                    } else {
                        return;
                    }
                }
                Container::Wrapper(_) => {}
                Container::Page(page) => {
                    if page.part == PagePart::Content && !cursor.is_blank() {
                        let inset = *page.inset.get_or_insert_with(|| cursor.indent());
                        cursor.skip_columns(inset);
                    }
                }
            }
            self.matched += 1;
        }
    }

    /// The text up to the next closing tag that closes a container, or to the end of the line.
    pub(crate) fn segment(
        &mut self,
        cursor: &LineCursor<'t>,
    ) -> Result<(&'t str, Option<ClosingTag>)> {
        let rest = cursor.rest();
        let closer = self.closing(cursor.offset());
        let segment = match closer {
            Some(closer) => slice::before(rest, closer.start - cursor.offset()),
            None => rest,
        };
        if self.present.highlights {
            self.check_highlights(segment, cursor.offset())?;
        }
        Ok((segment, closer))
    }

    fn closing(&mut self, from: usize) -> Option<ClosingTag> {
        while let Some(closer) = self.closers.get(self.next_closer).copied() {
            if closer.start >= from && self.closes(closer.element).is_some() {
                return Some(closer);
            }
            self.next_closer += 1;
        }
        None
    }

    /// Continues after a closing tag, or with the next line.
    pub(crate) fn finish_segment(
        &mut self,
        cursor: &mut LineCursor<'t>,
        closer: Option<ClosingTag>,
    ) -> Result<LineStep> {
        let Some(closer) = closer else { return Ok(LineStep::Done) };
        self.close_element(closer.element)?;
        self.next_closer += 1;
        cursor.skip(closer.end - cursor.offset());
        // The tag has closed containers: the rest of the line belongs to the innermost one left.
        self.matched = self.stack.len();
        self.short = false;
        Ok(if cursor.is_blank() { LineStep::Done } else { LineStep::Again })
    }

    fn check_highlights(&mut self, segment: &str, offset: usize) -> Result<()> {
        let mut wrong = None;
        tags::each_bracket(segment, |at| {
            let rest = slice::after(segment, at);
            if tags::highlight(rest).is_some_and(|(_, known)| !known) {
                wrong = Some(at);
            }
            wrong.is_none()
        });
        match (wrong.map(|at| self.place(offset + at)), self.options.unknown_highlight) {
            (None, _) => Ok(()),
            (Some(place), UnknownHighlight::Keep) => {
                self.adapt(place, ParseWarningKind::UnknownHighlight);
                Ok(())
            }
            (Some(place), UnknownHighlight::Refuse) => {
                Err(invalid(place, "a highlight of an unknown color"))
            }
        }
    }

    /// Line and column of byte `offset` in the current line.
    pub(crate) fn place(&self, offset: usize) -> (usize, usize) {
        let (line, from, before) = self.counted.get();
        let (from, before) =
            if line == self.number && from <= offset { (from, before) } else { (0, 0) };
        // Columns count characters, so each line is counted once, from the cached offset on.
        let column = before + slice::within(self.line, from..offset).chars().count();
        self.counted.set((self.number, offset, column));
        (self.number, column + 1)
    }

    pub(crate) fn adapt(&mut self, (line, column): (usize, usize), kind: ParseWarningKind) {
        self.warnings.push(ParseWarning { line, column, kind });
    }

    /// Closes the leaf and all containers that the line does not continue.
    pub(crate) fn close_unmatched(&mut self) -> Result<()> {
        if self.all_matched() {
            return Ok(());
        }
        self.close_to(self.matched)?;
        // A line with fewer marks closes the inner quotes and keeps the outer ones.
        if let Some(Container::Quote(quote)) =
            self.stack.iter_mut().rev().find(|open| matches!(open, Container::Quote(_)))
        {
            quote.depth = quote.depth.min(quote.seen.max(1));
        }
        self.short = false;
        Ok(())
    }

    /// Closes the leaf and all containers except the first `kept`.
    pub(crate) fn close_to(&mut self, kept: usize) -> Result<()> {
        self.close_leaf()?;
        debug_assert!(self.leaf == Leaf::None, "a closed leaf leaves no text in the buffer");
        while self.stack.len() > kept {
            self.pop()?;
        }
        debug_assert_eq!(
            self.stack.len(),
            kept.min(self.stack.len()),
            "no container is left above"
        );
        self.matched = self.matched.min(kept);
        Ok(())
    }

    /// Closes all containers.
    pub(crate) fn finish(mut self) -> Result<ParsedMarkdown> {
        self.close_to(0)?;
        let (Some(blocks), true) = (self.out.pop(), self.out.is_empty()) else {
            invariant!("only the document is open after all containers are closed");
        };
        debug_assert_eq!(self.spans.len(), 1, "the document has one list of spans");
        let spans = self.spans.pop().unwrap_or_default();
        Ok(ParsedMarkdown { blocks, warnings: self.warnings, file: None, spans })
    }

    /// Emits front matter, `---` around `key: value`, as text, and returns the rest: parsed as
    /// markdown, it would be a separator and a heading.
    pub(crate) fn front_matter(&mut self) -> Result<&'t str> {
        // Two lines of dashes without content between them are separators.
        let front = front_matter::front_matter(self.text)
            .filter(|front| !crate::cursor::trim(front.matter).is_empty());
        let Some(length) = front.map(|front| front.length) else { return Ok(self.text) };
        let (front, rest) = self.text.split_at_checked(length).unwrap_or(("", self.text));
        let mut chunk = String::new();
        for line in front.lines() {
            self.begin_line(line);
            if !crate::cursor::is_blank(line) {
                self.leaf_end = self.number;
                if chunk.is_empty() {
                    self.leaf_at = (self.number, 1);
                }
            }
            if crate::cursor::is_blank(line) {
                self.front_text(&std::mem::take(&mut chunk))?;
            } else {
                chunk.push_str(if chunk.is_empty() { "" } else { "\n" });
                chunk.push_str(line);
            }
        }
        self.front_text(&chunk)?;
        Ok(rest)
    }
}

pub(crate) fn is_quote_mark(cursor: &LineCursor<'_>) -> bool {
    let mut ahead = *cursor;
    let indent = ahead.indent();
    ahead.skip_indent();
    indent < 4 && ahead.rest().starts_with('>')
}

pub(crate) fn take_quote_mark(cursor: &mut LineCursor<'_>) {
    cursor.skip_indent();
    cursor.skip(1);
    cursor.skip_columns(1);
}

fn begins_item(mut cursor: LineCursor<'_>) -> bool {
    cursor.skip_indent();
    crate::line_starts::marker(cursor.rest()).is_some_and(|marker| marker.interrupts)
}
