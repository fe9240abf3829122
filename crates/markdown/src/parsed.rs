//! Options and results of parsing.

use std::fmt;

use leafbase_model::{BlockDraft, Error, ErrorKind, FileLayout, Limits};

use crate::source_spans::SourceSpan;

/// Handling of a list whose first item is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EmptyFirstItem {
    /// Reject the markdown with line and column.
    #[default]
    Refuse,
    /// Drop the item and report a [`ParseWarning`].
    Drop,
}

/// Handling of a highlight of an unknown color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UnknownHighlight {
    /// Reject the markdown with line and column.
    #[default]
    Refuse,
    /// Escape the tag, which is text of its block then, and report a [`ParseWarning`] for its line.
    Keep,
}

/// Options of [`parse`](crate::parse).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseOptions {
    /// Limits on the input: total bytes, bytes per block, nesting of pages.
    pub limits: Limits,
    /// Handling of a list whose first item is empty.
    pub empty_first_item: EmptyFirstItem,
    /// Handling of a highlight of an unknown color.
    pub unknown_highlight: UnknownHighlight,
    /// Maximum number of blocks; `None` for no limit.
    pub most_blocks: Option<usize>,
    /// Whether the result has the lines of the blocks.
    pub(crate) keeps_spans: bool,
    /// Whether a paragraph that is one link stays a text.
    pub(crate) keeps_links: bool,
}

impl ParseOptions {
    /// Sets the limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the maximum number of blocks.
    pub fn with_most_blocks(mut self, most: usize) -> Self {
        self.most_blocks = Some(most);
        self
    }

    /// Sets the handling of lists whose first item is empty.
    pub fn with_empty_first_item(mut self, rule: EmptyFirstItem) -> Self {
        self.empty_first_item = rule;
        self
    }

    /// Sets the handling of highlights of an unknown color.
    pub fn with_unknown_highlight(mut self, rule: UnknownHighlight) -> Self {
        self.unknown_highlight = rule;
        self
    }
}

/// Result of parsing.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ParsedMarkdown {
    /// The blocks in reading order. Only pages have children.
    pub blocks: Vec<BlockDraft>,
    /// Differences between markdown and blocks, in reading order.
    pub warnings: Vec<ParseWarning>,
    /// The layout of the text as a whole, without path, if
    /// [`parse_with_layout`](crate::parse_with_layout) read it and the layouts of the blocks
    /// describe it byte for byte.
    pub file: Option<FileLayout>,
    /// The lines of the blocks, if they were asked for.
    pub(crate) spans: Vec<SourceSpan>,
}

/// A difference between the markdown and its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseWarning {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Kind of difference.
    pub kind: ParseWarningKind,
}

/// Kind of a [`ParseWarning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParseWarningKind {
    /// The empty first item of a list was dropped.
    EmptyFirstItem,
    /// A heading of level 5 or 6 became level 4.
    HeadingLevel(u8),
    /// A block nested deeper than the maximum indentation was placed at the maximum.
    Indentation,
    /// An unknown task mark in brackets stayed text.
    TaskMark(char),
    /// An unclosed page, card, callout or caption was closed at the end of its container.
    Unclosed(&'static str),
    /// An unknown style or card layout was dropped.
    Attribute(&'static str),
    /// A highlight of an unknown color stayed text.
    UnknownHighlight,
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
                write!(f, "the mark [{mark}] is not a task state and stayed text")
            }
            Self::Unclosed(name) => write!(f, "<{name}> is not closed"),
            Self::Attribute(name) => write!(f, "the value of {name} is unknown and was left out"),
            Self::UnknownHighlight => {
                f.write_str("the color of a highlight is unknown, and its tag stayed text")
            }
        }
    }
}

impl fmt::Display for ParseWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.kind)
    }
}

/// An error at a line and column of the markdown.
pub(crate) fn invalid((line, column): (usize, usize), message: impl fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidMarkdown, format!("line {line}, column {column}: {message}"))
}
