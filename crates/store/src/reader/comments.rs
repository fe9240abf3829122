//! Reads of comments.

use std::ops::ControlFlow;

use leafbase_model::{BlockId, Comment, DocumentId, Result};

use super::trees::rows_of;
use super::{ReaderCache, SpaceReader};
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::records::{self, comment};

impl SpaceReader<'_> {
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

    /// Whether a block of `document` may have comments. It costs a look-up once, until they change.
    /// Where that fails some may have: whoever asks for those of a block is told what is wrong with
    /// them, and with no others.
    pub fn may_have_comments(&self, document: DocumentId) -> bool {
        let ReaderCache::Committed(cache, epoch) = self.known else {
            return self.find_comment(document).unwrap_or(true);
        };
        if let Some(known) = cache.has_comments(epoch, document) {
            return known;
        }
        let Ok(found) = self.find_comment(document) else { return true };
        cache.add_document(epoch, document, found);
        found
    }

    fn find_comment(&self, document: DocumentId) -> Result<bool> {
        let prefix = keyspaces::document_comments(document);
        let mut found = false;
        self.read.scan(KeyRange::half_open(&prefix, &keyspaces::end_of(prefix)), &mut |_, _| {
            found = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// The comments on those of `blocks`, which are sorted and of `document`, by block, then oldest
    /// first. What lies between them is leapt over: it costs what it gives, and a step for each
    /// block near which there are comments.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn comments_among(
        &self,
        document: DocumentId,
        blocks: &[BlockId],
    ) -> Result<Vec<(BlockId, Comment)>> {
        let mut found = Vec::new();
        rows_of(
            self.read,
            &keyspaces::document_comments(document),
            blocks,
            &mut |_, key, value| {
                found.push(read_comment(key, value)?);
                Ok(())
            },
        )?;
        Ok(oldest_first(found))
    }

    fn comments(&self, prefix: &[u8]) -> Result<Vec<(BlockId, Comment)>> {
        let mut found = Vec::new();
        self.read.scan(
            KeyRange::half_open(prefix, &keyspaces::end_of_slice(prefix)),
            &mut |key, value| {
                found.push(read_comment(key, value)?);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(oldest_first(found))
    }
}

/// A comment with the block that it is on.
pub(crate) fn read_comment(key: &[u8], value: &[u8]) -> Result<(BlockId, Comment)> {
    let (_, block, id) = keyspaces::read_comment(key).ok_or_else(|| records::damaged(key))?;
    Ok((block, records::read(key, value, |decoder| comment::read(id, decoder))?))
}

fn oldest_first(mut comments: Vec<(BlockId, Comment)>) -> Vec<(BlockId, Comment)> {
    comments.sort_by_key(|(block, comment)| (*block, comment.created_at, comment.id));
    comments
}
