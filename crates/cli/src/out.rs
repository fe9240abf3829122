//! The one way out: everything for the standard output goes through here, with colours where there
//! is someone to see them.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;

use crate::args::When;
use crate::fault::Result;

/// The standard output.
pub(crate) struct Out {
    stream: Box<dyn Write>,
    color: bool,
    width: usize,
}

impl Out {
    pub(crate) fn new(when: When) -> Self {
        let stdout = io::stdout();
        let color = choice(when, AutoStream::choice(&stdout)) != ColorChoice::Never;
        let width = width(stdout.is_terminal());
        let stream: Box<dyn Write> = if color {
            Box::new(BufWriter::new(AutoStream::new(stdout, ColorChoice::Always)))
        } else {
            // As it is: what was written in a note is not looked through for colours.
            Box::new(BufWriter::new(stdout))
        };
        Self { stream, color, width }
    }

    /// Columns that a line may take.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> Result<()> {
        Ok(writeln!(self.stream, "{text}")?)
    }

    /// Writes a text as it is, and ends its last line.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.stream.write_all(text.as_bytes())?;
        if text.is_empty() || text.ends_with('\n') { Ok(()) } else { self.line("") }
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.stream, value).map_err(io::Error::from)?;
        self.line("")
    }

    /// The text in this style, if colours are shown.
    pub(crate) fn paint(&self, style: Style, text: impl fmt::Display) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// Whether colours are shown.
    pub(crate) const fn has_color(&self) -> bool {
        self.color
    }

    /// Brings everything out that was written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.stream.flush()?)
    }
}

fn choice(when: When, auto: ColorChoice) -> ColorChoice {
    match when {
        When::Auto => auto,
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    }
}

/// `COLUMNS` stands above the width of the terminal; where there is none a line may be of any
/// length.
fn width(is_terminal: bool) -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let found = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.or_else(|| is_terminal.then(found).flatten()).unwrap_or(usize::MAX)
}

/// The standard error, which shows colours if it is a terminal.
pub(crate) fn error_stream(when: When) -> AutoStream<io::Stderr> {
    let stderr = io::stderr();
    let choice = choice(when, AutoStream::choice(&stderr));
    AutoStream::new(stderr, choice)
}
