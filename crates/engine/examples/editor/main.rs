//! A terminal editor of one document: it types, splits, merges, indents, shifts and undoes, and
//! shows at once what another connection writes.
//!
//! `cargo run --example editor` begins in memory; `-- notes.leafbase` opens or creates a space,
//! `-- --check` plays a session. Enter, Backspace, Tab and Shift+Tab, the arrows; Alt+Up and
//! Alt+Down drag a line, Ctrl+D copies it, Ctrl+Z and Ctrl+Y undo and redo, Esc ends.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "an example stays short")]

mod session;

use std::time::Duration;

use leafbase::{
    BlockId, BlockPatch, Connection, DocumentId, DuplicateBlocks, Error, Fetch, FlatBlock, Full,
    IndentBlocks, ListStyle, MergeBlock, PlainText, Result, ShiftBlocks, Space, SplitBlock,
    TaskState, TextStyle, UndoManager, UpdateBlocks, Watcher,
};
use ratatui::Frame;
use ratatui::crossterm::event::{self, KeyCode, KeyEvent, KeyModifiers};
use ratatui::widgets::{Block as Border, Paragraph};

/// Lines that a watcher keeps, and a cursor.
struct Editor {
    undo: UndoManager,
    page: Watcher<Full, Fetch>,
    lines: Vec<FlatBlock>,
    /// The line of the cursor, and its offset in the plain text of this line, in bytes.
    block: BlockId,
    offset: usize,
    status: String,
}

impl Editor {
    fn open(notes: &Connection, page: DocumentId) -> Result<Self> {
        let undo = notes.undo_manager();
        let page = undo.notes().watch(Fetch::new(page))?;
        let lines = page.entries().to_vec();
        let block = lines.get(1).or(lines.first()).ok_or_else(Error::no_block)?.block.id;
        Ok(Self { undo, page, lines, block, offset: 0, status: String::new() })
    }

    /// Takes over what was written, by itself and by others.
    fn refresh(&mut self) -> Result<()> {
        while let Some(patch) = self.page.try_next()? {
            let line = self.line();
            patch.apply(&mut self.lines)?;
            // The line of the cursor may be gone: the cursor stays where it was on the screen.
            let line = line.min(self.lines.len() - 1);
            if self.lines.iter().all(|line| line.block.id != self.block) {
                self.block = self.lines[line].block.id;
            }
        }
        self.offset = floor(&self.text(self.line()), self.offset);
        Ok(())
    }

    fn press(&mut self, key: KeyEvent) {
        let pressed = self.handle(key).and_then(|()| self.refresh());
        self.status = pressed.err().map_or_else(String::new, |error| error.to_string());
    }

    fn handle(&mut self, key: KeyEvent) -> Result<()> {
        let notes = self.undo.notes().clone();
        let (block, line, text) = (self.block, self.line(), self.text(self.line()));
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control || !matches!(key.code, KeyCode::Char(_) | KeyCode::Backspace) {
            self.undo.end_step();
        }
        let next = text[self.offset..].chars().next().map_or(0, char::len_utf8);
        match key.code {
            KeyCode::Char('z') if is_control => drop(self.undo.undo()?),
            KeyCode::Char('y') if is_control => drop(self.undo.redo()?),
            KeyCode::Char('d') if is_control => {
                self.block = notes.duplicate_blocks(DuplicateBlocks::from(block))?[0].id;
            }
            KeyCode::Char(letter) if !is_control => self.retype(&notes, Some(letter))?,
            KeyCode::Enter => {
                let halves = notes.split_block(SplitBlock::new(block, self.offset))?;
                (self.block, self.offset) = (halves[1].id, 0);
            }
            KeyCode::Backspace if self.offset > 0 => self.retype(&notes, None)?,
            KeyCode::Backspace if self.lines[line].block.data.list_style != ListStyle::None => {
                let patch = BlockPatch::of(block).with_list_style(ListStyle::None);
                notes.update_blocks(UpdateBlocks::from(patch))?;
            }
            KeyCode::Backspace => {
                let joint = line.checked_sub(1).map_or(0, |line| self.text(line).len());
                self.block = notes.merge_block(MergeBlock::from(block))?[0].id;
                self.offset = joint;
            }
            KeyCode::Tab => drop(notes.indent_blocks(IndentBlocks::from(block))?),
            KeyCode::BackTab => drop(notes.indent_blocks(IndentBlocks::from(block).by(-1))?),
            KeyCode::Up if is_alt => drop(notes.shift_blocks(ShiftBlocks::from(block))?),
            KeyCode::Down if is_alt => drop(notes.shift_blocks(ShiftBlocks::from(block).down())?),
            KeyCode::Up if line > 1 => self.block = self.lines[line - 1].block.id,
            KeyCode::Down => {
                self.block = self.lines.get(line + 1).map_or(block, |line| line.block.id);
            }
            // `refresh` moves an offset within a character to the boundary before.
            KeyCode::Left => self.offset = self.offset.saturating_sub(1),
            KeyCode::Right => self.offset += next,
            KeyCode::Home => self.offset = 0,
            KeyCode::End => self.offset = text.len(),
            _ => {}
        }
        Ok(())
    }

    /// Inserts a letter in the marks around the cursor, or erases the one before it.
    fn retype(&mut self, notes: &Connection, letter: Option<char>) -> Result<()> {
        let block = &self.lines[self.line()].block;
        let mut inline = block.data.inline.clone();
        let text = PlainText::of(&inline);
        if let Some(letter) = letter {
            let escape = if letter.is_ascii_punctuation() { "\\" } else { "" };
            inline.insert_str(text.to_inline(self.offset), &format!("{escape}{letter}"));
            self.offset += letter.len_utf8();
        } else {
            self.offset = floor(text.as_str(), self.offset - 1);
            let at = text.to_inline(self.offset);
            if inline.remove(at).is_ascii_punctuation() && inline[..at].ends_with('\\') {
                inline.remove(at - 1);
            }
        }
        let patch = BlockPatch::inline(block.id, inline).if_rev(block.rev);
        notes.update_blocks(UpdateBlocks::from(patch)).map(drop)
    }

    fn line(&self) -> usize {
        self.lines.iter().position(|line| line.block.id == self.block).unwrap_or_default()
    }

    fn text(&self, line: usize) -> String {
        PlainText::of(&self.lines[line].block.data.inline).into_string()
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let shown = |line| marker(&self.lines[line]) + &self.text(line);
        let title = format!(" {} ", self.text(0));
        let border = Border::bordered().title(title).title_bottom(self.status.as_str());
        let lines: Vec<_> = (1..self.lines.len()).map(shown).collect();
        frame.render_widget(Paragraph::new(lines.join("\n")).block(border), frame.area());
        let line = self.line();
        let before = marker(&self.lines[line]) + &self.text(line)[..self.offset];
        let [x, y] = [before.chars().count() + 1, line].map(|at| u16::try_from(at).unwrap_or(0));
        frame.set_cursor_position((x, y));
    }
}

/// What stands before the text of a line.
fn marker(line: &FlatBlock) -> String {
    let data = &line.block.data;
    let mark = match (data.list_style, data.task.map(|task| task.state)) {
        (_, Some(TaskState::Todo)) => "[ ] ",
        (_, Some(_)) => "[x] ",
        (ListStyle::Bullet | ListStyle::Numbered, _) => "• ",
        _ if data.text_format().is_some_and(|format| format.style != TextStyle::Body) => "# ",
        _ => "",
    };
    "  ".repeat(usize::from(data.indentation) + line.depth.saturating_sub(1)) + mark
}

/// The last boundary of a character up to this offset.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

fn main() -> Result<()> {
    let space = match std::env::args().nth(1) {
        Some(flag) if flag == "--check" => return session::play(),
        Some(path) if std::path::Path::new(&path).exists() => Space::open(path)?,
        Some(path) => Space::create(path)?,
        None => Space::in_memory()?,
    };
    let notes = space.connect();
    if notes.documents()?.is_empty() {
        notes.insert_markdown("type here", notes.create_document("Untitled")?.id())?;
    }
    let mut editor = Editor::open(&notes, notes.documents()?[0].id())?;
    let mut terminal = ratatui::init();
    loop {
        terminal.draw(|frame| editor.draw(frame)).expect("a terminal");
        if event::poll(Duration::from_millis(100)).expect("a terminal")
            && let Some(key) = event::read().expect("a terminal").as_key_press_event()
        {
            match key.code {
                KeyCode::Esc => break,
                _ => editor.press(key),
            }
        }
        if let Err(error) = editor.refresh() {
            editor.status = error.to_string();
        }
    }
    ratatui::restore();
    Ok(())
}
