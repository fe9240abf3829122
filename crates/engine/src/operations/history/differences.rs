//! What differs between two versions of a document.

use leafbase_markdown::PlainText;
#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{Block, BlockData, BlockId, DocumentId, Result};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::core::access::FullAccess;
use crate::core::connection::Connection;
use crate::operations::flat_blocks::FlatBlock;
use crate::operations::list_patch::{PatchStep, steps_between};

/// What makes one version of a document another one. As JSON: `{"from": 3, "to": 9, "steps": [..],
/// "texts": [..]}`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DocumentDiff {
    /// The version before: the sequence of a change.
    pub from: u64,
    /// The version after.
    pub to: u64,
    /// The blocks that were inserted, removed, moved and updated, as steps between the lists of
    /// both in reading order.
    pub steps: Vec<PatchStep<FlatBlock>>,
    /// The words that differ in the texts of blocks that are in both.
    pub texts: Vec<TextDiff>,
}

/// The words that differ in the plain text of a block. As JSON: `{"blockId", "parts": [{"kept":
/// "a "}, {"removed": "b"}, {"inserted": "c"}]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextDiff {
    /// The block.
    pub block_id: BlockId,
    /// All of the text, in order.
    pub parts: Vec<TextPart>,
}

/// A part of two texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TextPart {
    /// In both.
    Kept(String),
    /// In the text before.
    Removed(String),
    /// In the text after.
    Inserted(String),
}

impl<A: FullAccess> Connection<A> {
    /// What differs between two versions of a document, each as [`Self::document_at`] shows it:
    /// the blocks as steps that make the list of one version, in reading order, that of the other,
    /// and within texts the words.
    ///
    /// ```
    /// use leafbase::{PatchStep, TextPart};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let line = notes.insert_markdown("one passport", trip)?[0].id;
    /// let before = notes.last_sequence()?;
    /// notes.update_markdown(line, "two passports")?;
    /// let diff = notes.diff_document(trip, before, notes.last_sequence()?)?;
    /// assert!(matches!(diff.steps[..], [PatchStep::Update { at: 1, .. }]));
    /// let [TextPart::Removed(one), TextPart::Inserted(two), ..] = &diff.texts[0].parts[..] else {
    ///     panic!("the first word differs")
    /// };
    /// assert_eq!((one.as_str(), two.as_str()), ("one", "two"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of [`Self::document_at`] for both, and for each text that differs its words times those
    /// that differ.
    ///
    /// # Errors
    /// As [`Self::document_at`].
    pub fn diff_document(&self, document: DocumentId, from: u64, to: u64) -> Result<DocumentDiff> {
        let [before, after] = [from, to].map(|sequence| self.document_at(document, sequence));
        let [before, after] = [before?, after?].map(FlatBlock::list);
        let steps = steps_between(&before, &after, |entry| entry.block.id);
        let texts = steps.iter().filter_map(|step| match step {
            PatchStep::Update { entry, .. } => {
                let earlier = before.iter().find(|earlier| earlier.block.id == entry.block.id)?;
                diff_texts(&earlier.block, &entry.block)
            }
            _ => None,
        });
        let texts = texts.collect();
        Ok(DocumentDiff { from, to, steps, texts })
    }
}

/// None if the texts are the same.
fn diff_texts(before: &Block, after: &Block) -> Option<TextDiff> {
    let [before, after_text] = [&before.data, &after.data].map(text);
    if before == after_text {
        return None;
    }
    let (old, new) = (words(&before), words(&after_text));
    let joined = |words: &[&str], start: usize, length: usize| {
        debug_assert!(start + length <= words.len(), "a difference is within both texts");
        words.iter().skip(start).take(length).copied().collect::<String>()
    };
    let mut parts = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
        match operation {
            DiffOp::Equal { old_index, len, .. } => {
                parts.push(TextPart::Kept(joined(&old, old_index, len)));
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                parts.push(TextPart::Removed(joined(&old, old_index, old_len)));
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                parts.push(TextPart::Inserted(joined(&new, new_index, new_len)));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                parts.push(TextPart::Removed(joined(&old, old_index, old_len)));
                parts.push(TextPart::Inserted(joined(&new, new_index, new_len)));
            }
        }
    }
    Some(TextDiff { block_id: after.id, parts })
}

/// What a block says: the plain text of one with markdown, or else its markdown or code.
fn text(data: &BlockData) -> String {
    if data.block_type().has_own_markdown() {
        PlainText::of(&data.inline).into_string()
    } else {
        leafbase_markdown::render_block(data)
    }
}

/// A text as its words, blanks and other characters.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_same: fn(char) -> bool = if first.is_alphanumeric() {
            char::is_alphanumeric
        } else if first.is_whitespace() {
            char::is_whitespace
        } else {
            |_| false
        };
        let length = rest.find(|letter| !is_same(letter)).unwrap_or(rest.len());
        // A character of neither kind is a word of its own. At least one, so that the loop ends.
        let (word, after) = rest.split_at(length.max(first.len_utf8()));
        words.push(word);
        rest = after;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn texts_are_cut_into_words() {
        assert_eq!(
            words("a bc,  d!? é1\n"),
            ["a", " ", "bc", ",", "  ", "d", "!", "?", " ", "é1", "\n"]
        );
        assert!(words("").is_empty());
    }
}
