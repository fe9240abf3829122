//! Where a text is in a document.

use leafbase_model::{ListStyle, TextStyle};

/// What surrounds a text, which decides what in it would read as structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextContext {
    /// A paragraph in a list of this style, or within the tags of a style.
    Paragraph { list: ListStyle, style: TextStyle },
    /// The line of a heading.
    Heading,
    /// The title of a page.
    Title,
}

impl TextContext {
    pub(crate) const fn of(list: ListStyle, style: TextStyle) -> Self {
        match style {
            TextStyle::H1 | TextStyle::H2 | TextStyle::H3 | TextStyle::H4 => Self::Heading,
            style => Self::Paragraph { list, style },
        }
    }
}
