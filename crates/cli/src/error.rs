//! Errors of the program: a sentence, a hint and an exit code, or the same as JSON.

use std::io;
use std::process::ExitCode;

use leafbase::{Detail, Error, ErrorKind};

use crate::show::{line, styles};

/// A result whose error is [`CliError`].
pub(crate) type CliResult<T> = Result<T, CliError>;

/// Outcome of a run; [`EXIT_CODES`] has the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded.
    Done,
    /// `grep` found nothing.
    Nothing,
    /// The command failed.
    Failed,
    /// The command line, or a pattern or filter in it, is invalid.
    Usage,
    /// The space, or an entry named in it, does not exist.
    NotFound,
    /// The space is damaged.
    Damaged,
    /// Another program has the space open.
    Busy,
    /// The command was interrupted from the keyboard.
    Interrupted,
}

/// The exit codes, as shown at the end of the help.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    failure; grep: nothing matched
  2    invalid command line, pattern or filter; grep: any failure
  3    not found: the space, or an entry named in it
  4    the space is damaged; salvage: something is lost
  5    another program has the space open
  130  interrupted from the keyboard";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Nothing | Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::Damaged => 4,
            Exit::Busy => 5,
            Exit::Interrupted => 130,
        })
    }
}

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum CliError {
    Reported(Box<ErrorReport>),
    /// The reader of the output closed the pipe, as `head` does: not a failure.
    PipeClosed,
}

/// An error as it is shown.
#[derive(Debug)]
pub(crate) struct ErrorReport {
    pub(crate) exit: Exit,
    code: &'static str,
    message: String,
    details: Vec<Detail>,
    hint: Option<String>,
}

/// An [`ErrorReport`] as JSON, in the form of [`Error`].
#[derive(serde::Serialize)]
struct ErrorReportJson<'a> {
    code: &'static str,
    error: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "<[Detail]>::is_empty")]
    details: &'a [Detail],
}

impl CliError {
    fn new(exit: Exit, kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Reported(Box::new(ErrorReport {
            exit,
            code: kind.code(),
            message,
            details: Vec::new(),
            hint: None,
        }))
    }

    /// An invalid command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, ErrorKind::Validation, message)
    }

    /// A command that refuses to act in the present state.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, ErrorKind::Conflict, message)
    }

    /// A named entry that does not exist.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, ErrorKind::NotFound, message)
    }

    /// A panic of the program.
    pub(crate) fn bug(what: &str) -> Self {
        Self::new(Exit::Failed, ErrorKind::Internal, format!("internal error: {what}"))
            .hint("the failed write left the space unchanged; please report this")
    }

    /// An I/O error outside of the space, with the thing it concerns.
    pub(crate) fn system(what: impl Into<String>, error: &io::Error) -> Self {
        let exit =
            if error.kind() == io::ErrorKind::NotFound { Exit::NotFound } else { Exit::Failed };
        Self::new(exit, ErrorKind::Storage, format!("{}: {error}", what.into()))
    }

    /// The error of an entry of a request, by the name that the entry has on the command line. The
    /// names are in the order of the entries; without names the sentence has the entry.
    pub(crate) fn of_entry(error: Error, names: &[String]) -> Self {
        let index = error.path().split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let index = index.and_then(|(index, _)| index.parse::<usize>().ok());
        let message = index.map(|index| match names.get(index) {
            Some(name) => format!("{name}: {}", error.message()),
            None => error.message().to_owned(),
        });
        let mut converted = Self::from(error);
        if let (Some(message), Self::Reported(report)) = (message, &mut converted) {
            report.message = message;
        }
        converted
    }

    /// The sentence; empty if the reader of the output closed the pipe.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Reported(report) => &report.message,
            Self::PipeClosed => "",
        }
    }

    /// Sets the hint: the next step for the user.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Reported(report) = &mut self {
            report.hint = Some(hint.into());
        }
        self
    }

    /// Adds a line to the hint.
    pub(crate) fn further_hint(self, line: &str) -> Self {
        let hint = match &self {
            Self::Reported(report) => report.hint.clone(),
            Self::PipeClosed => None,
        };
        self.hint(hint.map_or_else(|| line.to_owned(), |hint| format!("{hint}\n{line}")))
    }

    /// An error of a command that writes in several steps. `kept` is what a full disk leaves, and
    /// the next step; empty if it leaves nothing.
    pub(crate) fn of_steps(error: Error, kept: &str) -> Self {
        let is_full = error.kind() == ErrorKind::NoSpace;
        let error = Self::from(error);
        if is_full && !kept.is_empty() { error.hint(kept) } else { error }
    }

    /// Puts a text before the message.
    pub(crate) fn prefixed(mut self, prefix: &str) -> Self {
        if let Self::Reported(report) = &mut self {
            report.message.insert_str(0, prefix);
        }
        self
    }

    /// Sets the exit code.
    pub(crate) fn with_exit(mut self, exit: Exit) -> Self {
        if let Self::Reported(report) = &mut self {
            report.exit = exit;
        }
        self
    }

    /// Sets the details, as pairs of path and message.
    pub(crate) fn with_details(
        mut self,
        found: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        if let Self::Reported(report) = &mut self {
            report.details =
                found.into_iter().map(|(path, message)| Detail { path, message }).collect();
        }
        self
    }
}

impl ErrorReport {
    pub(crate) fn to_json(&self) -> String {
        let json = ErrorReportJson {
            code: self.code,
            error: &self.message,
            message: &self.message,
            details: &self.details,
        };
        serde_json::to_string(&json).unwrap_or_default() + "\n"
    }

    pub(crate) fn to_text(&self) -> String {
        let (red, cyan) = (styles::ERROR, styles::HINT);
        let mut text = format!("{red}error:{red:#} {}\n", line::plain(&self.message));
        for (index, hint) in self.hint.iter().flat_map(|hint| hint.lines()).enumerate() {
            let label =
                if index == 0 { format!("{cyan}hint:{cyan:#}") } else { "     ".to_owned() };
            text.extend([&label, " ", &line::plain(hint), "\n"]);
        }
        text
    }
}

impl From<io::Error> for CliError {
    /// An error of the output. Every other I/O error names its subject: see [`CliError::system`].
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::system("cannot write the output", &error),
        }
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        let mut message = error.to_string();
        // The source chain becomes part of the sentence: causes such as a full disk are in it.
        let mut source = std::error::Error::source(&error);
        while let Some(below) = source {
            let cause = below.to_string();
            if !message.ends_with(&cause) {
                message = format!("{message}: {cause}");
            }
            source = below.source();
        }
        let report = ErrorReport {
            exit: exit(error.kind()),
            code: error.code(),
            message,
            details: error.details(),
            hint: hint(error.kind()).map(ToOwned::to_owned),
        };
        Self::Reported(Box::new(report))
    }
}

const fn exit(kind: ErrorKind) -> Exit {
    match kind {
        ErrorKind::NotFound | ErrorKind::NotASpace => Exit::NotFound,
        ErrorKind::Validation
        | ErrorKind::InvalidPosition
        | ErrorKind::InvalidMarkdown
        | ErrorKind::InvalidPattern
        | ErrorKind::SchemaMismatch => Exit::Usage,
        ErrorKind::Corrupted => Exit::Damaged,
        ErrorKind::AlreadyOpen => Exit::Busy,
        ErrorKind::Canceled => Exit::Interrupted,
        _ => Exit::Failed,
    }
}

/// The next step, where the kind of error alone determines it.
const fn hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::NotASpace => Some("create a space with: leafbase new PATH"),
        ErrorKind::AlreadyOpen => {
            Some("the other program does not share the space: close it, or wait for it: --wait 60")
        }
        ErrorKind::NewerFormat => Some("use the version of leafbase that wrote it, or a later one"),
        ErrorKind::Corrupted => Some(
            "restore a backup, or recover what is readable: leafbase salvage NEW_PATH; leafbase check lists the damage",
        ),
        ErrorKind::NoSpace => {
            Some("nothing was written: free some space on the device and repeat the command")
        }
        ErrorKind::ReadOnly => {
            Some("the space is readable, but not writable: check the permissions of its directory")
        }
        ErrorKind::InvalidPattern => Some(
            "patterns use RE2 syntax plus look-ahead and fixed-width look-behind; \\ escapes the next character",
        ),
        ErrorKind::Conflict => {
            Some("it was changed concurrently: fetch it again and repeat the command")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_leaves_the_steps_before() {
        let hint = |error: CliError| match error {
            CliError::Reported(report) => report.hint,
            CliError::PipeClosed => None,
        };
        let error = |kind| Error::new(kind, "it failed");
        let full = hint(CliError::of_steps(error(ErrorKind::NoSpace), "some is there"));
        assert_eq!(full.as_deref(), Some("some is there"));
        for (kind, kept) in [(ErrorKind::HistoryGone, "some is there"), (ErrorKind::NoSpace, "")] {
            assert_eq!(hint(CliError::of_steps(error(kind), kept)), hint(error(kind).into()));
        }
    }
}
