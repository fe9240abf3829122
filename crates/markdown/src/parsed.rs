//! Options and results of parsing.

use std::fmt;

use leafbase_model::{BlockDraft, Error, ErrorKind, Limits};

/// What to do with a list whose first item is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EmptyFirstItem {
    /// Refuse the markdown, naming the line and the column.
    #[default]
    Refuse,
    /// Leave the item out, and report it as an [`ParseWarning`].
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
pub struct ParsedMarkdown {
    /// The blocks in reading order. Only pages have children.
    pub blocks: Vec<BlockDraft>,
    /// What the blocks could not keep as it was, in reading order.
    pub warnings: Vec<ParseWarning>,
}

/// Something in the markdown that means more, or something else, than the blocks can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseWarning {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What it is.
    pub kind: ParseWarningKind,
}

/// What had to be adapted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParseWarningKind {
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

impl fmt::Display for ParseWarningKind {
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

impl fmt::Display for ParseWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.kind)
    }
}

/// An error in the markdown at a line and a column.
pub(crate) fn invalid((line, column): (usize, usize), message: impl fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidMarkdown, format!("line {line}, column {column}: {message}"))
}
