//! The editor: lines that a watcher keeps, a cursor, and what each key does.

use leafbase::{
    Block, BlockId, BlockPatch, Connection, DocumentId, DuplicateBlocks, Error, Fetch, FlatBlock,
    Full, IndentBlocks, ListStyle, MergeBlock, PlainText, Result, ShiftBlocks, SplitBlock,
    TaskState, TextStyle, UndoManager, UpdateBlocks, Watcher,
};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block as Border, Paragraph};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Type(char),
    Enter,
    Backspace,
    Indent,
    Outdent,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    DragUp,
    DragDown,
    Duplicate,
    Undo,
    Redo,
}

/// Where the cursor is: a line, and an offset in its plain text, in bytes.
#[derive(Clone, Copy)]
struct Cursor {
    block: BlockId,
    offset: usize,
}

pub(crate) struct Editor {
    /// What it writes goes through the connection of its undo stack.
    undo: UndoManager,
    page: Watcher<Full, Fetch>,
    lines: Vec<FlatBlock>,
    cursor: Cursor,
    pub(crate) status: String,
}

impl Editor {
    pub(crate) fn open(notes: &Connection, page: DocumentId) -> Result<Self> {
        let undo = notes.undo_manager();
        let page = undo.notes().watch(Fetch::new(page))?;
        let lines = page.entries().to_vec();
        let block = lines.get(1).or_else(|| lines.first()).map(|line| line.block.id);
        let block = block.ok_or_else(Error::not_found)?;
        let cursor = Cursor { block, offset: 0 };
        Ok(Self { undo, page, lines, cursor, status: String::new() })
    }

    /// Takes over what was written, by itself and by others.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        while let Some(patch) = self.page.try_next()? {
            let at = self.line();
            patch.apply(&mut self.lines)?;
            // The line of the cursor may be gone: the cursor stays where it was on the screen.
            if !self.lines.iter().any(|line| line.block.id == self.cursor.block) {
                let line = &self.lines[at.min(self.lines.len() - 1)];
                self.cursor = Cursor { block: line.block.id, offset: 0 };
            }
        }
        self.cursor.offset = floor(&plain(self.block()), self.cursor.offset);
        Ok(())
    }

    pub(crate) fn press(&mut self, key: Key) {
        let pressed = self.handle(key).and_then(|()| self.refresh());
        self.status = pressed.err().map(|error| error.to_string()).unwrap_or_default();
    }

    fn handle(&mut self, key: Key) -> Result<()> {
        let notes = self.undo.notes().clone();
        let Cursor { block, offset } = self.cursor;
        if !matches!(key, Key::Type(_) | Key::Backspace) {
            self.undo.end_step();
        }
        match key {
            Key::Type(letter) => self.type_letter(&notes, letter)?,
            Key::Enter => {
                let halves = notes.split_block(SplitBlock::new(block, offset))?;
                // At the start the new block is the one above.
                let is_above = halves[1].id == block;
                self.cursor = Cursor { block: halves[1].id, offset: 0 };
                debug_assert!(is_above || halves[0].id == block);
            }
            Key::Backspace if offset > 0 => self.erase_letter(&notes)?,
            Key::Backspace => self.backspace_at_start(&notes)?,
            Key::Indent => drop(notes.indent_blocks(IndentBlocks::from(block))?),
            Key::Outdent => drop(notes.indent_blocks(IndentBlocks::from(block).by(-1))?),
            Key::DragUp => drop(notes.shift_blocks(ShiftBlocks::from(block))?),
            Key::DragDown => drop(notes.shift_blocks(ShiftBlocks::from(block).down())?),
            Key::Duplicate => {
                self.cursor.block = notes.duplicate_blocks(DuplicateBlocks::from(block))?[0].id;
            }
            Key::Undo => drop(self.undo.undo()?),
            Key::Redo => drop(self.undo.redo()?),
            Key::Up | Key::Down | Key::Left | Key::Right | Key::Home | Key::End => self.go(key),
        }
        Ok(())
    }

    /// Inserts a letter in the marks around the cursor.
    fn type_letter(&mut self, notes: &Connection, letter: char) -> Result<()> {
        let mut inline = self.block().data.inline.clone();
        let mut at = PlainText::of(&inline).to_inline(self.cursor.offset);
        if letter.is_ascii_punctuation() {
            inline.insert(at, '\\');
            at += 1;
        }
        inline.insert(at, letter);
        self.write(notes, inline)?;
        self.cursor.offset += letter.len_utf8();
        Ok(())
    }

    fn erase_letter(&mut self, notes: &Connection) -> Result<()> {
        let mut inline = self.block().data.inline.clone();
        let text = PlainText::of(&inline);
        let before = text.as_str()[..self.cursor.offset].char_indices().next_back();
        let (offset, letter) = before.expect("the cursor is not at the start");
        let at = text.to_inline(offset);
        inline.remove(at);
        if letter.is_ascii_punctuation() && inline[..at].ends_with('\\') {
            inline.remove(at - 1);
        }
        self.write(notes, inline)?;
        self.cursor.offset = offset;
        Ok(())
    }

    fn write(&mut self, notes: &Connection, inline: String) -> Result<()> {
        let mut patch = BlockPatch::of(self.cursor.block).if_rev(self.block().rev);
        patch.fields.inline = Some(inline);
        notes.update_blocks(UpdateBlocks::new([patch]))?;
        Ok(())
    }

    /// First takes off the list style, then the indentation, then joins the line before.
    fn backspace_at_start(&mut self, notes: &Connection) -> Result<()> {
        let block = self.block();
        if block.data.list_style != ListStyle::None {
            let patch = BlockPatch::of(block.id).with_list_style(ListStyle::None);
            return notes.update_blocks(UpdateBlocks::new([patch])).map(drop);
        }
        if block.data.indentation > 0 {
            return notes.indent_blocks(IndentBlocks::from(block.id).by(-1)).map(drop);
        }
        let offset = self.line().checked_sub(1).map_or(0, |line| self.text(line).len());
        let merged = notes.merge_block(MergeBlock::from(block.id))?;
        self.cursor = Cursor { block: merged[0].id, offset };
        Ok(())
    }

    fn go(&mut self, key: Key) {
        let (line, text) = (self.line(), plain(self.block()));
        let to = |line: usize| line.clamp(1.min(self.lines.len() - 1), self.lines.len() - 1);
        let (line, offset) = match key {
            Key::Up => (to(line - 1), self.cursor.offset),
            Key::Down => (to(line + 1), self.cursor.offset),
            Key::Left => (line, floor(&text, self.cursor.offset.saturating_sub(1))),
            Key::Right => {
                let next = text[self.cursor.offset..].chars().next().map_or(0, char::len_utf8);
                (line, self.cursor.offset + next)
            }
            Key::Home => (line, 0),
            _ => (line, text.len()),
        };
        self.cursor =
            Cursor { block: self.lines[line].block.id, offset: floor(&self.text(line), offset) };
    }

    fn line(&self) -> usize {
        let at = self.lines.iter().position(|line| line.block.id == self.cursor.block);
        at.unwrap_or_default()
    }

    fn block(&self) -> &Block {
        &self.lines[self.line()].block
    }

    fn text(&self, line: usize) -> String {
        plain(&self.lines[line].block)
    }

    pub(crate) fn draw(&self, frame: &mut Frame<'_>) {
        let [page, status] =
            Layout::vertical([Constraint::Min(3), Constraint::Length(1)]).areas(frame.area());
        let title = format!(" {} ", self.text(0));
        let mut shown = Vec::new();
        for line in &self.lines[1..] {
            let text = format!("{}{}", marker(line), plain(&line.block));
            let is_heading = is_heading(&line.block);
            let style = if is_heading { Modifier::BOLD } else { Modifier::empty() };
            shown.push(Line::styled(text, Style::new().add_modifier(style)));
        }
        frame.render_widget(Paragraph::new(shown).block(Border::bordered().title(title)), page);
        frame.render_widget(Paragraph::new(self.status.as_str()), status);
        let line = self.line();
        let before = &self.text(line)[..self.cursor.offset];
        let column = marker(&self.lines[line]).chars().count() + before.chars().count();
        let place = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        frame.set_cursor_position((page.x + 1 + place(column), page.y + place(line)));
    }
}

fn plain(block: &Block) -> String {
    PlainText::of(&block.data.inline).into_string()
}

fn is_heading(block: &Block) -> bool {
    let style = block.data.text_format().map(|format| format.style);
    style.is_some_and(|style| style != TextStyle::Body)
}

/// What stands before the text of a line.
fn marker(line: &FlatBlock) -> String {
    let data = &line.block.data;
    let level = usize::from(data.indentation) + line.depth.saturating_sub(1);
    let mark = match (data.list_style, data.task.map(|task| task.state)) {
        (_, Some(TaskState::Todo)) => "[ ] ",
        (_, Some(TaskState::Done)) => "[x] ",
        (_, Some(TaskState::Canceled)) => "[-] ",
        (ListStyle::Bullet, _) => "• ",
        (ListStyle::Numbered, _) => "1. ",
        (ListStyle::None, _) if is_heading(&line.block) => "# ",
        _ => "",
    };
    "  ".repeat(level) + mark
}

/// The last offset of a character up to this one.
fn floor(text: &str, offset: usize) -> usize {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    (0..=offset.min(text.len())).rev().find(is_boundary).unwrap_or_default()
}
