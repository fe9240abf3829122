//! Edits of comments. They are few, so their rows are not staged.

use leafbase_model::{BlockId, Comment, DocumentId, Error, Result};

use super::SpaceTransaction;
use super::errors::{conflict, missing};
use crate::keyspaces;
use crate::lookup::{contains, get};
use crate::reader::comments::parse_comment_row;
use crate::reader::trees::rows_of;
use crate::records::layout::Value;
use crate::records::{self, comment};

impl SpaceTransaction<'_> {
    pub(super) fn add_comment(
        &mut self,
        document: DocumentId,
        block: BlockId,
        comment: &Comment,
    ) -> Result<()> {
        if self.location(block)?.document != document {
            return Err(conflict("the block is in another document"));
        }
        let index = keyspaces::comment_block(comment.id);
        if contains(&*self.rows, &index)? {
            return Err(conflict("the comment already exists"));
        }
        self.touch(document)?;
        self.rows.put(&index, &records::seal(&index, |out| block.encode(out)))?;
        self.put_comment(document, block, comment)
    }

    pub(super) fn remove_comment(
        &mut self,
        document: DocumentId,
        block: BlockId,
        comment: &Comment,
    ) -> Result<()> {
        self.check_comment(document, block, comment)?;
        self.touch(document)?;
        self.rows.delete(&keyspaces::comment_block(comment.id))?;
        self.rows.delete(&keyspaces::comment(document, block, comment.id))
    }

    pub(super) fn update_comment(
        &mut self,
        document: DocumentId,
        block: BlockId,
        before: &Comment,
        after: &Comment,
    ) -> Result<()> {
        if before.id != after.id {
            return Err(Error::validation("an edit of a comment keeps its ID"));
        }
        self.check_comment(document, block, before)?;
        self.touch(document)?;
        self.put_comment(document, block, after)
    }

    /// Checks that `comment` is stored as it is.
    fn check_comment(&self, document: DocumentId, block: BlockId, comment: &Comment) -> Result<()> {
        let key = keyspaces::comment(document, block, comment.id);
        let stored = get(&*self.rows, &key, |value| {
            records::decode(&key, value, |decoder| comment::decode(comment.id, decoder))
        })?;
        if stored.ok_or_else(|| missing("the comment"))? != *comment {
            return Err(conflict("the comment has changed"));
        }
        Ok(())
    }

    fn put_comment(
        &mut self,
        document: DocumentId,
        block: BlockId,
        comment: &Comment,
    ) -> Result<()> {
        self.cache.set_commentless(None);
        let key = keyspaces::comment(document, block, comment.id);
        self.rows.put(&key, &records::seal(&key, |out| comment::encode(out, comment)))
    }

    /// Moves the comments on `moved` blocks, which are sorted, to another document.
    pub(super) fn rekey_comments(
        &mut self,
        moved: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        let mut found = Vec::new();
        rows_of(&*self.rows, &keyspaces::document_comments(from), moved, &mut |_, key, value| {
            found.push(parse_comment_row(key, value)?);
            Ok(())
        })?;
        // Written after the scan: a visit may not write.
        for (block, comment) in found {
            self.rows.delete(&keyspaces::comment(from, block, comment.id))?;
            self.put_comment(to, block, &comment)?;
        }
        Ok(())
    }
}
