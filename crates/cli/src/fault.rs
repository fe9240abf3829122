//! What went wrong, as a person or a program is told it: a sentence, what to do next, and the exit
//! code.

use std::io::{self, Write};
use std::process::ExitCode;

use leafbase::{Detail, Error, ErrorKind};

use crate::args::When;
use crate::out;
use crate::show::styles;

/// A result whose error is [`Fault`].
pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

/// How a run ended, as the exit code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Done,
    /// `grep` found nothing.
    Nothing,
    /// It failed.
    Failed,
    /// The command line, or what it asks for, is not understood.
    Usage,
    /// The space, or what is named in it, does not exist.
    NotFound,
    /// The space is damaged.
    Damaged,
    /// Another program has the space open.
    Busy,
    /// It was interrupted from the keyboard.
    Interrupted,
}

/// The exit codes, as the help tells them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    failed; of grep: nothing matched
  2    the command line, or a pattern or filter in it, is not understood
  3    not found: the space, or what is named in it
  4    the space is damaged; of salvage: something is lost
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
pub(crate) enum Fault {
    /// Something to tell.
    Told(Box<Told>),
    /// Whoever read the output has enough of it. That is no failure.
    PipeClosed,
}

/// A fault in words.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Told {
    #[serde(skip)]
    exit: Exit,
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Detail>,
    #[serde(skip)]
    hint: Option<String>,
}

impl Fault {
    fn new(exit: Exit, kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Told(Box::new(Told {
            exit,
            code: kind.code(),
            message,
            details: Vec::new(),
            hint: None,
        }))
    }

    /// The command line asks for something that is not understood.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, ErrorKind::Validation, message)
    }

    /// What is named does not exist.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, ErrorKind::NotFound, message)
    }

    /// What should never happen.
    pub(crate) fn bug(what: &str) -> Self {
        Self::new(Exit::Failed, ErrorKind::Storage, format!("leafbase itself failed: {what}"))
            .hint("the space is as it was before the write that failed; please report this")
    }

    /// Something outside of the space failed.
    pub(crate) fn system(what: impl Into<String>, error: &io::Error) -> Self {
        let exit =
            if error.kind() == io::ErrorKind::NotFound { Exit::NotFound } else { Exit::Failed };
        Self::new(exit, ErrorKind::Storage, format!("{}: {error}", what.into()))
    }

    /// The same fault with what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Told(told) = &mut self {
            told.hint = Some(hint.into());
        }
        self
    }

    /// The same fault, which consists of these.
    pub(crate) fn with_details(
        mut self,
        found: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        if let Self::Told(told) = &mut self {
            told.details =
                found.into_iter().map(|(path, message)| Detail { path, message }).collect();
        }
        self
    }

    /// Tells it on the standard error, and gives the exit code.
    pub(crate) fn tell(&self, json: bool, color: When) -> ExitCode {
        let Self::Told(told) = self else { return ExitCode::SUCCESS };
        let text = if json { told.as_json() } else { told.in_words() };
        // Nothing is left to do if even this cannot be written.
        drop(out::error_stream(color).write_all(text.as_bytes()));
        told.exit.into()
    }
}

impl Told {
    fn as_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    fn in_words(&self) -> String {
        let (red, cyan) = (styles::ERROR, styles::HINT);
        let mut text = format!("{red}error:{red:#} {}\n", self.message);
        for (index, line) in self.hint.iter().flat_map(|hint| hint.lines()).enumerate() {
            let label =
                if index == 0 { format!("{cyan}hint:{cyan:#}") } else { "     ".to_owned() };
            text.extend([&label, " ", line, "\n"]);
        }
        text
    }
}

impl From<io::Error> for Fault {
    /// A failure of the output; every other one says what it was about by [`Fault::system`].
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::system("the output could not be written", &error),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let mut message = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(below) = source {
            message = format!("{message}: {below}");
            source = below.source();
        }
        let told = Told {
            exit: exit(error.kind()),
            code: error.code(),
            message,
            details: error.details(),
            hint: hint(error.kind()).map(ToOwned::to_owned),
        };
        Self::Told(Box::new(told))
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

/// What to do next, where the sort of error alone tells.
const fn hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::NotASpace => Some("make a space with: leafbase new PATH"),
        ErrorKind::AlreadyOpen => Some("close the other program, or wait for it: --wait 60"),
        ErrorKind::NewerFormat => Some("use the version of leafbase that wrote it, or a later one"),
        ErrorKind::Corrupted => Some(
            "go back to a backup, or save what can be read: leafbase salvage NEW_PATH; leafbase check tells what is damaged",
        ),
        ErrorKind::NoSpace => {
            Some("nothing was written: make room on the device and repeat the command")
        }
        ErrorKind::ReadOnly => {
            Some("the space may be read, but not written: look at the permissions of its directory")
        }
        ErrorKind::InvalidPattern => Some(
            "patterns are RE2 with look-ahead and look-behind of one width; a sign is taken as it is after \\",
        ),
        ErrorKind::Conflict => {
            Some("it has changed meanwhile: look at it again and repeat the command")
        }
        _ => None,
    }
}
