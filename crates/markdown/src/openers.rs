//! Blocks that the rest of a line opens: containers, headings, code, separators, tags; otherwise
//! text.

use leafbase_model::{BlockData, BlockKind, LineStyle, ListStyle, Result};

use crate::containers::{Container, ItemContent, MAX_CONTAINERS, OpenItem, OpenQuote, PagePart};
use crate::cursor::LineCursor;
use crate::leaf::Leaf;
use crate::line_starts::{self, Marker};
use crate::parsed::ParseWarningKind;
use crate::parser::{BlockParser, LineStep, is_quote_mark, take_quote_mark};
use crate::slice;
use crate::{list_marks, tags};

impl<'t> BlockParser<'t, '_> {
    /// Opens the block that the rest of the line starts, or adds it as text.
    pub(crate) fn open(&mut self, cursor: &mut LineCursor<'t>) -> Result<LineStep> {
        if let Some(Container::Page(page)) = self.stack.last()
            && page.part != PagePart::Content
        {
            self.close_unmatched()?;
            if let Some(step) = self.page_part(cursor)? {
                return Ok(step);
            }
        }
        if cursor.indent() >= 4 {
            // Four columns of indentation are code, unless the line continues a paragraph.
            return match self.leaf {
                Leaf::None if !self.after_mark() => self.begin_indented(cursor),
                Leaf::Table if !self.all_matched() => self.begin_indented(cursor),
                _ => self.text_line(cursor),
            };
        }
        let mut ahead = *cursor;
        ahead.skip_indent();
        // Dispatch on the first byte: most lines are text and skip every predicate.
        let step = match ahead.rest().as_bytes().first() {
            Some(b'>') if !self.after_mark() => self.open_quote(cursor)?,
            Some(b'#') => self.open_heading(&mut ahead, cursor)?,
            Some(b'`' | b'~') => self.open_code(&ahead, cursor.indent())?,
            Some(b'[') if self.leaf == Leaf::None => self.open_task(&ahead, cursor)?,
            Some(b'<') => self.open_tag(&ahead, cursor)?,
            Some(b'*' | b'-' | b'_' | b'+' | b'=' | b'|' | b':' | b'0'..=b'9') => {
                self.open_mark(&ahead, cursor)?
            }
            _ => None,
        };
        match step {
            Some(step) => Ok(step),
            None => self.text_line(cursor),
        }
    }

    fn open_quote(&mut self, cursor: &mut LineCursor<'t>) -> Result<Option<LineStep>> {
        self.close_unmatched()?;
        self.close_leaf()?;
        let mut depth = 0;
        while is_quote_mark(cursor) {
            take_quote_mark(cursor);
            depth += 1;
        }
        // At the maximum depth further quotes merge into the enclosing one.
        let flattened = self.depth() >= MAX_CONTAINERS && self.is_quoted();
        match self.stack.last_mut() {
            Some(Container::Quote(quote)) => {
                quote.depth += depth;
                quote.seen = quote.depth;
            }
            _ if flattened => {}
            _ => self.push(Container::Quote(OpenQuote { depth, seen: depth })),
        }
        Ok(Some(if cursor.is_blank() { LineStep::Done } else { LineStep::Again }))
    }

    fn open_heading(
        &mut self,
        ahead: &mut LineCursor<'t>,
        cursor: &mut LineCursor<'t>,
    ) -> Result<Option<LineStep>> {
        let Some((level, before)) = line_starts::heading(ahead.rest()) else { return Ok(None) };
        self.close_unmatched()?;
        self.close_leaf()?;
        self.begin_lines(ahead.offset());
        if level > 4 {
            self.adapt(
                self.leaf_at,
                ParseWarningKind::HeadingLevel(u8::try_from(level).unwrap_or(6)),
            );
        }
        ahead.skip(before);
        let (text, closer) = self.segment(ahead)?;
        self.emit_heading(level, line_starts::heading_text(text))?;
        *cursor = *ahead;
        self.finish_segment(cursor, closer).map(Some)
    }

    fn open_code(&mut self, ahead: &LineCursor<'t>, inset: usize) -> Result<Option<LineStep>> {
        let Some(fence) = line_starts::fence(ahead.rest()) else { return Ok(None) };
        self.close_unmatched()?;
        self.close_leaf()?;
        let (mark, length, info) = (fence.mark, fence.length, fence.info.to_owned());
        self.begin_leaf(Leaf::Code { mark, length, inset, info, begun: false }, ahead.offset());
        Ok(Some(LineStep::Done))
    }

    fn open_tag(
        &mut self,
        ahead: &LineCursor<'t>,
        cursor: &mut LineCursor<'t>,
    ) -> Result<Option<LineStep>> {
        if !self.present.tags {
            return Ok(None);
        }
        let Some(tag) = tags::tag(ahead.rest()) else { return Ok(None) };
        if !tag.closing {
            return self.open_element(tag, ahead, cursor);
        }
        match self.segment(ahead)? {
            ("", closer @ Some(_)) => {
                *cursor = *ahead;
                self.finish_segment(cursor, closer).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Underlines, delimiter rows, separators and list items.
    fn open_mark(
        &mut self,
        ahead: &LineCursor<'t>,
        cursor: &mut LineCursor<'t>,
    ) -> Result<Option<LineStep>> {
        let rest = ahead.rest();
        if let Leaf::Paragraph(paragraph) = self.leaf
            && self.all_matched()
        {
            let head = || line_starts::columns(slice::after(&self.buffer, paragraph.last_line));
            if line_starts::table_rule(rest).is_some_and(|columns| columns == head()) {
                self.begin_table(rest)?;
                return Ok(Some(LineStep::Done));
            }
            let is_heading =
                !paragraph.html && !paragraph.footnote && paragraph.definitions < self.buffer.len();
            if let Some(level) = line_starts::underline(rest).filter(|_| is_heading) {
                self.underlined(level, paragraph.definitions)?;
                return Ok(Some(LineStep::Done));
            }
        }
        if let Some(style) = self.separator(rest) {
            return self.open_separator(style, ahead, cursor).map(Some);
        }
        match line_starts::marker(rest) {
            Some(marker) if !self.after_mark() && self.may_begin_item(marker) => {
                self.open_item(marker, ahead, cursor).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Whether the position is right after a task mark, where a paragraph must start: neither a
    /// list nor a quote can.
    fn after_mark(&self) -> bool {
        self.leaf == Leaf::None && self.all_matched() && self.list_style() == ListStyle::Task
    }

    fn may_begin_item(&self, marker: Marker) -> bool {
        marker.interrupts
            || !matches!(self.leaf, Leaf::Paragraph(_) | Leaf::Table)
            || !self.all_matched()
    }

    /// A separator. On a line of many markers this is tried from each of them, so a failed search
    /// is cached for the later positions.
    fn separator(&mut self, rest: &'t str) -> Option<LineStyle> {
        let (mark, left) = (*rest.as_bytes().first()?, rest.len());
        // The rest of the line shrinks from left to right, so a larger rest precedes the cached
        // one.
        if self.no_separator.0 == mark && left > self.no_separator.1 {
            return None;
        }
        let style = line_starts::separator(rest);
        if style.is_none() {
            self.no_separator = (mark, left - line_starts::marks(rest));
        }
        style
    }

    fn open_separator(
        &mut self,
        style: LineStyle,
        ahead: &LineCursor<'t>,
        cursor: &mut LineCursor<'t>,
    ) -> Result<LineStep> {
        self.close_unmatched()?;
        self.close_leaf()?;
        self.begin_lines(ahead.offset());
        self.emit(BlockData::new(BlockKind::Line { style }));
        cursor.skip(cursor.rest().len());
        Ok(LineStep::Done)
    }

    /// Turns the open paragraph into a heading, except the link definitions at its start.
    fn underlined(&mut self, level: usize, definitions: usize) -> Result<()> {
        let text = match definitions {
            // `emit_heading` borrows the parser; the buffer is put back to reuse its allocation.
            0 => std::mem::take(&mut self.buffer),
            end => {
                let text = crate::cursor::trim_start(slice::after(&self.buffer, end)).to_owned();
                self.buffer.truncate(end);
                let first = self.number.saturating_sub(text.matches('\n').count() + 1);
                self.leaf_end = first.saturating_sub(1);
                self.close_leaf()?;
                self.leaf_at = (first, 1);
                text
            }
        };
        self.leaf = Leaf::None;
        self.leaf_end = self.number;
        self.emit_heading(level, &text)?;
        self.buffer = text;
        Ok(())
    }

    fn open_item(
        &mut self,
        marker: Marker,
        ahead: &LineCursor<'t>,
        cursor: &mut LineCursor<'t>,
    ) -> Result<LineStep> {
        let indent = cursor.indent();
        self.close_unmatched()?;
        self.close_leaf()?;
        let at = self.place(ahead.offset());
        *cursor = *ahead;
        cursor.skip(marker.width);
        let begins_blank = cursor.is_blank();
        // Five or more columns after the marker are indented code inside the item.
        let padding = match cursor.indent() {
            columns @ 1..=4 if !begins_blank => columns,
            _ => 1,
        };
        cursor.skip_columns(padding);
        let content = (indent + marker.width + padding).saturating_sub(self.shift);
        let style = list_marks::style(marker);
        let lenient =
            if style == ListStyle::Numbered { (indent + 2).min(content) } else { content };
        self.shift = 0;
        let first = self.after_item != Some((self.stack.len(), marker.sign));
        let level = self.level() + 1;
        self.hold_list();
        let item = OpenItem {
            content,
            lenient,
            level,
            style,
            sign: marker.sign,
            task: None,
            holds: ItemContent::Nothing,
            begins_blank,
            first,
            made_before: self.made,
            is_bare_task: false,
            at,
        };
        self.push_item(item)?;
        Ok(if cursor.is_blank() { LineStep::Done } else { LineStep::Again })
    }

    /// Pushes a list item; below the maximum depth it replaces the innermost one.
    fn push_item(&mut self, mut item: OpenItem) -> Result<()> {
        if self.depth() >= MAX_CONTAINERS
            && let Some(Container::Item(around)) = self.stack.last()
        {
            // The columns of the replaced item still belong to the line prefix.
            item.content += around.content;
            item.lenient += around.content;
            item.level = around.level;
            self.pop()?;
        }
        debug_assert!(
            item.lenient <= item.content,
            "the lenient column is not after the content column"
        );
        self.push(Container::Item(item));
        Ok(())
    }

    /// A task mark, at the first block of a list item.
    fn open_task(
        &mut self,
        ahead: &LineCursor<'t>,
        cursor: &mut LineCursor<'t>,
    ) -> Result<Option<LineStep>> {
        let (known, unknown) =
            (list_marks::task_mark(ahead.rest()), list_marks::unknown_mark(ahead.rest()));
        if known.is_none() && unknown.is_none() {
            return Ok(None);
        }
        self.close_unmatched()?;
        if !matches!(self.list_style(), ListStyle::Bullet | ListStyle::Numbered | ListStyle::Toggle)
        {
            return Ok(None);
        }
        let at = self.place(ahead.offset());
        if let Some(mark) = unknown {
            self.adapt(at, ParseWarningKind::TaskMark(mark));
        }
        let (Some((state, length)), Some(item)) = (known, self.inner_item()) else {
            return Ok(None);
        };
        item.style = ListStyle::Task;
        item.task = Some(state);
        *cursor = *ahead;
        cursor.skip(length);
        cursor.skip_indent();
        if !cursor.is_blank() {
            return Ok(Some(LineStep::Again));
        }
        item.is_bare_task = true;
        (self.leaf_at, self.leaf_end) = (at, self.number);
        self.emit(BlockData::text(""));
        Ok(Some(LineStep::Done))
    }
}
