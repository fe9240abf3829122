//! Modes of the keys, and the message of the last one.

use leafbase::{BlockId, DocumentId};

use super::block_edit::BlockEdit;
use super::search_prompt::SearchPrompt;

/// The part of the screen that takes the keys.
pub(crate) enum Mode {
    Browse,
    Help,
    Search(SearchPrompt),
    Edit(BlockEdit),
    Delete(DeleteQuestion),
}

/// A question before a deletion.
#[derive(Clone, Debug)]
pub(crate) struct DeleteQuestion {
    pub(crate) text: String,
    pub(crate) target: DeleteTarget,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum DeleteTarget {
    Block(BlockId),
    Document(DocumentId),
}

/// The text of the status line, until the next key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Message {
    pub(crate) fn note(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }
}
