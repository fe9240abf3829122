//! Tag rows of blocks, also of blocks that move to another document.

use leafbase_model::{BlockData, BlockId, DocumentId, Result};

use super::SpaceTransaction;
use crate::reader::tags::tags_in;

impl SpaceTransaction<'_> {
    /// Stages the tags of a block of a touched document.
    pub(super) fn index_tags(
        &mut self,
        document: DocumentId,
        block: BlockId,
        before: Option<&BlockData>,
        after: Option<&BlockData>,
    ) {
        let tags = |data: Option<&BlockData>| data.map(|data| self.extractor.tags(data));
        let [before, after] = [tags(before), tags(after)].map(Option::unwrap_or_default);
        // Most updates change no tag.
        if before == after {
            return;
        }
        for tag in before.into_keys().filter(|tag| !after.contains_key(tag)) {
            self.tags.delete(document, tag, block);
        }
        for (tag, form) in after {
            self.tags.put(document, tag, block, form);
        }
    }

    /// Writes the staged tags: before their document is erased, or moves to where it is not
    /// counted.
    pub(super) fn flush_tags(&mut self) -> Result<()> {
        self.tags.flush(self.rows, &self.documents)
    }

    /// Moves the tags of the blocks among `moved`, which are sorted, to another document. Reads all
    /// tags of the document.
    pub(super) fn rekey_tags(
        &mut self,
        moved: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        debug_assert!(moved.is_sorted(), "moved blocks are sorted");
        // Staged rows of the old document would be written after it has lost its blocks.
        if self.tags.has_any_of(from) {
            self.flush_tags()?;
        }
        for tagged in tags_in(&*self.rows, from)? {
            if moved.binary_search(&tagged.block).is_ok() {
                self.tags.delete(from, tagged.tag.clone(), tagged.block);
                self.tags.put(to, tagged.tag, tagged.block, tagged.form);
            }
        }
        Ok(())
    }
}
