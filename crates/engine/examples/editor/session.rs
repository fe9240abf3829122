//! A session that is played: each line is a key, a text to type, or what a guest writes on a thread
//! of its own. `.ci/examples` compares the last screen with `screen.txt`.

#![allow(clippy::print_stdout, reason = "the check prints a screen")]

use std::sync::atomic::{AtomicI64, Ordering};

use leafbase::{Clock, Error, Result, Space, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Editor;

const SESSION: &str = include_str!("session.txt");

/// Each look at the clock takes a tenth of a second: what is typed at one go is one step of undo.
struct SteadyClock(AtomicI64);

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(100, Ordering::Relaxed))
    }
}

/// Plays the session, and prints the last screen.
pub(crate) fn play() -> Result<()> {
    let clock = SteadyClock(AtomicI64::new(1_767_225_600_000));
    let space = Space::builder().clock(clock).in_memory()?;
    let notes = space.connect();
    let page = notes.create_document("Packing")?.id();
    notes.insert_markdown("# Trip to Lisbon", page)?;
    let mut editor = Editor::open(&notes, page)?;
    let mut terminal = Terminal::new(TestBackend::new(44, 14)).expect("a buffer");
    for line in SESSION.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" | "//" => {}
            "type" => rest.chars().for_each(|letter| editor.press(KeyCode::Char(letter).into())),
            "guest" => {
                let guest = space.connect().acting_as("guest");
                let text = rest.to_owned();
                let written = std::thread::spawn(move || guest.insert_markdown(&text, page));
                written.join().expect("the guest writes")?;
                editor.refresh()?;
            }
            name => {
                let times = rest.parse().unwrap_or(1);
                (0..times).try_for_each(|_| key(name).map(|key| editor.press(key)))?;
            }
        }
        terminal.draw(|frame| editor.draw(frame)).expect("a buffer");
    }
    let cursor = terminal.get_cursor_position().expect("a buffer");
    let width = usize::from(terminal.size().expect("a buffer").width);
    let cells: Vec<&str> = terminal.backend().buffer().content.iter().map(Cell::symbol).collect();
    for row in cells.chunks(width) {
        println!("{}", row.concat().trim_end());
    }
    println!("cursor {},{}", cursor.x, cursor.y);
    println!("{} changes", notes.last_sequence()?);
    Ok(())
}

fn key(name: &str) -> Result<KeyEvent> {
    let (code, modifiers) = match name {
        "enter" => (KeyCode::Enter, KeyModifiers::NONE),
        "backspace" => (KeyCode::Backspace, KeyModifiers::NONE),
        "indent" => (KeyCode::Tab, KeyModifiers::NONE),
        "outdent" => (KeyCode::BackTab, KeyModifiers::SHIFT),
        "up" => (KeyCode::Up, KeyModifiers::NONE),
        "down" => (KeyCode::Down, KeyModifiers::NONE),
        "left" => (KeyCode::Left, KeyModifiers::NONE),
        "right" => (KeyCode::Right, KeyModifiers::NONE),
        "home" => (KeyCode::Home, KeyModifiers::NONE),
        "end" => (KeyCode::End, KeyModifiers::NONE),
        "drag-up" => (KeyCode::Up, KeyModifiers::ALT),
        "drag-down" => (KeyCode::Down, KeyModifiers::ALT),
        "duplicate" => (KeyCode::Char('d'), KeyModifiers::CONTROL),
        "undo" => (KeyCode::Char('z'), KeyModifiers::CONTROL),
        "redo" => (KeyCode::Char('y'), KeyModifiers::CONTROL),
        other => return Err(Error::validation(format!("no key {other}"))),
    };
    Ok(KeyEvent::new(code, modifiers))
}
