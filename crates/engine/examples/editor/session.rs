//! A session that is played: each line is a key, a text to type, or what a guest writes on a thread
//! of its own.

use std::sync::atomic::{AtomicI64, Ordering};

use leafbase::{Clock, Error, Result, Space, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;

use super::editor::{Editor, Key};

const SESSION: &str = include_str!("session.txt");
const SCREEN: &str = include_str!("screen.txt");

/// Each look at the clock takes a tenth of a second: what is typed at one go is one step of undo.
struct SteadyClock(AtomicI64);

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(100, Ordering::Relaxed))
    }
}

/// Plays the session, and compares the last screen.
pub(crate) fn check() -> Result<()> {
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
            "type" => rest.chars().for_each(|letter| editor.press(Key::Type(letter))),
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
    let rows = cells.chunks(width).map(|row| row.concat().trim_end().to_owned());
    let screen: Vec<String> = rows.chain([format!("cursor {},{}", cursor.x, cursor.y)]).collect();
    let screen = screen.join("\n") + "\n";
    println!("{screen}");
    if screen != SCREEN {
        println!("expected:\n{SCREEN}");
        return Err(Error::validation("the session ends in another screen"));
    }
    println!("the session ends in the expected screen, after {} changes", notes.last_sequence()?);
    Ok(())
}

fn key(name: &str) -> Result<Key> {
    Ok(match name {
        "enter" => Key::Enter,
        "backspace" => Key::Backspace,
        "indent" => Key::Indent,
        "outdent" => Key::Outdent,
        "up" => Key::Up,
        "down" => Key::Down,
        "left" => Key::Left,
        "right" => Key::Right,
        "home" => Key::Home,
        "end" => Key::End,
        "drag-up" => Key::DragUp,
        "drag-down" => Key::DragDown,
        "duplicate" => Key::Duplicate,
        "undo" => Key::Undo,
        "redo" => Key::Redo,
        other => return Err(Error::validation(format!("no key {other}"))),
    })
}
