//! Plain words as inline markdown, and back: what a file is called, and what its document is.

use leafbase_markdown as markdown;

/// Inline markdown that reads as these words and nothing else; escaped only where it must be.
pub(super) fn literal(words: &str) -> String {
    if markdown::plain_text(words) == words {
        words.to_owned()
    } else {
        markdown::escape(words).into_owned()
    }
}

/// The words of a title.
pub(super) fn words(title: &str) -> String {
    let words = markdown::plain_text(title).trim().to_owned();
    if words.is_empty() { "Untitled".to_owned() } else { words }
}
