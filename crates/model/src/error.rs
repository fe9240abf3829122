//! The error type: a stable kind, a message that names the cause, and a path into the request.

use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error. Stable: programs may match on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The requested object does not exist or is not visible to this connection.
    NotFound,
    /// The request is malformed: an unknown field, an unknown value or a wrong type.
    Validation,
    /// Blocks cannot be inserted at the position.
    InvalidPosition,
    /// The markdown cannot be parsed; the message has line and column.
    InvalidMarkdown,
    /// The search pattern is not valid; the message has the byte offset.
    InvalidPattern,
    /// The operation violates a rule of the block tree.
    RuleViolation,
    /// Item properties do not match the schema of their collection.
    SchemaMismatch,
    /// The object has changed since the caller read it.
    Conflict,
    /// The change log does not have what follows the position: the position belongs to another
    /// history of the space, as after a backup was restored. A follower has to start over. Or a
    /// purge redacted the change, which therefore has no inverse.
    HistoryGone,
    /// A limit is exceeded; the message names the limit and the value.
    LimitExceeded,
    /// The space or the document is read-only.
    ReadOnly,
    /// Stored data is corrupted: a checksum or an invariant does not hold.
    Corrupted,
    /// The directory is not a Leafbase space. It was not modified.
    NotASpace,
    /// Another handle, in this process or another one, has the space open.
    AlreadyOpen,
    /// A later version of Leafbase wrote the space. It was not modified.
    NewerFormat,
    /// The device is full. The operation was rolled back.
    NoSpace,
    /// The space is closed: the handle refuses all operations.
    Closed,
    /// The operating system reported another error.
    Storage,
    /// The progress callback of the caller canceled the operation. The message states the completed
    /// part.
    Canceled,
    /// An invariant of Leafbase does not hold: a bug. The operation stopped before it wrote
    /// anything.
    Internal,
}

impl ErrorKind {
    /// The code for remote clients. Several storage kinds share `STORAGE`.
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
            Self::HistoryGone => "HISTORY_GONE",
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

    /// The HTTP status for hosts that answer over HTTP.
    ///
    /// | status | kinds |
    /// |---|---|
    /// | 400 | `Validation`, `InvalidPosition`, `InvalidMarkdown`, `InvalidPattern` |
    /// | 403 | `ReadOnly` |
    /// | 404 | `NotFound` |
    /// | 409 | `Conflict` |
    /// | 410 | `HistoryGone` |
    /// | 413 | `LimitExceeded` |
    /// | 422 | `RuleViolation`, `SchemaMismatch` |
    /// | 500 | `Corrupted`, `NotASpace`, `NewerFormat`, `Storage`, `Internal` |
    /// | 503 | `AlreadyOpen`, `Closed`, `Canceled` |
    /// | 507 | `NoSpace` |
    ///
    /// ```
    /// use leafbase_model::ErrorKind;
    /// assert_eq!(ErrorKind::NotFound.http_status(), 404);
    /// ```
    pub const fn http_status(self) -> u16 {
        match self {
            Self::Validation
            | Self::InvalidPosition
            | Self::InvalidMarkdown
            | Self::InvalidPattern => 400,
            Self::ReadOnly => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::HistoryGone => 410,
            Self::LimitExceeded => 413,
            Self::RuleViolation | Self::SchemaMismatch => 422,
            Self::Corrupted
            | Self::NotASpace
            | Self::NewerFormat
            | Self::Storage
            | Self::Internal => 500,
            Self::AlreadyOpen | Self::Closed | Self::Canceled => 503,
            Self::NoSpace => 507,
        }
    }
}

/// One fault with its path into the request, such as `blocks[3].color`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Detail {
    /// The path of the faulty value; empty for the request as a whole.
    pub path: String,
    /// The message.
    pub message: String,
}

/// The error of an operation. The operation was rolled back, unless the message says otherwise.
///
/// Serializes as `{"code", "error", "message", "details": [{"path", "message"}]}`; `error` repeats
/// the message for clients that read that name.
///
/// ```
/// use leafbase_model::json::FromJson;
/// use leafbase_model::{BlockPatch, ErrorKind};
/// let json = serde_json::json!({ "id": "00000000-0000-4000-8000-000000000001", "color": 7 });
/// let error = BlockPatch::from_json(json).unwrap_err();
/// assert_eq!((error.kind(), error.code()), (ErrorKind::Validation, "VALIDATION"));
/// assert_eq!(error.path(), "color");
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
    /// The faults, where there are several.
    details: Vec<Detail>,
}

/// Maximum length of a message, which may quote a request, in bytes.
const MAX_MESSAGE_BYTES: usize = 1_000;
/// Maximum length of a path, whose field names come from a request, in bytes.
const MAX_PATH_BYTES: usize = 1_000;

/// Truncates `text` to about `most` bytes by cutting out its middle.
fn bounded(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    // Both ends survive: a path begins with the request's fields and ends at the fault.
    let (mut head, mut tail) = (most / 2, text.len() - most / 2);
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    debug_assert!(head <= tail, "the cut is within the text");
    let (head, tail) = (text.split_at(head).0, text.split_at(tail).1);
    // The ellipsis is the only addition: repeated prefixing keeps a path within the bound.
    format!("{head}…{tail}")
}

/// Errors of [`ErrorKind::NotFound`]: of an ID and all else that objects are named by.
macro_rules! missing {
    ($($name:ident $message:literal)+) => {
        impl Error {
            $(
                #[doc(hidden)]
                pub fn $name() -> Self {
                    Self::not_found($message)
                }
            )+
        }
    };
}

missing! {
    no_block "no block has this ID"
    no_change "no change has this number"
    no_collection "no collection has this ID"
    no_comment "no comment has this ID"
    no_daily_note "no note is of this day"
    no_document "no document has this ID"
    no_file "no file has this ID"
    no_folder "no folder has this ID"
    no_item "no item has this ID"
}

impl Error {
    /// An error of `kind`. The message is a sentence that names the cause.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorParts {
            kind,
            message: bounded(message.into(), MAX_MESSAGE_BYTES),
            path: String::new(),
            source: None,
            details: Vec::new(),
        }))
    }

    /// [`ErrorKind::NotFound`]. The message has to be the same for missing, deleted and hidden
    /// objects.
    #[doc(hidden)]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// [`ErrorKind::Validation`].
    #[doc(hidden)]
    pub fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Validation, message)
    }

    /// [`ErrorKind::RuleViolation`].
    #[doc(hidden)]
    pub fn rule(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::RuleViolation, message)
    }

    /// [`ErrorKind::InvalidPosition`].
    #[doc(hidden)]
    pub fn position(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidPosition, message)
    }

    /// [`ErrorKind::LimitExceeded`]: the name of the limit, its maximum, and the actual value.
    #[doc(hidden)]
    pub fn limit(limit: &str, maximum: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::new(ErrorKind::LimitExceeded, format!("{limit}: at most {maximum}, got {found}"))
    }

    /// [`ErrorKind::HistoryGone`].
    #[doc(hidden)]
    pub fn history_gone(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::HistoryGone, message)
    }

    /// [`ErrorKind::Corrupted`]: `what` names the record.
    #[doc(hidden)]
    pub fn corrupted(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Corrupted, format!("damaged: {what}"))
    }

    /// Sets the underlying error.
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// Clears the path, for a message that names the object itself.
    #[doc(hidden)]
    pub fn without_path(mut self) -> Self {
        self.0.path.clear();
        self
    }

    /// Prefixes the path: `error.at("blocks[3]")` turns `color` into `blocks[3].color`.
    #[doc(hidden)]
    pub fn at(mut self, path: impl fmt::Display) -> Self {
        let outer = path.to_string();
        self.0.path = match (outer.is_empty(), self.0.path.is_empty()) {
            (true, _) => std::mem::take(&mut self.0.path),
            (false, true) => outer,
            // An index follows its list without a dot: `blocks` and `[3]` give `blocks[3]`.
            (false, false) if self.0.path.starts_with('[') => outer + &self.0.path,
            (false, false) => format!("{outer}.{}", self.0.path),
        };
        self.0.path = bounded(std::mem::take(&mut self.0.path), MAX_PATH_BYTES);
        debug_assert!(self.0.path.len() <= MAX_PATH_BYTES + '…'.len_utf8(), "paths are bounded");
        self
    }

    /// The faults, where there are several: they take the place of path and message in `details`.
    #[doc(hidden)]
    pub fn with_details(mut self, details: Vec<Detail>) -> Self {
        self.0.details = details;
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The stable code, such as `NOT_FOUND`.
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// The HTTP status, see [`ErrorKind::http_status`].
    pub fn http_status(&self) -> u16 {
        self.0.kind.http_status()
    }

    /// The message without the path.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The path into the request, such as `blocks[3].color`; empty for the request as a whole.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Whether a retry of the same call may succeed.
    pub fn is_retryable(&self) -> bool {
        matches!(self.0.kind, ErrorKind::AlreadyOpen | ErrorKind::NoSpace | ErrorKind::Storage)
    }

    /// The faults in their serialized form.
    pub fn details(&self) -> Vec<Detail> {
        if !self.0.details.is_empty() {
            return self.0.details.clone();
        }
        // A fault of the whole request has no detail beyond its message.
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
        // The source is part of the debug form only: clients see no system errors.
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
    /// Errors are equal if kind, message and path are.
    fn eq(&self, other: &Self) -> bool {
        (self.0.kind, &self.0.message, &self.0.path)
            == (other.0.kind, &other.0.message, &other.0.path)
    }
}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", self.code())?;
        let message = self.to_string();
        map.serialize_entry("error", &message)?;
        map.serialize_entry("message", &message)?;
        let details = self.details();
        if !details.is_empty() {
            map.serialize_entry("details", &details)?;
        }
        map.end()
    }
}
