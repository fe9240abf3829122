//! What the laws are about: a reader, a writer and a canonical form; the real ones, or broken ones
//! for the controls.

use leafbase_markdown::{EmptyFirstItem, ParseOptions};
use leafbase_model::{BlockData, BlockDraft, Limits};

#[derive(Clone, Copy)]
pub(crate) struct Dialect {
    pub(crate) parse: fn(&str) -> Vec<BlockDraft>,
    pub(crate) render: fn(&[BlockDraft]) -> String,
    pub(crate) canonical: fn(&mut BlockData),
}

pub(crate) const REAL: Dialect = Dialect {
    parse,
    render: |blocks| leafbase_markdown::render(blocks),
    canonical: leafbase_markdown::canonical,
};

pub(crate) fn parse(text: &str) -> Vec<BlockDraft> {
    leafbase_markdown::parse(text, &lenient())
        .unwrap_or_else(|error| panic!("{error}: {text:?}"))
        .blocks
}

/// No text of a test is refused for its length.
pub(crate) fn lenient() -> ParseOptions {
    let mut limits = Limits::default();
    limits.block_text = usize::MAX;
    limits.block_raw = usize::MAX;
    ParseOptions::default().with_limits(limits).with_empty_first_item(EmptyFirstItem::Drop)
}
