//! What of a block patterns are matched on: what a reply shows as its markdown.

use std::borrow::Cow;

use leafbase_model::Result;
use leafbase_store::BlockText;

use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;

/// Reads for one call, which is shown placeholders for what it does not see.
pub(super) struct Reading<'t, 'a> {
    pub(super) tree: &'t Tree<'a>,
    links: LinkRedactor<'t, 'a>,
}

impl<'t, 'a> Reading<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>) -> Self {
        Self { tree, links: LinkRedactor::new(tree) }
    }

    /// What patterns are matched on.
    pub(super) fn text<'d>(&self, text: BlockText<'d>) -> Result<Cow<'d, str>> {
        match text {
            BlockText::Markdown(_, markdown) => {
                let mut shown = Cow::Borrowed(markdown);
                self.links.redact(&mut shown)?;
                Ok(shown)
            }
            BlockText::Data(data) => self.links.redacted_markdown(data),
        }
    }
}
