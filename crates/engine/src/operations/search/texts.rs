//! Texts of blocks as a call sees them: the markdown of replies, on which patterns match.

use std::borrow::Cow;

use leafbase_markdown as markdown;
use leafbase_model::{BlockType, Result};
use leafbase_store::BlockText;

use crate::core::redaction::LinkRedactor;
#[cfg(feature = "search")]
use crate::core::search_index::documents::DocumentTexts;
use crate::core::tree::Tree;

/// Reads texts for one call. Links to blocks that it cannot see become placeholders.
pub(crate) struct VisibleTexts<'t, 'a> {
    pub(super) tree: &'t Tree<'a>,
    links: LinkRedactor<'t, 'a>,
}

impl<'t, 'a> VisibleTexts<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>) -> Self {
        Self { tree, links: LinkRedactor::new(tree) }
    }

    /// The markdown that a reply shows for a block.
    pub(crate) fn markdown<'d>(&self, text: BlockText<'d>) -> Result<Cow<'d, str>> {
        match text {
            BlockText::Markdown(block_type, markdown) => {
                let mut visible = Cow::Borrowed(markdown);
                self.links.redact(&mut visible)?;
                Ok(match visible {
                    visible if block_type != BlockType::Text => visible,
                    Cow::Borrowed(inline) => markdown::block_form_without_markers(inline),
                    Cow::Owned(inline) => {
                        Cow::Owned(markdown::block_form_without_markers(&inline).into_owned())
                    }
                })
            }
            BlockText::Data(data) => self.links.redacted_markdown(data),
        }
    }

    /// Reads a whole document.
    #[cfg(feature = "search")]
    pub(super) fn document(&self, document: leafbase_model::DocumentId) -> Result<DocumentTexts> {
        let (reader, stored_in) = (self.tree.reader_of(document)?, self.tree.stored_in(document)?);
        let mut texts = if stored_in == document {
            DocumentTexts::read(reader, document)?
        } else {
            DocumentTexts::read_page(reader, document, stored_in)?
        };
        // A connection without a scope has no placeholders, and keeps the stored texts.
        if !self.tree.is_unrestricted() {
            texts.show(|text| match self.markdown(text)? {
                Cow::Owned(redacted) => Ok(Some(redacted)),
                Cow::Borrowed(_) => Ok(None),
            })?;
        }
        Ok(texts)
    }
}
