//! The terminal: another screen for as long as the value lives.

use std::io::{self, Stdout};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// The alternate screen in raw mode. Dropping it restores the terminal, also while a panic unwinds.
pub(crate) struct AlternateScreen {
    pub(crate) terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl AlternateScreen {
    pub(crate) fn enter() -> io::Result<Self> {
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        // From here on an error drops the value, which restores the terminal.
        let mut screen = Self { terminal };
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        screen.terminal.clear()?;
        Ok(screen)
    }
}

impl Drop for AlternateScreen {
    fn drop(&mut self) {
        // A terminal that is gone cannot be restored.
        drop(execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show));
        drop(disable_raw_mode());
    }
}
