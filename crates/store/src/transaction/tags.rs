//! Tag rows of blocks, also of blocks that move to another document.

use leafbase_model::{BlockData, BlockId, DocumentId, Result};

use super::SpaceTransaction;
use crate::keyspaces;
use crate::reader::tags::{TaggedBlock, few_tags_in};
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::run::RunBuffer;

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

    /// Prepares a move of blocks to another document. Returns all tags of theirs if these are at
    /// most `most`: reading them takes less time than decoding the blocks.
    pub(super) fn few_tags_of(
        &mut self,
        document: DocumentId,
        most: usize,
    ) -> Result<Option<Vec<TaggedBlock>>> {
        // Staged rows of the old document would be written after it has lost its blocks.
        if self.tags.has_any_of(document) {
            self.flush_tags()?;
        }
        few_tags_in(&*self.rows, document, most)
    }

    /// Moves those of `tags` whose blocks are among `moved`, which are sorted, to another document.
    pub(super) fn rekey_tags(
        &mut self,
        tags: Vec<TaggedBlock>,
        moved: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) {
        debug_assert!(moved.is_sorted(), "moved blocks are sorted");
        for tagged in tags {
            if moved.binary_search(&tagged.block).is_ok() {
                self.tags.delete(from, tagged.tag.clone(), tagged.block);
                self.tags.put(to, tagged.tag, tagged.block, tagged.form);
            }
        }
    }

    /// Moves the tags of the blocks of a run to another document.
    pub(super) fn rekey_tags_of_run(
        &mut self,
        run: &RunBuffer,
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        let mut blocks = run.ids().iter().enumerate();
        blocks.try_for_each(|(index, id)| self.rekey_tags_of(*id, run.block(index), from, to))
    }

    /// Moves the tags of a block, which its record has, to another document.
    pub(super) fn rekey_tags_of(
        &mut self,
        block: BlockId,
        record: &[u8],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        let decoded = block::decode(block, record, &mut AuthorCache::default())
            .map_err(|error| records::decode_error(&keyspaces::block_location(block), error))?;
        for (tag, form) in self.extractor.tags(&decoded.data) {
            self.tags.delete(from, tag.clone(), block);
            self.tags.put(to, tag, block, form);
        }
        Ok(())
    }
}
