//! Transcripts of the screens: a line after `$ ` has the actions of a user or of another writer,
//! and the rows after it are the screen then.
//!
//! `LEAFBASE_UPDATE=1 cargo test -p leafbase-cli` updates them.

use std::fmt::Write;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use leafbase::{Clock, Connection, DocumentId, Fetch, FindDocuments, IdSource, Space, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::app::App;
use super::mode::Mode;
use super::theme::Theme;
use super::view;

/// The morning of the daily note in the sample notes.
const MORNING: i64 = 1_770_710_400_000;

struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// IDs in the order of their creation: transcripts may show them.
struct CountedIds(AtomicU64);

impl IdSource for CountedIds {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
    }
}

/// A screen on the sample notes, with another connection to them.
struct Desk {
    app: App,
    terminal: Terminal<TestBackend>,
    /// The last frame.
    frame: Buffer,
    guest: Connection,
}

impl Desk {
    fn new(columns: u16, rows: u16, has_color: bool) -> Self {
        let clock = TickingClock(AtomicI64::new(MORNING));
        let space =
            Space::builder().clock(clock).ids(CountedIds(AtomicU64::new(1))).in_memory().unwrap();
        let guest = space.connect().acting_as("guest");
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vault/examples/tour/notes");
        let options = leafbase_vault::ImportOptions::default();
        let mut go_on = |_| ControlFlow::Continue(());
        leafbase_vault::import_folder(&guest, sample, &options, &mut go_on).unwrap();
        let app = App::open(&space.connect(), Theme { has_color }).unwrap();
        let terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let frame = Buffer::empty(Rect::new(0, 0, columns, rows));
        let mut desk = Self { app, terminal, frame, guest };
        desk.draw();
        desk
    }

    fn draw(&mut self) {
        self.app.resize(self.frame.area);
        self.app.settle();
        // The buffer of the backend keeps stale cells under the second column of wide characters.
        let drawn = self.terminal.draw(|frame| view::draw(&self.app, frame)).unwrap();
        self.frame = drawn.buffer.clone();
    }

    /// The rows of the screen, and where the cursor is while a text is edited.
    fn screen(&self) -> String {
        let width = usize::from(self.frame.area.width);
        let mut screen = String::new();
        for row in self.frame.content.chunks(width) {
            let mut shown = String::new();
            let mut columns = 0;
            for (column, cell) in row.iter().enumerate() {
                // The second column of a wide character has an empty cell.
                if column >= columns {
                    shown.push_str(cell.symbol());
                    columns = column + unicode_width::UnicodeWidthStr::width(cell.symbol()).max(1);
                }
            }
            writeln!(screen, "{}", shown.trim_end()).unwrap();
        }
        if matches!(self.app.mode, Mode::Edit(_) | Mode::Search(_)) {
            writeln!(screen, "cursor {}", self.terminal.backend().cursor_position()).unwrap();
        }
        screen
    }

    fn press(&mut self, name: &str) {
        let (modifiers, name) = match name.split_once('-') {
            Some(("ctrl", name)) => (KeyModifiers::CONTROL, name),
            Some(("alt", name)) => (KeyModifiers::ALT, name),
            _ => (KeyModifiers::NONE, name),
        };
        let code = match name {
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "tab" => KeyCode::Tab,
            "space" => KeyCode::Char(' '),
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "home" => KeyCode::Home,
            "pgdn" => KeyCode::PageDown,
            "backspace" => KeyCode::Backspace,
            letter => KeyCode::Char(letter.chars().next().unwrap()),
        };
        self.app.handle(&Event::Key(KeyEvent::new(code, modifiers)));
    }

    /// Replays a line of a transcript.
    fn act(&mut self, line: &str) {
        for action in line.split(" ; ") {
            let (word, rest) = action.split_once(' ').unwrap();
            self.act_once(word, rest);
        }
        self.draw();
    }

    fn act_once(&mut self, word: &str, rest: &str) {
        match word {
            "keys" => rest.split(' ').for_each(|name| self.press(name)),
            "type" => rest.chars().for_each(|letter| {
                self.app.handle(&Event::Key(KeyEvent::from(KeyCode::Char(letter))));
            }),
            "paste" => self.app.handle(&Event::Paste(rest.replace("\\n", "\n"))),
            "guest" => self.write_as_guest(rest),
            other => panic!("{other} is none of keys, type, paste, guest"),
        }
    }

    /// `TITLE: OLD => NEW` replaces the text of a block; without a new text it is deleted.
    fn write_as_guest(&self, line: &str) {
        let (title, change) = line.split_once(": ").unwrap();
        let (old, new) = change.split_once(" =>").unwrap();
        let document = self.document(title);
        let tree = self.guest.fetch(Fetch::new(document)).unwrap();
        let (_, block) = tree.walk().find(|(_, block)| block.markdown() == old).unwrap();
        match new.trim() {
            "" => drop(self.guest.delete_blocks(block.id.into()).unwrap()),
            new => drop(self.guest.update_markdown(block.id, new).unwrap()),
        }
    }

    fn document(&self, title: &str) -> DocumentId {
        self.guest.find_documents(FindDocuments::named(title)).unwrap()[0].id()
    }
}

/// The same transcript with the present screens.
fn replayed(text: &str) -> String {
    let size = text.lines().next().unwrap().trim_start_matches("# ").split_whitespace().next();
    let (columns, rows) = size.unwrap().split_once('x').unwrap();
    let mut desk = Desk::new(columns.parse().unwrap(), rows.parse().unwrap(), false);
    let mut shown = String::new();
    for line in text.lines() {
        if line.starts_with("# ") {
            writeln!(shown, "{line}").unwrap();
        } else if let Some(action) = line.strip_prefix("$ ") {
            desk.act(action);
            write!(shown, "{line}\n{}", desk.screen()).unwrap();
        }
    }
    shown
}

#[test]
fn screens_show_what_the_transcripts_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tui");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 5, "the transcripts are found");
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let shown = replayed(&text);
        if std::env::var_os("LEAFBASE_UPDATE").is_some() {
            fs::write(&path, &shown).unwrap();
        } else {
            assert!(text == shown, "{}: the screen shows\n{shown}", path.display());
        }
    }
}

/// A transcript that says something else than is shown is noticed.
#[test]
fn a_wrong_screen_is_noticed() {
    let right = replayed("# 80x10 of a control\n$ keys j enter\n");
    assert_eq!(replayed(&right), right);
    for (from, to) in [("Kitchen", "Kitchens"), ("› ", "  "), ("┌", "+"), ("keys j", "keys k")]
    {
        let wrong = right.replacen(from, to, 1);
        assert_ne!(wrong, right, "{from}");
        assert_ne!(replayed(&wrong), wrong, "{from}");
    }
}

#[test]
fn without_color_no_cell_has_a_style() {
    let actions =
        ["keys G", "keys ?", "keys esc /", "type tram", "keys enter", "keys e", "keys esc d"];
    let is_plain = |cell: &Cell| {
        let style = cell.style();
        style.fg == Some(Color::Reset)
            && style.bg == Some(Color::Reset)
            && style.add_modifier == Modifier::empty()
    };
    let all_plain = |has_color: bool| {
        let mut desk = Desk::new(100, 20, has_color);
        actions.map(|action| {
            desk.act(action);
            desk.frame.content.iter().all(is_plain)
        })
    };
    assert_eq!(all_plain(false), [true; 7]);
    assert_eq!(all_plain(true), [false; 7], "the control");
}

/// A key costs the lines on the screen, however long the document is.
#[test]
fn a_long_document_scrolls_to_both_ends() {
    let mut desk = Desk::new(80, 12, false);
    let long: Vec<_> = (0..20_000).map(|number| format!("- line {number}")).collect();
    let document = desk.guest.create_document("Long").unwrap().id();
    desk.guest.insert_markdown(&long.join("\n"), document).unwrap();
    desk.app.show(document, None);
    desk.act("keys G");
    assert!(desk.screen().contains("› • line 19999"), "{}", desk.screen());
    let begin = std::time::Instant::now();
    for _ in 0..200 {
        desk.act("keys k");
    }
    // A screen that made lines of all blocks would take minutes.
    assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
    assert!(desk.screen().contains("› • line 19799"), "{}", desk.screen());
    desk.act("keys g");
    assert!(desk.screen().contains("› Long"), "{}", desk.screen());
}

/// Sizes down to nothing are drawn without a panic, whatever is on the screen.
#[test]
fn every_size_is_drawn() {
    let actions =
        ["keys G", "keys enter", "keys ?", "keys esc e", "keys esc d", "keys n /", "type a"];
    for (columns, rows) in [(1, 1), (2, 3), (5, 2), (20, 5), (59, 4), (300, 80)] {
        let mut desk = Desk::new(columns, rows, true);
        for action in actions {
            desk.act(action);
        }
    }
}
