//! Markdown to blocks: what goes in, what comes out, and the walk over the lines.

use std::borrow::Cow;
use std::fmt;

use leafbase_model::{BlockDraft, Error, ErrorKind, Limits, Result};

use crate::reader::Reader;

/// What to do with a list whose first item is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EmptyFirstItem {
    /// Refuse the markdown, naming the line and the column.
    #[default]
    Refuse,
    /// Leave the item out, and report it as an [`Adaptation`].
    Drop,
}

/// How markdown is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseOptions {
    /// The most that is taken in: bytes in all, bytes of a block's text, pages within pages.
    pub limits: Limits,
    /// What to do with a list whose first item is empty.
    pub empty_first_item: EmptyFirstItem,
    /// The most blocks that are read; none for any number.
    pub most_blocks: Option<usize>,
}

impl ParseOptions {
    /// The same options with these limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same options, of no use for more blocks than this.
    pub fn with_most_blocks(mut self, most: usize) -> Self {
        self.most_blocks = Some(most);
        self
    }

    /// The same options with this rule for lists whose first item is empty.
    pub fn with_empty_first_item(mut self, rule: EmptyFirstItem) -> Self {
        self.empty_first_item = rule;
        self
    }
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The blocks in reading order. Only pages have children.
    pub blocks: Vec<BlockDraft>,
    /// What the blocks could not keep as it was, in reading order.
    pub adaptations: Vec<Adaptation>,
}

/// Something in the markdown that means more, or something else, than the blocks can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adaptation {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What it is.
    pub kind: AdaptationKind,
}

/// What had to be adapted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AdaptationKind {
    /// The empty first item of a list was left out.
    EmptyFirstItem,
    /// A heading of level 5 or 6 became one of level 4.
    HeadingLevel(u8),
    /// A block nested deeper than the deepest indentation was kept at that.
    Indentation,
    /// A mark in brackets that is no task state stayed text.
    TaskMark(char),
    /// A page, card, callout or caption that is never closed was taken to end where what it stands
    /// in ends.
    Unclosed(&'static str),
    /// A style or card layout that is unknown was left out.
    Attribute(&'static str),
}

impl fmt::Display for AdaptationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyFirstItem => f.write_str("the empty first item of a list was left out"),
            Self::HeadingLevel(level) => {
                write!(f, "a heading of level {level} became one of level 4")
            }
            Self::Indentation => {
                write!(f, "nested deeper than {} levels, kept at that", Limits::INDENTATION)
            }
            Self::TaskMark(mark) => {
                write!(f, "the mark [{mark}] is no state of a task and stayed text")
            }
            Self::Unclosed(name) => write!(f, "<{name}> is not closed"),
            Self::Attribute(name) => write!(f, "the value of {name} is unknown and was left out"),
        }
    }
}

impl fmt::Display for Adaptation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.kind)
    }
}

/// Reads markdown as blocks. Inline markdown is kept as it is written; what the dialect does not
/// know stays text.
///
/// ```
/// use leafbase_markdown::{ParseOptions, parse};
///
/// let parsed = parse("# Trip\n\n- [ ] pack\n  - socks", &ParseOptions::default())?;
/// let texts: Vec<_> = parsed.blocks.iter().map(|block| block.data.markdown.as_str()).collect();
/// assert_eq!(texts, ["Trip", "pack", "socks"]);
/// # Ok::<(), leafbase_model::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidMarkdown`] with line and column for a highlight of an unknown colour and,
/// unless the options say otherwise, for a list whose first item is empty.
/// [`ErrorKind::LimitExceeded`] for text that is too long in all or in one block, for pages nested
/// too deep, and for more blocks than the options ask for.
pub fn parse(text: &str, options: &ParseOptions) -> Result<Parsed> {
    if text.len() > options.limits.markdown {
        return Err(Error::limit("bytes of markdown", options.limits.markdown, text.len()));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let unified = if memchr::memchr(b'\r', text.as_bytes()).is_some() {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let mut reader = Reader::new(&unified, options);
    let mut rest = reader.front_matter()?;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        reader.line(rest.get(..end).unwrap_or_default())?;
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    reader.finish()
}

/// An error in the markdown at a line and a column.
pub(crate) fn invalid((line, column): (usize, usize), message: impl fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidMarkdown, format!("line {line}, column {column}: {message}"))
}
