//! What holds blocks while a document is read: quotes, list items, pages and the tags around
//! paragraphs.

use leafbase_model::{BlockDraft, ListStyle, TaskState, TextFormat};

use crate::tags::Element;

/// The most containers that are told apart. Deeper list items flatten into the deepest one, so that
/// a line costs no more however deep the nesting is.
pub(crate) const MAX_CONTAINERS: usize = 96;

#[derive(Debug)]
pub(crate) enum Container {
    Quote(OpenQuote),
    Item(OpenItem),
    Wrapper(OpenWrapper),
    Page(Box<OpenPage>),
}

/// Quotes directly within one another are one container.
#[derive(Debug)]
pub(crate) struct OpenQuote {
    /// How many.
    pub(crate) depth: usize,
    /// How many of them the present line has.
    pub(crate) seen: usize,
}

#[derive(Debug)]
pub(crate) struct OpenItem {
    /// Columns before its content.
    pub(crate) content: usize,
    /// Columns from which on a list item belongs to it: two behind the start of a number, however
    /// wide that is.
    pub(crate) lenient: usize,
    /// 1 for the outermost.
    pub(crate) level: usize,
    pub(crate) style: ListStyle,
    pub(crate) sign: u8,
    pub(crate) task: Option<TaskState>,
    /// What stands in it: what comes first takes the list style.
    pub(crate) holds: ItemContent,
    /// Whether its first line holds only the marker.
    pub(crate) begins_blank: bool,
    /// Whether it is the first of its list.
    pub(crate) first: bool,
    /// Line and column of its marker.
    pub(crate) at: (usize, usize),
}

/// What stands in a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemContent {
    Nothing,
    /// A list, whose items may still turn out to be empty.
    List,
    /// A block.
    Block,
}

/// A tag around paragraphs.
#[derive(Debug)]
pub(crate) struct OpenWrapper {
    pub(crate) element: Element,
    /// The same tags directly within one another are one container.
    pub(crate) depth: usize,
    /// How it makes texts look; none for a callout.
    pub(crate) look: Option<TextFormat>,
    /// Line and column of its tag.
    pub(crate) at: (usize, usize),
}

/// Where in a page's tags the reader is.
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
    /// Columns that its content is set in as a whole, known from the first line on.
    pub(crate) inset: Option<usize>,
    pub(crate) draft: BlockDraft,
    /// Line and column of its tag.
    pub(crate) at: (usize, usize),
}

impl Container {
    /// The list level of what stands directly in it, if that is known here: a page begins anew.
    pub(crate) fn level(&self) -> Option<usize> {
        match self {
            Self::Item(item) => Some(item.level),
            Self::Page(_) => Some(0),
            Self::Quote(_) | Self::Wrapper(_) => None,
        }
    }
}
