//! A terminal editor of one document: it types, splits, merges, indents, shifts and undoes, and
//! shows at once what another thread writes.
//!
//! `cargo run --example editor` begins with an empty space in memory, into which a guest writes now
//! and then; `-- notes.leafbase` opens or creates a space. `-- --check` plays a session, and
//! compares the last screen with the one that is expected.
//!
//! Enter, Backspace, Tab and Shift+Tab, the arrows; Alt+Up and Alt+Down drag a line, Ctrl+D copies
//! it, Ctrl+Z and Ctrl+Y undo and redo, Esc ends.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

mod editor;
mod session;

use std::time::Duration;

use leafbase::{Connection, DocumentId, Result, Space};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use editor::{Editor, Key};

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("--check") => session::check(),
        Some(path) => {
            let space = match Space::open(path) {
                Ok(space) => space,
                Err(_) => Space::create(path)?,
            };
            edit(&space.connect(), &first_document(&space.connect())?)
        }
        None => {
            let space = Space::in_memory()?;
            let page = first_document(&space.connect())?;
            // Ends with the program.
            std::thread::spawn({
                let guest = space.connect().acting_as("guest");
                move || {
                    for number in 1.. {
                        std::thread::sleep(Duration::from_secs(5));
                        guest.insert_markdown(&format!("- guest, line {number}"), page)?;
                    }
                    Ok::<_, leafbase::Error>(())
                }
            });
            edit(&space.connect(), &page)
        }
    }
}

fn first_document(notes: &Connection) -> Result<DocumentId> {
    if let Some(document) = notes.documents()?.first() {
        return Ok(document.id());
    }
    let page = notes.create_document("Untitled")?.id();
    notes.insert_markdown("type here", page)?;
    Ok(page)
}

fn edit(notes: &Connection, page: &DocumentId) -> Result<()> {
    let mut editor = Editor::open(notes, *page)?;
    let mut terminal = ratatui::init();
    let ended = loop {
        terminal.draw(|frame| editor.draw(frame)).expect("a terminal");
        match event::poll(Duration::from_millis(100)).map(|is_there| is_there.then(event::read)) {
            Ok(Some(Ok(Event::Key(pressed)))) if pressed.kind != KeyEventKind::Release => {
                if pressed.code == KeyCode::Esc {
                    break Ok(());
                }
                if let Some(key) = key(pressed.code, pressed.modifiers) {
                    editor.press(key);
                }
            }
            Ok(_) => {}
            Err(error) => break Err(error),
        }
        if let Err(error) = editor.refresh() {
            editor.status = error.to_string();
        }
    };
    ratatui::restore();
    ended.expect("a terminal");
    Ok(())
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    let is_alt = modifiers.contains(KeyModifiers::ALT);
    let is_control = modifiers.contains(KeyModifiers::CONTROL);
    Some(match code {
        KeyCode::Char('z') if is_control => Key::Undo,
        KeyCode::Char('y') if is_control => Key::Redo,
        KeyCode::Char('d') if is_control => Key::Duplicate,
        KeyCode::Char(letter) if !is_control => Key::Type(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Indent,
        KeyCode::BackTab => Key::Outdent,
        KeyCode::Up if is_alt => Key::DragUp,
        KeyCode::Down if is_alt => Key::DragDown,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
