//! The one error of Leafbase: a stable kind, a sentence that names the thing, and where it is.

use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of thing went wrong. Stable: programs may match on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The thing named does not exist, or is not visible to this connection.
    NotFound,
    /// The request is not well-formed: an unknown field, an unknown value, a wrong type.
    Validation,
    /// The position names no place where blocks can go.
    InvalidPosition,
    /// The markdown cannot be taken in; the message says line and column.
    InvalidMarkdown,
    /// The search pattern is not of the accepted syntax; the message says the offset.
    InvalidPattern,
    /// What is asked breaks a rule of the block tree.
    RuleViolation,
    /// Item properties do not match the schema of their collection.
    SchemaMismatch,
    /// The thing has changed since the caller read it.
    Conflict,
    /// A limit would be passed; the message names the limit and the value.
    LimitExceeded,
    /// The space, or the document, may not be written.
    ReadOnly,
    /// Stored data is damaged: a checksum or a law does not hold.
    Corrupted,
    /// The directory is not a Leafbase space, and was left untouched.
    NotASpace,
    /// Another handle, in this process or another one, has the space open.
    AlreadyOpen,
    /// The space was written by a later version of Leafbase, and was left untouched.
    NewerFormat,
    /// No room is left on the device. What was asked for did not happen.
    NoSpace,
    /// The caller has closed the space: this handle answers nothing more.
    Closed,
    /// The operating system reported another error.
    Storage,
    /// The caller's own progress callback asked to stop. What was done so far is stated in the
    /// message.
    Canceled,
    /// An invariant of Leafbase itself does not hold: a bug. The operation stopped before it wrote.
    Internal,
}

impl ErrorKind {
    /// The code that programs on the other side of a wire see. Several storage kinds share
    /// `STORAGE`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotFound => "NOT_FOUND",
            Self::Validation => "VALIDATION",
            Self::InvalidPosition => "INVALID_POSITION",
            Self::InvalidMarkdown => "INVALID_MARKDOWN",
            Self::InvalidPattern => "INVALID_PATTERN",
            Self::RuleViolation => "RULE_VIOLATION",
            Self::SchemaMismatch => "SCHEMA_MISMATCH",
            Self::Conflict => "CONFLICT",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::ReadOnly => "READ_ONLY",
            Self::Corrupted => "CORRUPTED",
            Self::NotASpace
            | Self::AlreadyOpen
            | Self::NewerFormat
            | Self::NoSpace
            | Self::Closed
            | Self::Storage => "STORAGE",
            Self::Canceled => "CANCELED",
            Self::Internal => "INTERNAL",
        }
    }
}

/// One thing that is wrong, and where: a path into the request such as `blocks[3].color`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Detail {
    /// The path of the entry at fault; empty for the request as a whole.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

/// Why an operation did not happen. Nothing was written, unless the message says otherwise.
///
/// Serializes as `{"code", "message", "details": [{"path", "message"}]}`.
///
/// ```
/// use leafbase_model::{Error, ErrorKind};
/// let error = Error::validation("expected a colour").at("color").at("blocks[3]");
/// assert_eq!((error.kind(), error.code(), error.path()), (ErrorKind::Validation, "VALIDATION", "blocks[3].color"));
/// assert_eq!(error.to_string(), "blocks[3].color: expected a colour");
/// assert!(!error.is_retryable());
/// ```
#[derive(Clone)]
pub struct Error(Box<ErrorParts>);

#[derive(Clone)]
struct ErrorParts {
    kind: ErrorKind,
    message: String,
    path: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// Most bytes of a message: it may quote a request, of which it repeats no more.
const MAX_MESSAGE_BYTES: usize = 1_000;
/// Most bytes of a path: the field names in it come from a request.
const MAX_PATH_BYTES: usize = 1_000;

/// `text` with its middle cut out if it is longer than `most` bytes.
fn bounded(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let (mut head, mut tail) = (most / 2, text.len() - most / 2);
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let (head, tail) = (text.split_at(head).0, text.split_at(tail).1);
    format!("{head}…{tail}")
}

impl Error {
    /// An error of `kind` with a sentence that names the thing.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorParts {
            kind,
            message: bounded(message.into(), MAX_MESSAGE_BYTES),
            path: String::new(),
            source: None,
        }))
    }

    /// [`ErrorKind::NotFound`]: the same words for what never was, what is gone and what is hidden.
    pub fn not_found() -> Self {
        Self::new(ErrorKind::NotFound, "not found")
    }

    /// [`ErrorKind::Validation`].
    pub fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Validation, message)
    }

    /// [`ErrorKind::RuleViolation`].
    pub fn rule(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::RuleViolation, message)
    }

    /// [`ErrorKind::InvalidPosition`].
    pub fn position(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidPosition, message)
    }

    /// [`ErrorKind::LimitExceeded`]: `limit` names it, `maximum` is the most allowed, `found` what
    /// came.
    pub fn limit(limit: &str, maximum: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::new(ErrorKind::LimitExceeded, format!("{limit}: at most {maximum}, got {found}"))
    }

    /// [`ErrorKind::Corrupted`]: `what` names the record.
    pub fn corrupted(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Corrupted, format!("damaged: {what}"))
    }

    /// The same error with the error below that caused it.
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// The same error without the path it was found below, for a message that names the thing
    /// itself.
    pub fn without_path(mut self) -> Self {
        self.0.path.clear();
        self
    }

    /// The same error, found below `path`: `error.at("blocks[3]")` turns the path `color` into
    /// `blocks[3].color`.
    pub fn at(mut self, path: impl fmt::Display) -> Self {
        let outer = path.to_string();
        self.0.path = match (outer.is_empty(), self.0.path.is_empty()) {
            (true, _) => std::mem::take(&mut self.0.path),
            (false, true) => outer,
            (false, false) if self.0.path.starts_with('[') => outer + &self.0.path,
            (false, false) => format!("{outer}.{}", self.0.path),
        };
        self.0.path = bounded(std::mem::take(&mut self.0.path), MAX_PATH_BYTES);
        self
    }

    /// The sort of error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The stable code, such as `NOT_FOUND`.
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// The sentence, without the path.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where in the request the fault lies, such as `blocks[3].color`; empty for the request as a
    /// whole.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Whether the same call may succeed later without the caller changing anything.
    pub fn is_retryable(&self) -> bool {
        matches!(self.0.kind, ErrorKind::AlreadyOpen | ErrorKind::NoSpace | ErrorKind::Storage)
    }

    /// The faults one by one, as they are serialized.
    pub fn details(&self) -> Vec<Detail> {
        if self.0.path.is_empty() {
            return Vec::new();
        }
        vec![Detail { path: self.0.path.clone(), message: self.0.message.clone() }]
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.path.is_empty() {
            f.write_str(&self.0.message)
        } else {
            write!(f, "{}: {}", self.0.path, self.0.message)
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self}", self.code())?;
        if let Some(source) = &self.0.source {
            write!(f, "; {source}")?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl PartialEq for Error {
    /// Equal if a caller sees the same: kind, sentence and path.
    fn eq(&self, other: &Self) -> bool {
        (self.0.kind, &self.0.message, &self.0.path)
            == (other.0.kind, &other.0.message, &other.0.path)
    }
}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", self.code())?;
        map.serialize_entry("message", &self.to_string())?;
        let details = self.details();
        if !details.is_empty() {
            map.serialize_entry("details", &details)?;
        }
        map.end()
    }
}
