//! Leaf blocks: paragraphs, code and tables, from their first line to the finished block.

use leafbase_model::{BlockData, BlockKind, CodeLanguage, Error, Result, TextFormat, TextStyle};

use crate::code::COMPACT_FORMULA;
use crate::cursor::{LineCursor, trim_end};
use crate::leaf::{Leaf, Paragraph};
use crate::line_starts;
use crate::lone_link::sole;
use crate::parser::{BlockParser, LineStep};
use crate::text_context::TextContext;
use crate::text_escape::{NOTHING, unescape};
use crate::{raw_html, slice};

impl<'t> BlockParser<'t, '_> {
    /// Handles a line that the leaf alone decides on; otherwise closes the containers that the line
    /// ends.
    pub(crate) fn continue_leaf(&mut self, cursor: &mut LineCursor<'t>) -> Result<LineStep> {
        match &mut self.leaf {
            Leaf::Code { .. } if self.matched == self.stack.len() && !self.short => {
                return self.code_line(cursor);
            }
            Leaf::Indented if self.matched == self.stack.len() && !self.short => {
                if cursor.is_blank() || cursor.indent() >= 4 {
                    if !cursor.is_blank() {
                        self.leaf_end = self.number;
                    }
                    cursor.skip_columns(4);
                    self.buffer.push('\n');
                    self.push_rest(cursor);
                    return Ok(LineStep::Done);
                }
                self.close_leaf()?;
            }
            Leaf::Code { .. } | Leaf::Indented => self.close_unmatched()?,
            _ => {}
        }
        if cursor.is_blank() {
            return self.blank_line(cursor);
        }
        match self.leaf {
            Leaf::Paragraph(paragraph) if paragraph.footnote && !paragraph.is_verbatim() => {
                if self.all_matched() && is_inset(cursor) {
                    return self.add_line(cursor, paragraph);
                }
                if paragraph.is_behind_blank {
                    self.close_leaf()?;
                }
                Ok(LineStep::Again)
            }
            Leaf::Paragraph(paragraph) if paragraph.raw.is_some() || paragraph.formula => {
                if !self.all_matched() {
                    self.close_unmatched()?;
                    return Ok(LineStep::Again);
                }
                self.add_line(cursor, paragraph)
            }
            _ => Ok(LineStep::Again),
        }
    }

    fn blank_line(&mut self, cursor: &LineCursor<'t>) -> Result<LineStep> {
        match self.leaf {
            Leaf::Paragraph(mut paragraph)
                if self.all_matched() && (paragraph.is_verbatim() || paragraph.footnote) =>
            {
                paragraph.is_behind_blank = true;
                if !paragraph.is_verbatim() {
                    paragraph.html |= paragraph.raw.take().is_some();
                }
                self.leaf = Leaf::Paragraph(paragraph);
                self.buffer.push('\n');
                self.push_rest(cursor);
            }
            Leaf::Paragraph(_) | Leaf::Table => self.close_leaf()?,
            _ => {}
        }
        if self.matched < self.stack.len() || self.short {
            self.close_unmatched()?;
        }
        Ok(LineStep::Done)
    }

    fn code_line(&mut self, cursor: &mut LineCursor<'t>) -> Result<LineStep> {
        let Leaf::Code { mark, length, inset, begun, .. } = &mut self.leaf else {
            return Ok(LineStep::Again);
        };
        self.leaf_end = self.number;
        if cursor.indent() < 4 {
            let mut ahead = *cursor;
            ahead.skip_indent();
            let closing = line_starts::fence(ahead.rest());
            if closing.is_some_and(|fence| {
                fence.mark == *mark && fence.length >= *length && fence.info.is_empty()
            }) {
                self.close_leaf()?;
                return Ok(LineStep::Done);
            }
        }
        // Lines of code lose the indentation of their fence, and no more.
        cursor.skip_columns(*inset);
        if std::mem::replace(begun, true) {
            self.buffer.push('\n');
        }
        self.push_rest(cursor);
        Ok(LineStep::Done)
    }

    fn push_rest(&mut self, cursor: &LineCursor<'t>) {
        for _ in 0..cursor.spare() {
            self.buffer.push(' ');
        }
        self.buffer.push_str(cursor.rest());
    }

    /// Starts a leaf whose text [`Self::push_rest`] or [`Self::add_line`] appends.
    pub(crate) fn begin_leaf(&mut self, leaf: Leaf, offset: usize) {
        debug_assert!(self.leaf == Leaf::None, "the previous leaf is closed");
        self.leaf = leaf;
        self.begin_lines(offset);
        self.buffer.clear();
    }

    /// Starts an indented code block.
    pub(crate) fn begin_indented(&mut self, cursor: &mut LineCursor<'t>) -> Result<LineStep> {
        self.close_unmatched()?;
        cursor.skip_columns(4);
        self.begin_leaf(Leaf::Indented, cursor.offset());
        self.push_rest(cursor);
        Ok(LineStep::Done)
    }

    /// Adds a line of text to the open paragraph or table, or to a new paragraph.
    pub(crate) fn text_line(&mut self, cursor: &mut LineCursor<'t>) -> Result<LineStep> {
        match self.leaf {
            Leaf::Paragraph(mut paragraph) => {
                let raw = if cursor.indent() < 4 {
                    raw_html::html(after_indent(*cursor), true)
                } else {
                    None
                };
                // A line that continues no container may still continue a paragraph lazily; raw
                // HTML may not.
                if self.all_matched() || raw.is_none() {
                    paragraph.raw = raw;
                    return self.add_line(cursor, paragraph);
                }
            }
            Leaf::Table
                if self.all_matched() && raw_html::html(after_indent(*cursor), true).is_none() =>
            {
                cursor.skip_indent();
                let (text, closer) = self.segment(cursor)?;
                self.leaf_end = self.number;
                self.buffer.push('\n');
                self.buffer.push_str(trim_end(text));
                return self.finish_segment(cursor, closer);
            }
            _ => {}
        }
        self.close_unmatched()?;
        self.close_leaf()?;
        cursor.skip_indent();
        let rest = cursor.rest();
        // The leaf becomes a paragraph in `add_line`.
        self.begin_leaf(Leaf::None, cursor.offset());
        let paragraph = Paragraph {
            raw: raw_html::html(rest, false),
            formula: line_starts::opens_formula(rest),
            footnote: line_starts::footnote(rest),
            ..Paragraph::default()
        };
        self.add_line(cursor, paragraph)
    }

    /// Adds a line to a new or open paragraph.
    fn add_line(
        &mut self,
        cursor: &mut LineCursor<'t>,
        mut paragraph: Paragraph,
    ) -> Result<LineStep> {
        self.leaf_end = self.number;
        let only_definitions = paragraph.definitions == self.buffer.len();
        paragraph.last_line = self.buffer.len();
        paragraph.is_behind_blank = false;
        if !self.buffer.is_empty() {
            self.buffer.push('\n');
            paragraph.last_line += 1;
            if paragraph.is_verbatim() || (paragraph.footnote && is_inset(cursor)) {
                self.buffer.extend(std::iter::repeat_n(' ', cursor.spare()));
            } else {
                cursor.take_indent(&mut self.buffer);
            }
        }
        let (text, closer) = self.segment(cursor)?;
        self.buffer.push_str(text);
        if only_definitions && line_starts::definition(text) {
            paragraph.definitions = self.buffer.len();
        }
        if paragraph.raw.is_some_and(|raw| raw.ends_in(text)) {
            paragraph.raw = None;
            paragraph.html = true;
        }
        self.leaf = Leaf::Paragraph(paragraph);
        if paragraph.formula && line_starts::ends_formula(text, paragraph.last_line == 0) {
            self.close_leaf()?;
        }
        self.finish_segment(cursor, closer)
    }

    /// Emits the block of the leaf.
    pub(crate) fn close_leaf(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::None => Ok(()),
            Leaf::Paragraph(paragraph) => self.close_paragraph(paragraph),
            Leaf::Table => {
                let markdown = crate::table::canonical(&self.buffer).into_owned();
                let data = BlockData { inline: markdown, ..BlockData::new(BlockKind::Table) };
                self.check_length(
                    "bytes of a table",
                    data.inline.len(),
                    self.options.limits.block_raw,
                )?;
                self.emit(data);
                Ok(())
            }
            Leaf::Code { info, .. } => {
                let (language, tag) = crate::code::language(&info);
                self.emit_code(language, tag.to_owned())
            }
            Leaf::Indented => {
                let end = trim_end_lines(&self.buffer);
                self.buffer.truncate(end);
                self.emit_code(CodeLanguage::Plaintext, String::new())
            }
        }
    }

    fn check_length(&self, what: &str, length: usize, longest: usize) -> Result<()> {
        if length <= longest {
            return Ok(());
        }
        let (line, column) = self.leaf_at;
        Err(Error::limit(&format!("line {line}, column {column}: {what}"), longest, length))
    }

    fn emit_code(&mut self, language: CodeLanguage, language_tag: String) -> Result<()> {
        self.check_length("bytes of raw code", self.buffer.len(), self.options.limits.block_raw)?;
        let raw_code = self.buffer.clone();
        self.emit(BlockData::new(BlockKind::Code { raw_code, language, language_tag }));
        Ok(())
    }

    fn close_paragraph(&mut self, paragraph: Paragraph) -> Result<()> {
        self.buffer.truncate(trim_end(&self.buffer).len());
        if paragraph.formula
            && let Some((code, tag)) = formula_of(&self.buffer)
        {
            self.buffer = code.to_owned();
            return self.emit_code(CodeLanguage::MathFormula, tag.to_owned());
        }
        let look = self.look();
        let list = self.list_style();
        let mut data = BlockData::new(BlockKind::Text(look));
        if look.style == TextStyle::Body
            && !self.options.keeps_links
            && let Some(kind) = sole(&self.buffer)
                .and_then(|sole| sole.block(list != leafbase_model::ListStyle::None))
        {
            data.kind = kind;
        } else if self.buffer != NOTHING {
            let context = TextContext::of(list, look.style);
            data.inline = unescape(&self.buffer, context).into_owned();
        }
        self.check_length(
            "bytes of a block's text",
            data.inline.len(),
            self.options.limits.block_text,
        )?;
        self.emit(data);
        Ok(())
    }

    /// Emits front matter as text.
    pub(crate) fn front_text(&mut self, text: &str) -> Result<()> {
        let context = TextContext::of(leafbase_model::ListStyle::None, TextStyle::Body);
        let markdown = unescape(text, context);
        self.check_length(
            "bytes of a block's text",
            markdown.len(),
            self.options.limits.block_text,
        )?;
        if !markdown.is_empty() {
            self.emit(BlockData::text(markdown));
        }
        Ok(())
    }

    /// Emits a heading; levels 5 and 6 become level 4.
    pub(crate) fn emit_heading(&mut self, level: usize, text: &str) -> Result<()> {
        let style = match level {
            1 => TextStyle::H1,
            2 => TextStyle::H2,
            3 => TextStyle::H3,
            _ => TextStyle::H4,
        };
        let mut data =
            BlockData::new(BlockKind::Text(TextFormat { style, ..TextFormat::default() }));
        data.inline = unescape(text, TextContext::Heading).into_owned();
        self.check_length(
            "bytes of a block's text",
            data.inline.len(),
            self.options.limits.block_text,
        )?;
        self.emit(data);
        Ok(())
    }

    /// Turns the last line of the open paragraph into a table's header row; earlier lines remain a
    /// paragraph.
    pub(crate) fn begin_table(&mut self, rule: &str) -> Result<()> {
        let Leaf::Paragraph(paragraph) = self.leaf else { return Ok(()) };
        let head = crate::cursor::trim(slice::after(&self.buffer, paragraph.last_line)).to_owned();
        // The line break before the header row does not belong to the paragraph.
        if paragraph.last_line > 0 {
            self.buffer.truncate(paragraph.last_line - 1);
            self.leaf_end = self.number.saturating_sub(2);
            self.close_leaf()?;
            self.leaf_at = (self.number - 1, 1);
        }
        self.leaf_end = self.number;
        self.leaf = Leaf::Table;
        self.buffer.clear();
        self.buffer.push_str(&head);
        self.buffer.push('\n');
        self.buffer.push_str(trim_end(rule));
        Ok(())
    }
}

fn after_indent(mut cursor: LineCursor<'_>) -> &str {
    cursor.skip_indent();
    cursor.rest()
}

/// Whether a line is indented by four columns or more, counted from its own start.
fn is_inset(cursor: &LineCursor<'_>) -> bool {
    cursor.spare() + LineCursor::new(cursor.rest()).indent() >= 4
}

/// The text of a formula without its `$$`, and its tag.
fn formula_of(text: &str) -> Option<(&str, &'static str)> {
    // The closing `$$` must end the text: anything after it makes the text a paragraph.
    let end = line_starts::formula(text).filter(|end| *end == text.len())?;
    let inner = text.get(2..end - 2)?;
    let shown = trim_end(inner);
    if inner.starts_with('\n') || slice::after(inner, shown.len()).contains('\n') {
        let inner = inner.strip_prefix('\n').unwrap_or_else(|| crate::cursor::trim_start(inner));
        return Some((inner.strip_suffix('\n').unwrap_or_else(|| trim_end(inner)), ""));
    }
    Some((crate::cursor::trim_start(shown), COMPACT_FORMULA))
}

/// Length of `text` without trailing blank lines.
fn trim_end_lines(text: &str) -> usize {
    let mut end = text.len();
    while let Some(shorter) = text.get(..end).and_then(|text| text.rfind('\n')) {
        if !crate::cursor::is_blank(slice::within(text, shorter + 1..end)) {
            break;
        }
        end = shorter;
    }
    end
}
