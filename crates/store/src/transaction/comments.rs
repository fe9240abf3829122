//! Comments: rows of their own beside the block that they are on. They are written at once: there
//! are few.

use leafbase_model::{BlockId, Comment, DocumentId, Result};

use super::{SpaceTransaction, conflict, missing};
use crate::keyspaces;
use crate::reader::comments::read_comment;
use crate::reader::trees::rows_of;
use crate::records::{self, comment};

impl SpaceTransaction<'_> {
    pub(super) fn add_comment(
        &mut self,
        document: DocumentId,
        block: BlockId,
        comment: &Comment,
    ) -> Result<()> {
        let location = self
            .locations
            .get(&*self.rows, &self.cache, block)?
            .ok_or_else(|| missing("the block"))?;
        if location.document != document {
            return Err(conflict("the block is in another document"));
        }
        let key = keyspaces::comment(document, block, comment.id);
        if self.rows.get(&key, &mut |_| Ok(()))? {
            return Err(conflict("the comment exists already"));
        }
        self.touch(document)?;
        self.commented.push(document);
        self.rows.put(&key, &records::seal(&key, |out| comment::put(out, comment)))?;
        self.log.add_comment(document, block, comment);
        Ok(())
    }

    pub(super) fn remove_comment(
        &mut self,
        document: DocumentId,
        block: BlockId,
        comment: &Comment,
    ) -> Result<()> {
        let key = keyspaces::comment(document, block, comment.id);
        let mut stored = None;
        self.rows.get(&key, &mut |value| {
            stored =
                Some(records::read(&key, value, |decoder| comment::read(comment.id, decoder))?);
            Ok(())
        })?;
        match stored {
            None => return Err(missing("the comment")),
            Some(stored) if stored != *comment => return Err(conflict("the comment has changed")),
            Some(_) => {}
        }
        self.touch(document)?;
        self.commented.push(document);
        self.rows.delete(&key)?;
        self.log.remove_comment(document, block, comment);
        Ok(())
    }

    /// Takes along the comments on blocks, which are sorted, that went to another document.
    pub(super) fn rekey_comments(
        &mut self,
        moved: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        let mut found = Vec::new();
        rows_of(&*self.rows, &keyspaces::document_comments(from), moved, &mut |_, key, value| {
            found.push(read_comment(key, value)?);
            Ok(())
        })?;
        if !found.is_empty() {
            self.commented.extend([from, to]);
        }
        for (block, comment) in found {
            self.rows.delete(&keyspaces::comment(from, block, comment.id))?;
            let key = keyspaces::comment(to, block, comment.id);
            self.rows.put(&key, &records::seal(&key, |out| comment::put(out, &comment)))?;
        }
        Ok(())
    }
}
