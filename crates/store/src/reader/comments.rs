//! Reads of comments.

use std::ops::ControlFlow;

use leafbase_model::{BlockId, Comment, DocumentId, Result};

use super::Reader;
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::records::{self, comment};

impl Reader<'_> {
    /// The comments on a block of `document`, oldest first.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comments_on(&self, document: DocumentId, block: BlockId) -> Result<Vec<Comment>> {
        let found = self.comments(&keyspaces::block_comments(document, block))?;
        Ok(found.into_iter().map(|(_, comment)| comment).collect())
    }

    /// The comments on all blocks of `document`, by block, then oldest first. One range of keys.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comments_in(&self, document: DocumentId) -> Result<Vec<(BlockId, Comment)>> {
        self.comments(&keyspaces::document_comments(document))
    }

    fn comments(&self, prefix: &[u8]) -> Result<Vec<(BlockId, Comment)>> {
        let mut found = Vec::new();
        self.read.scan(KeyRange::half_open(prefix, &keyspaces::end_of_slice(prefix)), &mut |key, value| {
            let (_, block, id) = keyspaces::read_comment(key).ok_or_else(|| records::damaged(key))?;
            found.push((block, records::read(key, value, |unpack| comment::read(id, unpack))?));
            Ok(ControlFlow::Continue(()))
        })?;
        found.sort_by_key(|(block, comment)| (*block, comment.created_at, comment.id));
        Ok(found)
    }
}
