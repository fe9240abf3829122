//! Containers of the parser's stack: quotes, list items, pages, and the tags around paragraphs.

use leafbase_model::{BlockDraft, ListStyle, TaskState, TextFormat};

use crate::tags::Element;

/// Depth of the container stack. Deeper list items replace the innermost one, so that the cost per
/// line is bounded.
pub(crate) const MAX_CONTAINERS: usize = 96;

#[derive(Debug)]
pub(crate) enum Container {
    Quote(OpenQuote),
    Item(OpenItem),
    Wrapper(OpenWrapper),
    Page(Box<OpenPage>),
}

/// Directly nested quotes share one container.
#[derive(Debug)]
pub(crate) struct OpenQuote {
    /// Number of nested quotes.
    pub(crate) depth: usize,
    /// Number of quote marks on the current line.
    pub(crate) seen: usize,
}

#[derive(Debug)]
pub(crate) struct OpenItem {
    /// Column where its content starts.
    pub(crate) content: usize,
    /// Least column of a nested list item: two after the start of a number, whatever its width.
    pub(crate) lenient: usize,
    /// Level, 1 for the outermost list.
    pub(crate) level: usize,
    pub(crate) style: ListStyle,
    pub(crate) sign: u8,
    pub(crate) task: Option<TaskState>,
    /// Its content so far: the first block takes the list style.
    pub(crate) holds: ItemContent,
    /// Whether its first line is only the marker.
    pub(crate) begins_blank: bool,
    /// Whether it is the first item of its list.
    pub(crate) first: bool,
    /// Blocks made before it.
    pub(crate) made_before: usize,
    /// Whether nothing follows its task mark on the line: its block, the first, is empty.
    pub(crate) is_bare_task: bool,
    /// Line and column of its marker.
    pub(crate) at: (usize, usize),
}

/// Content of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemContent {
    Nothing,
    /// A list, whose items may still turn out to be empty.
    List,
    /// At least one block.
    Block,
}

/// A tag around paragraphs.
#[derive(Debug)]
pub(crate) struct OpenWrapper {
    pub(crate) element: Element,
    /// Directly nested tags of the same name share one container.
    pub(crate) depth: usize,
    /// Text format that it applies; `None` for a callout.
    pub(crate) look: Option<TextFormat>,
    /// Line and column of its tag.
    pub(crate) at: (usize, usize),
}

/// Position of the parser within the tags of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PagePart {
    BeforeTitle,
    Title,
    BeforeContent,
    Content,
    AfterContent,
}

#[derive(Debug)]
pub(crate) struct OpenPage {
    pub(crate) element: Element,
    pub(crate) part: PagePart,
    /// Common indentation of its content, determined by its first line.
    pub(crate) inset: Option<usize>,
    pub(crate) draft: BlockDraft,
    /// Line and column of its tag.
    pub(crate) at: (usize, usize),
}

impl Container {
    /// List level of its direct content. A page starts at level 0 again.
    pub(crate) fn level(&self) -> Option<usize> {
        match self {
            Self::Item(item) => Some(item.level),
            Self::Page(_) => Some(0),
            Self::Quote(_) | Self::Wrapper(_) => None,
        }
    }
}
