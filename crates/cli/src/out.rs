//! The standard output: buffered, with colors where the terminal or the user asks for them.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;

use crate::error::CliResult;
use crate::options::ColorMode;

/// The standard output.
pub(crate) struct Out {
    stream: Box<dyn Write>,
    color: bool,
    width: usize,
    /// Whether the open list of JSON has items.
    has_items: bool,
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
        Self { stream, color, width, has_items: false }
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
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> CliResult<()> {
        serde_json::to_writer(&mut self.stream, value).map_err(io::Error::from)?;
        self.line("")
    }

    /// Begins a list as one line of JSON, whose items are written as they come.
    pub(crate) fn begin_items(&mut self) -> CliResult<()> {
        self.has_items = false;
        self.bytes(b"{\"items\":[")
    }

    /// Writes an item of the list.
    pub(crate) fn item(&mut self, value: &impl serde::Serialize) -> CliResult<()> {
        if std::mem::replace(&mut self.has_items, true) {
            self.bytes(b",")?;
        }
        serde_json::to_writer(&mut self.stream, value).map_err(io::Error::from)?;
        Ok(())
    }

    /// Ends the list, with other fields of its object: empty, or a comma and fields as JSON.
    pub(crate) fn end_items(&mut self, fields: &str) -> CliResult<()> {
        self.line(format_args!("]{fields}}}"))
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
