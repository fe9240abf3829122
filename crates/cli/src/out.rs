//! The standard output: buffered, with colors where the terminal or the user asks for them.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use leafbase::{ItemsPage, Paging};
use serde::Serialize;

use crate::error::CliResult;
use crate::options::ColorMode;

/// Entries of a listing that are in memory at a time.
const JSON_PAGE: usize = 1_000;

/// The standard output.
pub(crate) struct Out {
    stream: Box<dyn Write>,
    color: bool,
    width: usize,
}

impl Out {
    pub(crate) fn new(mode: ColorMode) -> Self {
        let stdout = io::stdout();
        let color = choice(mode, AutoStream::choice(&stdout)) != ColorChoice::Never;
        let width = width(stdout.is_terminal());
        let stream: Box<dyn Write> = if color {
            Box::new(BufWriter::new(AutoStream::new(stdout, ColorChoice::Always)))
        } else {
            // Unfiltered: escape sequences in notes are content, not colors of ours.
            Box::new(BufWriter::new(stdout))
        };
        Self { stream, color, width }
    }

    /// Columns of a line.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> CliResult<()> {
        Ok(writeln!(self.stream, "{text}")?)
    }

    /// Writes a text verbatim, with a line end if it lacks one.
    pub(crate) fn text(&mut self, text: &str) -> CliResult<()> {
        self.stream.write_all(text.as_bytes())?;
        if text.is_empty() || text.ends_with('\n') { Ok(()) } else { self.line("") }
    }

    /// Writes bytes verbatim.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> CliResult<()> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> CliResult<()> {
        serde_json::to_writer(&mut self.stream, value).map_err(io::Error::from)?;
        self.line("")
    }

    /// Writes the entries of a listing, each as a line of JSON.
    pub(crate) fn json_lines<T: Serialize>(
        &mut self,
        entries: impl IntoIterator<Item = T>,
    ) -> CliResult<()> {
        entries.into_iter().try_for_each(|entry| self.json(&entry))
    }

    /// Writes a listing as lines of JSON, and reads it page by page meanwhile: up to the limit of
    /// `paging`. A reader that closes the pipe ends it after a page.
    pub(crate) fn json_pages<T: Serialize>(
        &mut self,
        mut paging: Paging,
        mut read: impl FnMut(Paging) -> leafbase::Result<ItemsPage<T>>,
    ) -> CliResult<()> {
        let mut left = paging.limit.unwrap_or(usize::MAX);
        loop {
            paging.limit = Some(left.min(JSON_PAGE));
            let page = read(paging)?;
            left = left.saturating_sub(page.items.len());
            self.json_lines(page.items)?;
            self.flush()?;
            if page.next_cursor.is_none() || left == 0 {
                return Ok(());
            }
            paging = Paging::default();
            paging.cursor = page.next_cursor;
        }
    }

    /// The text in this style if output is colored.
    pub(crate) fn paint(&self, style: Style, text: impl fmt::Display) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// Whether output is colored.
    pub(crate) const fn has_color(&self) -> bool {
        self.color
    }

    pub(crate) fn flush(&mut self) -> CliResult<()> {
        Ok(self.stream.flush()?)
    }
}

fn choice(mode: ColorMode, auto: ColorChoice) -> ColorChoice {
    match mode {
        ColorMode::Auto => auto,
        ColorMode::Always => ColorChoice::Always,
        ColorMode::Never => ColorChoice::Never,
    }
}

/// `COLUMNS` overrides the width of the terminal; without either, lines are not clipped.
fn width(is_terminal: bool) -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|value| value.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.or_else(|| is_terminal.then(terminal).flatten()).unwrap_or(usize::MAX)
}

/// The standard error, colored if it is a terminal.
pub(crate) fn error_stream(mode: ColorMode) -> AutoStream<io::Stderr> {
    let stderr = io::stderr();
    let choice = choice(mode, AutoStream::choice(&stderr));
    AutoStream::new(stderr, choice)
}
