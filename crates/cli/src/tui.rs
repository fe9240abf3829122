//! The screens of `leafbase tui`. [`app`] decides what keys do, [`view`] draws, and this passes
//! events of the terminal from one to the other.

mod app;
mod block_edit;
mod block_lines;
mod browse_keys;
mod folder_documents;
mod folder_tree;
mod mode;
mod open_document;
mod screen_layout;
mod scroll;
mod search_prompt;
mod styled_text;
mod table_lines;
mod terminal;
mod text_input;
mod theme;
mod view;
mod wrapped_text;

#[cfg(test)]
mod tests;

use std::io;
use std::time::Duration;

use leafbase::Connection;
use ratatui::crossterm::event;
use ratatui::layout::Rect;

use crate::error::{CliError, CliResult, Exit};
use crate::interrupt;
use app::App;
use terminal::AlternateScreen;
use theme::Theme;

/// How long other writers may have written before it is on the screen.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(250);

/// Shows the space until the user quits, or a signal ends the program.
pub(crate) fn run(notes: &Connection, has_color: bool) -> CliResult<Exit> {
    let mut app = App::open(notes, Theme { has_color })?;
    interrupt::listen();
    converse(&mut app).map_err(|error| CliError::system("the terminal", &error))?;
    Ok(if app.is_done() { Exit::Done } else { Exit::Interrupted })
}

fn converse(app: &mut App) -> io::Result<()> {
    let mut screen = AlternateScreen::enter()?;
    let mut is_stale = true;
    while !app.is_done() && !interrupt::is_requested() {
        is_stale |=
            app.resize(Rect::from((ratatui::layout::Position::ORIGIN, screen.terminal.size()?)));
        is_stale |= app.settle();
        if is_stale {
            screen.terminal.draw(|frame| view::draw(app, frame))?;
        }
        is_stale = event::poll(FOLLOW_INTERVAL)?;
        // Keys that are there already come before the search and the drawing that they ask for.
        while !app.is_done() && event::poll(Duration::ZERO)? {
            app.handle(&event::read()?);
        }
    }
    Ok(())
}
