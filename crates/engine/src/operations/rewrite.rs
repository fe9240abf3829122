//! Rewriting of pages: the edits that make a page another version of itself.

pub(crate) mod plan;
pub(crate) mod tree_copy;
